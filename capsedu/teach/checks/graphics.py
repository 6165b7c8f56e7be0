"""Exercises of chapter 2: poses one after the other, and a part that is hidden."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from capsedu.render import rotate, stretch, translate
from capsedu.teach.exercise import exercise_property

Chain = Callable[[Sequence[Tensor]], Tensor]
Hidden = Callable[[Tensor, Tensor, Tensor], Tensor]

QUARTER = rotate("z", 90.0)
AHEAD = translate([1.0, 0.0, 0.0])
BOAT = translate([0.3, -0.2, 0.1]) @ rotate("z", 40.0) @ stretch([1.5] * 3)
HULL = translate([0.0, 0.0, -0.4]) @ rotate("x", 10.0)
SAIL = translate([0.1, 0.0, 0.6]) @ rotate("y", 25.0)
VIEW = translate([0.0, 0.5, 1.0]) @ rotate("x", 70.0)


@exercise_property("pose-order", "a chain of one pose is that pose")
def one_pose_is_itself(answer: Chain) -> str | None:
    return (
        None if _close(answer([BOAT]), BOAT) else "a boat that is turned, moved and enlarged came out changed"
    )


@exercise_property("pose-order", "a part sits where it belongs on a whole that is turned")
def part_turns_with_the_whole(answer: Chain) -> str | None:
    place = answer([QUARTER, AHEAD])[:3, 3]
    if _close(place, torch.tensor([0.0, 1.0, 0.0])):
        return None
    told = "a whole turned from x to y has a part one step ahead of it, along its own x"
    return f"{told}; yours is at {_place(place)}"


@exercise_property("pose-order", "a whole that is moved aside keeps its part's turn")
def whole_moved_keeps_turn(answer: Chain) -> str | None:
    place = answer([AHEAD, QUARTER])[:3, 3]
    if _close(place, torch.tensor([1.0, 0.0, 0.0])):
        return None
    return f"a whole at (1, 0, 0) has a part in its middle, turned; yours is at {_place(place)}"


@exercise_property("pose-order", "three in a chain: the first two can be made one before")
def chains_can_be_shortened(answer: Chain) -> str | None:
    long, short = answer([BOAT, SAIL, HULL]), answer([answer([BOAT, SAIL]), HULL])
    return None if _close(long, short) else "a chain of three differs from the same chain with two made one"


@exercise_property("pose-order", "what happens to the picture happens to every part, after all else")
def viewpoint_comes_last(answer: Chain) -> str | None:
    turned, still = answer([QUARTER, BOAT, SAIL])[:3, 3], answer([BOAT, SAIL])[:3, 3]
    expected = torch.stack([-still[1], still[0], still[2]])
    if _close(turned, expected):
        return None
    return (
        f"the sail is at {_place(still)}; with the whole picture turned from x to y it is at {_place(turned)}"
    )


@exercise_property("hidden-part", "on a whole at rest, the part is where its relation says")
def whole_at_rest(answer: Hidden) -> str | None:
    found = answer(HULL, HULL, SAIL)
    if _close(found, SAIL):
        return None
    told = f"the hull is where its relation says, so the sail's place is {_place(SAIL[:3, 3])}"
    return f"{told}; yours {_place(found[:3, 3])}"


@exercise_property("hidden-part", "a part with the same relation as the seen one has the same pose")
def same_relation_same_pose(answer: Hidden) -> str | None:
    seen = BOAT @ HULL
    return None if _close(answer(seen, HULL, HULL), seen) else "two parts of one relation came out apart"


@exercise_property("hidden-part", "another viewpoint moves the answer along")
def viewpoint_moves_the_answer(answer: Hidden) -> str | None:
    seen = BOAT @ HULL
    before, after = answer(seen, HULL, SAIL), answer(VIEW @ seen, HULL, SAIL)
    if _close(after, VIEW @ before):
        return None
    return (
        "the viewer moved: the hull's pose changed by one matrix, and the sail's did not change by the same"
    )


@exercise_property("hidden-part", "it finds the sail of a boat that is moved, turned and enlarged")
def finds_the_sail(answer: Hidden) -> str | None:
    found, right = answer(BOAT @ HULL, HULL, SAIL), BOAT @ SAIL
    if _close(found, right):
        return None
    return f"the sail's place is {_place(right[:3, 3])}; yours {_place(found[:3, 3])}"


def _close(found: Tensor, right: Tensor) -> bool:
    return found.shape == right.shape and bool(torch.allclose(found, right, atol=1e-4))


def _place(place: Tensor) -> str:
    return "(" + ", ".join(f"{round(number, 2) + 0.0:g}" for number in place.tolist()) + ")"
