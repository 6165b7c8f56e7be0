"""The losses of both papers, as functions of what a network returns."""

from typing import Literal

import torch.nn.functional as F
from torch import Tensor

Scaling = Literal["paper", "released"]


def margin_loss(
    lengths: Tensor,
    targets: Tensor,
    *,
    present: float = 0.9,
    absent: float = 0.1,
    absent_weight: float = 0.5,
    scaling: Scaling = "paper",
) -> Tensor:
    r"""Margin loss of Sabour et al. (2017), equation 4, averaged over the batch.

    .. math::
        L_k = T_k \max(0, m^+ - \lVert v_k\rVert)^2
            + \lambda\,(1 - T_k) \max(0, \lVert v_k\rVert - m^-)^2

    Args:
        lengths: capsule lengths (B, J).
        targets: class numbers (B,), or a multi-hot matrix (B, J) when several classes are present.
        present: :math:`m^+`.
        absent: :math:`m^-`.
        absent_weight: :math:`\lambda`.
        scaling: ``"paper"`` sums over classes. ``"released"`` halves that and averages it over the
            classes, as the released code does: reconstruction then weighs 2 J times more.

    Example:
        >>> margin_loss(torch.tensor([[0.9, 0.1]]), torch.tensor([0]))
        tensor(0.)
    """
    present_mask = multi_hot(targets, lengths)
    per_class = (
        present_mask * F.relu(present - lengths).square()
        + absent_weight * (1 - present_mask) * F.relu(lengths - absent).square()
    )
    per_image = per_class.sum(dim=-1)
    _check_scaling(scaling)
    if scaling == "released":
        per_image = 0.5 * per_image / lengths.shape[-1]
    return per_image.mean()


def reconstruction_loss(
    reconstruction: Tensor, images: Tensor, *, weight: float = 0.0005, scaling: Scaling = "paper"
) -> Tensor:
    r"""Weighted sum of squared pixel errors, averaged over the batch.

    .. math:: L = 0.0005 \sum_{\text{pixels}} (\hat x - x)^2

    Args:
        reconstruction: (B, ...) pictures in [0, 1].
        images: the pictures to match, same shape.
        weight: 0.0005 in the paper. It multiplies a *sum*: 0.392 times the mean on 28 × 28.
        scaling: the formula is the same in the paper and the released code; under ``"released"`` it
            stands beside a margin loss 2 J times smaller. Name the same mode for both.

    Example:
        >>> reconstruction_loss(torch.zeros(2, 1, 28, 28), torch.ones(2, 1, 28, 28))
        tensor(0.3920)
    """
    if reconstruction.shape != images.shape:
        raise ValueError(
            f"reconstruction must have the shape of images, {tuple(images.shape)}, "
            f"got {tuple(reconstruction.shape)}"
        )
    _check_scaling(scaling)
    return weight * (reconstruction - images).square().flatten(1).sum(dim=1).mean()


def spread_loss(activations: Tensor, targets: Tensor, *, margin: float = 0.9) -> Tensor:
    r"""Spread loss of Hinton et al. (2018), equation 3, averaged over the batch.

    .. math:: L = \sum_{i \neq t} \max(0, m - (a_t - a_i))^2

    Args:
        activations: of the class capsules (B, E).
        targets: class numbers :math:`t` (B,).
        margin: :math:`m`; :func:`spread_margin` lets it grow in training.

    Example:
        >>> spread_loss(torch.tensor([[0.9, 0.1, 0.5]]), torch.tensor([0]), margin=0.5)
        tensor(0.0100)
    """
    if activations.ndim != 2 or targets.shape != activations.shape[:1]:
        raise ValueError(
            f"targets must be (B,) beside activations (B, E), "
            f"got {tuple(targets.shape)} beside {tuple(activations.shape)}"
        )
    target_activation = activations.gather(1, targets[:, None])  # (B, 1)
    shortfall = F.relu(margin - (target_activation - activations)).square()  # (B, E)
    others = 1 - multi_hot(targets, activations)
    return (others * shortfall).sum(dim=1).mean()


def spread_margin(step: int, steps: int, *, start: float = 0.2, end: float = 0.9) -> float:
    """The spread loss's margin at a step: from ``start`` to ``end`` over the first half of the training.

    A small margin at first keeps capsules from dying before they have learnt anything.

    Example:
        >>> [round(spread_margin(step, 100), 2) for step in (0, 25, 50, 100)]
        [0.2, 0.55, 0.9, 0.9]
    """
    return start + (end - start) * min(1.0, 2 * step / steps)


def multi_hot(targets: Tensor, scores: Tensor) -> Tensor:
    """Turn class numbers (B,) into a 0/1 matrix like ``scores`` (B, J); a matrix passes through."""
    if targets.shape == scores.shape and scores.ndim == 2:
        return targets.to(scores.dtype)
    if scores.ndim != 2 or targets.shape != scores.shape[:1]:
        raise ValueError(
            f"targets must be (B,) or (B, J) beside scores {tuple(scores.shape)}, got {tuple(targets.shape)}"
        )
    return F.one_hot(targets, scores.shape[-1]).to(scores.dtype)


def _check_scaling(scaling: str) -> None:
    if scaling not in ("paper", "released"):
        raise ValueError(f'scaling must be "paper" or "released", got {scaling!r}')
