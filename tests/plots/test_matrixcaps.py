"""Figures of the matrix capsule network draw what was counted."""

import numpy as np
import pytest
import torch

from capsedu import analysis, plots
from capsedu.models import MatrixCapsNetConfig
from capsedu.ops import Neighbourhood
from capsedu.plots.figure import figure_bytes


def texts(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_the_diagram_names_every_size():
    config = MatrixCapsNetConfig(A=64, B=8, C=16, D=12)
    figure = plots.matrixcaps_diagram(config, torch.randn(2, 32, 32), torch.tensor([0.1, 0.2, 0.9, 0.3, 0.4]))
    for shape in (
        "A = 64\nchannels\n14 × 14",
        "B = 8\ntypes\n14 × 14",
        "C = 16\ntypes\n6 × 6",
        "E = 5\nclasses",
    ):
        assert shape in texts(figure)
    bars = [patch.get_height() for patch in figure.axes[0].patches[-5:]]
    assert np.argmax(bars) == 2
    assert figure_bytes(figure, "png").startswith(b"\x89PNG")


def test_a_child_is_joined_to_the_parents_that_reach_it():
    grid = Neighbourhood(7, 7, kernel=3, stride=2)
    figure = plots.parent_reach({"stride 2": grid}, [{"centre": (4, 4), "off centre": (3, 3)}])
    counts, centre, off = figure.axes
    assert [text.get_text() for text in counts.texts] == [
        str(count) for count in analysis.parent_counts(grid).flatten().tolist()
    ]
    joined = [line for line in centre.lines if line.get_color() != "white"]
    assert {tuple(line.get_xydata()[1]) for line in joined} == {(3, 3), (3, 5), (5, 3), (5, 5)}
    assert "4 parent positions" in centre.get_title()
    assert "1 parent position" in off.get_title()
    assert "the centre by 4" in figure.alt_text


def test_one_child_can_be_drawn_alone():
    figure = plots.child_reach(Neighbourhood(6, 6, 3, 1), (0, 0))
    assert "1 parent position reach it: [(0, 0)]" in figure.alt_text


def test_maps_tell_their_range():
    figure = plots.handed_out_maps({"all": torch.ones(3, 3), "types only": torch.full((3, 3), 4.0)})
    assert "all: from 1.00 to 1.00; types only: from 4.00 to 4.00" in figure.alt_text
    assert texts(figure) == ["1"] * 9 + ["4"] * 9


def test_coordinates_turn_a_saw_into_a_line():
    centres = torch.tensor([8.0, 12, 16, 20])
    figure = plots.coordinate_addition_drawing(torch.randn(2, 32, 32), centres, field=17, chosen=1)
    without, with_them = figure.axes[2].lines
    assert np.nanmax(np.abs(without.get_ydata())) == pytest.approx(0.02, abs=1e-3)
    assert np.allclose(with_them.get_ydata(), with_them.get_xdata() / 100)
    assert {"+0.12", "+0.16"} < set(texts(figure))


def test_spread_curves_are_the_formula():
    figure = plots.spread_loss_curves((0.2, 0.9))
    left, middle, right = figure.axes
    for margin, curve, slope in zip((0.2, 0.9), left.lines, middle.lines, strict=False):
        shortfall = np.maximum(0, margin - curve.get_xdata())
        assert np.allclose(curve.get_ydata(), shortfall**2, atol=1e-6)
        assert np.allclose(slope.get_ydata(), -2 * shortfall, atol=1e-5)
    course = right.lines[0].get_ydata()
    assert (course[0], course[-1]) == (pytest.approx(0.2), pytest.approx(0.9))


def test_costs_are_drawn_in_millions():
    figure = plots.vote_costs({8: 1_000_000, 16: 4_000_000}, {32: 2_000_000}, {1: 5_000_000, 2: 9_000_000})
    assert list(figure.axes[0].lines[0].get_ydata()) == [1, 4]
    assert list(figure.axes[2].lines[0].get_ydata()) == [5, 9]
    assert "megabytes kept by iterations: 1: 5.00, 2: 9.00" in figure.alt_text
