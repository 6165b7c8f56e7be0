"""The exercises of chapter 1 accept the solution and tell each typical mistake."""

import pytest
import torch

from capsedu import teach
from capsedu.analysis.faces import FACE, JUMBLED

OWN = {"left eye": (-9.0, 3.0), "right eye": (9.0, 3.0), "nose": (0.0, 9.0), "mouth": (0.0, -9.0)}


def equivariance_gap(f, x, steps):
    return (f(x.roll(steps)) - f(x).roll(steps)).abs().max()


def invariance_gap(f, x, steps):
    return (f(x.roll(steps)) - f(x)).abs().max()


def mean_gap(f, x, steps):
    return (f(x.roll(steps)) - f(x).roll(steps)).abs().mean()


def signed_gap(f, x, steps):
    return (f(x.roll(steps)) - f(x).roll(steps)).max()


def gap_of_one_step(f, x, steps):
    return equivariance_gap(f, x, 1)


def failing(capsys) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith("  fails")]


def test_solutions_are_right():
    assert teach.check("equivariance-gap", equivariance_gap)
    assert teach.check("fool-the-bag", lambda: OWN)


@pytest.mark.parametrize(
    ("answer", "statement"),
    [
        (invariance_gap, "a convolution has no gap"),
        (invariance_gap, "sorting has a gap"),
        (mean_gap, "the gap is the largest difference"),
        (signed_gap, "the gap is the largest difference"),
        (gap_of_one_step, "it uses the shift"),
        (lambda f, x, steps: torch.zeros(()), "sorting has a gap"),
    ],
)
def test_a_wrong_gap_fails_where_it_should(answer, statement, capsys):
    assert not teach.check("equivariance-gap", answer)
    assert any(statement in line for line in failing(capsys))


@pytest.mark.parametrize(
    ("places", "statement"),
    [
        ({"nose": (0.0, 0.0)}, "it names the four parts"),
        (FACE, "within 5 pixels"),
        ({**FACE, "left eye": FACE["right eye"], "right eye": FACE["left eye"]}, "within 5 pixels"),
        ({**OWN, "nose": (-9.0, 8.0)}, "no two parts touch"),
        (JUMBLED, "not the jumbled face"),
        ({**OWN, "nose": (0.5, 9.5)}, "the score of a face"),
        ({**OWN, "mouth": (0.0, -15.0)}, "the score of a face"),
    ],
)
def test_a_wrong_arrangement_fails_where_it_should(places, statement, capsys):
    assert not teach.check("fool-the-bag", lambda: places)
    assert any(statement in line for line in failing(capsys))
