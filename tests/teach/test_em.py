"""The exercises on EM routing accept the solution and refuse the known faults for the right reason."""

import pytest
import torch

from capsedu import teach


def failures(printed: str) -> list[str]:
    return [line.split("fails  ")[1].split(":")[0] for line in printed.splitlines() if "fails  " in line]


def m_step(
    R, a, votes, beta_u, beta_a, temperature, *, floor=5e-4, least=1e-8, normalised=True, cancel=False
):
    """The M-step with room for one mistake."""
    r = R * a[..., None]
    if cancel:
        r = r / r.sum(dim=-1, keepdim=True)
    mass = r.sum(dim=1)  # (B, J)
    share = (r / (mass + least)[:, None])[..., None]
    mean = (share * votes).sum(dim=1)
    variance = (share * (votes - mean[:, None]) ** 2).sum(dim=1) + floor
    data = mass * R.shape[2] / R.shape[1] if normalised else mass
    cost = data * (beta_u[:, None] + variance.log() / 2).sum(dim=-1)
    return mean, variance, torch.sigmoid(temperature * (beta_a - cost))


def route(votes, a, beta_u, beta_a, strength, iterations, *, over_children=False, **mistake):
    scores = votes.new_zeros(votes.shape[:2])
    for t in range(iterations):
        R = scores.softmax(dim=0 if over_children else 1)
        temperature = strength * (1 - 0.95 ** (t + 1))
        fitted = m_step(R[None], a[None], votes[None], beta_u, beta_a, temperature, **mistake)
        mean, variance, active = (tensor[0] for tensor in fitted)
        density = torch.distributions.Normal(mean, variance.sqrt()).log_prob(votes).sum(dim=-1)
        scores = density + active.log()
    return mean, active, R


def test_the_m_step_is_accepted():
    assert teach.check("m-step", m_step)


@pytest.mark.parametrize(
    ("mistake", "property"),
    [
        ({"floor": 0.0}, "a parent with one child has the variance floor"),
        ({"least": 0.0}, "no child active, and still every number is finite"),
        ({"normalised": False}, "twice the children, the same activation"),
        ({"cancel": True}, "the mean weighs each vote by R_ij a_i"),
    ],
    ids=["no floor", "divided by no mass", "raw mass", "a_i cancelled"],
)
def test_mistakes_in_the_m_step_are_found(mistake, property, capsys):
    assert not teach.check("m-step", lambda *inputs: m_step(*inputs, **mistake))
    assert property in failures(capsys.readouterr().out)


def test_repaired_routing_is_accepted():
    assert teach.check("repair-em", route)


@pytest.mark.parametrize(
    ("mistake", "found"),
    [
        (
            {"cancel": True},
            ["a child that is hardly there moves nobody", "children less sure make parents less sure"],
        ),
        ({"over_children": True}, ["a child's responsibilities sum to 1 over the parents"]),
        ({"normalised": False}, []),
    ],
    ids=["a_i cancelled", "softmax over children", "raw mass"],
)
def test_faults_of_the_field_are_found(mistake, found, capsys):
    assert not teach.check("repair-em", lambda *inputs: route(*inputs, **mistake))
    assert failures(capsys.readouterr().out) == [*found, "three iterations give what the paper's rules give"]
