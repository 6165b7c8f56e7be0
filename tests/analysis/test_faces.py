"""The drawn faces are what the chapter on pooling says they are."""

import pytest
import torch
from torch import Generator

from capsedu.analysis import draw_face, part_patch, random_pictures
from capsedu.analysis.faces import FACE, JUMBLED, KINDS, SIZE, WINDOW, random_kinds


def window_at(picture, place):
    """The pixels around a place given in face coordinates."""
    column, row = (int(SIZE // 2 + offset - WINDOW // 2) for offset in place)
    return picture[0, row : row + WINDOW, column : column + WINDOW]


@pytest.mark.parametrize("places", [FACE, JUMBLED], ids=["face", "jumbled"])
def test_each_part_stands_alone_and_whole_in_its_window(places):
    picture = draw_face(places)
    for part, place in places.items():
        assert torch.equal(window_at(picture, place), part_patch(part.split()[-1])), part


def test_jumbled_face_has_the_same_ink_at_the_same_places():
    assert set(FACE.values()) == set(JUMBLED.values())
    assert draw_face().sum().item() == pytest.approx(draw_face(JUMBLED).sum().item())
    assert not torch.equal(draw_face(), draw_face(JUMBLED))


def test_shift_moves_the_picture_by_whole_pixels():
    moved = draw_face(shift=(3.0, -2.0))
    assert torch.allclose(moved, draw_face().roll((-2, 3), dims=(1, 2)), atol=1e-5)


def test_a_quarter_turn_is_clockwise():
    inner = slice(1, None)  # the canvas has one more row and column before the middle than after it
    turned = torch.rot90(draw_face()[:, inner, inner], -1, dims=(1, 2))
    assert torch.allclose(draw_face(degrees=90)[:, inner, inner], turned, atol=1e-4)


def test_parts_that_are_not_named_are_not_drawn():
    head = draw_face({})
    without_nose = draw_face({part: place for part, place in FACE.items() if part != "nose"})
    assert window_at(head, FACE["nose"]).sum() == window_at(without_nose, FACE["nose"]).sum() == 0


def test_no_part_reaches_the_edge_of_its_window():
    for kind in KINDS:
        patch = part_patch(kind)
        edge = torch.cat([patch[0], patch[-1], patch[:, 0], patch[:, -1]])
        assert edge.sum() == 0, kind
        assert patch.sum() > 5, kind


@pytest.mark.parametrize("like", ["face", "jumbled", "other"])
def test_random_pictures_are_pixels_decided_by_the_generator(like):
    first, again, other = (random_pictures(like, 3, Generator().manual_seed(seed)) for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert first.shape == (3, 1, SIZE, SIZE)
    assert 0 <= first.min() < first.max() <= 1


def test_jumbled_pictures_have_neither_nose_nor_mouth_in_its_place():
    kinds = random_kinds("jumbled", 500, Generator().manual_seed(0))
    assert torch.equal(kinds.sort(dim=1).values, torch.tensor([[0, 0, 1, 2]]).expand(500, 4))
    assert not (kinds[:, 2] == 1).any()
    assert not (kinds[:, 3] == 2).any()


def test_other_pictures_always_lack_a_part():
    kinds = random_kinds("other", 500, Generator().manual_seed(0))
    assert (kinds >= 3).any(dim=1).all()
    assert (kinds < 3).any()


def test_an_unknown_kind_of_picture_is_named():
    with pytest.raises(ValueError, match="'faces'"):
        random_pictures("faces", 1, Generator())
