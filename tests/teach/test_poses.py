"""The exercises on poses accept the solution and refuse typical slips for the right reason."""

import pytest
import torch

from capsedu import teach
from capsedu.teach.checks.poses import WHEEL, WHEEL_TO_CAR

RIGHT_VOTE = [[0, -1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 0.5], [0, 0, 0, 1]]


def failures(printed: str) -> list[str]:
    return [line.split("fails  ")[1].split(":")[0] for line in printed.splitlines() if "fails  " in line]


def test_the_vote_by_hand_is_right():
    assert teach.check("vote-by-hand", RIGHT_VOTE)
    assert teach.check("vote-by-hand", WHEEL @ WHEEL_TO_CAR)


@pytest.mark.parametrize(
    ("answer", "properties"),
    [
        (WHEEL_TO_CAR @ WHEEL, ["says where the middle of the car is"]),
        (WHEEL + WHEEL_TO_CAR, ["says how the car is turned"]),
        ([1, 1, 0.5], ["is four rows of four numbers"]),
        (
            [[0, -1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 0.5], [0, 0, 0, 0]],
            ["ends with the row of every rigid pose"],
        ),
        ("no matrix", ["is four rows of four numbers"]),
    ],
)
def test_slips_by_hand_fail_where_they_should(answer, properties, capsys):
    assert not teach.check("vote-by-hand", answer)
    printed = capsys.readouterr().out
    assert set(properties) <= set(failures(printed))
    assert "0.5]" not in printed  # the right numbers are not given away


def test_m_times_w_is_right():
    assert teach.check("repair-votes", lambda poses, weight: poses[:, None] @ weight)


@pytest.mark.parametrize(
    ("answer", "failing"),
    [
        (
            lambda poses, weight: weight @ poses[:, None],
            ["they agree when the toy is turned, too", "a viewpoint multiplies every vote from the left"],
        ),
        (
            lambda poses, weight: poses[:, None] @ weight.mT,
            [
                "the parts of a toy agree, as long as the toy is not turned",
                "they agree when the toy is turned, too",
            ],
        ),
        (
            lambda poses, weight: poses[:, None] * weight,
            [
                "the parts of a toy agree, as long as the toy is not turned",
                "they agree when the toy is turned, too",
                "a viewpoint multiplies every vote from the left",
            ],
        ),
        (
            lambda poses, weight: (poses[:, None] @ weight).flatten(-2),
            ["gives one pose for each child and parent"],
        ),
    ],
)
def test_wrong_votes_fail_where_they_should(answer, failing, capsys):
    assert not teach.check("repair-votes", answer)
    assert set(failing) <= set(failures(capsys.readouterr().out))


def variance(votes, weights, tie):
    share = (weights / weights.sum())[:, None, None]
    plain = (share * (votes - (share * votes).sum(dim=0)).square()).sum(dim=0)
    return plain.mean(dim=tie, keepdim=True).expand(4, 4) if tie != () else plain


def test_sharing_over_the_rows_is_right():
    assert teach.check("variance-that-turns", lambda votes, weights: variance(votes, weights, 0))


@pytest.mark.parametrize(
    ("answer", "failing"),
    [
        (lambda v, w: variance(v, w, ()), ["turn all votes, and each is as far from the mean as before"]),
        (lambda v, w: variance(v, w, (0, 1)), ["each column has, on average, the variance of its votes"]),
        (
            lambda v, w: variance(v, w, 1),
            [
                "each column has, on average, the variance of its votes",
                "turn all votes, and each is as far from the mean as before",
            ],
        ),
        (lambda v, w: variance(v, w, 0)[0], ["gives each of the 16 entries a variance"]),
        (
            lambda v, w: variance(v, torch.ones_like(w), 0),
            ["each column has, on average, the variance of its votes"],
        ),
    ],
)
def test_variance_slips_fail_where_they_should(answer, failing, capsys):
    assert not teach.check("variance-that-turns", answer)
    found = failures(capsys.readouterr().out)
    assert found == failing or set(failing) <= set(found)
