"""Exercises of the chapter on convergence."""

from collections.abc import Callable

import torch
from torch import Tensor

from capsedu.analysis import mean_change
from capsedu.ops import dynamic_routing
from capsedu.teach.exercise import exercise_property

Entropy = Callable[[Tensor], Tensor]
Stopper = Callable[..., tuple[Tensor, int]]


@exercise_property("coupling-entropy", "gives one number a child")
def one_number_a_child(answer: Entropy) -> str | None:
    shape = tuple(answer(torch.full((3, 5, 4), 0.25)).shape)
    return None if shape == (3, 5) else f"for couplings (B, I, J) = (3, 5, 4) you give shape {shape}"


@exercise_property("coupling-entropy", "is 1 when all parents have the same share")
def undecided_is_one(answer: Entropy) -> str | None:
    for parents in (2, 10):
        found = float(answer(torch.full((1, 6, parents), 1 / parents)).flatten()[0])
        if abs(found - 1) > 1e-5:
            return f"with {parents} parents you give {found:.3f}"
    return None


@exercise_property("coupling-entropy", "is 0, and a number, when one parent has it all")
def decided_is_zero(answer: Entropy) -> str | None:
    found = answer(torch.eye(4)[None])
    wrong = found[~(found.abs() < 1e-5)]
    return None if wrong.numel() == 0 else f"for couplings (1, 0, 0, 0) you give {float(wrong[0]):.3f}"


@exercise_property("coupling-entropy", "lies in between for a child that leans to one side")
def leaning_is_between(answer: Entropy) -> str | None:
    found = float(answer(torch.tensor([[[0.9, 0.1]]])).flatten()[0])
    wanted = 0.4690  # -(0.9 log 0.9 + 0.1 log 0.1) / log 2
    return (
        None if abs(found - wanted) < 1e-3 else f"couplings (0.9, 0.1) are off by {abs(found - wanted):.3f}"
    )


@exercise_property("stopping-rule", "comes to an end on votes that agree")
def comes_to_an_end(answer: Stopper) -> str | None:
    _, iterations = answer(_votes(), tolerance=1e-3, limit=1000)
    return None if iterations < 1000 else f"after {iterations} iterations it was still going"


@exercise_property("stopping-rule", "gives the couplings of that many iterations")
def counts_right(answer: Stopper) -> str | None:
    couplings, iterations = answer(_votes(), tolerance=1e-2, limit=100)
    wanted = dynamic_routing(_votes(), iterations).couplings
    difference = float((couplings - wanted).abs().max())
    return None if difference < 1e-5 else f"for {iterations} iterations a coupling is off by {difference:.3f}"


@exercise_property("stopping-rule", "stops as soon as the couplings have settled, and not before")
def stops_in_time(answer: Stopper) -> str | None:
    for tolerance in (1e-2, 1e-4):
        _, iterations = answer(_votes(), tolerance=tolerance, limit=1000)
        trace = dynamic_routing(_votes(), 1000, trace=True).trace
        assert trace is not None
        changes = mean_change(trace.couplings)  # the first is that of iteration 2
        wanted = int((changes < tolerance).nonzero()[0]) + 2
        if iterations != wanted:
            when = "early" if iterations < wanted else "late"
            return f"with tolerance {tolerance:g} you stop {abs(iterations - wanted)} too {when}"
    return None


@exercise_property("stopping-rule", "keeps to the limit")
def keeps_to_the_limit(answer: Stopper) -> str | None:
    _, iterations = answer(_votes(), tolerance=0.0, limit=7)
    return None if iterations == 7 else f"with a limit of 7 you made {iterations} iterations"


def _votes() -> Tensor:
    """Votes of 8 children for 3 parents in 2 examples, (2, 8, 3, 4)."""
    return torch.randn(2, 8, 3, 4, generator=torch.Generator().manual_seed(0))
