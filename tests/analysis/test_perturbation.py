"""Moving a capsule moves what was asked for and nothing else."""

import pytest
import torch

from capsedu.analysis import OFFSETS, interpolate, masked, perturb
from capsedu.layers import Decoder

LABELS = torch.tensor([1, 4, 1])


@pytest.fixture
def decoder() -> Decoder:
    torch.manual_seed(0)
    return Decoder(5, 6, (1, 4, 4), (8,)).requires_grad_(False)


@pytest.fixture
def capsules() -> torch.Tensor:
    return torch.randn(3, 5, 6, generator=torch.Generator().manual_seed(1))


def test_offsets_are_the_papers():
    expected = [-0.25, -0.2, -0.15, -0.1, -0.05, 0, 0.05, 0.1, 0.15, 0.2, 0.25]
    assert OFFSETS.tolist() == pytest.approx(expected)
    assert OFFSETS[5] == 0


def test_each_picture_is_one_dimension_moved(decoder, capsules):
    pictures = perturb(decoder, capsules, LABELS)
    assert pictures.shape == (3, 6, 11, 1, 4, 4)
    for image in range(3):
        for dimension in range(6):
            for number, offset in enumerate(OFFSETS):
                moved = capsules.clone()
                moved[image, LABELS[image], dimension] += offset
                expected = decoder(moved, LABELS)[image]
                torch.testing.assert_close(pictures[image, dimension, number], expected)


def test_directions_replace_the_dimensions(decoder, capsules):
    directions = torch.tensor([[0.0, 0, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]])
    pictures = perturb(decoder, capsules, LABELS, torch.tensor([0.5]), directions)
    torch.testing.assert_close(pictures[:, 0], perturb(decoder, capsules, LABELS, torch.tensor([0.5]))[:, 2])
    both = capsules.clone()
    both[:, :, :2] += 0.5
    torch.testing.assert_close(pictures[:, 1, 0], decoder(both, LABELS))


def test_perturbing_leaves_the_capsules_alone(decoder, capsules):
    before = capsules.clone()
    perturb(decoder, capsules, LABELS)
    assert torch.equal(capsules, before)


def test_masked_keeps_one_capsule(capsules):
    kept = masked(capsules[0], 3)
    assert torch.equal(kept[3], capsules[0, 3])
    assert kept.count_nonzero() == 6


def test_interpolation_ends_at_the_two_reconstructions(decoder, capsules):
    pictures = interpolate(decoder, masked(capsules[0], 1), masked(capsules[1], 4), steps=5)
    ends = decoder(capsules[:2], LABELS[:2])
    torch.testing.assert_close(pictures[[0, -1]], ends)
    middle = (masked(capsules[0], 1) + masked(capsules[1], 4)) / 2
    torch.testing.assert_close(pictures[2], decoder.layers(middle.flatten()[None])[0])
