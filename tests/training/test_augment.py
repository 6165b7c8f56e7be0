"""Augmentation against a plain-loop reference, and its limits."""

import torch

from capsedu.training.augment import AUGMENTATIONS, affine, shift


def seeded():
    return torch.Generator().manual_seed(3)


def test_shift_moves_each_image_as_a_loop_would():
    images = torch.rand(6, 2, 9, 7)
    moved = shift(images, seeded(), pixels=2)
    downs, rights = 2 - torch.randint(0, 5, (2, 6, 1), generator=seeded()).squeeze(-1)
    for b in range(6):
        for row in range(9):
            for column in range(7):
                from_row, from_column = row - int(downs[b]), column - int(rights[b])
                inside = 0 <= from_row < 9 and 0 <= from_column < 7
                expected = images[b, :, from_row, from_column] if inside else torch.zeros(2)
                assert torch.equal(moved[b, :, row, column], expected)


def test_shift_reaches_every_distance_and_no_further():
    image = torch.zeros(400, 1, 9, 9)
    image[:, :, 4, 4] = 1
    found = {tuple(place[2:].tolist()) for place in shift(image, seeded(), pixels=2).nonzero()}
    assert found == {(row, column) for row in range(2, 7) for column in range(2, 7)}


def test_affine_with_no_amounts_changes_nothing():
    images = torch.rand(3, 1, 12, 12)
    still = affine(images, seeded(), pixels=0, degrees=0, stretch=0, shear=0)
    assert torch.allclose(still, images, atol=1e-5)


def test_affine_moves_by_at_most_the_pixels_given():
    image = torch.zeros(200, 1, 21, 21)
    image[:, :, 10, 10] = 1
    moved = affine(image, seeded(), pixels=2, degrees=0, stretch=0, shear=0)
    assert torch.isclose(moved[:, :, 7:14, 7:14].sum(), moved.sum())
    assert moved.sum() > 150


def test_the_same_generator_gives_the_same_images():
    images = torch.rand(5, 1, 28, 28)
    for augment in AUGMENTATIONS.values():
        assert torch.equal(augment(images, seeded()), augment(images, seeded()))
