"""EM routing seen as a mixture fit, and children counted on a grid."""

from itertools import pairwise

import pytest
import torch

from capsedu import analysis
from capsedu.ops import Neighbourhood, em_routing, votes_on_grid


def example(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_log_likelihood_is_that_of_a_mixture():
    votes, activations = example(1, 7, 3, 2), torch.rand(1, 7, dtype=torch.float64)
    betas = example(2, 3, seed=1)
    parents = em_routing(votes, activations, *betas, trace=True).trace.parents[-1]
    total = 0.0
    for i in range(7):
        density = torch.distributions.Normal(parents.mean[0], parents.variance[0].sqrt()).log_prob(
            votes[0, i]
        )
        proportions = parents.activation[0] / parents.activation[0].sum()
        total += activations[0, i] * (proportions * density.sum(dim=-1).exp()).sum().log()
    assert analysis.log_likelihood(votes, activations, parents).item() == pytest.approx(total.item())


def test_without_temperature_no_iteration_lowers_the_likelihood():
    points = torch.cat([example(30, 2) - 3, example(30, 2, seed=1) + 3])
    votes = (points[:, None] + 0.3 * example(60, 2, 2, seed=2))[None]
    activations = torch.rand(1, 60, dtype=torch.float64)
    beta = torch.zeros(2, dtype=torch.float64)
    trace = em_routing(
        votes, activations, beta, beta, iterations=25, inverse_temperature=0.0, variance_floor=0.0, trace=True
    ).trace
    found = [analysis.log_likelihood(votes, activations, parents).item() for parents in trace.parents]
    assert all(after >= before - 1e-9 for before, after in pairwise(found))
    assert found[-1] > found[0] + 10


@pytest.mark.parametrize(("side", "stride"), [(5, 1), (7, 2), (6, 2)])
def test_without_positions_a_child_is_given_away_once_for_each(side, stride):
    grid = Neighbourhood(side, side, 3, stride)
    votes = votes_on_grid(example(2, side**2, 2, 2, 2), example(18, 3, 2, 2, seed=1), grid)
    activations = torch.ones(votes.shape[:3], dtype=votes.dtype)
    betas = example(2, 3, seed=2)
    wrong = analysis.route_without_positions(votes, activations, *betas)
    assert wrong.poses.shape == (2, votes.shape[1], 3, 4)
    given = analysis.handed_out(wrong.responsibilities, grid)
    assert torch.allclose(given, analysis.parent_counts(grid).double()[:, :, None].expand_as(given))
    right = analysis.handed_out(em_routing(votes, activations, *betas, grid=grid).responsibilities, grid)
    assert right.max().item() == pytest.approx(1)


def test_without_positions_is_right_where_there_is_one_position():
    grid = Neighbourhood(3, 3, 3, 1)
    votes = votes_on_grid(example(2, 9, 1, 2, 2), example(9, 3, 2, 2, seed=1), grid)
    activations, betas = torch.rand(2, 1, 9, dtype=votes.dtype), example(2, 3, seed=2)
    right = em_routing(votes, activations, *betas, grid=grid)
    assert torch.allclose(right.poses, analysis.route_without_positions(votes, activations, *betas).poses)
