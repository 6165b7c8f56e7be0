"""Which children a parent sees on a grid, and which parents compete for a child."""

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

NOBODY = -1e30  # the log-score of a parent that is not there: finite, so that gradients are


@dataclass(frozen=True)
class Neighbourhood:
    """A square kernel sliding over a grid without padding.

    Positions are numbered row by row. A *slot* is one (parent position, place in the kernel) pair.
    """

    height: int
    width: int
    kernel: int
    stride: int

    @property
    def out_height(self) -> int:
        """Rows of parents."""
        return (self.height - self.kernel) // self.stride + 1

    @property
    def out_width(self) -> int:
        """Columns of parents."""
        return (self.width - self.kernel) // self.stride + 1

    @property
    def seen_positions(self) -> int:
        """Child positions that some parent sees; a stride can leave out the last row and column."""
        return len(_maps(self)[0].unique())

    def children_of(self, device: torch.device) -> Tensor:
        """For each parent position, the positions of its children: (P, K*K)."""
        return _maps(self)[0].to(device)

    def parents_of(self, device: torch.device) -> Tensor:
        """For each child position, the slots that hold it, padded with the number of slots: (H*W, most)."""
        return _maps(self)[1].to(device)


@cache
def _maps(grid: Neighbourhood) -> tuple[Tensor, Tensor]:
    children: list[int] = []
    slots: list[list[int]] = [[] for _ in range(grid.height * grid.width)]
    for row in range(grid.out_height):
        for column in range(grid.out_width):
            for down in range(grid.kernel):
                for right in range(grid.kernel):
                    child = (row * grid.stride + down) * grid.width + column * grid.stride + right
                    slots[child].append(len(children))
                    children.append(child)
    most = max(len(held) for held in slots)
    padded = [held + [len(children)] * (most - len(held)) for held in slots]
    return torch.tensor(children).view(-1, grid.kernel**2), torch.tensor(padded)


def log_competition(scores: Tensor, children: Tensor, parents: Tensor) -> Tensor:
    """Log of the sum of exp(score) over every parent that a child can reach.

    Args:
        scores: log-scores (B, P, S, J): of the child in each slot, S = K*K*C, for parent type J.
        children: (P, K*K), from :meth:`Neighbourhood.children_of`.
        parents: (H*W, most), from :meth:`Neighbourhood.parents_of`.

    Returns:
        (B, P, S): the same number wherever the same child stands.
    """
    over_types = scores.logsumexp(dim=-1).unflatten(2, (children.shape[1], -1)).flatten(1, 2)  # (B, slots, C)
    nobody = over_types.new_full((len(scores), 1, over_types.shape[-1]), NOBODY)
    held = torch.cat([over_types, nobody], dim=1)[:, parents]  # (B, H*W, most, C)
    return held.logsumexp(dim=2)[:, children].flatten(2)
