"""Dynamic routing, plain form: procedure 1, its properties and its gradients."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from capsedu.ops import dynamic_routing, squash
from tests import references

leaky_or_not = pytest.mark.parametrize("leaky", [False, True], ids=["plain", "leaky"])
gradients = pytest.mark.parametrize("gradient", ["all", "last"])


def votes_of(seed: int, shape: tuple[int, ...] = (3, 5, 4, 6), dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


seeds = st.integers(0, 2**32)
votes_of_any_shape = st.builds(
    lambda seed, shape, scale: scale * votes_of(seed, shape),
    seeds,
    st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(1, 5), st.integers(1, 5)),
    st.floats(0, 10),
)
options = {"votes": votes_of_any_shape, "iterations": st.integers(1, 5), "leaky": st.booleans()}


@gradients
@leaky_or_not
@pytest.mark.parametrize("iterations", [1, 2, 3, 5])
def test_agrees_with_the_loops_in_value_and_gradient(iterations, leaky, gradient):
    votes = votes_of(0, (2, 4, 3, 2), torch.float32).requires_grad_()
    direction = votes_of(1, (2, 3, 2), torch.float32)
    result = dynamic_routing(votes, iterations, gradient=gradient, leaky=leaky)
    outputs, couplings = references.dynamic_routing(votes, iterations, gradient, leaky)
    torch.testing.assert_close(result.outputs, outputs, atol=1e-5, rtol=0)
    torch.testing.assert_close(result.couplings, couplings, atol=1e-5, rtol=0, check_stride=False)
    (ours,) = torch.autograd.grad(result.outputs, votes, direction)
    (theirs,) = torch.autograd.grad(outputs, votes, direction)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


@leaky_or_not
@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_gradient_is_that_of_finite_differences(iterations, leaky):
    votes = votes_of(0, (2, 3, 2, 2)).requires_grad_()
    assert torch.autograd.gradcheck(lambda u: dynamic_routing(u, iterations, leaky=leaky).outputs, votes)


@leaky_or_not
def test_last_gradient_takes_the_couplings_for_constants(leaky):
    votes = votes_of(0).requires_grad_()
    result = dynamic_routing(votes, 3, gradient="last", leaky=leaky)
    with_constants = squash(torch.einsum("bij,bijd->bjd", result.couplings.detach(), votes))
    direction = torch.ones_like(result.outputs)
    (ours,) = torch.autograd.grad(result.outputs, votes, direction)
    (expected,) = torch.autograd.grad(with_constants, votes, direction)
    torch.testing.assert_close(ours, expected)
    assert not result.couplings.requires_grad


def test_the_two_gradients_differ_while_the_values_agree():
    votes = votes_of(0).requires_grad_()
    through_all, last = (dynamic_routing(votes, 3, gradient=name).outputs for name in ("all", "last"))
    assert torch.equal(through_all, last)
    (one,), (other,) = (torch.autograd.grad(outputs.sum(), votes) for outputs in (through_all, last))
    assert not torch.allclose(one, other, atol=1e-3)


@given(**options)
def test_outputs_are_shorter_than_one(votes, iterations, leaky):
    assert (dynamic_routing(votes, iterations, leaky=leaky).outputs.norm(dim=-1) < 1).all()


@given(votes_of_any_shape, st.integers(1, 5))
def test_couplings_sum_to_one_over_parents(votes, iterations):
    couplings = dynamic_routing(votes, iterations).couplings
    assert (couplings >= 0).all()
    torch.testing.assert_close(couplings.sum(dim=2), torch.ones(votes.shape[:2]).double())


@given(votes_of_any_shape, st.integers(1, 5))
def test_leaky_couplings_sum_to_one_with_what_leaks(votes, iterations):
    result = dynamic_routing(votes, iterations, leaky=True, trace=True)
    logits = result.trace.logits[-1]
    leak = 1 / (1 + logits.exp().sum(dim=2))  # the share of a parent with logit 0
    total = result.couplings.sum(dim=2)
    torch.testing.assert_close(total + leak, torch.ones(votes.shape[:2]).double())
    assert (total[leak > 1e-12] < 1).all()


@given(**options, seed=seeds)
def test_permuting_children_permutes_couplings_and_leaves_outputs(votes, iterations, leaky, seed):
    order = torch.randperm(votes.shape[1], generator=torch.Generator().manual_seed(seed))
    plain, permuted = (dynamic_routing(u, iterations, leaky=leaky) for u in (votes, votes[:, order]))
    torch.testing.assert_close(permuted.outputs, plain.outputs)
    torch.testing.assert_close(permuted.couplings, plain.couplings[:, order], check_stride=False)


@given(**options, seed=seeds)
def test_permuting_parents_permutes_outputs_and_couplings(votes, iterations, leaky, seed):
    order = torch.randperm(votes.shape[2], generator=torch.Generator().manual_seed(seed))
    plain, permuted = (dynamic_routing(u, iterations, leaky=leaky) for u in (votes, votes[:, :, order]))
    torch.testing.assert_close(permuted.outputs, plain.outputs[:, order])
    torch.testing.assert_close(permuted.couplings, plain.couplings[:, :, order], check_stride=False)


@given(**options)
def test_an_example_does_not_depend_on_its_batch(votes, iterations, leaky):
    together = dynamic_routing(votes, iterations, leaky=leaky)
    for b in range(len(votes)):
        alone = dynamic_routing(votes[b : b + 1], iterations, leaky=leaky)
        torch.testing.assert_close(together.outputs[b], alone.outputs[0])
        torch.testing.assert_close(together.couplings[b], alone.couplings[0], check_stride=False)


def test_gradient_of_an_example_does_not_depend_on_its_batch():
    votes = votes_of(0).requires_grad_()
    (gradient,) = torch.autograd.grad(dynamic_routing(votes).outputs[1].sum(), votes)
    assert gradient[1].abs().min() > 0
    assert torch.equal(gradient[[0, 2]], torch.zeros_like(gradient[[0, 2]]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@given(
    seed=seeds,
    exponents=st.tuples(st.integers(-30, 30), st.integers(-30, 30)),
    iterations=st.integers(1, 5),
    leaky=st.booleans(),
)
def test_values_and_gradients_are_finite_for_votes_of_any_size(dtype, seed, exponents, iterations, leaky):
    generator = torch.Generator().manual_seed(seed)
    exponent = torch.randint(min(exponents), max(exponents) + 1, (2, 4, 3, 1), generator=generator)
    votes = (votes_of(seed, (2, 4, 3, 5)) * 10.0**exponent).to(dtype).requires_grad_()
    result = dynamic_routing(votes, iterations, leaky=leaky)
    (gradient,) = torch.autograd.grad(result.outputs.sum(), votes)
    assert result.outputs.dtype == result.couplings.dtype == dtype
    assert result.outputs.isfinite().all()
    assert result.couplings.isfinite().all()
    assert gradient.isfinite().all()
    assert (result.outputs.double().norm(dim=-1) <= 1 + torch.finfo(dtype).eps).all()


@leaky_or_not
def test_zero_votes_give_zero_outputs_even_couplings_and_zero_gradient(leaky):
    votes = torch.zeros(2, 3, 4, 5, requires_grad=True)
    result = dynamic_routing(votes, leaky=leaky)
    (gradient,) = torch.autograd.grad(result.outputs.sum(), votes)
    assert torch.equal(result.outputs, torch.zeros(2, 4, 5))
    torch.testing.assert_close(result.couplings, torch.full((2, 3, 4), 1 / (5 if leaky else 4)))
    assert torch.equal(gradient, torch.zeros_like(votes))


def test_bf16_is_close_to_fp32():
    votes = votes_of(0, dtype=torch.float32)
    exact, rounded = dynamic_routing(votes), dynamic_routing(votes.bfloat16())
    torch.testing.assert_close(rounded.outputs.float(), exact.outputs, atol=0.05, rtol=0)


def test_children_that_agree_win_their_parent():
    votes = torch.zeros(1, 4, 2, 2)
    votes[0, :, 0] = torch.tensor([1.0, 0.0])  # all four agree on parent 0
    votes[0, :, 1] = torch.tensor(
        [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    )  # and cancel at parent 1
    even, routed = dynamic_routing(votes, 1), dynamic_routing(votes, 3)
    assert (routed.couplings[..., 0] > even.couplings[..., 0]).all()
    assert routed.outputs[0, 0].norm() > even.outputs[0, 0].norm()


@pytest.mark.parametrize("iterations", [1, 2, 4])
@leaky_or_not
def test_trace_tells_every_iteration(iterations, leaky):
    votes = votes_of(0)
    result = dynamic_routing(votes, iterations, leaky=leaky, trace=True)
    trace = result.trace
    assert len(trace.logits) == len(trace.couplings) == len(trace.outputs) == iterations
    assert torch.equal(trace.logits[0], torch.zeros(3, 5, 4).double())
    assert trace.outputs[-1] is result.outputs
    assert trace.couplings[-1] is result.couplings
    for t in range(iterations):
        assert torch.equal(trace.outputs[t], dynamic_routing(votes, t + 1, leaky=leaky).outputs)
    for t in range(iterations - 1):
        agreement = (votes * trace.outputs[t][:, None]).sum(dim=-1)
        torch.testing.assert_close(trace.logits[t + 1], trace.logits[t] + agreement, check_stride=False)


def test_no_trace_unless_asked_for():
    assert dynamic_routing(votes_of(0)).trace is None


def test_input_is_left_as_it_was():
    votes = votes_of(0)
    dynamic_routing(votes)
    assert torch.equal(votes, votes_of(0))


def test_wrong_shape_is_told():
    with pytest.raises(ValueError, match=r"votes must be \(B, I, J, D\), got \(128, 10, 16\)"):
        dynamic_routing(torch.zeros(128, 10, 16))


@pytest.mark.parametrize("iterations", [0, -1])
def test_too_few_iterations_are_refused(iterations):
    with pytest.raises(ValueError, match=f"iterations must be at least 1, got {iterations}"):
        dynamic_routing(votes_of(0), iterations)


def test_unknown_gradient_is_refused():
    with pytest.raises(ValueError, match='gradient must be "all" or "last", got \'first\''):
        dynamic_routing(votes_of(0), gradient="first")
