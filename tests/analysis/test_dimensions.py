"""Correlations, slopes and shares find what was put in."""

import numpy as np
import pytest
import torch

from capsedu import data, models
from capsedu.analysis import (
    STEPS,
    capsule_tracks,
    change_strokes,
    class_capsules,
    correlations,
    largest_share,
    mean_cosine,
    track_correlations,
    track_slopes,
)


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_correlations_agree_with_numpy():
    inputs, outputs = random(40, 3), random(40, 2, seed=1)
    expected = np.corrcoef(inputs.T.numpy(), outputs.T.numpy())[:3, 3:]
    assert np.allclose(correlations(inputs, outputs), expected, atol=1e-5)


def test_a_constant_correlates_with_nothing():
    assert torch.equal(correlations(torch.full((9, 1), 0.3), random(9, 2)), torch.zeros(1, 2))


def made_tracks(slopes: torch.Tensor, noise: float = 0.0) -> torch.Tensor:
    """Tracks (F, S, B, D) that move with the given slopes (F, D) from very different starts."""
    starts = 10 * random(1, 1, 8, slopes.shape[1])
    moves = STEPS[None, :, None, None] * slopes[:, None, None]
    return starts + moves + noise * random(len(slopes), len(STEPS), 8, slopes.shape[1], seed=2)


def test_slopes_are_found_whatever_the_images_start_from():
    slopes = random(3, 4, seed=3)
    torch.testing.assert_close(track_slopes(made_tracks(slopes)), slopes, atol=1e-4, rtol=0)


def test_correlation_within_images_ignores_their_differences():
    slopes = torch.tensor([[0.5, -0.5, 0.0]])
    found = track_correlations(made_tracks(slopes, noise=0.01))
    assert found[0, 0] > 0.99
    assert found[0, 1] < -0.99
    assert abs(found[0, 2]) < 0.5


def test_class_capsules_are_those_of_the_labels():
    torch.manual_seed(0)
    model = models.create("capsnet-mnist-small").requires_grad_(False)
    images, labels = torch.rand(5, 1, 28, 28), torch.tensor([3, 1, 4, 1, 5])
    found = class_capsules(model, images, labels, batch_size=2)
    whole = model(images).capsules
    torch.testing.assert_close(found, torch.stack([whole[b, k] for b, k in enumerate(labels)]))


def test_tracks_are_the_capsules_of_changed_digits():
    torch.manual_seed(0)
    model = models.create("capsnet-mnist-small").requires_grad_(False)
    images, labels = data.load("mnist", "validation", size=3).batch(slice(None))
    tracks = capsule_tracks(model, images, labels)
    assert tracks.shape == (3, 5, 3, 16)
    slanted = change_strokes(images, "slant", -0.3)
    torch.testing.assert_close(tracks[1, 0], class_capsules(model, slanted, labels))


def test_mean_cosine_is_one_for_equal_and_small_for_random_directions():
    assert mean_cosine(torch.ones(4, 1) * random(16)).item() == pytest.approx(1)
    assert mean_cosine(torch.stack([random(16), -random(16)])).item() == pytest.approx(-1)
    assert abs(mean_cosine(random(200, 16)).item()) < 0.02


def test_largest_share_of_known_directions():
    directions = torch.tensor([[0.0, -3.0, 0.0, 0.0], [1.0, -1.0, 1.0, 1.0]])
    torch.testing.assert_close(largest_share(directions), torch.tensor([1.0, 0.25]))
