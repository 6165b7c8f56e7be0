"""The exercises of chapter 2 accept the solution and tell each typical mistake."""

import pytest
import torch

from capsedu import teach


def pose_of_last(chain):
    pose = torch.eye(4)
    for step in chain:
        pose = pose @ step
    return pose


def wrong_way_round(chain):
    pose = torch.eye(4)
    for step in chain:
        pose = step @ pose
    return pose


def places_added(chain):
    pose = torch.eye(4)
    pose[:3, 3] = sum(step[:3, 3] for step in chain)
    return pose


def hidden_part(seen, seen_relation, hidden_relation):
    return seen @ torch.linalg.inv(seen_relation) @ hidden_relation


def failing(capsys) -> list[str]:
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith("  fails")]


def test_solutions_are_right():
    assert teach.check("pose-order", pose_of_last)
    assert teach.check("hidden-part", hidden_part)


@pytest.mark.parametrize(
    ("answer", "statement"),
    [
        (wrong_way_round, "on a whole that is turned"),
        (wrong_way_round, "keeps its part's turn"),
        (wrong_way_round, "after all else"),
        (places_added, "a chain of one pose"),
        (lambda chain: chain[0], "on a whole that is turned"),
        (lambda chain: chain[0] @ chain[-1], "a chain of one pose"),
        (lambda chain: pose_of_last(chain[:2]), "after all else"),
        (lambda chain: pose_of_last([chain[0], *reversed(chain[1:])]), "the first two can be made one"),
    ],
)
def test_a_wrong_order_fails_where_it_should(answer, statement, capsys):
    assert not teach.check("pose-order", answer)
    assert any(statement in line for line in failing(capsys))


@pytest.mark.parametrize(
    ("answer", "statement"),
    [
        (lambda seen, s, h: seen @ h, "on a whole at rest"),  # takes the part for the whole
        (lambda seen, s, h: seen @ s @ h, "on a whole at rest"),  # forgets to invert
        (lambda seen, s, h: seen @ h @ torch.linalg.inv(s), "on a whole at rest"),
        (lambda seen, s, h: torch.linalg.inv(s) @ seen @ h, "another viewpoint moves the answer"),
        (lambda seen, s, h: h, "the same relation as the seen one"),
        (lambda seen, s, h: seen, "it finds the sail"),
    ],
)
def test_a_wrong_pose_fails_where_it_should(answer, statement, capsys):
    assert not teach.check("hidden-part", answer)
    assert any(statement in line for line in failing(capsys))
