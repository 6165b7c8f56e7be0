"""What is done to images before a network sees them, in training and in test.

Everything random is decided by a generator on the CPU: the same on every device.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Generator, Tensor


@dataclass(frozen=True)
class Preparation:
    """Both sides of a preparation. The test side is never random."""

    train: Callable[[Tensor, Generator], Tensor]
    test: Callable[[Tensor], Tensor]


def as_they_are(images: Tensor, generator: Generator | None = None) -> Tensor:
    """Leave the images as they are."""
    return images


def shift(images: Tensor, generator: Generator, pixels: int = 2) -> Tensor:
    """Move each image by up to ``pixels`` in each direction; what comes in is black."""
    moves = torch.randint(0, 2 * pixels + 1, (2, len(images), 1), generator=generator)
    return _window(F.pad(images, [pixels] * 4), moves, images.shape[2], images.shape[3])


def affine(
    images: Tensor,
    generator: Generator,
    pixels: float = 2,
    degrees: float = 12,
    stretch: float = 0.1,
    shear: float = 0.1,
) -> Tensor:
    """Move, turn, stretch and slant each image at random; every amount is uniform up to the one given."""
    moves = 2 * torch.rand(len(images), 6, generator=generator) - 1
    angle = moves[:, 0] * math.radians(degrees)
    scale = 1 + stretch * moves[:, 1:3]
    cos, sin = angle.cos(), angle.sin()
    offset = moves[:, 4:6] * pixels * 2 / torch.tensor([images.shape[3], images.shape[2]])
    slant = shear * moves[:, 3]
    top = torch.stack([scale[:, 0] * cos, scale[:, 1] * (slant * cos - sin), offset[:, 0]], dim=1)
    bottom = torch.stack([scale[:, 0] * sin, scale[:, 1] * (slant * sin + cos), offset[:, 1]], dim=1)
    theta = torch.stack([top, bottom], dim=1).to(images)  # (B, 2, 3)
    grid = F.affine_grid(theta, list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, align_corners=False)


def standardise(images: Tensor) -> Tensor:
    """Bring each image, of a pair too, to zero mean and unit variance; an even grey becomes 0.

    Example:
        >>> standardise(torch.tensor([[[[0.0, 1.0]]]]))
        tensor([[[[-1.,  1.]]]])
    """
    centred = images - images.mean(dim=(2, 3), keepdim=True)
    deviation = centred.square().mean(dim=(2, 3), keepdim=True).sqrt()
    return centred / deviation.clamp_min(1 / 255)  # one grey level


def vary_light(
    images: Tensor, generator: Generator, brightness: float = 32 / 255, contrast: float = 0.5
) -> Tensor:
    """Multiply each image's contrast by 1 ± ``contrast``, then add ± ``brightness``; a pair changes together.

    The amounts are uniform. The paper does not give its own, and public versions of it differ.
    """
    amounts = 2 * torch.rand(2, len(images), 1, 1, 1, generator=generator) - 1
    more, brighter = amounts.to(images)
    mean = images.mean(dim=(2, 3), keepdim=True)
    return mean + (1 + contrast * more) * (images - mean) + brightness * brighter


def random_crop(images: Tensor, generator: Generator, side: int = 32) -> Tensor:
    """A square of each image, from anywhere in it; the same place in both images of a pair."""
    places = [
        torch.randint(0, room + 1, (len(images), 1), generator=generator) for room in _room(images, side)
    ]
    return _window(images, torch.stack(places), side, side)


def centre_crop(images: Tensor, side: int = 32) -> Tensor:
    """The square in the middle of each image."""
    down, right = (room // 2 for room in _room(images, side))
    return images[:, :, down : down + side, right : right + side]


def crops(images: Tensor, n: int, side: int = 32) -> Tensor:
    """``n`` standardised squares of each image, spread evenly; a single one is the centre's.

    :func:`~capsedu.training.evaluate` averages the network's answers over them when this is its ``prepare``.

    Args:
        images: (B, C, H, W).
        n: 1, 4, 9, 16, …
        side: of each square.

    Returns:
        (n, B, C, side, side).

    Example:
        >>> crops(torch.rand(7, 2, 48, 48), 9).shape
        torch.Size([9, 7, 2, 32, 32])
    """
    across = math.isqrt(max(n, 0))
    if across**2 != n or n < 1:
        raise ValueError(f"n must be a square number, got {n}")
    steps = range(1, 2 * across, 2)
    downs, rights = ([room * step // (2 * across) for step in steps] for room in _room(images, side))
    images = standardise(images)
    squares = [images[:, :, y : y + side, x : x + side] for y in downs for x in rights]
    return torch.stack(squares)


def norb_train(images: Tensor, generator: Generator) -> Tensor:
    """Hinton et al. (2018): standardise, cut a square from anywhere, change its light."""
    return vary_light(random_crop(standardise(images), generator), generator)


def norb_test(images: Tensor) -> Tensor:
    """Hinton et al. (2018): standardise, cut the square in the middle."""
    return centre_crop(standardise(images))


PREPARATIONS = {
    "none": Preparation(as_they_are, as_they_are),
    "shift": Preparation(shift, as_they_are),
    "affine": Preparation(affine, as_they_are),
    "norb": Preparation(norb_train, norb_test),
}


def _room(images: Tensor, side: int) -> tuple[int, int]:
    """How far a square can move down and right."""
    height, width = images.shape[2:]
    if min(height, width) < side:
        raise ValueError(f"images must be at least {side} × {side}, got {tuple(images.shape)}")
    return height - side, width - side


def _window(images: Tensor, corners: Tensor, height: int, width: int) -> Tensor:
    """The part of each image whose upper left corner is at ``corners`` (2, B, 1): row, column."""
    down, right = corners.to(images.device)
    rows = down + torch.arange(height, device=images.device)  # (B, H)
    columns = right + torch.arange(width, device=images.device)  # (B, W)
    channels = images.shape[1]
    strips = images.gather(2, rows[:, None, :, None].expand(-1, channels, -1, images.shape[3]))
    return strips.gather(3, columns[:, None, None, :].expand(-1, channels, height, -1))
