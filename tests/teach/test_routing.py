"""The exercises on routing accept the solution and refuse the field's mistakes for the right reason."""

import pytest
import torch

from capsedu import teach
from capsedu.ops import squash


def failures(printed: str) -> list[str]:
    return [line.split("fails  ")[1].split(":")[0] for line in printed.splitlines() if "fails  " in line]


def route(votes, iterations, *, softmax_dim=2, over_batch=False, updates=0):
    """Routing with room for one mistake."""
    b = torch.zeros(votes.shape[:3])
    for _ in range(iterations + updates):
        c = b.softmax(dim=softmax_dim)
        v = squash((c[..., None] * votes).sum(dim=1))
        agreement = (votes * v[:, None]).sum(dim=-1)
        b = b + (agreement.mean(dim=0, keepdim=True) if over_batch else agreement)
    return v, c


def by_sums(weights):
    rows = weights.sum(dim=1)
    return "routing" if torch.allclose(rows, torch.ones_like(rows)) else "attention"


def test_naming_by_the_sums_is_right():
    assert teach.check("routing-or-attention", by_sums)


@pytest.mark.parametrize(
    ("answer", "property"),
    [
        (lambda weights: by_sums(weights.T), "knows the couplings of dynamic routing"),
        (lambda weights: "routing", "knows the weights of attention"),
        (lambda weights: "attention", "knows the couplings of dynamic routing"),
    ],
    ids=["swapped", "always routing", "always attention"],
)
def test_naming_the_wrong_way_is_refused(answer, property, capsys):
    assert not teach.check("routing-or-attention", answer)
    assert property in failures(capsys.readouterr().out)


def test_repaired_routing_is_accepted():
    assert teach.check("repair-routing", route)


@pytest.mark.parametrize(
    ("mistake", "property"),
    [
        ({"over_batch": True}, "an example is routed alike in any company"),
        ({"softmax_dim": 1}, "a child's couplings sum to 1 over the parents"),
        ({"updates": 1}, "one iteration shares every child out equally"),
    ],
    ids=["logits averaged over the batch", "softmax over children", "one iteration too many"],
)
def test_mistakes_of_the_field_are_found(mistake, property, capsys):
    assert not teach.check("repair-routing", lambda votes, r: route(votes, r, **mistake))
    found = failures(capsys.readouterr().out)
    assert property in found
    assert "three iterations give the paper's outputs" in found
    assert len(found) == 2
