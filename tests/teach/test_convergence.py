"""The exercises on convergence accept the solution and refuse typical slips for the right reason."""

import math

import pytest
import torch

from capsedu import analysis, ops, teach


def failures(printed: str) -> list[str]:
    return [line.split("fails  ")[1].split(":")[0] for line in printed.splitlines() if "fails  " in line]


def naive_entropy(couplings, dim=-1):
    return -(couplings * couplings.log()).sum(dim=dim) / math.log(couplings.shape[-1])


def test_entropy_of_the_package_is_right():
    assert teach.check("coupling-entropy", analysis.coupling_entropy)


@pytest.mark.parametrize(
    ("answer", "property"),
    [
        (naive_entropy, "is 0, and a number, when one parent has it all"),
        (lambda c: torch.special.entr(c).sum(dim=-1), "is 1 when all parents have the same share"),
        (lambda c: torch.special.entr(c).sum(dim=1) / math.log(c.shape[-1]), "gives one number a child"),
        (lambda c: torch.special.entr(c).sum() / math.log(c.shape[-1]), "gives one number a child"),
        (
            lambda c: (1 - c.max(dim=-1).values) / (1 - 1 / c.shape[-1]),
            "lies in between for a child that leans to one side",
        ),
    ],
)
def test_entropy_slips_fail_where_they_should(answer, property, capsys):
    assert not teach.check("coupling-entropy", answer)
    assert property in failures(capsys.readouterr().out)


def route_until(votes, tolerance, limit, *, watch="couplings", late=0, ignore_limit=False):
    """Routing that stops by itself, with room for one mistake."""
    logits = torch.zeros(votes.shape[:3])
    before, iteration = None, 0
    while iteration < (500 if ignore_limit else limit):
        iteration += 1
        couplings = logits.softmax(dim=2)
        watched = couplings if watch == "couplings" else logits
        if before is not None and (watched - before).abs().mean() < tolerance:
            break
        before = watched
        outputs = ops.squash(torch.einsum("bij,bijd->bjd", couplings, votes))
        logits = logits + torch.einsum("bijd,bjd->bij", votes, outputs)
    return couplings, iteration + late


def test_watching_the_couplings_is_right():
    assert teach.check("stopping-rule", route_until)


@pytest.mark.parametrize(
    ("mistake", "property"),
    [
        ({"watch": "logits"}, "comes to an end on votes that agree"),
        ({"late": 1}, "gives the couplings of that many iterations"),
        ({"late": -1}, "stops as soon as the couplings have settled, and not before"),
        ({"ignore_limit": True}, "keeps to the limit"),
    ],
)
def test_stopping_mistakes_fail_where_they_should(mistake, property, capsys):
    assert not teach.check("stopping-rule", lambda *args, **options: route_until(*args, **options, **mistake))
    assert property in failures(capsys.readouterr().out)
