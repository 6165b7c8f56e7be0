"""Poses as 4 × 4 matrices: a part's own coordinates go in, its parent's come out.

They chain by matrix product. To move a whole toy, multiply the pose of each of its parts from the left by one
and the same matrix.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

Numbers = Tensor | Sequence[float] | float
AXES = "xyz"


def translate(offset: Numbers) -> Tensor:
    """Move by ``offset`` (..., 3): a pose (..., 4, 4).

    Example:
        >>> translate([1.0, 2.0, 3.0])[:3, 3]
        tensor([1., 2., 3.])
    """
    offset = _three(offset)
    pose = _identity(offset)
    pose[..., :3, 3] = offset
    return pose


def stretch(factors: Numbers) -> Tensor:
    """Stretch by ``factors`` (..., 3) along x, y and z: a pose (..., 4, 4).

    Example:
        >>> stretch([2.0, 1.0, 0.5]).diagonal()
        tensor([2.0000, 1.0000, 0.5000, 1.0000])
    """
    factors = _three(factors)
    pose = _identity(factors)
    pose[..., :3, :3] = torch.diag_embed(factors)
    return pose


def rotate(axis: str, degrees: Numbers) -> Tensor:
    """Turn by ``degrees`` (...) about an axis, counter-clockwise when it points at you: a pose (..., 4, 4).

    Example:
        >>> quarter = rotate("z", 90.0)
        >>> (quarter @ torch.tensor([1.0, 0.0, 0.0, 1.0])).round()  # x becomes y
        tensor([-0., 1., 0., 1.])
    """
    if axis not in tuple(AXES):
        raise ValueError(f"the axis must be x, y or z, got {axis!r}")
    angle = torch.deg2rad(_tensor(degrees))
    pose = _identity(angle[..., None])
    second, third = (AXES.index(axis) + 1) % 3, (AXES.index(axis) + 2) % 3
    pose[..., second, second] = pose[..., third, third] = angle.cos()
    pose[..., third, second] = angle.sin()
    pose[..., second, third] = -angle.sin()
    return pose


def limb(start: Numbers, end: Numbers, width: float, height: float | None = None) -> Tensor:
    """The pose (4, 4) of a solid whose z-axis runs from ``start`` to ``end``.

    Args:
        start, end: points (3,) in the parent's coordinates.
        width, height: half thicknesses across; equal by default.

    Example:
        >>> leg = limb([0.0, 0.0, 0.0], [0.0, 0.0, 2.0], 0.1)
        >>> leg @ torch.tensor([0.0, 0.0, -1.0, 1.0])  # the lower end of a cylinder
        tensor([0., 0., 0., 1.])
    """
    start, end = _three(start), _three(end)
    forward = (end - start) / 2
    upright = forward[:2].abs().max() < 1e-6 * forward.abs().max()
    up = forward.new_tensor([1.0, 0.0, 0.0] if upright else [0.0, 0.0, 1.0])
    side = torch.linalg.cross(up, forward)
    side = side / side.norm()
    over = torch.linalg.cross(side, forward / forward.norm())
    columns = torch.stack([over * (width if height is None else height), side * width, forward], dim=1)
    return torch.cat([torch.cat([columns, (start + end)[:, None] / 2], dim=1), _identity(start)[3:]])


def _tensor(numbers: Numbers) -> Tensor:
    numbers = torch.as_tensor(numbers)
    return numbers if numbers.is_floating_point() else numbers.to(torch.get_default_dtype())


def _three(numbers: Numbers) -> Tensor:
    numbers = _tensor(numbers)
    if numbers.shape[-1:] != (3,):
        raise ValueError(f"a place in space must be (..., 3), got {tuple(numbers.shape)}")
    return numbers


def _identity(like: Tensor) -> Tensor:
    """One identity a leading index of ``like`` (..., n)."""
    return torch.eye(4, dtype=like.dtype, device=like.device).repeat(*like.shape[:-1], 1, 1)
