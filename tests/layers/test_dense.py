"""DenseCaps: a matrix for every pair of child and parent, then routing."""

import pytest
import torch

from capsedu.layers import DenseCaps
from capsedu.ops import dynamic_routing
from tests import references

leaky_or_not = pytest.mark.parametrize("leaky", [False, True], ids=["plain", "leaky"])


def children(batch: int = 3) -> torch.Tensor:
    return torch.randn(batch, 6, 3, generator=torch.Generator().manual_seed(0))


def test_votes_agree_with_the_loops():
    layer = DenseCaps(6, 3, 4, 5)
    expected = references.predictions(children(), layer.weight.detach())
    torch.testing.assert_close(layer.votes(children()), expected, atol=1e-5, rtol=0, check_stride=False)


@leaky_or_not
@pytest.mark.parametrize("iterations", [1, 3])
def test_layer_agrees_with_the_loops(iterations, leaky):
    layer = DenseCaps(6, 3, 4, 5, iterations=iterations, leaky=leaky, init_scale=1.0)
    votes = references.predictions(children(2), layer.weight.detach())
    outputs, couplings = references.dynamic_routing(votes, iterations, leaky=leaky)
    result = layer(children(2))
    torch.testing.assert_close(result.outputs, outputs, atol=1e-5, rtol=0)
    torch.testing.assert_close(result.couplings, couplings, atol=1e-5, rtol=0, check_stride=False)


@leaky_or_not
@pytest.mark.parametrize("gradient", ["all", "last"])
def test_options_reach_the_routing(gradient, leaky):
    layer = DenseCaps(6, 3, 4, 5, iterations=2, gradient=gradient, leaky=leaky, init_scale=1.0).double()
    inputs = children().double()
    expected = dynamic_routing(layer.votes(inputs), 2, gradient=gradient, leaky=leaky)
    for result in (layer(inputs), layer(inputs, trace=True)):
        torch.testing.assert_close(result.outputs, expected.outputs)
        (ours,) = torch.autograd.grad(result.outputs.sum(), layer.weight)
        (theirs,) = torch.autograd.grad(expected.outputs.sum(), layer.weight, retain_graph=True)
        torch.testing.assert_close(ours, theirs)


def test_trace_is_there_when_asked_for():
    layer = DenseCaps(6, 3, 4, 5, iterations=4)
    assert layer(children()).trace is None
    assert len(layer(children(), trace=True).trace.couplings) == 4


def test_one_matrix_a_pair_and_no_bias():
    layer = DenseCaps(1152, 8, 10, 16)
    assert {name: parameter.numel() for name, parameter in layer.named_parameters()} == {
        "weight": 1152 * 10 * (8 * 16)
    }


def test_init_scale_is_the_standard_deviation_of_the_weight():
    torch.manual_seed(0)
    assert DenseCaps(100, 8, 10, 16, init_scale=0.3).weight.std().item() == pytest.approx(0.3, rel=0.02)


@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("shape", [(3, 5, 3), (3, 1, 3), (3, 6, 1), (6, 3)])
def test_wrong_shape_is_told(shape, trace):
    with pytest.raises(ValueError, match="children must be") as caught:
        DenseCaps(6, 3, 4, 5)(torch.zeros(shape), trace)
    assert f"got {shape}" in str(caught.value)
