"""A class capsule changed by hand, and what the decoder then draws."""

import torch
from torch import Tensor

from capsedu.layers import Decoder

OFFSETS = torch.arange(-5, 6) / 20  # −0.25 to 0.25, as in Sabour et al. (2017), figure 4


@torch.no_grad()
def perturb(
    decoder: Decoder,
    capsules: Tensor,
    labels: Tensor,
    offsets: Tensor = OFFSETS,
    directions: Tensor | None = None,
) -> Tensor:
    r"""Move a capsule along each dimension, or along other directions, and decode.

    .. math:: \hat x_{d,o} = \operatorname{decode}(v + \delta_o\,e_d)

    Args:
        decoder: of a trained CapsNet.
        capsules: its class capsules (B, J, D).
        labels: which of them to move and draw, (B,).
        offsets: the moves :math:`\delta_o`, (O,).
        directions: what to move along, (X, D); by default the dimensions themselves, so X = D.

    Returns:
        Pictures (B, X, O, C, H, W).

    Example:
        >>> decoder = Decoder(10, 16, (1, 28, 28))
        >>> perturb(decoder, torch.zeros(1, 10, 16), torch.tensor([3])).shape
        torch.Size([1, 16, 11, 1, 28, 28])
    """
    if directions is None:
        directions = torch.eye(capsules.shape[-1])  # e_d
    moves = torch.einsum("o,xd->xod", offsets.to(capsules), directions.to(capsules))
    # Every capsule of an image is moved alike; the decoder's mask keeps only the one that is asked for.
    moved = capsules[:, None, None] + moves[None, :, :, None]  # (B, X, O, J, D)
    many = labels[:, None, None].expand(moved.shape[:3])
    return decoder(moved.flatten(0, 2), many.flatten()).unflatten(0, moved.shape[:3])


@torch.no_grad()
def interpolate(decoder: Decoder, start: Tensor, end: Tensor, steps: int = 9) -> Tensor:
    r"""Decode the straight line from one masked set of capsules to another.

    .. math:: \hat x_t = \operatorname{decode}((1 - t)\,v_{\text{start}} + t\,v_{\text{end}})

    Args:
        decoder: of a trained CapsNet.
        start, end: capsules (J, D), zero but for the one that :func:`masked` kept.
        steps: pictures, ends included.

    Returns:
        Pictures (steps, C, H, W).
    """
    t = torch.linspace(0, 1, steps).to(start)[:, None, None]
    return decoder.layers(torch.lerp(start[None], end[None], t).flatten(1))


def masked(capsules: Tensor, label: int) -> Tensor:
    """Capsules (J, D) of one image with all but that of ``label`` set to zero."""
    kept = torch.zeros_like(capsules)
    kept[label] = capsules[label]
    return kept
