"""Votes and EM routing in one go: the same numbers as :func:`capsedu.ops.em_routing`, many times faster.

Votes are the trouble: 16 numbers for each child and parent, made once and read ten times, from memory.
Yet a vote is only four multiplications away from a pose and a matrix that are small. So here every step is
written with votes as an elementwise expression, parents last, which ``torch.compile`` fuses into the sum that
uses it: a vote lives in a register, is made anew for each use, and is never stored, not for the backward
pass either. On a CPU the images go through one by one, which keeps all the rest in the cache.
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid
from torch.utils.checkpoint import checkpoint

from capsedu.ops.em import LEAST_MASS, VARIANCE_FLOOR, activation_logit, average_mass
from capsedu.ops.neighbourhood import Neighbourhood, log_competition


def vote_and_route(
    poses: Tensor,
    activations: Tensor,
    weight: Tensor,
    beta_u: Tensor,
    beta_a: Tensor,
    grid: Neighbourhood,
    *,
    offsets: Tensor | None = None,
    iterations: int = 3,
    inverse_temperature: float = 1.0,
    variance_floor: float = VARIANCE_FLOOR,
    compiled: bool = False,
) -> tuple[Tensor, Tensor]:
    """EM routing of the votes V_ij = M_i W_ij on a grid, without keeping the votes.

    Args:
        poses: M_i, (B, H*W, C, 4, 4) for matrices, (B, H*W, C, 1, 16) for vectors.
        activations: (B, H*W, C).
        weight: W_ij, (K*K*C, J, 4, 4) for matrices, (K*K*C, J, 16, 16) for vectors.
        beta_u, beta_a: (J,).
        grid: who sees whom.
        offsets: (K*K*C, D), added to every vote of a slot (coordinate addition).
        iterations, inverse_temperature, variance_floor: as in :func:`capsedu.ops.em_routing`.
        compiled: fuse with ``torch.compile``, which takes some seconds the first time and a C++ compiler;
            without, the batch still goes through in slices that are computed again for the backward pass.

    Returns:
        poses (B, P, J, D) and activations (B, P, J) of the parents.
    """
    offsets = weight.new_zeros(len(weight), 1) if offsets is None else offsets
    mean_mass = average_mass(len(weight) // grid.kernel**2, weight.shape[1], grid)
    kind = (grid.children_of(poses.device), grid.parents_of(poses.device), mean_mass)
    how = (iterations, inverse_temperature, variance_floor)
    by_parent = weight.permute(0, 2, 3, 1).contiguous()  # (S, Q, R, J)
    size = 1 if poses.device.type == "cpu" else len(poses)
    parts = [
        _slice(compiled, pose, activation, by_parent, beta_u, beta_a, offsets, *kind, *how)
        for pose, activation in zip(poses.split(size), activations.split(size), strict=True)
    ]
    means, active = (torch.cat(part) for part in zip(*parts, strict=True))
    return means, active


def _slice(compiled: bool, *inputs: Any) -> tuple[Tensor, Tensor]:
    if compiled:
        return _compiled()(*inputs)
    return checkpoint(_route, *inputs, use_reentrant=False, preserve_rng_state=False)


@cache
def _compiled() -> Any:
    return torch.compile(_route, fullgraph=True, dynamic=False)


def _route(
    poses: Tensor,
    activations: Tensor,
    weight: Tensor,
    beta_u: Tensor,
    beta_a: Tensor,
    offsets: Tensor,
    children: Tensor,
    parents: Tensor,
    mean_mass: float,
    iterations: int,
    inverse_temperature: float,
    variance_floor: float,
) -> tuple[Tensor, Tensor]:
    """:func:`capsedu.ops.em_routing` with parents last: votes are (B, P, S, R, Q, J)."""
    poses = poses[:, children].flatten(2, 3).to(weight.dtype)  # (B, P, S, R, Q)
    activations = activations[:, children].flatten(2).to(weight.dtype)[..., None]  # (B, P, S, 1)
    slots, inner, columns, types = weight.shape
    rows = poses.shape[-2]
    votes = sum(poses[..., k, None, None] * weight[:, None, k] for k in range(inner))
    votes = votes + offsets.expand(-1, rows * columns).reshape(slots, rows, columns, 1)
    scores = votes.new_zeros(*activations.shape[:-1], types)  # (B, P, S, J)
    for t in range(iterations):
        responsibilities = (scores - log_competition(scores, children, parents)[..., None]).exp()
        weights = responsibilities * activations
        mass = weights.sum(dim=2)  # (B, P, J)
        share = (weights / (mass + LEAST_MASS)[:, :, None])[:, :, :, None, None]
        mean = (share * votes).sum(dim=2)  # (B, P, R, Q, J)
        square = (votes - mean[:, :, None]).square()
        variance = (share * square).sum(dim=2) + variance_floor
        log_variance = variance.log().sum(dim=(2, 3))  # (B, P, J)
        temperature = inverse_temperature * (1 - 0.95 ** (t + 1))
        logit = activation_logit(mass / mean_mass, log_variance, rows * columns, beta_u, beta_a, temperature)
        if t + 1 < iterations:
            distance = (square / variance[:, :, None]).sum(dim=(3, 4))  # (B, P, S, J)
            scores = (logsigmoid(logit) - 0.5 * log_variance)[:, :, None] - 0.5 * distance
    return mean.flatten(2, 3).transpose(2, 3), logit.sigmoid()
