"""Exercises of chapter 1: equivariance, and a face that is none."""

from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from capsedu.analysis.faces import FACE, JUMBLED, WINDOW, Place, draw_face
from capsedu.analysis.pooling import bag_of_parts
from capsedu.teach.exercise import exercise_property

LIST = torch.tensor([0.0, 3.0, 2.0, 0.0, 0.0])
Gap = Callable[[Callable[[Tensor], Tensor], Tensor, int], float]
Places = Callable[[], Mapping[str, Place]]


def blur(x: Tensor) -> Tensor:
    """A convolution on a ring: the last number is the first one's neighbour."""
    return F.conv1d(F.pad(x[None, None], (1, 1), mode="circular"), torch.tensor([[[1.0, 2.0, 1.0]]]))[0, 0]


def sort(x: Tensor) -> Tensor:
    """Forgets the order, but keeps the length of the list."""
    return x.sort().values


def weigh(x: Tensor) -> Tensor:
    """Every place has a weight of its own."""
    return x * torch.arange(len(x), dtype=x.dtype)


@exercise_property("equivariance-gap", "a convolution has no gap")
def convolution_has_no_gap(answer: Gap) -> str | None:
    for steps in (1, 2, -1):
        gap = float(answer(blur, LIST, steps))
        if abs(gap) > 1e-5:
            return f"a blur of (0, 3, 2, 0, 0), shifted by {steps}, got a gap of {gap:.3g}"
    return None


@exercise_property("equivariance-gap", "sorting has a gap, though it does not change when the input shifts")
def sorting_has_a_gap(answer: Gap) -> str | None:
    gap = float(answer(sort, LIST, 1))
    return None if gap > 0.5 else f"sorting (0, 3, 2, 0, 0) got a gap of {gap:.3g} at a shift of 1"


@exercise_property("equivariance-gap", "the gap is the largest difference, whatever its sign")
def gap_is_the_largest_difference(answer: Gap) -> str | None:
    for values in (LIST, -LIST):
        gap = float(answer(weigh, values, 1))
        if abs(gap - 3) > 1e-5:  # the shifted list weighed, (0, 0, 6, 6, 0), less (0, 0, 3, 4, 0)
            return f"for {values.int().tolist()} times the place 0, 1, 2, ... at a shift of 1 came {gap:.3g}"
    return None


@exercise_property("equivariance-gap", "it uses the shift that it is given")
def uses_the_shift(answer: Gap) -> str | None:
    if abs(float(answer(weigh, LIST, 0))) > 1e-5:
        return "no shift at all should leave no gap"
    gap = float(answer(weigh, LIST, 2))
    return None if abs(gap - 6) < 1e-5 else f"for the list times the place, at a shift of 2, came {gap:.3g}"


@exercise_property("fool-the-bag", "it names the four parts of a face, each with an x and a y")
def names_four_parts(answer: Places) -> str | None:
    places = answer()
    if set(places) != set(FACE):
        return f"the parts are {sorted(FACE)}, yours are {sorted(places)}"
    odd = [part for part, place in places.items() if len(place) != 2]
    return f"{odd[0]} has {len(places[odd[0]])} numbers" if odd else None


@exercise_property("fool-the-bag", "no part is within 5 pixels of where a face has one like it")
def is_no_face(answer: Places) -> str | None:
    for part, place in answer().items():
        for other, home in FACE.items():
            if part.split()[-1] == other.split()[-1] and _apart(place, home) <= 5:
                return f"{part} at {tuple(place)} is close to the {other}'s place, {home}"
    return None


@exercise_property("fool-the-bag", "no two parts touch")
def parts_stand_alone(answer: Places) -> str | None:
    parts = list(answer().items())
    for index, (part, place) in enumerate(parts):
        for other, other_place in parts[:index]:
            if _apart(place, other_place) < WINDOW - 1:
                return f"{part} and {other} are less than {WINDOW - 1} pixels apart both ways"
    return None


@exercise_property("fool-the-bag", "it is not the jumbled face of this chapter")
def is_your_own(answer: Places) -> str | None:
    same = {part: tuple(place) for part, place in answer().items()} == JUMBLED
    return "all four places are those of JUMBLED" if same else None


@exercise_property("fool-the-bag", "the bag of parts gives it the score of a face")
def fools_the_bag(answer: Places) -> str | None:
    bag = bag_of_parts()
    yours, face = (bag(draw_face(places)[None]).item() for places in (answer(), FACE))
    if abs(yours - face) < 1e-3:
        return None
    return f"it scores {yours:.3f}, a face {face:.3f}; keep to whole pixels, and away from the outline"


def _apart(one: Place, other: Place) -> float:
    """The larger of the distances in x and in y."""
    return max(abs(one[0] - other[0]), abs(one[1] - other[1]))
