"""Gains of a squash and the inverse of its length agree with the formulas worked out on paper."""

import pytest
import torch

from capsedu import analysis, ops

LENGTHS = torch.tensor([0.01, 0.3, 1.0, 3.0, 40.0], dtype=torch.float64)


def test_gains_of_squash_are_its_derivatives_along_and_across():
    radial, tangential = analysis.squash_gains(ops.squash, LENGTHS)
    assert torch.allclose(radial, 2 * LENGTHS / (1 + LENGTHS**2) ** 2)
    assert torch.allclose(tangential, LENGTHS / (1 + LENGTHS**2))


def test_gains_are_finite_and_zero_at_zero():
    radial, tangential = analysis.squash_gains(ops.squash, torch.zeros(1))
    assert (float(radial), float(tangential)) == (0, 0)


def test_gains_work_for_other_functions():
    radial, tangential = analysis.squash_gains(lambda s: s / s.norm(dim=-1, keepdim=True), LENGTHS)
    assert torch.allclose(radial, torch.zeros_like(LENGTHS))
    assert torch.allclose(tangential, 1 / LENGTHS)


@pytest.mark.parametrize("shape", [(5,), (2, 3, 4)])
def test_length_before_squash_undoes_squash(shape):
    before = torch.rand(shape, dtype=torch.float64) * 5
    after = ops.squash(before[..., None])[..., 0]
    assert torch.allclose(analysis.length_before_squash(after), before)
