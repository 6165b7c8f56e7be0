"""Loss figures draw the losses."""

import numpy as np
import pytest

from capsedu import plots
from capsedu.plots.figure import figure_bytes


def line(axes, label):
    return next(drawn for drawn in axes.lines if drawn.get_label() == label)


def test_margin_curves_are_the_formula():
    left, right = plots.margin_loss_curves().axes
    present, absent = line(left, "class is present"), line(left, "class is absent")
    lengths = present.get_xdata()
    assert np.allclose(present.get_ydata(), np.maximum(0, 0.9 - lengths) ** 2, atol=1e-6)
    assert np.allclose(absent.get_ydata(), 0.5 * np.maximum(0, lengths - 0.1) ** 2, atol=1e-6)
    slope = right.lines[0].get_ydata()
    assert np.allclose(slope, -2 * np.maximum(0, 0.9 - lengths), atol=1e-5)


def test_loss_curves_show_a_running_mean_that_ends_at_the_last_step():
    figure = plots.loss_curves({"ours": [4.0, 2.0, 3.0, 1.0]}, window=2)
    smooth = line(figure.axes[0], "ours")
    assert list(smooth.get_xdata()) == [2, 3, 4]
    assert list(smooth.get_ydata()) == [3.0, 2.5, 2.0]
    assert "ours from 3.000 to 2.000" in figure.alt_text


def test_a_run_shorter_than_the_window_is_drawn_as_its_mean():
    smooth = line(plots.loss_curves({"short": [1.0, 3.0]}, window=10).axes[0], "short")
    assert list(smooth.get_ydata()) == [2.0]


def test_shares_sum_to_one():
    figure = plots.loss_shares({"paper": (0.3, 0.1), "released": (0.1, 0.1)})
    widths = [bar.get_width() for bar in figure.axes[0].patches]
    assert widths == pytest.approx([0.75, 0.5, 0.25, 0.5])
    assert "paper: 25%; released: 50%" in figure.alt_text
    assert figure_bytes(figure, "png").startswith(b"\x89PNG")
