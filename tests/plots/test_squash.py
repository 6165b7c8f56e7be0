"""Figures of squash show the numbers they are given, and say so in words."""

import re

import numpy as np
import pytest
import torch

from capsedu import analysis, ops, plots
from capsedu.plots.figure import figure_bytes


def curves(axes):
    return [np.asarray(line.get_ydata()) for line in axes.lines]


@pytest.mark.parametrize(
    "figure",
    [plots.capsule_as_arrow(), plots.squash_curve(), plots.squash_field()],
    ids=lambda figure: figure.get_label(),
)
def test_fixed_figures_can_be_drawn_and_have_alt_text(figure):
    assert figure_bytes(figure, "png").startswith(b"\x89PNG")
    assert len(figure.alt_text) > 100


def test_curve_of_one_dimension_is_odd_and_below_one():
    curve = curves(plots.squash_curve().axes[0])[0]
    assert np.allclose(curve, -curve[::-1])
    assert np.abs(curve).max() < 1


def test_curve_marks_the_lengths_that_give_the_margins():
    texts = [text.get_text() for text in plots.squash_curve().axes[1].texts]
    assert texts == ["0.33 → 0.1", "1.00 → 0.5", "3.00 → 0.9"]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_each_vector_is_shown_with_its_lengths(count):
    vectors = torch.tensor([[3.0, 4.0], [0.0, 1.0], [-2.0, 0.0], [0.0, -0.5]])[:count]
    figure = plots.squash_vectors(vectors)
    assert len(figure.axes) == count
    assert figure.axes[0].get_title() == "‖s‖ = 5.00,  ‖v‖ = 0.96"
    assert figure.alt_text.count("becomes") == count


def test_gradient_figure_draws_both_gains():
    lengths = torch.linspace(0.1, 5, 50)
    gains = analysis.squash_gains(ops.squash, lengths)
    figure = plots.squash_gradient(lengths, *gains)
    for axes in figure.axes:
        assert np.allclose(curves(axes)[:2], torch.stack(gains))
    assert "peaks at 0.65 near length 0.60" in figure.alt_text


def test_comparison_draws_every_function_in_every_panel():
    figure = plots.squash_comparison({"squash": ops.squash, "none": lambda s: s})
    assert [len(axes.lines) for axes in figure.axes] == [2, 2, 2]
    length, radial, tangential = (curves(axes)[1] for axes in figure.axes)
    assert np.allclose(length, np.linspace(0.01, 4, 200))
    assert np.allclose((radial, tangential), 1)
    assert re.search(r"starts at 0 only for: squash\.$", figure.alt_text)


def test_lines_differ_in_style_not_only_in_colour():
    figure = plots.squash_comparison({str(k): ops.squash for k in range(6)})
    assert len({str(line._unscaled_dash_pattern) for line in figure.axes[0].lines}) == 6


def test_histograms_count_each_group_as_one():
    figure = plots.squash_inputs(torch.tensor([3.1, 3.1, 4.1, 50.0]), torch.full((9,), 0.1))
    heights = [patch.get_height() for patch in figure.axes[1].patches]
    assert sum(heights) == pytest.approx(2)
    assert max(heights) == pytest.approx(1)
    assert "median of 0.10" in figure.alt_text
