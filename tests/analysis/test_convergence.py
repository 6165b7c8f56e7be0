"""Measures of convergence say what they are meant to say."""

import pytest
import torch

from capsedu import analysis, models, ops


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return models.create("capsnet-mnist-small", init_scale=0.5).eval()


@pytest.fixture(scope="module")
def images():
    return torch.rand(3, 1, 28, 28, generator=torch.Generator().manual_seed(0))


def random_votes(scale=1.0):
    return scale * torch.randn(4, 12, 3, 5, generator=torch.Generator().manual_seed(0))


def test_reroute_with_the_models_own_iterations_gives_the_models_outputs(model, images):
    with torch.no_grad():
        expected = model(images).capsules
    torch.testing.assert_close(analysis.reroute(model, images, 3).outputs, expected)
    torch.testing.assert_close(analysis.reroute(model, images, 3, trace=True).outputs, expected)


def test_reroute_leaves_the_model_as_it_is(model, images):
    analysis.reroute(model, images, 7)
    assert model.classes.iterations == 3


def test_reroute_leaks_if_the_model_does(images):
    leaky = models.create("capsnet-mnist-small", leaky=True)
    for trace in (False, True):
        assert analysis.reroute(leaky, images, 2, trace=trace).couplings.sum(dim=-1).max() < 0.99


def test_mean_change_is_taken_of_absolute_values():
    steps = [torch.zeros(2, 2), torch.tensor([[1.0, -1.0], [3.0, -3.0]])]
    assert analysis.mean_change(steps).tolist() == [2.0]


def test_change_of_the_logits_is_the_agreement():
    votes = random_votes()
    trace = ops.dynamic_routing(votes, 4, trace=True).trace
    agreements = [(votes * output[:, None]).sum(dim=-1).abs().mean() for output in trace.outputs[:-1]]
    torch.testing.assert_close(analysis.mean_change(trace.logits), torch.stack(agreements))


def test_entropy_of_hard_couplings_is_zero_and_of_equal_ones_is_one():
    couplings = torch.stack([torch.eye(4), torch.full((4, 4), 0.25)])
    torch.testing.assert_close(analysis.coupling_entropy(couplings), torch.tensor([[0.0] * 4, [1.0] * 4]))


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
def test_routing_never_lowers_its_objective(scale):
    votes = random_votes(scale).double()
    trace = ops.dynamic_routing(votes, 40, trace=True).trace
    values = torch.stack([analysis.routing_objective(votes, couplings) for couplings in trace.couplings])
    assert (values.diff(dim=0) > -1e-9).all()
    assert (values[-1] > values[0]).all()


def test_slope_of_the_objective_is_the_agreement():
    votes = random_votes().double()
    couplings = torch.rand(4, 12, 3, dtype=torch.float64).requires_grad_()
    (slope,) = torch.autograd.grad(analysis.routing_objective(votes, couplings).sum(), couplings)
    outputs = ops.squash(torch.einsum("bij,bijd->bjd", couplings, votes))
    torch.testing.assert_close(slope, torch.einsum("bijd,bjd->bij", votes, outputs))


def test_lengths_for_each_number_of_iterations_do_not_depend_on_the_batches(model, images):
    found = analysis.lengths_by_iterations(model, images, (1, 3), batch_size=2)
    assert list(found) == [1, 3]
    with torch.no_grad():
        torch.testing.assert_close(found[3], model(images).lengths)
    assert not torch.allclose(found[1], found[3])
