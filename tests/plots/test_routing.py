"""Figures of routing show votes, couplings and outputs as they are."""

import numpy as np
import pytest
import torch

from capsedu import ops, plots
from capsedu.plots.figure import figure_bytes

PARENTS = ["boat", "house"]


@pytest.fixture
def votes():
    return torch.randn(6, 2, 2, generator=torch.Generator().manual_seed(0))


def bar_widths(axes):
    return np.array([bar.get_width() for bar in axes.patches])


def test_steps_draw_one_row_an_iteration(votes):
    trace = ops.dynamic_routing(votes[None], 3, trace=True).trace
    figure = plots.routing_steps(votes, trace, PARENTS)
    assert len(figure.axes) == 9
    for iteration in range(3):
        widths = bar_widths(figure.axes[3 * iteration + 2]).reshape(2, 6)
        assert np.allclose(widths, trace.couplings[iteration][0].T)
    assert figure_bytes(figure, "png").startswith(b"\x89PNG")


def test_steps_can_show_a_single_iteration(votes):
    trace = ops.dynamic_routing(votes[None], 3, trace=True).trace
    figure = plots.routing_steps(votes, trace, PARENTS, iterations=[2])
    length = float(trace.outputs[1][0, 0].norm())
    assert figure.axes[0].get_title() == f"boat: length {length:.2f}"
    assert "iteration 2: boat" in figure.alt_text
    assert "iteration 1" not in figure.alt_text


def test_a_larger_coupling_makes_a_larger_point(votes):
    _, axes = plots.new_figure()
    plots.draw_votes(axes, votes[:2, 0], torch.tensor([0.1, 0.9]))
    small, large = (float(points.get_sizes()[0]) for points in axes.collections)
    assert small < large


def test_votes_are_drawn_where_they_are(votes):
    figure = plots.vote_clusters(votes, PARENTS)
    for parent, axes in enumerate(figure.axes):
        drawn = [points.get_offsets()[0] for points in axes.collections[:6]]
        assert np.allclose(drawn, votes[:, parent])
        assert f"{float(votes[:, parent].mean(0).norm()):.2f}" in axes.get_title()


def test_boat_and_house_tell_how_far_votes_are_apart():
    agree, apart = torch.tensor([[0.0, 1.0], [0.0, 1.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])
    boat, house = torch.stack([agree, apart], dim=1), torch.stack([apart, agree], dim=1)
    figure = plots.boat_house_votes(15, boat, house)
    assert len(figure.axes) == 6
    assert "within 0 degrees; their votes for house are 90 degrees apart" in figure.alt_text


def test_sums_stand_at_the_side_where_the_softmax_ran():
    figure = plots.softmax_directions(torch.randn(3, 2), PARENTS)
    routing, attention = ([text.get_text() for text in axes.texts] for axes in figure.axes)
    assert routing[6:9] == ["1.00"] * 3
    assert attention[9:11] == ["1.00"] * 2
    assert float(routing[9]) + float(routing[10]) == pytest.approx(3, abs=0.02)


def test_outlier_curves_are_drawn_as_given():
    angles = torch.arange(0, 181, 30)
    couplings = {1: torch.full((7,), 0.5), 3: torch.linspace(0.8, 0.1, 7)}
    figure = plots.outlier_couplings(angles, couplings)
    lines = figure.axes[0].lines
    assert [line.get_label() for line in lines] == ["1 iteration", "3 iterations"]
    assert np.allclose([line.get_ydata() for line in lines], torch.stack(list(couplings.values())))
    assert "3 iterations: from 0.80 to 0.10" in figure.alt_text


def test_lengths_in_company_have_one_line_a_parent():
    lengths = torch.tensor([[0.9, 0.2], [0.7, 0.7], [0.5, 0.8]])
    figure = plots.lengths_in_company(lengths, PARENTS)
    assert np.allclose([line.get_ydata() for line in figure.axes[0].lines], lengths.T)
    assert "from 0 to 2: boat from 0.90 to 0.50; house from 0.20 to 0.80" in figure.alt_text
