"""Votes and EM routing in one step: the same numbers as :func:`capsedu.ops.em_routing`, faster and smaller.

A Gaussian's density is a linear function of the *features* F = (V, V²) of a vote, and the M-step needs only
their weighted sums. So both steps are matrix products with F, and nothing as large as F is made in between:

* M-step: (Σ r V, Σ r V²) = r F
* E-step: log N(V; μ, σ²) = F · (μ/σ², -1/(2σ²)) + constant

The batch goes through in slices whose features fit the cache; the backward pass makes them again. The
gradient of F is a sum of outer products over the iterations: one matrix product in all.
Votes are taken relative to their plain mean, so that E[V²] - μ² does not cancel.
"""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from capsedu.ops.em import LEAST_ACTIVATION, LEAST_MASS, VARIANCE_FLOOR, EMResult, activate
from capsedu.ops.neighbourhood import Neighbourhood, log_competition

SLICE_BYTES = {"cpu": 6 * 2**20}
DEFAULT_SLICE_BYTES = 512 * 2**20


class Options(NamedTuple):
    """What does not change between slices."""

    grid: Neighbourhood
    iterations: int
    inverse_temperature: float
    variance_floor: float
    average_mass: float


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
) -> EMResult:
    """EM routing of the votes V_ij = M_i W_ij on a grid, without keeping the votes.

    Args:
        poses: M_i, (B, H*W, C, 4, 4) for matrices, (B, H*W, C, 1, 16) for vectors.
        activations: (B, H*W, C).
        weight: W_ij, (K*K*C, J, 4, 4) for matrices, (K*K*C, J, 16, 16) for vectors.
        beta_u, beta_a: (J,).
        grid: who sees whom.
        offsets: (K*K*C, D), added to every vote of a slot (coordinate addition).
        iterations, inverse_temperature, variance_floor: as in :func:`capsedu.ops.em_routing`.

    Returns:
        poses (B, P, J, D), activations (B, P, J) and responsibilities (B, P, S, J), the last as constants.
    """
    slots, types = weight.shape[:2]
    children = slots // grid.kernel**2
    average_mass = grid.seen_positions * children / (grid.out_height * grid.out_width * types)
    options = Options(grid, iterations, inverse_temperature, variance_floor, average_mass)
    if offsets is None:
        offsets = weight.new_zeros(slots, poses.shape[-2] * weight.shape[-1])
    return EMResult(*_VoteAndRoute.apply(poses, activations, weight, beta_u, beta_a, offsets, options))


def votes_of(poses: Tensor, weight: Tensor, grid: Neighbourhood, offsets: Tensor) -> Tensor:
    """V_ij = M_i W_ij of every slot, (B, P, J, S, D)."""
    seen = poses[:, grid.children_of(poses.device)].flatten(2, 3)  # (B, P, S, R, Q)
    batch, positions, slots, rows, inner = seen.shape
    _, types, _, columns = weight.shape
    left = seen.permute(2, 0, 1, 3, 4).reshape(slots, -1, inner)  # (S, B*P*R, Q)
    right = weight.permute(0, 2, 1, 3).reshape(slots, inner, -1)  # (S, Q, J*R)
    votes = torch.bmm(left, right).view(slots, batch, positions, rows, types, columns)
    votes = votes.permute(1, 2, 4, 0, 3, 5).reshape(batch, positions, types, slots, rows * columns)
    return votes + offsets


def _route(
    features: Tensor, centre: Tensor, activations: Tensor, beta_u: Tensor, beta_a: Tensor, options: Options
) -> tuple[Tensor, Tensor, Tensor, list[tuple[Tensor, Tensor]]]:
    """EM on features (B, P, J, S, 2D); returns poses, activations, responsibilities and each product with F.

    A product is (factor, result): ``factor @ F`` in the M-step, ``F @ factor`` in the E-step.
    """
    size = features.shape[-1] // 2
    scores = features.new_zeros(features.shape[:-1])  # (B, P, J, S)
    products: list[tuple[Tensor, Tensor]] = []
    for t in range(options.iterations):
        responsibilities = _normalise(scores, options.grid)  # (B, P, J, S)
        weights = responsibilities * activations[:, :, None]
        mass = weights.sum(dim=-1)  # (B, P, J)
        share = weights / (mass + LEAST_MASS)[..., None]
        moments = (share[..., None, :] @ features).squeeze(-2)  # (B, P, J, 2D)
        products.append((share, moments))
        mean, square = moments.split(size, dim=-1)
        variance = (square - mean * mean).clamp(min=0) + options.variance_floor
        temperature = options.inverse_temperature * (1 - 0.95 ** (t + 1))
        activation = activate(mass, variance, beta_u, beta_a, temperature, options.average_mass)
        if t + 1 < options.iterations:
            natural = torch.cat([mean / variance, -0.5 / variance], dim=-1)  # (B, P, J, 2D)
            linear = (features @ natural[..., None]).squeeze(-1)  # (B, P, J, S)
            products.append((natural, linear))
            constant = -0.5 * (mean * mean / variance + variance.log() + math.log(2 * math.pi)).sum(dim=-1)
            log_activation = activation.clamp(min=LEAST_ACTIVATION).log()
            scores = linear + (constant + log_activation)[..., None]
    total = mass / (mass + LEAST_MASS)  # 1, or 0 for a parent without data
    return mean + centre * total[..., None], activation, responsibilities, products


def _normalise(scores: Tensor, grid: Neighbourhood) -> Tensor:
    """Responsibilities of every parent that reaches a child, (B, P, J, S)."""
    by_place = scores.transpose(2, 3).unflatten(2, (grid.kernel**2, -1))  # (B, P, K*K, C, J)
    normaliser = log_competition(by_place, grid).flatten(2)  # (B, P, S)
    return (scores - normaliser[:, :, None]).exp()


def _features(votes: Tensor) -> tuple[Tensor, Tensor]:
    """(V - c, (V - c)²) and the centre c, (B, P, J, D). A constant shift changes no gradient."""
    centre = votes.mean(dim=-2)
    centred = votes - centre[..., None, :]
    return torch.cat([centred, centred.square()], dim=-1), centre


class _VoteAndRoute(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        poses: Tensor,
        activations: Tensor,
        weight: Tensor,
        beta_u: Tensor,
        beta_a: Tensor,
        offsets: Tensor,
        options: Options,
    ) -> tuple[Tensor, Tensor, Tensor]:
        ctx.save_for_backward(poses, activations, weight, beta_u, beta_a, offsets)
        ctx.options = options
        size = _slice_size(poses, weight, options.grid)
        parts = []
        for pose, activation in zip(poses.split(size), activations.split(size), strict=True):
            features, centre = _features(votes_of(pose, weight, options.grid, offsets))
            seen = activation[:, options.grid.children_of(pose.device)].flatten(2)
            parts.append(_route(features, centre, seen, beta_u, beta_a, options)[:3])
        mean, active, responsibilities = (torch.cat(part) for part in zip(*parts, strict=True))
        responsibilities = responsibilities.transpose(2, 3)
        ctx.mark_non_differentiable(responsibilities)
        return mean, active, responsibilities

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_mean: Tensor, grad_active: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        poses, activations, weight, beta_u, beta_a, offsets = ctx.saved_tensors
        size = _slice_size(poses, weight, ctx.options.grid)
        grads = [torch.zeros_like(tensor) for tensor in (poses, activations, weight, beta_u, beta_a)]
        for start in range(0, len(poses), size):
            part = slice(start, start + size)
            found = _slice_backward(
                poses[part], activations[part], weight, beta_u, beta_a, offsets, ctx.options,
                (grad_mean[part], grad_active[part]),
            )  # fmt: skip
            grads[0][part], grads[1][part] = found[:2]
            for total, piece in zip(grads[2:], found[2:], strict=True):
                total += piece
        return (*grads, None, None)


def _slice_backward(
    poses: Tensor,
    activations: Tensor,
    weight: Tensor,
    beta_u: Tensor,
    beta_a: Tensor,
    offsets: Tensor,
    options: Options,
    grad_outputs: tuple[Tensor, Tensor],
) -> tuple[Tensor, ...]:
    """Route one slice again and differentiate: torch does the small tensors, one product the features."""
    with torch.enable_grad():
        leaves = [tensor.detach().requires_grad_() for tensor in (poses, activations, weight, beta_u, beta_a)]
        pose, activation, matrices, leaf_u, leaf_a = leaves
        votes = votes_of(pose, matrices, options.grid, offsets)
        features, centre = _features(votes.detach())  # constants: their gradient is put together below
        seen = activation[:, options.grid.children_of(pose.device)].flatten(2)
        mean, active, _, products = _route(features, centre, seen, leaf_u, leaf_a, options)
    results = [result for _, result in products]
    small = [activation, leaf_u, leaf_a, *results]
    grad_activation, grad_u, grad_a, *grad_results = torch.autograd.grad((mean, active), small, grad_outputs)
    # d(w F) and d(F n): columns (B, P, J, S, 2r-1) times rows (B, P, J, 2r-1, 2D)
    columns, rows = [], []
    for index, ((factor, _), grad) in enumerate(zip(products, grad_results, strict=True)):
        column, row = (factor, grad) if index % 2 == 0 else (grad, factor)
        columns.append(column.detach())
        rows.append(row.detach())
    grad_features = torch.stack(columns, dim=-1) @ torch.stack(rows, dim=-2)
    size = votes.shape[-1]
    centred = features[..., :size]
    grad_votes = grad_features[..., :size] + 2 * centred * grad_features[..., size:]
    grad_pose, grad_weight = torch.autograd.grad(votes, (pose, matrices), grad_votes)
    return grad_pose, grad_activation, grad_weight, grad_u, grad_a


def _slice_size(poses: Tensor, weight: Tensor, grid: Neighbourhood) -> int:
    """How many images' features fit the budget."""
    slots, types, _, columns = weight.shape
    votes = grid.out_height * grid.out_width * slots * types * poses.shape[-2] * columns
    per_image = 2 * votes * weight.element_size()
    return max(1, SLICE_BYTES.get(poses.device.type, DEFAULT_SLICE_BYTES) // per_image)
