"""Poses: what they do to points, and that they chain."""

import pytest
import torch

from capsedu.render import limb, rotate, stretch, translate


def apply(pose: torch.Tensor, *point: float) -> list[float]:
    return (pose @ torch.tensor([*point, 1.0]))[:3].tolist()


def test_translate_and_stretch():
    assert apply(translate([1.0, 2.0, 3.0]), 1, 1, 1) == [2, 3, 4]
    assert apply(stretch([1.0, 2.0, 3.0]), 1, 1, 1) == [1, 2, 3]
    assert apply(translate([1, 0, 0]) @ stretch([2, 2, 2]), 1, 1, 1) == [3, 2, 2]


@pytest.mark.parametrize(
    ("axis", "before", "after"),
    [("x", (0, 1, 0), (0, 0, 1)), ("y", (0, 0, 1), (1, 0, 0)), ("z", (1, 0, 0), (0, 1, 0))],
)
def test_rotate_is_counter_clockwise(axis, before, after):
    assert apply(rotate(axis, 90.0), *before) == pytest.approx(after, abs=1e-6)


def test_rotations_add_up():
    torch.testing.assert_close(rotate("y", 20.0) @ rotate("y", 30.0), rotate("y", 50.0))


def test_poses_come_in_batches_of_the_dtype_given():
    assert rotate("z", torch.zeros(5, dtype=torch.float64)).shape == (5, 4, 4)
    assert translate(torch.zeros(2, 3, 3, dtype=torch.float64)).dtype == torch.float64
    assert stretch(torch.ones(2, 3)).shape == (2, 4, 4)


def test_poses_are_differentiable():
    numbers = torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda n: translate(n) @ stretch(1 + n) @ rotate("x", 50 * n[0]), numbers)


@pytest.mark.parametrize("end", [(0.0, 0.0, 2.0), (1.0, 2.0, -0.5), (3.0, 0.0, 0.0)])
def test_limb_goes_from_end_to_end_and_is_as_thick_as_told(end):
    pose = limb((0.5, 0.0, 0.0), end, 0.1, 0.3)
    assert apply(pose, 0, 0, -1) == pytest.approx((0.5, 0, 0), abs=1e-6)
    assert apply(pose, 0, 0, 1) == pytest.approx(end, abs=1e-6)
    columns = pose[:3, :3]
    assert columns.norm(dim=0)[:2].tolist() == pytest.approx([0.3, 0.1])
    across = columns / columns.norm(dim=0)
    torch.testing.assert_close(across.T @ across, torch.eye(3), atol=1e-6, rtol=0)
    assert torch.linalg.det(columns) > 0


def test_wrong_arguments_are_told():
    with pytest.raises(ValueError, match="axis must be x, y or z, got 'w'"):
        rotate("w", 3.0)
    with pytest.raises(ValueError, match=r"must be \(\.\.\., 3\), got \(2,\)"):
        translate([1.0, 2.0])
