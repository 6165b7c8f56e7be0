"""Inverse graphics: the fit finds what was drawn, and tells what it did."""

import pytest
import torch
from torch import Tensor

from capsedu import analysis
from capsedu.render import Camera, Light, Part, Scene, render, rotate, stretch, translate

BRICK = Scene.of([Part("box", stretch([0.7, 0.25, 0.2]))])


def draw(numbers: Tensor) -> Tensor:
    return render(BRICK.moved(analysis.table_pose(numbers)), Camera(), Light(), size=16, softness=1.0)


def test_a_toy_on_a_table_is_turned_and_then_moved():
    pose = analysis.table_pose(torch.tensor([[torch.pi / 2, 0.3, -0.1]]))
    torch.testing.assert_close(pose[0], translate([0.3, -0.1, 0.0]) @ rotate("z", 90.0))


def test_two_numbers_are_no_pose():
    with pytest.raises(ValueError, match=r"must be \(\.\.\., 3\), got \(5, 2\)"):
        analysis.table_pose(torch.zeros(5, 2))


def test_fit_finds_turn_and_place():
    true = torch.tensor([[0.5, 0.1, -0.2]])
    fit = analysis.fit_poses(draw, draw(true), torch.zeros(1, 3), steps=80)
    assert fit.losses[-1].item() < 0.01 * fit.losses[0].item()
    assert analysis.turn_error(fit.numbers[-1, 0, 0], true[0, 0]).item() < 3
    assert (fit.numbers[-1, 0, 1:] - true[0, 1:]).norm().item() < 0.05


def test_fit_records_the_starts_and_the_loss_of_each_row():
    starts, target = torch.tensor([[0.0, 0.0, 0.0], [2.0, 0.1, 0.0]]), draw(torch.tensor([[0.5, 0.1, -0.2]]))
    fit = analysis.fit_poses(draw, target, starts, steps=3)
    assert fit.numbers.shape == (4, 2, 3)
    assert fit.losses.shape == (4, 2)
    torch.testing.assert_close(fit.numbers[0], starts)
    for numbers, losses in zip(fit.numbers, fit.losses, strict=True):
        torch.testing.assert_close(losses, analysis.picture_distance(draw(numbers), target) ** 2)


def test_starts_do_not_disturb_each_other():
    starts, target = torch.tensor([[0.0, 0.0, 0.0], [2.0, 0.1, 0.0]]), draw(torch.tensor([[0.5, 0.1, -0.2]]))
    together = analysis.fit_poses(draw, target, starts, steps=5).numbers
    alone = analysis.fit_poses(draw, target, starts[1:], steps=5).numbers
    torch.testing.assert_close(together[:, 1:], alone, atol=1e-4, rtol=0)


def test_starts_are_left_as_they_are():
    starts = torch.zeros(1, 3)
    analysis.fit_poses(draw, draw(torch.ones(1, 3) * 0.2), starts, steps=2)
    assert torch.equal(starts, torch.zeros(1, 3))


@pytest.mark.parametrize(
    ("found", "true", "error"), [(10, 350, 20), (350, 10, 20), (190, 10, 180), (730, 10, 0)]
)
def test_turn_error_goes_the_short_way_round(found, true, error):
    found, true = (torch.deg2rad(torch.tensor(float(angle))) for angle in (found, true))
    assert analysis.turn_error(found, true).item() == pytest.approx(error, abs=1e-3)


def test_picture_distance_is_one_number_a_picture():
    first = torch.zeros(2, 1, 2, 2)
    second = first.clone()
    second[1, 0, 0, 0] = 1.0
    torch.testing.assert_close(analysis.picture_distance(first, second), torch.tensor([0.0, 0.5]))
