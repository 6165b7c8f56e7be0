"""The exercises on squash accept the solution and refuse typical mistakes for the right reason."""

import pytest
import torch

from capsedu import teach
from capsedu.ops import squash


def failures(printed: str) -> list[str]:
    return [line.split("fails  ")[1] for line in printed.splitlines() if "fails  " in line]


def naive(s, dim):
    length = s.norm(dim=dim, keepdim=True)
    return length**2 / (1 + length**2) * s / length


def test_unsquash_accepts_the_solution():
    assert teach.check("unsquash", lambda length: torch.sqrt(length / (1 - length)))


@pytest.mark.parametrize("answer", [lambda v: v / (1 - v), lambda v: v, lambda v: v**2 / (1 + v**2)])
def test_unsquash_refuses_other_functions(answer, capsys):
    assert not teach.check("unsquash", answer)
    assert failures(capsys.readouterr().out)[0].startswith("squash brings your length back")


def test_unsquash_refuses_a_length_for_zero(capsys):
    assert not teach.check("unsquash", lambda v: torch.sqrt((v + 1e-3) / (1 - v)))
    assert any(line.startswith("a capsule of length 0") for line in failures(capsys.readouterr().out))


def test_repair_accepts_squash():
    assert teach.check("repair-squash", squash)


def test_repair_finds_the_wrong_axis(capsys):
    assert not teach.check("repair-squash", lambda s: squash(s, dim=1))
    found = failures(capsys.readouterr().out)
    assert [line.split(":")[0] for line in found] == [
        "a vector of length 5 gets length 25/26 and keeps its direction",
        "no capsule is longer than 1",
        "what a capsule says does not depend on its neighbours",
    ]


def test_repair_finds_nan_at_zero(capsys):
    assert not teach.check("repair-squash", lambda s: naive(s, -1))
    found = failures(capsys.readouterr().out)
    assert [line.split(":")[0] for line in found] == [
        "a capsule of zeros stays zero",
        "the gradient at zero is finite",
    ]


def test_repair_finds_a_gradient_that_only_the_value_hides(capsys):
    assert not teach.check("repair-squash", lambda s: naive(s, -1).nan_to_num())
    found = failures(capsys.readouterr().out)
    assert [line.split(":")[0] for line in found] == ["the gradient at zero is finite"]
