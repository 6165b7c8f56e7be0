"""The bag of parts is blind to arrangement, and only to that."""

import pytest
import torch
from torch import Generator, nn

from capsedu.analysis import (
    bag_of_parts,
    draw_face,
    random_pictures,
    share_called_face,
    share_when_moved,
    train_on_faces,
)
from capsedu.analysis.faces import FACE, JUMBLED


def score(picture):
    return bag_of_parts()(picture[None]).item()


def small_network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 4, 5, stride=3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 15 * 15, 2))


def test_bag_of_parts_gives_face_and_jumbled_face_the_same_score():
    assert score(draw_face()) == pytest.approx(1, abs=1e-5)
    assert score(draw_face(JUMBLED)) == pytest.approx(1, abs=1e-5)


def test_bag_of_parts_does_not_mind_a_shift_and_minds_a_turn():
    assert score(draw_face(shift=(5.0, -3.0))) == pytest.approx(1, abs=1e-5)
    assert score(draw_face(degrees=30)) < 0.8


def test_bag_of_parts_misses_a_missing_part_but_not_a_missing_eye():
    without_mouth = {part: place for part, place in FACE.items() if part != "mouth"}
    without_one_eye = {part: place for part, place in FACE.items() if part != "left eye"}
    assert score(draw_face(without_mouth)) < 0.95
    assert score(draw_face(without_one_eye)) == pytest.approx(1, abs=1e-5)


def test_training_lowers_the_loss_and_repeats_itself():
    first = train_on_faces(small_network(), ["other", "jumbled"], 20)
    assert len(first) == 20
    assert sum(first[-5:]) < sum(first[:5])
    assert train_on_faces(small_network(), ["other", "jumbled"], 20) == first


def test_share_counts_the_pictures_of_class_one():
    class AlwaysFirst(nn.Module):
        def forward(self, pictures):
            face = torch.arange(len(pictures)) < 1
            return torch.stack([1 - face.float(), face.float()], dim=1)

    pictures = random_pictures("face", 4, Generator().manual_seed(0))
    assert share_called_face(AlwaysFirst(), pictures) == 0.25


def test_moved_faces_are_the_same_faces_moved():
    class Middle(nn.Module):
        """Calls it a face when the ink's mean column is left of the middle."""

        def forward(self, pictures):
            columns = torch.arange(48.0)
            ink = (pictures > 0.5).float()
            mean = (ink * columns).sum((1, 2, 3)) / ink.sum((1, 2, 3))
            return torch.stack([mean, torch.full_like(mean, 27.0)], dim=1)

    assert share_when_moved(Middle(), "shift", [0, 6], count=20) == [1, 0]
    with pytest.raises(ValueError, match="'scale'"):
        share_when_moved(Middle(), "scale", [1])
