"""EM routing as a mixture fit, and what goes wrong when parents at other positions do not compete."""

import math
from typing import Any

from torch import Tensor

from capsedu.ops import EMResult, Gaussians, em_routing


def log_likelihood(votes: Tensor, activations: Tensor, parents: Gaussians) -> Tensor:
    r"""How probable the votes are under the parents, taken as a mixture.

    .. math::
        L = \sum_i a_i \log \sum_j \pi_j\,\mathcal N(V_{ij};\mu_j,\sigma_j^2),
        \quad \pi_j = a_j \Big/ \sum_k a_k

    Args:
        votes: (B, I, J, D).
        activations: a_i, (B, I): how often each child counts.
        parents: after an M-step.

    Returns:
        One number an example, (B,).

    Example:
        >>> import torch
        >>> standard = Gaussians(torch.zeros(1, 1, 2), torch.ones(1, 1, 2), torch.zeros(1, 1))
        >>> log_likelihood(torch.zeros(1, 1, 1, 2), torch.ones(1, 1), standard)  # -log 2π
        tensor([-1.8379])
    """
    variance = parents.variance[:, None]
    distance = (votes - parents.mean[:, None]).square() / variance
    log_density = -0.5 * (distance + variance.log() + math.log(2 * math.pi)).sum(dim=-1)  # (B, I, J)
    log_proportion = (parents.activation / parents.activation.sum(dim=-1, keepdim=True)).log()
    return (activations * (log_density + log_proportion[:, None]).logsumexp(dim=-1)).sum(dim=-1)


def route_without_positions(
    votes: Tensor, activations: Tensor, beta_u: Tensor, beta_a: Tensor, **options: Any
) -> EMResult:
    """EM routing with a well-known fault: only the types at *one* position compete for a child.

    Each parent position is routed as if it were alone, so a child seen from nine positions is given away
    nine times. For comparison only.

    Args:
        votes: (B, P, S, J, D).
        activations: (B, P, S).
        beta_u, beta_a: (J,).
        **options: as for :func:`capsedu.ops.em_routing`.
    """
    batch, positions = votes.shape[:2]
    alone = em_routing(votes.flatten(0, 1), activations.flatten(0, 1), beta_u, beta_a, **options)
    found = (alone.poses, alone.activations, alone.responsibilities)
    return EMResult(*(tensor.unflatten(0, (batch, positions)) for tensor in found))
