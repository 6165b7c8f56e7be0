"""What a squash does to lengths, and to gradients along and across a vector."""

from collections.abc import Callable

import torch
from torch import Tensor


def squash_gains(squash: Callable[[Tensor], Tensor], lengths: Tensor) -> tuple[Tensor, Tensor]:
    r"""How much of a small change of s a squash lets through, by autograd.

    A squash that keeps directions, :math:`v = g(n)\,s/n` with :math:`n = \lVert s\rVert`, stretches a
    change along s by :math:`g'(n)` (radial) and a change across s by :math:`g(n)/n` (tangential).

    Args:
        squash: maps vectors (N, D) to vectors (N, D), each on its own.
        lengths: the lengths n (N,) of s at which to measure.

    Returns:
        The radial and the tangential gain, (N,) each.

    Example:
        >>> from capsedu.ops import squash
        >>> squash_gains(squash, torch.tensor([1.0]))
        (tensor([0.5000]), tensor([0.5000]))
    """
    s = torch.stack([lengths, torch.zeros_like(lengths)], dim=-1).requires_grad_()
    along, across = squash(s).unbind(-1)
    (grad_along,) = torch.autograd.grad(along.sum(), s, retain_graph=True)
    (grad_across,) = torch.autograd.grad(across.sum(), s)
    return grad_along[:, 0], grad_across[:, 1]


def length_before_squash(lengths: Tensor) -> Tensor:
    r"""The length that squash turned into ``lengths``.

    .. math:: \lVert s\rVert = \sqrt{\lVert v\rVert / (1 - \lVert v\rVert)}

    Args:
        lengths: of squashed vectors, any shape, each in [0, 1).

    Example:
        >>> length_before_squash(torch.tensor([0.1, 0.5, 0.9]))
        tensor([0.3333, 1.0000, 3.0000])
    """
    return (lengths / (1 - lengths)).sqrt()
