"""Counts in a matrix capsule network agree with the network, and with counting on fingers."""

import pytest
import torch

from capsedu import analysis, models
from capsedu.models import MatrixCapsNetConfig
from capsedu.ops import Neighbourhood


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("size", [(6, 6), (9, 7), (14, 14)])
def test_parents_of_a_child_are_those_whose_window_holds_it(size, stride):
    grid = Neighbourhood(*size, kernel=3, stride=stride)
    counts = analysis.parent_counts(grid)
    for row in range(grid.height):
        for column in range(grid.width):
            wanted = [
                (r, c)
                for r in range(grid.out_height)
                for c in range(grid.out_width)
                if 0 <= row - r * stride < 3 and 0 <= column - c * stride < 3
            ]
            assert analysis.parent_positions(grid, row, column) == wanted
            assert counts[row, column] == len(wanted)


def test_a_child_of_the_network_hands_out_one_in_all_wherever_it_stands():
    torch.manual_seed(0)
    net = models.create("matrixcaps-small", iterations=2).requires_grad_(False)
    routing = net(torch.randn(2, 2, 32, 32), trace=True).routing
    for layer, result in zip((net.conv1, net.conv2, net.classes), routing, strict=True):
        given = analysis.handed_out(result.responsibilities, layer.grid)
        seen = analysis.parent_counts(layer.grid) > 0
        assert torch.allclose(given[:, seen], torch.ones_like(given[:, seen]), atol=1e-5)
        assert given[:, ~seen].eq(0).all()


def test_competition_among_types_only_hands_out_as_often_as_a_child_is_seen():
    grid = Neighbourhood(5, 5, kernel=3, stride=2)
    shares = torch.randn(1, 4, 9 * 2, 3).softmax(dim=-1)
    given = analysis.handed_out(shares, grid)
    assert torch.allclose(given[0, :, :, 1], analysis.parent_counts(grid).float())


@pytest.mark.parametrize("config", [MatrixCapsNetConfig(), MatrixCapsNetConfig((2, 40, 40), 4, 3, 5, 2, 7)])
def test_votes_are_as_many_as_responsibilities(config):
    net = models.MatrixCapsNet(config).requires_grad_(False)
    routing = net(torch.randn(1, *config.image_shape), trace=True).routing
    found = [result.responsibilities.numel() for result in routing]
    assert list(analysis.vote_counts(config).values()) == found


def test_kept_memory_is_counted_once_and_grows_with_every_operation():
    x = torch.ones(100, requires_grad=True)
    one = analysis.kept_for_backward(lambda: x.exp())
    assert one == 400
    assert analysis.kept_for_backward(lambda: (x.exp(), x.square(), x.sin())) == 400 + 400
    assert analysis.kept_for_backward(lambda: x.detach().exp()) == 0
