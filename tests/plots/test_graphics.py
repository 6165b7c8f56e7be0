"""The pictures of the chapter on graphics show the numbers they are given."""

import pytest
import torch
from torch import Tensor

from capsedu import plots
from capsedu.plots.graphics import OUTLINES, local_minima


def pose(x: float, y: float, degrees: float) -> Tensor:
    angle = torch.deg2rad(torch.tensor(degrees))
    c, s = angle.cos().item(), angle.sin().item()
    return torch.tensor([[c, -s, x], [s, c, y], [0.0, 0.0, 1.0]])


BOAT = {"rectangle": pose(0, -0.4, 0), "triangle": pose(0, -0.125, 0)}
HOUSE = {"rectangle": pose(0, -0.4, 90), "triangle": pose(0, 0.4, 0)}


def test_parts_are_drawn_where_their_pose_puts_them():
    figure = plots.flat_scenes([[{"triangle": pose(0.5, 0.2, 90)}]], name="one", alt="One part.")
    (patch,) = figure.axes[0].patches
    tip = patch.get_xy()[2]
    assert tip.tolist() == pytest.approx([0.5 - 0.8, 0.2], abs=1e-6)  # it points to the left


def test_scene_graphs_put_the_pose_of_the_whole_before_the_relation():
    whole = pose(0.3, 0.0, 90)
    figure = plots.scene_graphs({"boat": BOAT, "house": HOUSE}, whole)
    drawn, tree = figure.axes[0], figure.axes[2]
    corner = torch.tensor([*OUTLINES["rectangle"][0], 1.0])
    assert drawn.patches[0].get_xy()[0].tolist() == pytest.approx(
        (whole @ BOAT["rectangle"] @ corner)[:2].tolist()
    )
    texts = [text.get_text() for text in tree.texts]
    assert {"picture", "boat", "rectangle", "triangle"} <= set(texts)
    assert {"(0.3, 0), turned 90°", "(0, -0.4), turned 0°", "(0, -0.125), turned 0°"} <= set(texts)
    assert "turned 90°" in figure.alt_text


def test_minima_on_a_circle():
    assert local_minima(torch.tensor([2.0, 1.0, 3.0, 5.0, 0.5, 4.0])) == [1, 4]
    assert local_minima(torch.tensor([0.0, 1.0, 2.0])) == [0]


def test_valleys_are_marked_and_told():
    turns, loss = torch.arange(0.0, 360.0, 60.0), torch.tensor([3.0, 0.0, 3.0, 5.0, 1.0, 4.0])
    figure = plots.loss_valleys(turns, {"sharp": loss}, [torch.zeros(4, 4)], 60.0)
    curve, line, marks = figure.axes[1].lines
    assert list(curve.get_ydata()) == loss.tolist()
    assert list(line.get_xdata()) == [60.0, 60.0]
    assert list(marks.get_xdata()) == [60.0, 240.0]
    assert "240° (1.0e+00)" in figure.alt_text


def test_descent_shows_loss_and_errors():
    losses, turns = torch.tensor([1.0, 0.1, 0.01]), torch.tensor([50.0, 20.0, 1.0])
    places = torch.tensor([0.3, 0.2, 0.0])
    figure = plots.pose_descent(losses, turns, places, name="down")
    curves = [line.get_ydata().tolist() for axes in figure.axes for line in axes.lines]
    assert curves == [losses.tolist(), turns.tolist(), places.tolist()]
    assert figure.axes[0].get_yscale() == "log"
    assert "from 1.0e+00 to 1.0e-02" in figure.alt_text


def test_outcomes_tell_found_from_stuck_by_marker():
    starts, ends = torch.tensor([0.0, 90.0, 180.0]), torch.tensor([50.0, 50.0, 229.0])
    right = torch.tensor([True, True, False])
    figure = plots.start_outcomes(starts, ends, torch.tensor([1e-5, 2e-5, 1e-3]), right, 50.0)
    found, stuck = figure.axes[0].lines[:2]
    assert list(found.get_xdata()) == [0.0, 90.0]
    assert list(stuck.get_ydata()) == [229.0]
    assert found.get_marker() != stuck.get_marker()
    assert "2 find" in figure.alt_text


@pytest.mark.parametrize(
    ("right", "told", "untold"), [(True, "or less", "others'"), (False, "others'", "or less")]
)
def test_outcomes_of_one_kind_only(right, told, untold):
    both = torch.full((2,), right)
    figure = plots.start_outcomes(torch.zeros(2), torch.zeros(2), torch.ones(2), both, 0.0)
    assert told in figure.alt_text
    assert untold not in figure.alt_text
