"""Random changes to a batch of images, decided by a generator on the CPU: the same on every device."""

import math

import torch
import torch.nn.functional as F
from torch import Generator, Tensor


def shift(images: Tensor, generator: Generator, pixels: int = 2) -> Tensor:
    """Move each image by up to ``pixels`` in each direction; what comes in is black."""
    batch, channels, height, width = images.shape
    moves = torch.randint(0, 2 * pixels + 1, (2, batch, 1), generator=generator).to(images.device)
    rows = moves[0] + torch.arange(height, device=images.device)  # (B, H)
    columns = moves[1] + torch.arange(width, device=images.device)  # (B, W)
    padded = F.pad(images, [pixels] * 4)
    padded = padded.gather(2, rows[:, None, :, None].expand(-1, channels, -1, padded.shape[3]))
    return padded.gather(3, columns[:, None, None, :].expand(-1, channels, height, -1))


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


def none(images: Tensor, generator: Generator) -> Tensor:
    """Leave the images as they are."""
    return images


AUGMENTATIONS = {"none": none, "shift": shift, "affine": affine}
