"""Exercises of the chapter on poses."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Generator, Tensor

from capsedu.render import rotate, translate
from capsedu.teach.exercise import exercise_property

Voter = Callable[[Tensor, Tensor], Tensor]
Variance = Callable[[Tensor, Tensor], Tensor]

WHEEL = torch.tensor([[0.0, -1, 0, 4], [1, 0, 0, 2], [0, 0, 1, 0], [0, 0, 0, 1]])
WHEEL_TO_CAR = torch.tensor([[1.0, 0, 0, -1], [0, 1, 0, 3], [0, 0, 1, 0.5], [0, 0, 0, 1]])


@exercise_property("vote-by-hand", "is four rows of four numbers")
def is_a_pose(answer: Any) -> str | None:
    shape = tuple(torch.as_tensor(answer, dtype=torch.float32).shape)
    return None if shape == (4, 4) else f"your answer has shape {shape}"


@exercise_property("vote-by-hand", "says how the car is turned")
def turns_right(answer: Any) -> str | None:
    wrong = (_vote(answer) - WHEEL @ WHEEL_TO_CAR)[:3, :3].abs() > 1e-4
    return f"{int(wrong.sum())} of the first 9 numbers are wrong" if wrong.any() else None


@exercise_property("vote-by-hand", "says where the middle of the car is")
def stands_right(answer: Any) -> str | None:
    found, wanted = _vote(answer)[:3, 3], (WHEEL @ WHEEL_TO_CAR)[:3, 3]
    if torch.allclose(found, wanted, atol=1e-4):
        return None
    if torch.allclose(found, (WHEEL_TO_CAR @ WHEEL)[:3, 3], atol=1e-4):
        return "this is the right-hand column of W M"
    return f"your middle is {float((found - wanted).norm()):.2f} away from it"


@exercise_property("vote-by-hand", "ends with the row of every rigid pose")
def ends_right(answer: Any) -> str | None:
    wrong = (_vote(answer)[3] - torch.tensor([0.0, 0, 0, 1])).abs() > 1e-4
    return f"{int(wrong.sum())} numbers of the last row are wrong" if wrong.any() else None


@exercise_property("repair-votes", "gives one pose for each child and parent")
def one_pose_a_pair(answer: Voter) -> str | None:
    shape = tuple(answer(_normal(5, 4, 4), _normal(5, 3, 4, 4)).shape)
    return None if shape == (5, 3, 4, 4) else f"for 5 children and 3 parents you give shape {shape}"


@exercise_property("repair-votes", "the parts of a toy agree, as long as the toy is not turned")
def agree_at_rest(answer: Voter) -> str | None:
    return _disagreement(answer, torch.eye(4, dtype=torch.float64))


@exercise_property("repair-votes", "they agree when the toy is turned, too")
def agree_when_turned(answer: Voter) -> str | None:
    return _disagreement(answer, rotate("z", torch.tensor(30.0, dtype=torch.float64)))


@exercise_property("repair-votes", "a viewpoint multiplies every vote from the left")
def viewpoint_on_the_left(answer: Voter) -> str | None:
    poses, weight, viewpoint = _normal(6, 4, 4), _normal(6, 2, 4, 4, seed=1), _normal(4, 4, seed=2)
    found, wanted = answer(viewpoint @ poses, weight), viewpoint @ answer(poses, weight)
    off = float((found - wanted).norm() / wanted.norm())
    return None if off < 1e-6 else f"for a random viewpoint the votes are off by {off:.0%}"


@exercise_property("variance-that-turns", "gives each of the 16 entries a variance")
def one_variance_an_entry(answer: Variance) -> str | None:
    found = answer(*_weighted_votes())
    if found.shape != (4, 4):
        return f"your variances have shape {tuple(found.shape)}"
    return None if (found > 0).all() else "one of them is not above 0"


@exercise_property("variance-that-turns", "each column has, on average, the variance of its votes")
def column_averages(answer: Variance) -> str | None:
    votes, weights = _weighted_votes()
    share = (weights / weights.sum())[:, None, None]
    plain = (share * (votes - (share * votes).sum(dim=0)).square()).sum(dim=0)
    off = (answer(votes, weights).mean(dim=0) / plain.mean(dim=0) - 1).abs()
    column = int(off.argmax())
    return None if off[column] < 1e-6 else f"column {column + 1} is off by {float(off[column]):.0%}"


@exercise_property("variance-that-turns", "turn all votes, and each is as far from the mean as before")
def distances_stay(answer: Variance) -> str | None:
    votes, weights = _weighted_votes()
    for axis, degrees in (("z", 30.0), ("x", 45.0)):
        viewpoint = rotate(axis, torch.tensor(degrees, dtype=torch.float64))
        before, after = (_distances(answer, moved, weights) for moved in (votes, viewpoint @ votes))
        off = float((after / before - 1).abs().max())
        if not off < 1e-6:
            return f"after {degrees:g} degrees about {axis}, a distance has changed by {off:.0%}"
    return None


def _vote(answer: Any) -> Tensor:
    return torch.as_tensor(answer, dtype=torch.float32)


def _normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=Generator().manual_seed(seed), dtype=torch.float64)


def _disagreement(answer: Voter, whole: Tensor) -> str | None:
    """Three parts of a whole in the given pose, each with the matrix that leads back to the whole."""
    places = translate(torch.tensor([[1.0, 0, 0], [0, 2, 0], [0, 0, 1]], dtype=torch.float64))
    parts = places @ rotate("x", torch.tensor([0.0, 40.0, 80.0], dtype=torch.float64))  # (I, 4, 4)
    votes = answer(whole @ parts, torch.linalg.inv(parts)[:, None])[:, 0]
    off = float((votes - votes[0]).abs().max())
    return None if off < 1e-6 else f"two votes differ by {off:.2f} in one of the 16 numbers"


def _weighted_votes() -> tuple[Tensor, Tensor]:
    """Votes (I, 4, 4) whose entries spread very differently, and weights (I,)."""
    scales = torch.linspace(0.2, 2, 16, dtype=torch.float64).view(4, 4)
    return _normal(10, 4, 4) * scales, torch.linspace(0.1, 1, 10, dtype=torch.float64)


def _distances(answer: Variance, votes: Tensor, weights: Tensor) -> Tensor:
    mean = (weights[:, None, None] * votes).sum(dim=0) / weights.sum()
    return ((votes - mean).square() / answer(votes, weights)).sum(dim=(1, 2))
