"""Exercises of the chapter on squash."""

from collections.abc import Callable

import torch
from torch import Tensor

from capsedu.ops import squash
from capsedu.teach.exercise import exercise_property

Answer = Callable[[Tensor], Tensor]


@exercise_property("unsquash", "squash brings your length back to the one you were given")
def squash_undoes_it(answer: Answer) -> str | None:
    wanted = torch.tensor([0.1, 0.5, 0.9, 0.99])
    back = squash(answer(wanted)[:, None])[:, 0]
    wrong = (back - wanted).abs() > 1e-4
    if not wrong.any():
        return None
    return f"for {wanted[wrong][0]:.2f} you gave a length that squash turns into {back[wrong][0]:.2f}"


@exercise_property("unsquash", "a capsule of length 0 came from length 0")
def zero_comes_from_zero(answer: Answer) -> str | None:
    found = float(answer(torch.zeros(1)))
    return None if found == 0 else f"you say it came from length {found:.3g}"


@exercise_property("repair-squash", "a vector of length 5 gets length 25/26 and keeps its direction")
def right_value(answer: Answer) -> str | None:
    found = answer(torch.tensor([[[3.0, 4.0]]]))[0, 0]
    if torch.allclose(found, torch.tensor([15 / 26, 20 / 26]), atol=1e-5):
        return None
    return f"(3, 4) became ({found[0]:.3f}, {found[1]:.3f})"


@exercise_property("repair-squash", "no capsule is longer than 1")
def length_at_most_one(answer: Answer) -> str | None:
    longest = float(answer(_capsules()).norm(dim=-1).max())
    return None if longest <= 1 + 1e-6 else f"one of 12 random capsules got length {longest:.2f}"


@exercise_property("repair-squash", "what a capsule says does not depend on its neighbours")
def neighbours_do_not_matter(answer: Answer) -> str | None:
    capsules = _capsules()
    alone, together = answer(capsules[:, :1])[0, 0], answer(capsules)[0, 0]
    if torch.allclose(alone, together, atol=1e-6):
        return None
    return f"alone it has length {alone.norm():.3f}, among five others {together.norm():.3f}"


@exercise_property("repair-squash", "a capsule of zeros stays zero")
def zero_stays_zero(answer: Answer) -> str | None:
    found = answer(torch.zeros(1, 2, 4))
    return None if bool((found == 0).all()) else f"it became {found.flatten()[0]:.3g}"


@exercise_property("repair-squash", "the gradient at zero is finite")
def finite_gradient_at_zero(answer: Answer) -> str | None:
    s = torch.zeros(1, 2, 4, requires_grad=True)
    answer(s).sum().backward()
    if s.grad is not None and bool(s.grad.isfinite().all()):
        return None
    return "backpropagation through a capsule of zeros gives nan or infinity"


def _capsules() -> Tensor:
    """Twelve random capsules, (2, 6, 4), the first much longer than its neighbours."""
    capsules = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(0))
    capsules[:, 0] *= 10
    return capsules
