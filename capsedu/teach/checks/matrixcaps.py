"""Exercises of the chapter on the matrix capsule network."""

from collections.abc import Callable

import torch
from torch import Tensor

from capsedu.layers import ConvCaps
from capsedu.ops import Neighbourhood
from capsedu.teach.exercise import exercise_property

Counter = Callable[[int, int, int, str], int]
RowMap = Callable[[int, int, int, int], list[int]]
Sharing = Callable[[Tensor, Tensor], Tensor]


def _count_problem(
    answer: Counter, kernel: int, in_types: int, types: int, pose: str = "matrix"
) -> str | None:
    grid = Neighbourhood(kernel, kernel, kernel, 1)
    layer = ConvCaps(grid, in_types, types, pose=pose)  # type: ignore[arg-type]
    wanted = sum(weights.numel() for weights in layer.parameters())
    found = answer(kernel, in_types, types, pose)
    if found == wanted:
        return None
    return f"you count {found:,}, which is {'more' if found > wanted else 'fewer'} than there are"


@exercise_property("convcaps-parameters", "a 1 × 1 kernel from one type to one type has 18")
def smallest(answer: Counter) -> str | None:
    return _count_problem(answer, 1, 1, 1)


@exercise_property("convcaps-parameters", "the small network's first layer: 3 × 3, from 8 types to 16")
def right_first(answer: Counter) -> str | None:
    return _count_problem(answer, 3, 8, 16)


@exercise_property("convcaps-parameters", "other sizes: 5 × 5, from 4 types to 3")
def right_other(answer: Counter) -> str | None:
    return _count_problem(answer, 5, 4, 3)


@exercise_property("convcaps-parameters", "vector poses: 3 × 3, from 8 types to 16")
def right_vector(answer: Counter) -> str | None:
    return _count_problem(answer, 3, 8, 16, "vector")


def _rows_problem(answer: RowMap, rows: int, kernel: int, stride: int) -> str | None:
    out = (rows - kernel) // stride + 1
    for row in range(rows):
        wanted = [p for p in range(out) if row in range(p * stride, p * stride + kernel)]
        found = list(answer(row, rows, kernel, stride))
        extra = [p for p in found if p not in wanted]
        if extra and not 0 <= extra[0] < out:
            return f"row {row}: there is no parent in row {extra[0]}, only rows 0 to {out - 1}"
        if extra:
            first = extra[0] * stride
            return f"row {row}: parent {extra[0]} sees only rows {first} to {first + kernel - 1}"
        if sorted(found) != wanted:
            return f"row {row}: you find {len(found)} of {len(wanted)} parents"
    return None


@exercise_property("parents-of-a-row", "stride 1: a 3-wide kernel over 6 rows")
def stride_one(answer: RowMap) -> str | None:
    return _rows_problem(answer, 6, 3, 1)


@exercise_property("parents-of-a-row", "stride 2: a 3-wide kernel over 13 rows")
def stride_two(answer: RowMap) -> str | None:
    return _rows_problem(answer, 13, 3, 2)


@exercise_property("parents-of-a-row", "stride 2 over 14 rows, where nobody sees the last")
def left_over(answer: RowMap) -> str | None:
    return _rows_problem(answer, 14, 3, 2)


@exercise_property("parents-of-a-row", "another kernel and stride: 5 wide, stride 3, 17 rows")
def another_kernel(answer: RowMap) -> str | None:
    return _rows_problem(answer, 17, 5, 3)


# Three parent positions with a window of two, stride 1: child 1 and child 2 are seen twice.
CHILDREN = torch.tensor([[0, 1], [1, 2], [2, 3]])


def _scores(seed: int = 0) -> Tensor:
    return torch.randn(3, 2, 4, generator=torch.Generator().manual_seed(seed))


@exercise_property("share-out", "the shares of every child sum to 1 over all its parents")
def sums_to_one(answer: Sharing) -> str | None:
    shares = answer(_scores(), CHILDREN)
    for child in range(4):
        given = float(shares[CHILDREN.eq(child)].sum())
        if abs(given - 1) > 1e-4:
            times = int(CHILDREN.eq(child).sum())
            return (
                f"a child that {times} parent position{'s see' if times > 1 else ' sees'} gives {given:.2f}"
            )
    return None


@exercise_property("share-out", "a child that one position sees shares itself among the types there")
def alone_by_softmax(answer: Sharing) -> str | None:
    scores = _scores()
    found = answer(scores, CHILDREN)[0, 0]
    if torch.allclose(found, scores[0, 0].softmax(dim=0), atol=1e-5):
        return None
    return f"for log-scores {_told(scores[0, 0])} it gives {_told(found)}"


@exercise_property("share-out", "a parent that fits better takes from parents at other positions")
def takes_from_others(answer: Sharing) -> str | None:
    scores = torch.zeros(3, 2, 4)
    before = float(answer(scores, CHILDREN)[1, 0].sum())  # child 1 at the second position
    scores[0, 1, 2] = 3.0  # a type at the first position fits it better
    after = float(answer(scores, CHILDREN)[1, 0].sum())
    if after < before - 0.1:
        return None
    return f"the other position keeps {after:.2f}, and had {before:.2f}"


@exercise_property("share-out", "log-scores of some thousands, up or down, do no harm")
def stays_finite(answer: Sharing) -> str | None:
    scores = _scores()
    wanted = answer(scores, CHILDREN)
    for shift in (5000.0, -5000.0):
        found = answer(scores + shift, CHILDREN)
        if not bool(found.isfinite().all()) or not torch.allclose(found, wanted, atol=2e-3):
            return f"with {shift:+.0f} added to every log-score the shares change"
    return None


def _told(values: Tensor) -> str:
    return "[" + ", ".join(f"{value:.2f}" for value in values.tolist()) + "]"
