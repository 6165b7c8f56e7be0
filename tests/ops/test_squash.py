"""Squash: a length below 1, the direction kept, nothing infinite."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from capsedu.ops import squash
from tests import references

# Numbers of every size that fp32 holds with room to spare, and both zeros.
any_size = st.builds(
    lambda mantissa, exponent: mantissa * 10.0**exponent, st.floats(-1, 1), st.integers(-30, 30)
)
vectors = arrays(np.float64, array_shapes(min_dims=1, max_dims=3, max_side=5), elements=any_size).map(
    torch.from_numpy
)
dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)


def by_loops(s: torch.Tensor) -> torch.Tensor:
    return torch.stack([torch.stack(references.squash(list(vector))) for vector in s])


def lengths(v: torch.Tensor) -> torch.Tensor:
    return torch.linalg.vector_norm(v.double(), dim=-1)


@pytest.mark.parametrize("scale", [0.0, 1e-3, 0.3, 1.0, 30.0, 1e4])
def test_agrees_with_the_loops_in_value_and_gradient(scale):
    s = (scale * torch.randn(6, 4, generator=torch.Generator().manual_seed(0))).requires_grad_()
    direction = torch.randn(6, 4, generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(squash(s), by_loops(s), atol=1e-5, rtol=1e-5)
    if scale:  # at 0 the reference's gradient does not exist
        ours = torch.autograd.grad(squash(s), s, direction)
        theirs = torch.autograd.grad(by_loops(s), s, direction)
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_length_5_becomes_25_of_26():
    torch.testing.assert_close(squash(torch.tensor([3.0, 4.0])), torch.tensor([15 / 26, 20 / 26]))


@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2, -3])
def test_runs_along_the_axis_that_is_asked_for(dim):
    s = torch.randn(3, 4, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    expected = squash(s.movedim(dim, -1)).movedim(-1, dim)
    torch.testing.assert_close(squash(s, dim=dim), expected)


@given(vectors)
def test_length_is_below_one(s):
    length, squashed = lengths(s), lengths(squash(s))
    assert (squashed <= 1 + 1e-15).all()
    assert (squashed[length < 1e6] < 1).all()


@given(vectors)
def test_length_of_fp32_and_bf16_is_at_most_one(s):
    for dtype in (torch.float32, torch.bfloat16):
        assert (lengths(squash(s.to(dtype))) <= 1 + torch.finfo(dtype).eps).all()


@given(vectors)
def test_direction_is_kept(s):
    s = s.float()
    v = squash(s)
    told = lengths(v) > 1e-30  # smaller numbers have too few digits left
    unit_before = s[told].double() / lengths(s)[told].unsqueeze(-1)
    unit_after = v[told].double() / lengths(v)[told].unsqueeze(-1)
    torch.testing.assert_close(unit_after, unit_before, atol=1e-6, rtol=0)


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=10))
def test_a_longer_vector_stays_longer(sizes):
    s = torch.tensor(sorted(sizes), dtype=torch.float64).unsqueeze(-1) * torch.tensor([0.6, 0.8]).double()
    assert (lengths(squash(s)).diff() >= -1e-15).all()


@dtypes
@given(s=vectors)
def test_values_and_gradients_are_finite_for_numbers_of_any_size(dtype, s):
    s = s.to(dtype).requires_grad_()
    v = squash(s)
    (gradient,) = torch.autograd.grad(v.sum(), s)
    assert v.dtype == dtype
    assert v.isfinite().all()
    assert gradient.isfinite().all()


@dtypes
@pytest.mark.parametrize("scale", [0.0, 1e-38, 1e-30, 1e-20, 1e10, 1e19, 1e20, 1e30, 3e38])
def test_values_and_gradients_are_finite_at_the_ends(dtype, scale):
    s = torch.tensor([[1.0, -1.0, 0.5], [1.0, 0.0, 0.0]]).mul(scale).to(dtype).requires_grad_()
    v = squash(s)
    (gradient,) = torch.autograd.grad(v.sum(), s)
    assert v.isfinite().all()
    assert gradient.isfinite().all()
    if scale > 1e9:
        torch.testing.assert_close(
            lengths(v), torch.ones(2).double(), atol=2 * torch.finfo(dtype).eps, rtol=0
        )


def test_value_and_gradient_at_zero_are_zero():
    s = torch.zeros(2, 3, requires_grad=True)
    (gradient,) = torch.autograd.grad(squash(s).sum(), s)
    assert torch.equal(squash(s), torch.zeros(2, 3))
    assert torch.equal(gradient, torch.zeros(2, 3))


@pytest.mark.parametrize("scale", [1e-4, 0.1, 1.0, 10.0])
def test_gradient_is_that_of_finite_differences(scale):
    s = scale * torch.randn(3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(squash, s.requires_grad_(), eps=1e-6 * scale)


def test_gradient_of_a_very_long_vector_across_its_direction_is_one_over_its_length():
    s = torch.tensor([1e12, 0.0], requires_grad=True)
    (gradient,) = torch.autograd.grad(squash(s)[1], s)
    torch.testing.assert_close(gradient, torch.tensor([0.0, 1e-12]), atol=0, rtol=1e-5)
