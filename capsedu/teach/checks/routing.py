"""Exercises of the chapter on routing by agreement."""

from collections.abc import Callable

import torch
from torch import Tensor

from capsedu.ops import dynamic_routing
from capsedu.teach.exercise import exercise_property

Namer = Callable[[Tensor], str]
Router = Callable[[Tensor, int], tuple[Tensor, Tensor]]


@exercise_property("routing-or-attention", "knows the couplings of dynamic routing")
def knows_routing(answer: Namer) -> str | None:
    return _wrong_name(answer, "routing", dim=1)


@exercise_property("routing-or-attention", "knows the weights of attention")
def knows_attention(answer: Namer) -> str | None:
    return _wrong_name(answer, "attention", dim=0)


def _wrong_name(answer: Namer, wanted: str, dim: int) -> str | None:
    for shape in ((6, 2), (2, 6), (4, 4)):
        logits = torch.randn(shape, generator=torch.Generator().manual_seed(0))
        found = answer(logits.softmax(dim))
        if found != wanted:
            return f"for {shape[0]} children and {shape[1]} parents you said {found!r}"
    return None


@exercise_property("repair-routing", "a child's couplings sum to 1 over the parents")
def children_give_one_unit(answer: Router) -> str | None:
    sums = answer(_votes(), 3)[1].sum(dim=-1)
    if torch.allclose(sums, torch.ones_like(sums), atol=1e-5):
        return None
    return f"one child gives {sums.flatten()[(sums - 1).abs().argmax()]:.3f} in all"


@exercise_property("repair-routing", "one iteration shares every child out equally")
def one_iteration_is_uniform(answer: Router) -> str | None:
    couplings = answer(_votes(), 1)[1]
    if bool((couplings == couplings.flatten()[0]).all()):
        return None
    return f"with three parents a child's couplings are {[round(c, 3) for c in couplings[0, 0].tolist()]}"


@exercise_property("repair-routing", "an example is routed alike in any company")
def company_does_not_matter(answer: Router) -> str | None:
    votes = _votes()
    alone, together = answer(votes[:1], 3)[1][0], answer(votes, 3)[1][0]
    change = (alone - together).abs()
    if bool(change.max() < 1e-5):
        return None
    at = int(change.argmax())
    before, after = alone.flatten()[at], together.flatten()[at]
    return f"a coupling is {before:.3f} when the example is alone and {after:.3f} in a batch of four"


@exercise_property("repair-routing", "three iterations give the paper's outputs")
def same_as_the_paper(answer: Router) -> str | None:
    votes = _votes()
    difference = float((answer(votes, 3)[0] - dynamic_routing(votes, 3).outputs).abs().max())
    return None if difference < 1e-5 else f"an entry of an output is off by {difference:.3f}"


def _votes() -> Tensor:
    """Votes of 5 children for 3 parents in 4 examples that have little in common, (4, 5, 3, 2)."""
    return 2 * torch.randn(4, 5, 3, 2, generator=torch.Generator().manual_seed(0))
