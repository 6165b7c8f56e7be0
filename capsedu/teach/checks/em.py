"""Exercises of the chapter on EM routing."""

from collections.abc import Callable

import torch
from torch import Tensor

from capsedu.ops import em_routing
from capsedu.teach.exercise import exercise_property

MStep = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, float], tuple[Tensor, Tensor, Tensor]]
Router = Callable[[Tensor, Tensor, Tensor, Tensor, float, int], tuple[Tensor, Tensor, Tensor]]
BETA_U, BETA_A = torch.tensor([0.3, 0.5, 0.1]), torch.tensor([-0.5, 0.2, 0.0])
FLOOR = 5e-4


@exercise_property("m-step", "the mean weighs each vote by R_ij a_i")
def mean_is_weighted(answer: MStep) -> str | None:
    shares, activations, votes = _data()
    mean = answer(shares, activations, votes, BETA_U, BETA_A, 1.0)[0]
    weights = (shares * activations[..., None])[..., None]
    error = float((mean - (weights * votes).sum(dim=1) / weights.sum(dim=1)).abs().max())
    return None if error < 1e-4 else f"an entry of a mean is off by {error:.3f}"


@exercise_property("m-step", "a silent child moves neither mean nor variance")
def silent_child_counts_for_nothing(answer: MStep) -> str | None:
    shares, activations, votes = _data()
    activations[:, 0] = 0
    full = answer(shares, activations, votes, BETA_U, BETA_A, 1.0)
    rest = answer(shares[:, 1:], activations[:, 1:], votes[:, 1:], BETA_U, BETA_A, 1.0)
    change = max(float((a - b).abs().max()) for a, b in zip(full[:2], rest[:2], strict=True))
    return None if change < 1e-4 else f"taking away a child of activation 0 changes an entry by {change:.3f}"


@exercise_property("m-step", "a parent with one child has the variance floor")
def one_child_has_the_floor(answer: MStep) -> str | None:
    shares, activations, votes = (tensor[:, :1] for tensor in _data())
    variance = answer(shares, activations, votes, BETA_U, BETA_A, 1.0)[1]
    if bool((variance - FLOOR).abs().max() < 1e-5):
        return None
    return f"with one child a variance is {float(variance.flatten()[0]):.2g}, wanted {FLOOR:g}"


@exercise_property("m-step", "no child active, and still every number is finite")
def silence_is_finite(answer: MStep) -> str | None:
    shares, activations, votes = _data()
    found = answer(shares, torch.zeros_like(activations), votes, BETA_U, BETA_A, 1.0)
    for name, tensor in zip(("mean", "variance", "activation"), found, strict=True):
        if not bool(tensor.isfinite().all()):
            return f"all activations 0 give a {name} of {float(tensor[~tensor.isfinite()][0])}"
    return None


@exercise_property("m-step", "twice the children, the same activation")
def data_are_normalised(answer: MStep) -> str | None:
    shares, activations, votes = _data()
    few = answer(shares, activations, votes, BETA_U, BETA_A, 1.0)[2]
    shares, activations, votes = (torch.cat([tensor, tensor], dim=1) for tensor in _data())
    many = answer(shares, activations, votes, BETA_U, BETA_A, 1.0)[2]
    at = int((few - many).abs().argmax())
    before, after = float(few.flatten()[at]), float(many.flatten()[at])
    if abs(before - after) < 1e-4:
        return None
    return f"every child repeated once takes an activation from {before:.3f} to {after:.3f}"


@exercise_property("m-step", "agrees with capsedu at every iteration")
def same_as_capsedu(answer: MStep) -> str | None:
    _, activations, votes = _data()
    trace = em_routing(votes, activations, BETA_U, BETA_A, iterations=3, trace=True).trace
    assert trace is not None
    for t, (shares, parents) in enumerate(zip(trace.responsibilities, trace.parents, strict=True)):
        found = answer(shares, activations, votes, BETA_U, BETA_A, 1 - 0.95 ** (t + 1))
        wanted = (parents.mean, parents.variance, parents.activation)
        for name, ours, theirs in zip(("mean", "variance", "activation"), found, wanted, strict=True):
            difference = float((ours - theirs).abs().max())
            if not difference < 1e-4:
                return f"iteration {t + 1}: an entry of the {name} is off by {difference:.3f}"
    return None


@exercise_property("repair-em", "a child's responsibilities sum to 1 over the parents")
def children_give_one_unit(answer: Router) -> str | None:
    sums = _route(answer)[2].sum(dim=-1)
    if torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
        return None
    return f"one child gives {sums[(sums - 1).abs().argmax()]:.3f} in all"


@exercise_property("repair-em", "a child that is hardly there moves nobody")
def faint_child_moves_nobody(answer: Router) -> str | None:
    _, activations, votes = (tensor[0] for tensor in _data())
    activations[0] = 1e-6
    full = answer(votes, activations, BETA_U, BETA_A, 1.0, 1)[0]
    rest = answer(votes[1:], activations[1:], BETA_U, BETA_A, 1.0, 1)[0]
    change = float((full - rest).abs().max())
    if change < 1e-3:
        return None
    return f"taking away a child of activation 0.000001 moves a mean by {change:.3f}"


@exercise_property("repair-em", "children less sure make parents less sure")
def activations_matter(answer: Router) -> str | None:
    loud, faint = (_route(answer, volume)[1] for volume in (1.0, 0.25))
    if float((loud - faint).abs().max()) > 1e-4:
        return None
    return "a quarter of every a_i leaves every a_j as it was"


@exercise_property("repair-em", "three iterations give what the paper's rules give")
def same_as_the_rules(answer: Router) -> str | None:
    _, activations, votes = _data()
    wanted = em_routing(votes[:1], activations[:1], BETA_U, BETA_A, iterations=3)
    mean, active, _ = _route(answer)
    difference = max(
        float((mean - wanted.poses[0]).abs().max()), float((active - wanted.activations[0]).abs().max())
    )
    return None if difference < 1e-4 else f"an entry of a pose or an activation is off by {difference:.3f}"


def _route(answer: Router, volume: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
    _, activations, votes = _data()
    return answer(votes[0], volume * activations[0], BETA_U, BETA_A, 1.0, 3)


def _data() -> tuple[Tensor, Tensor, Tensor]:
    """Responsibilities (2, 6, 3), activations (2, 6) and votes (2, 6, 3, 4)."""
    generator = torch.Generator().manual_seed(0)
    shares = torch.randn(2, 6, 3, generator=generator).softmax(dim=-1)
    activations = 0.1 + 0.9 * torch.rand(2, 6, generator=generator)
    return shares, activations, 2 * torch.randn(2, 6, 3, 4, generator=generator)
