"""Figures of EM routing show votes, Gaussians and responsibilities as they are."""

import numpy as np
import pytest
import torch
from matplotlib.patches import Ellipse

from capsedu import ops, plots
from capsedu.plots.figure import figure_bytes

PARENTS = ["boat", "house"]
GROUPS = {"boat": range(3), "stray": [3, 4]}


@pytest.fixture
def routed():
    generator = torch.Generator().manual_seed(0)
    votes, activations = torch.randn(5, 2, 2, generator=generator), torch.rand(5, generator=generator)
    betas = torch.zeros(2), torch.zeros(2)
    return votes, activations, ops.em_routing(votes[None], activations[None], *betas, trace=True).trace


def test_planes_draw_votes_where_they_are(routed):
    votes, activations, _ = routed
    figure = plots.vote_planes(votes, activations, PARENTS, GROUPS)
    for parent, axes in enumerate(figure.axes):
        drawn = np.concatenate([points.get_offsets() for points in axes.collections])
        assert np.allclose(drawn, votes[:, parent])
    assert figure_bytes(figure, "png").startswith(b"\x89PNG")


def test_steps_shade_points_by_responsibility_and_draw_the_gaussians(routed):
    votes, activations, trace = routed
    figure = plots.em_steps(votes, activations, trace, PARENTS, GROUPS, iterations=[1, 3])
    for axes, t, parent in zip(figure.axes, (0, 0, 2, 2), (0, 1, 0, 1), strict=False):
        shades = np.concatenate([points.get_array() for points in axes.collections])
        assert np.allclose(shades, trace.responsibilities[t][0, :, parent])
        one, two = (patch for patch in axes.patches if isinstance(patch, Ellipse))
        deviation = trace.parents[t].variance[0, parent].sqrt()
        assert np.allclose(one.center, trace.parents[t].mean[0, parent])
        assert (one.width, two.height) == pytest.approx((2 * float(deviation[0]), 4 * float(deviation[1])))
    assert f"iteration 3: boat {float(trace.parents[2].activation[0, 0]):.2f}" in figure.alt_text
    assert "iteration 2" not in figure.alt_text


def test_a_shared_point_has_a_mixed_colour():
    shares = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
    gaussians = ops.Gaussians(torch.zeros(1, 2, 2), torch.ones(1, 2, 2), torch.zeros(1, 2))
    figure = plots.mixture_frames(torch.randn(2, 2), [shares] * 2, [gaussians] * 2, [1, 2], ["first", "last"])
    pure, mixed = figure.axes[0].collections[0].get_facecolor()[:, :3]
    other = 2 * mixed - pure
    assert np.allclose(np.round(other * 255), [0xD5, 0x5E, 0x00])
    assert figure.axes[1].get_title() == "iteration 2, last"


def test_cost_curves_are_drawn_as_given():
    spreads, curve = torch.logspace(-1, 0.5, 4), torch.tensor([3.0, 1.0, -1.0, -3.0])
    figure = plots.description_cost(spreads, {"mass 1": curve}, {"lambda 1": curve.sigmoid()}, 0.6)
    assert np.allclose(figure.axes[0].lines[0].get_ydata(), curve)
    assert np.allclose(figure.axes[1].lines[0].get_ydata(), curve.sigmoid())
    assert "cross at a spread of 0.60" in figure.alt_text


def test_slope_is_that_of_the_logistic():
    curve = torch.tensor([0.5, 0.1], dtype=torch.float64)
    figure = plots.activation_by_children([10, 100], {"raw": curve})
    assert np.allclose(figure.axes[1].lines[0].get_ydata(), [0.25, 0.09])
    assert "raw: from 0.500 to 0.1" in figure.alt_text


def test_pull_of_a_stray_is_drawn_as_given():
    activations = torch.linspace(0, 1, 3)
    figure = plots.mean_by_activation(activations, {"right": activations, "wrong": torch.ones(3)})
    assert np.allclose(figure.axes[0].lines[1].get_ydata(), 1)
    assert "right: from 0.00 to 1.00; wrong: from 1.00 to 1.00" in figure.alt_text
