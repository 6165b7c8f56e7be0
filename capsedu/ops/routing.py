"""Dynamic routing by agreement (Sabour et al. 2017, procedure 1)."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from capsedu.ops.squash import squash


@dataclass
class RoutingTrace:
    """What routing did, iteration by iteration: lists of ``iterations`` tensors each.

    ``logits[t]`` are the b_ij that gave ``couplings[t]``, which gave ``outputs[t]``.
    """

    logits: list[Tensor]  # each (B, I, J)
    couplings: list[Tensor]  # each (B, I, J)
    outputs: list[Tensor]  # each (B, J, D)


@dataclass
class RoutingResult:
    """What routing found."""

    outputs: Tensor  # (B, J, D), the squashed v_j
    couplings: Tensor  # (B, I, J), the c_ij that made them
    trace: RoutingTrace | None = None


def dynamic_routing(
    votes: Tensor,
    iterations: int = 3,
    *,
    gradient: Literal["all", "last"] = "all",
    leaky: bool = False,
    trace: bool = False,
) -> RoutingResult:
    r"""Let children agree on parents.

    .. math::
        c_{ij} = \operatorname{softmax}_j(b_{ij}), \quad
        v_j = \operatorname{squash}\Big(\sum_i c_{ij}\,\hat u_{j|i}\Big), \quad
        b_{ij} \leftarrow b_{ij} + \hat u_{j|i}\cdot v_j

    The softmax runs over *parents*: every child hands out one unit of itself. The logits start at 0
    for every example, and belong to that example alone. ``iterations`` counts softmaxes and squashes;
    the logits are updated between them, so ``iterations - 1`` times.

    Args:
        votes: predictions :math:`\hat u_{j|i}` of shape (B, I, J, D).
        iterations: how many times couplings are computed, at least 1.
        gradient: ``"all"`` differentiates through every iteration; ``"last"`` treats the couplings
            as constants, as several public versions do.
        leaky: give every child a none-of-the-above parent with logit 0; what goes there is lost,
            so couplings of a child sum to less than 1.
        trace: keep logits, couplings and outputs of each iteration.

    Returns:
        ``outputs`` (B, J, D), ``couplings`` (B, I, J) and, when asked, ``trace``.

    Example:
        >>> result = dynamic_routing(torch.ones(1, 6, 2, 4))
        >>> result.outputs.shape, result.couplings.sum(-1)[0, 0]
        (torch.Size([1, 2, 4]), tensor(1.))
    """
    if votes.ndim != 4:
        raise ValueError(f"votes must be (B, I, J, D), got {tuple(votes.shape)}")
    check_routing_options(iterations, gradient)
    routed = votes.detach() if gradient == "last" else votes
    logits = votes.new_zeros(votes.shape[:3])  # b_ij = 0, (B, I, J)
    kept = RoutingTrace([], [], [])
    for iteration in range(1, iterations + 1):
        last = iteration == iterations
        couplings = couplings_of(logits, leaky)  # (B, I, J)
        # s_j = sum_i c_ij u_j|i
        total = torch.einsum("bij,bijd->bjd", couplings, votes if last else routed)
        outputs = squash(total)  # v_j, (B, J, D)
        if trace:
            kept.logits.append(logits)
            kept.couplings.append(couplings)
            kept.outputs.append(outputs)
        if not last:
            # b_ij <- b_ij + u_j|i . v_j
            logits = logits + torch.einsum("bijd,bjd->bij", routed, outputs)
    return RoutingResult(outputs, couplings, kept if trace else None)


def check_routing_options(iterations: int, gradient: str) -> None:
    """Refuse options that cannot be meant, in one sentence."""
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, got {iterations}")
    if gradient not in ("all", "last"):
        raise ValueError(f'gradient must be "all" or "last", got {gradient!r}')


def couplings_of(logits: Tensor, leaky: bool, dim: int = -1) -> Tensor:
    """c_ij = softmax of b_ij over the parents, which stand along ``dim``."""
    if not leaky:
        return logits.softmax(dim)
    none_of_the_above = torch.zeros_like(logits.narrow(dim, 0, 1))
    with_leak = torch.cat([logits, none_of_the_above], dim).softmax(dim)
    return with_leak.narrow(dim, 0, logits.shape[dim])
