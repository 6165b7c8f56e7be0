"""Counts in a matrix capsule network: who reaches whom, what a child hands out, how many votes there are."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from capsedu.models import MatrixCapsNetConfig
from capsedu.ops import Neighbourhood


def parent_positions(grid: Neighbourhood, row: int, column: int) -> list[tuple[int, int]]:
    """The parent positions whose kernel covers a child, as (row, column) on the parents' grid.

    Args:
        grid: sizes of the children's grid, kernel and stride.
        row, column: of the child.

    Example:
        >>> parent_positions(Neighbourhood(6, 6, kernel=3, stride=1), 0, 1)
        [(0, 0), (0, 1)]
    """
    slots = grid.parents_of(torch.device("cpu"))[row * grid.width + column]
    held = slots[slots < grid.out_height * grid.out_width * grid.kernel**2] // grid.kernel**2
    return [(position // grid.out_width, position % grid.out_width) for position in held.tolist()]


def parent_counts(grid: Neighbourhood) -> Tensor:
    """How many parent positions reach each child: (H, W), 0 where none does.

    Example:
        >>> parent_counts(Neighbourhood(4, 4, kernel=3, stride=1))[0]
        tensor([1, 2, 2, 1])
    """
    children = grid.children_of(torch.device("cpu")).flatten()
    return children.bincount(minlength=grid.height * grid.width).view(grid.height, grid.width)


def handed_out(responsibilities: Tensor, grid: Neighbourhood) -> Tensor:
    """What each child gives to all its parents together: 1, if every parent competes for it.

    Args:
        responsibilities: (B, P, S, J) of convolutional capsules, S = K*K*C.
        grid: sizes of the children's grid, kernel and stride.

    Returns:
        (B, H, W, C), 0 for a child that no parent sees.
    """
    children = grid.children_of(responsibilities.device).flatten()  # (P*K*K,)
    by_slot = responsibilities.sum(dim=-1).unflatten(2, (grid.kernel**2, -1)).flatten(1, 2)  # (B, P*K*K, C)
    total = by_slot.new_zeros(len(by_slot), grid.height * grid.width, by_slot.shape[-1])
    return total.index_add(1, children, by_slot).unflatten(1, (grid.height, grid.width))


def vote_counts(config: MatrixCapsNetConfig) -> dict[str, int]:
    """Votes for one image in each routed layer, each of 16 numbers.

    Example:
        >>> vote_counts(MatrixCapsNetConfig(A=64, B=8, C=16, D=16))
        {'conv1': 41472, 'conv2': 36864, 'classes': 1280}
    """
    height, width = ((side - 5) // 2 + 1 for side in config.image_shape[1:])
    first = Neighbourhood(height, width, kernel=3, stride=2)
    second = Neighbourhood(first.out_height, first.out_width, kernel=3, stride=1)
    places = [grid.out_height * grid.out_width for grid in (first, second)]
    return {
        "conv1": places[0] * 9 * config.B * config.C,
        "conv2": places[1] * 9 * config.C * config.D,
        "classes": places[1] * config.D * config.classes,
    }


def kept_for_backward(compute: Callable[[], object]) -> int:
    """Bytes that autograd keeps while ``compute`` runs, for the backward pass to come.

    Every piece of memory is counted once, however many operations keep it.

    Example:
        >>> x = torch.ones(100, requires_grad=True)
        >>> kept_for_backward(lambda: x.exp().exp())
        800
    """
    kept: dict[int, Tensor] = {}  # holding the tensors keeps their addresses from being used again

    def keep(tensor: Tensor) -> Tensor:
        kept.setdefault(tensor.untyped_storage().data_ptr(), tensor)
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        made = compute()
    del made
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
