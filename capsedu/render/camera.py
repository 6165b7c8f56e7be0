"""Cameras: where the eye stands, and a ray for each pixel."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Camera:
    """An eye, or a pair of eyes, on a sphere around the origin, looking at the origin; z is up.

    Angles are in degrees, one number or one for each picture (B,). At elevation 0 and azimuth 0 the eye is on
    the x-axis and sees y to the right and z up.
    """

    elevation: Tensor | float = 30.0
    azimuth: Tensor | float = 0.0
    distance: float = 6.0
    width: float = 2.8  # of what is seen at the origin's distance
    baseline: float = 0.8  # from the left eye to the right one


@dataclass(frozen=True)
class Rays:
    """One ray a pixel, row by row from the top left, P = H × W."""

    origins: Tensor  # (B, 3): all rays of a picture start in the eye
    directions: Tensor  # (B, 3, P), of length 1
    pixel: float  # how wide a pixel is at the origin's distance


def rays(camera: Camera, size: int, like: Tensor, eye: float = 0.0) -> Rays:
    """The rays of ``size`` × ``size`` pixels.

    Args:
        camera: where it stands.
        size: pixels, height and width.
        like: device and dtype are taken from it.
        eye: -1 for the left eye, 1 for the right one, 0 for one in the middle.

    Example:
        >>> rays(Camera(elevation=0.0, distance=6.0), 3, torch.zeros(1)).origins  # on the x-axis
        tensor([[6., 0., 0.]])
    """
    right, up, back = _axes(camera, like)  # (B, 3) each
    origins = camera.distance * back + eye * camera.baseline / 2 * right
    if eye:  # toe in: both eyes look at the origin
        back = origins / origins.norm(dim=-1, keepdim=True)
        right = torch.linalg.cross(up, back)
    pixel = camera.width / size
    steps = (torch.arange(size, dtype=like.dtype, device=like.device) - (size - 1) / 2) * pixel
    across, down = steps.repeat(size), steps.repeat_interleave(size)  # (P,)
    directions = right[..., None] * across - up[..., None] * down - back[..., None] * camera.distance
    return Rays(origins, directions / directions.norm(dim=1, keepdim=True), pixel)


def _axes(camera: Camera, like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Unit vectors (B, 3) to the right, up, and back from the origin to the camera."""
    angles = [
        torch.as_tensor(angle, dtype=like.dtype, device=like.device)
        for angle in (camera.elevation, camera.azimuth)
    ]
    elevation, azimuth = torch.broadcast_tensors(*[torch.deg2rad(angle).reshape(-1) for angle in angles])
    zero = torch.zeros_like(azimuth)
    right = torch.stack([-azimuth.sin(), azimuth.cos(), zero], dim=-1)
    level, height = elevation.cos(), elevation.sin()
    back = torch.stack([level * azimuth.cos(), level * azimuth.sin(), height], dim=-1)
    return right, torch.linalg.cross(back, right), back
