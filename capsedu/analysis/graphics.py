"""Inverse graphics by gradient descent: from a picture back to the numbers that drew it."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from capsedu.render import rotate, translate


@dataclass(frozen=True)
class PoseFit:
    """What S starts did in T steps, beginning with the starts themselves."""

    numbers: Tensor  # (T + 1, S, N): the numbers that were drawn
    losses: Tensor  # (T + 1, S): the mean squared difference from the target


def table_pose(numbers: Tensor) -> Tensor:
    """The pose (..., 4, 4) of a toy that stands on a table: its turn in radians, and its place x and y.

    Args:
        numbers: (..., 3).

    Example:
        >>> table_pose(torch.tensor([0.0, 0.1, -0.2]))[:2, 3]  # not turned: only moved
        tensor([ 0.1000, -0.2000])
    """
    if numbers.shape[-1:] != (3,):
        raise ValueError(f"a turn and a place on the table must be (..., 3), got {tuple(numbers.shape)}")
    turn, place = numbers[..., 0], numbers[..., 1:]
    height = torch.zeros_like(place[..., :1])
    return translate(torch.cat([place, height], dim=-1)) @ rotate("z", torch.rad2deg(turn))


def fit_poses(
    draw: Callable[[Tensor], Tensor],
    target: Tensor,
    starts: Tensor,
    steps: int,
    *,
    learning_rate: float = 0.05,
) -> PoseFit:
    """Go downhill from several starts at once until what is drawn looks like the target.

    The loss of a start is its own mean squared difference, and Adam treats each number by itself, so the
    starts don't disturb each other.

    Args:
        draw: makes pictures (S, 1, H, W) of numbers (S, N), differentiably.
        target: the picture (1, 1, H, W).
        starts: (S, N).
        steps: how often to go downhill.
        learning_rate: about how far a number moves in a step.

    Example:
        >>> def draw(numbers):
        ...     return numbers[:, :, None, None].sigmoid()  # a picture of one pixel
        >>> fit = fit_poses(draw, torch.full((1, 1, 1, 1), 0.5), torch.ones(1, 1), steps=100)
        >>> fit.numbers[-1].abs().item() < 0.1  # the sigmoid is 0.5 at 0
        True
    """
    numbers = starts.detach().clone().requires_grad_()
    optimiser = torch.optim.Adam([numbers], lr=learning_rate)
    path, losses = [], []
    for step in range(steps + 1):
        loss = (draw(numbers) - target).square().mean(dim=(1, 2, 3))  # (S,)
        path.append(numbers.detach().clone())
        losses.append(loss.detach())
        if step < steps:
            optimiser.zero_grad()
            loss.sum().backward()
            optimiser.step()
    return PoseFit(torch.stack(path), torch.stack(losses))


def turn_error(found: Tensor, true: Tensor | float) -> Tensor:
    """The angle between two turns given in radians, in degrees from 0 to 180.

    Example:
        >>> turn_error(torch.tensor([0.0, 6.2, 3.14159]), 0.0).round()
        tensor([  0.,   5., 180.])
    """
    return torch.rad2deg(torch.remainder(found - true + torch.pi, 2 * torch.pi) - torch.pi).abs()


def picture_distance(first: Tensor, second: Tensor) -> Tensor:
    """The root of the mean squared difference of pictures (B, C, H, W): one number each, (B,).

    Example:
        >>> picture_distance(torch.zeros(1, 1, 2, 2), torch.full((1, 1, 2, 2), 0.5))
        tensor([0.5000])
    """
    return (first - second).square().mean(dim=(1, 2, 3)).sqrt()
