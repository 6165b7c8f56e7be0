"""Grids of pictures put every picture and label where it belongs."""

import numpy as np
import pytest
import torch

from capsedu import plots
from capsedu.plots.digits import grey
from capsedu.plots.figure import figure_bytes


def images_of(figure):
    return [axes.images[0].get_array() if axes.images else None for axes in figure.axes]


def test_grid_shows_each_picture_in_its_place():
    pictures = torch.arange(6).view(2, 3, 1, 1).expand(2, 3, 4, 4) / 6
    figure = plots.digit_grid(pictures, name="grid", alt="Six greys.")
    assert [array.mean() for array in images_of(figure)] == pytest.approx([k / 6 for k in range(6)])
    assert (figure.get_label(), figure.alt_text) == ("grid", "Six greys.")


def test_grid_leaves_places_empty_for_none_and_for_short_rows():
    one = torch.ones(1, 4, 4)
    figure = plots.digit_grid([[one, None, one], [one]], name="holes", alt="Three pictures.")
    assert [array is not None for array in images_of(figure)] == [True, False, True, True, False, False]


def test_grid_labels_rows_and_columns():
    figure = plots.digit_grid(
        torch.zeros(2, 2, 4, 4), name="labels", alt="a", row_labels=["up", "down"], column_labels=["l", "r"]
    )
    assert [axes.get_title() for axes in figure.axes] == ["l", "r", "", ""]
    assert [axes.get_ylabel() for axes in figure.axes] == ["up", "", "down", ""]


def test_grid_titles_stand_above_each_picture():
    figure = plots.digit_grid(torch.zeros(2, 1, 4, 4), name="titles", alt="a", titles=[["seven"], ["nine"]])
    assert [axes.get_title() for axes in figure.axes] == ["seven", "nine"]


def test_same_grey_means_the_same_in_every_picture():
    figure = plots.digit_grid([[torch.zeros(4, 4), torch.full((4, 4), 0.5)]], name="greys", alt="a")
    assert {axes.images[0].get_clim() for axes in figure.axes} == {(0, 1)}


def test_answers_draw_the_lengths_as_they_are():
    lengths = torch.tensor([[0.9, 0.8, 0.1], [0.0, 0.2, 0.3]])
    pictures = torch.zeros(2, 1, 4, 4)
    figure = plots.class_answers(pictures, lengths, pictures, name="answers", alt="Two answers.")
    bars = [[bar.get_height() for bar in figure.axes[k].patches] for k in (1, 4)]
    assert np.allclose(bars, lengths)
    assert [figure.axes[k].texts[0].get_text() for k in (1, 4)] == ["0.90", "0.30"]


def test_figures_can_be_written():
    figure = plots.digit_grid(torch.zeros(1, 2, 4, 4), name="file", alt="a")
    assert figure_bytes(figure, "png").startswith(b"\x89PNG")


def test_a_colour_picture_is_refused_with_its_shape():
    with pytest.raises(ValueError, match=r"got \(3, 4, 4\)"):
        grey(torch.zeros(3, 4, 4))


def test_overlap_answers_draw_each_digit_and_both():
    drawn = torch.zeros(1, 2, 1, 4, 4)
    drawn[0, 0, 0, 0], drawn[0, 1, 0, 3] = 1, 1
    lengths = torch.tensor([[0.8, 0.7, 0.1]])
    figure = plots.overlap_answers(
        torch.ones(1, 1, 4, 4), lengths, drawn, [(0, 1)], ["0 on 1"], name="two", alt="Two digits."
    )
    left, _, first, second, both = figure.axes
    assert [axes.get_title() for axes in (left, first, second)] == ["0 on 1", "drawn as 0", "drawn as 1"]
    colours = both.images[0].get_array()
    assert colours.shape == (4, 4, 3)
    assert colours[1:3].sum() == 0
    assert not np.allclose(colours[0, 0], colours[3, 0])
