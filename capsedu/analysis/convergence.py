"""What more routing iterations change: logits, couplings, outputs, answers."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

import torch
from torch import Tensor

from capsedu.models import CapsNet
from capsedu.ops import RoutingResult, dynamic_routing, predict_and_route


@torch.no_grad()
def reroute(model: CapsNet, images: Tensor, iterations: int, *, trace: bool = False) -> RoutingResult:
    """Route a network's class capsules with another number of iterations than its own.

    Args:
        model: a CapsNet; it is left as it is.
        images: (B, C, H, W).
        iterations: of the routing.
        trace: keep every iteration.

    Example:
        >>> from capsedu import models
        >>> reroute(models.create("capsnet-mnist-small"), torch.zeros(2, 1, 28, 28), 7).outputs.shape
        torch.Size([2, 10, 16])
    """
    children, layer = model.primary(model.conv(images)), model.classes
    if trace:
        return dynamic_routing(layer.votes(children), iterations, leaky=layer.leaky, trace=True)
    return predict_and_route(children, layer.weight, iterations, leaky=layer.leaky)


def mean_change(steps: Sequence[Tensor]) -> Tensor:
    """Mean absolute change from each iteration to the next: ``len(steps) - 1`` numbers.

    Args:
        steps: one list of a :class:`capsedu.ops.RoutingTrace`: logits, couplings or outputs.

    Example:
        >>> mean_change([torch.zeros(2), torch.tensor([1.0, -1.0]), torch.tensor([1.0, -2.0])])
        tensor([1.0000, 0.5000])
    """
    return torch.stack([(after - before).abs().mean() for before, after in pairwise(steps)])


def coupling_entropy(couplings: Tensor) -> Tensor:
    r"""How undecided each child is, from 0 (one parent has it all) to 1 (all parents have the same).

    .. math:: H_i = -\frac{1}{\log J} \sum_j c_{ij} \log c_{ij}

    Args:
        couplings: (..., J), sums of 1 over the parents.

    Returns:
        A tensor of shape (...).

    Example:
        >>> coupling_entropy(torch.tensor([[0.5, 0.5], [0.0, 1.0]]))
        tensor([1., 0.])
    """
    return torch.special.entr(couplings).sum(dim=-1) / math.log(couplings.shape[-1])


def routing_objective(votes: Tensor, couplings: Tensor) -> Tensor:
    r"""A quantity that dynamic routing never lowers.

    .. math::
        \Phi(c) = \sum_j h(\lVert s_j\rVert), \quad
        s_j = \sum_i c_{ij}\,\hat u_{j|i}, \quad h(n) = n - \arctan n

    The slope of h is the squashed length, so :math:`\partial\Phi / \partial c_{ij} = \hat u_{j|i}\cdot v_j`:
    just what routing adds to :math:`b_{ij}`.

    Args:
        votes: (B, I, J, D).
        couplings: (B, I, J).

    Returns:
        One number an example, (B,).
    """
    length = torch.einsum("bij,bijd->bjd", couplings, votes).norm(dim=-1)
    return (length - length.atan()).sum(dim=-1)


@torch.no_grad()
def lengths_by_iterations(
    model: CapsNet, images: Tensor, iterations: Iterable[int], *, batch_size: int = 250
) -> dict[int, Tensor]:
    """The class capsules' lengths (B, J) for each number of iterations, the weights being the same."""
    layer = model.classes
    lengths: dict[int, list[Tensor]] = {count: [] for count in iterations}
    for part in images.split(batch_size):
        children = model.primary(model.conv(part))  # once for all numbers of iterations
        for count, parts in lengths.items():
            outputs = predict_and_route(children, layer.weight, count, leaky=layer.leaky).outputs
            parts.append(outputs.norm(dim=-1))
    return {count: torch.cat(parts) for count, parts in lengths.items()}
