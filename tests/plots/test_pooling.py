"""The pictures of the chapter on pooling show the numbers they are given."""

import pytest
import torch

from capsedu import plots


def test_number_lists_write_every_number_in_its_box():
    columns = {"before": {"list": [0, 3, 2], "max": [3]}, "after": {"list": [0, 0, 3], "max": [3]}}
    figure = plots.number_lists(columns, name="lists", alt="Four lists.")
    texts = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert texts == [["0", "3", "2"], ["0", "0", "3"], ["3"], ["3"]]
    assert [axes.get_title() for axes in figure.axes] == ["before", "after", "", ""]
    assert [axes.get_ylabel() for axes in figure.axes] == ["list", "", "max", ""]


def test_larger_numbers_have_darker_boxes():
    figure = plots.number_lists({"": {"list": [0, 1, 3]}}, name="dark", alt="a")
    shades = [patch.get_facecolor()[0] for patch in figure.axes[0].patches]
    assert shades == sorted(shades, reverse=True)


def test_detector_maps_ring_the_largest_answer():
    maps = torch.zeros(2, 6, 6)
    maps[0, 1, 4], maps[1, 5, 2] = 0.7, 0.9
    figure = plots.detector_maps(
        {"face": torch.zeros(1, 8, 8)}, {"face": maps}, ("eye", "nose"), name="maps", alt="a"
    )
    _, eye, nose = figure.axes
    assert [eye.get_title(), nose.get_title()] == ["eye: largest 0.70", "nose: largest 0.90"]
    assert [tuple(axes.lines[0].get_xydata()[0]) for axes in (eye, nose)] == [(4, 1), (2, 5)]


def test_moved_curves_tell_the_networks_apart_without_colour():
    curves = {"shift": {"one": [1.0, 0.5], "two": [1.0, 0.0]}, "turn": {"one": [1.0, 1.0], "two": [0.5, 0.5]}}
    amounts = {"shift": [0, 4], "turn": [0, 30]}
    figure = plots.moved_curves(
        curves, amounts, name="moved", alt="a", y_label="share", trained={"shift": 2, "turn": 10}
    )
    shift, turn = figure.axes
    assert [list(line.get_ydata()) for line in shift.lines] == [[1.0, 0.5], [1.0, 0.0]]
    assert [list(line.get_xdata()) for line in turn.lines] == [[0, 30], [0, 30]]
    assert len({(line.get_linestyle(), line.get_marker()) for line in shift.lines}) == 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two"]
    assert turn.patches[0].get_extents().x1 == pytest.approx(turn.transData.transform((10, 0))[0])
