"""EM routing (Hinton et al. 2018): every parent is a Gaussian that explains its share of the votes.

This is the form to read. :mod:`capsedu.ops.em_fast` computes the same numbers faster.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from capsedu.ops.neighbourhood import Neighbourhood, log_competition

VARIANCE_FLOOR = 5e-4  # a parent with one child, or none, has no spread of its own
LEAST_MASS = 1e-8


@dataclass
class Gaussians:
    """The parents after an M-step."""

    mean: Tensor  # (B, J, D)
    variance: Tensor  # (B, J, D)
    logit: Tensor  # (B, J), of the activation

    @property
    def activation(self) -> Tensor:
        """a_j, (B, J)."""
        return self.logit.sigmoid()


@dataclass
class EMTrace:
    """What routing did: ``responsibilities[t]`` gave ``parents[t]``."""

    responsibilities: list[Tensor]
    parents: list[Gaussians]


@dataclass
class EMResult:
    """What routing found. On a grid, parents are (B, P, J) and children (B, P, S)."""

    poses: Tensor  # (B, J, D), the means
    activations: Tensor  # (B, J)
    responsibilities: Tensor  # (B, I, J), not weighted by a_i
    trace: EMTrace | None = None


def em_routing(
    votes: Tensor,
    activations: Tensor,
    beta_u: Tensor,
    beta_a: Tensor,
    *,
    iterations: int = 3,
    inverse_temperature: float = 1.0,
    variance_floor: float = VARIANCE_FLOOR,
    grid: Neighbourhood | None = None,
    trace: bool = False,
) -> EMResult:
    r"""Fit Gaussian parents to the votes of their children.

    The M-step and the E-step take turns, M first and last:

    .. math::
        r_{ij} &= R_{ij}\,a_i, \quad m_j = \sum_i r_{ij}, \quad
        \mu_j = \frac{1}{m_j}\sum_i r_{ij} V_{ij}, \quad
        \sigma_j^2 = \frac{1}{m_j}\sum_i r_{ij} (V_{ij} - \mu_j)^2 \\
        a_j &= \operatorname{logistic}\Big(\lambda_t\Big(\beta_a
            - \frac{m_j}{\bar m}\sum_h (\beta_u + \log\sigma_j^h)\Big)\Big) \\
        R_{ij} &= \frac{a_j\,\mathcal N(V_{ij};\mu_j,\sigma_j^2)}
            {\sum_k a_k\,\mathcal N(V_{ik};\mu_k,\sigma_k^2)}

    where :math:`\lambda_t = \lambda\,(1 - 0.95^{t+1})` and :math:`\bar m` is the mass of an average parent
    when every child is active. The last sum runs over *every parent the child can reach*.

    Args:
        votes: (B, I, J, D). On a grid (B, P, S, J, D), S = K*K*C children at each parent position.
        activations: a_i, (B, I); on a grid (B, P, S), a child repeated wherever it is seen.
        beta_u, beta_a: (J,), one of each a parent type.
        iterations: number of M-steps.
        inverse_temperature: :math:`\lambda`.
        variance_floor: added to every variance.
        grid: for convolutional capsules, who sees whom.
        trace: keep every iteration.
    """
    _check(votes, activations, iterations, grid)
    children = votes.shape[-3] if grid is None else votes.shape[-3] // grid.kernel**2
    mean_mass = average_mass(children, votes.shape[-2], grid)
    scores = torch.zeros_like(votes[..., 0])  # log a_j N(V_ij), the same for all: nobody is preferred
    kept = EMTrace([], [])
    for t in range(iterations):
        responsibilities = _e_step(scores, grid)  # (B, I, J)
        temperature = inverse_temperature * (1 - 0.95 ** (t + 1))
        parents = _m_step(
            responsibilities, activations, votes, beta_u, beta_a, temperature, mean_mass, variance_floor
        )
        if trace:
            kept.responsibilities.append(responsibilities)
            kept.parents.append(parents)
        if t + 1 < iterations:
            scores = _log_scores(votes, parents)
    return EMResult(parents.mean, parents.activation, responsibilities, kept if trace else None)


def _m_step(
    responsibilities: Tensor,
    activations: Tensor,
    votes: Tensor,
    beta_u: Tensor,
    beta_a: Tensor,
    temperature: float,
    mean_mass: float,
    variance_floor: float,
) -> Gaussians:
    # r_ij = R_ij a_i: multiply only. Renormalising over j here would cancel a_i.
    weights = responsibilities * activations[..., None]  # (B, I, J)
    mass = weights.sum(dim=-2)  # (B, J)
    share = weights / (mass + LEAST_MASS)[..., None, :]
    mean = (share[..., None] * votes).sum(dim=-3)  # (B, J, D)
    deviation = votes - mean[..., None, :, :]
    variance = (share[..., None] * deviation.square()).sum(dim=-3) + variance_floor  # (B, J, D)
    log_variance = variance.log().sum(dim=-1)
    logit = activation_logit(mass / mean_mass, log_variance, votes.shape[-1], beta_u, beta_a, temperature)
    return Gaussians(mean, variance, logit)


def activation_logit(
    data: Tensor, log_variance: Tensor, size: int, beta_u: Tensor, beta_a: Tensor, temperature: float
) -> Tensor:
    """λ (β_a - cost), cost = data Σ_h (β_u + log σ_h); ``log_variance`` is Σ_h log σ_h² over ``size`` h."""
    return temperature * (beta_a - data * (size * beta_u + 0.5 * log_variance))


def _log_scores(votes: Tensor, parents: Gaussians) -> Tensor:
    """log a_j N(V_ij; μ_j, σ_j²), (B, I, J)."""
    variance = parents.variance[..., None, :, :]
    distance = (votes - parents.mean[..., None, :, :]).square() / variance
    log_density = -0.5 * (distance + variance.log() + math.log(2 * math.pi)).sum(dim=-1)
    return log_density + logsigmoid(parents.logit)[..., None, :]


def _e_step(scores: Tensor, grid: Neighbourhood | None) -> Tensor:
    """Responsibilities: the scores, normalised over all parents that a child can reach."""
    if grid is None:
        return scores.softmax(dim=-1)
    children, parents = grid.children_of(scores.device), grid.parents_of(scores.device)
    return (scores - log_competition(scores, children, parents)[..., None]).exp()


def votes_on_grid(
    poses: Tensor, weight: Tensor, grid: Neighbourhood, offsets: Tensor | None = None
) -> Tensor:
    """V_ij = M_i W_ij of every child at every parent position, (B, P, S, J, D).

    Args:
        poses: M_i, (B, H*W, C, 4, 4) for matrices, (B, H*W, C, 1, 16) for vectors.
        weight: W_ij, (S, J, 4, 4) for matrices, (S, J, 16, 16) for vectors.
        grid: who sees whom.
        offsets: (S, D), added to every vote of a slot (coordinate addition).
    """
    seen = poses[:, grid.children_of(poses.device)].flatten(2, 3)  # (B, P, S, R, Q)
    votes = (seen[:, :, :, None] @ weight).flatten(-2)
    return votes if offsets is None else votes + offsets[:, None]


def average_mass(children: int, parents: int, grid: Neighbourhood | None) -> float:
    """Mass of a parent when every child is active and shares are even; on a grid, counts are of types."""
    if grid is None:
        return children / parents
    return grid.seen_positions * children / (grid.out_height * grid.out_width * parents)


def _check(votes: Tensor, activations: Tensor, iterations: int, grid: Neighbourhood | None) -> None:
    wanted = "(B, I, J, D)" if grid is None else "(B, P, S, J, D)"
    if votes.ndim != wanted.count(",") + 1:
        raise ValueError(f"votes must be {wanted}, got {tuple(votes.shape)}")
    if activations.shape != votes.shape[:-2]:
        raise ValueError(
            f"activations must be {tuple(votes.shape[:-2])} beside votes {tuple(votes.shape)}, "
            f"got {tuple(activations.shape)}"
        )
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, got {iterations}")
