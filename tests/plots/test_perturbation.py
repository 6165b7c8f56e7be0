"""Grids, sliders and heat maps put every number where it belongs."""

import numpy as np
import torch

from capsedu import plots
from capsedu.plots.figure import figure_bytes

OFFSETS = torch.tensor([-0.5, 0.0, 0.5])


def numbered(*shape: int) -> torch.Tensor:
    """Pictures (…, 1, 2, 2), each of one grey that tells its place."""
    count = int(torch.tensor(shape).prod())
    return (torch.arange(count) / count).view(*shape, 1, 1, 1).expand(*shape, 1, 2, 2)


def test_grid_has_dimensions_down_and_offsets_across():
    figure = plots.perturbation_grid(numbered(4, 3), OFFSETS, 7)
    (axes,) = figure.axes
    mosaic = axes.images[0].get_array()
    assert np.allclose(mosaic[::2, ::2], np.arange(12).reshape(4, 3) / 12)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["−0.50", "0", "+0.50"]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["1", "2", "3", "4"]
    assert axes.patches[0].get_x() == 2  # the frame stands round the middle column
    assert figure.get_label() == "perturbation-grid-7"


def test_grids_show_each_digit_once_and_a_key_where_there_is_room():
    figure = plots.perturbation_grids(numbered(5, 4, 3), OFFSETS, range(5))
    shown = [axes.get_title() for axes in figure.axes if axes.images]
    assert shown == [f"digit {k}" for k in range(5)]
    assert "down: dimensions 1 to 4" in figure.axes[5].texts[0].get_text()
    assert np.allclose(figure.axes[2].images[0].get_array()[0, 0], 24 / 60)
    assert figure_bytes(figure, "png").startswith(b"\x89PNG")


def test_sliders_name_what_was_moved():
    before = torch.zeros(4)
    after = torch.tensor([0.0, 0.3, 0.0, -0.2])
    figure = plots.capsule_sliders(before, after, [torch.zeros(1, 2, 2)] * 2)
    sliders = figure.axes[0]
    assert np.allclose(sliders.lines[1].get_xdata(), after)
    assert "Dimension 2, 4 was moved" in figure.alt_text
    assert "None was moved" in plots.capsule_sliders(before, before, [torch.zeros(1, 2, 2)] * 2).alt_text


def test_heat_maps_write_the_sign_of_large_values_only():
    values = torch.tensor([[0.9, -0.1], [-0.7, 0.4]])
    figure = plots.heat_maps({"a": values, "b": -values}, ["x", "y"], name="heat", alt="Four cells.")
    signs = [
        {
            (round(text.get_position()[1]), round(text.get_position()[0])): text.get_text()
            for text in axes.texts
        }
        for axes in figure.axes[:2]
    ]
    assert signs == [{(0, 0): "+", (1, 0): "−"}, {(0, 0): "−", (1, 0): "+"}]
    assert np.allclose(figure.axes[0].images[0].get_array(), values)


def test_blend_lengths_follow_the_named_classes():
    lengths = torch.tensor([[0.9, 0.1, 0.0], [0.5, 0.4, 0.2], [0.1, 0.9, 0.3]])
    figure = plots.blend_lengths({"capsules": lengths}, {"from 0": 0, "to 1": 1})
    drawn = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    assert np.allclose(drawn["from 0"], lengths[:, 0])
    assert np.allclose(drawn["to 1"], lengths[:, 1])
    assert np.allclose(drawn["longest other"], lengths[:, 2])
    assert "capsules: from 0 0.50, to 1 0.40" in figure.alt_text
