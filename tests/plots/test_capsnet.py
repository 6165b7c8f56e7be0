"""Drawings of CapsNet show the shapes of the network they are given."""

import pytest
import torch

from capsedu import plots
from capsedu.models import CapsNetConfig
from capsedu.plots.figure import figure_bytes


def diagram(config):
    _, height, width = config.image_shape
    picture = torch.zeros(1, height, width)
    return plots.capsnet_diagram(config, picture, torch.linspace(0, 0.9, config.classes), picture)


def test_diagram_shows_the_papers_shapes():
    figure = diagram(CapsNetConfig())
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {
        "256 × 20 × 20",
        "32 types × 6 × 6\nof 8-D",
        "10 capsules\nof 16-D",
        "512",
        "1024",
        "160",
    } <= texts
    assert figure_bytes(figure, "png").startswith(b"\x89PNG")


def test_diagram_follows_the_config():
    figure = diagram(CapsNetConfig(image_shape=(1, 36, 36), channels=64, primary_types=4, decoder=(99,)))
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {"64 × 28 × 28", "4 types × 10 × 10\nof 8-D", "99"} <= texts
    assert "160, 99, 1 × 36 × 36" in figure.alt_text


def test_diagram_draws_the_lengths():
    bars = diagram(CapsNetConfig(classes=3)).axes[0].containers[0]
    heights = [bar.get_height() for bar in bars]
    assert heights == pytest.approx([0, heights[2] / 2, heights[2]])
    assert heights[2] > 0


def test_grouping_marks_where_the_entries_come_from():
    one_place = torch.tensor([[0, 1, 2], [1, 1, 2]])
    two_places = torch.tensor([[1, 0, 0], [1, 0, 1]])
    figure = plots.capsule_grouping([one_place, two_places], ["right", "wrong"], (2, 3))
    marked = [(1 - axes.images[0].get_array()).nonzero() for axes in figure.axes]
    marked = [list(zip(*(places.tolist() for places in found), strict=True)) for found in marked]
    assert marked == [[(1, 2)], [(1, 2)], [], [(0, 0), (0, 1)]]
    assert "right: 2 channels, 1 positions; wrong: 1 channels, 2 positions" in figure.alt_text
