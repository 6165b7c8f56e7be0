"""Coordinate addition: a vote learns where its child stands."""

from torch import Tensor


def coordinate_addition(votes: Tensor, coordinates: Tensor) -> Tensor:
    """Add each child's row and column to the first two entries of its votes' right-hand column.

    Args:
        votes: (..., S, J, 4, 4).
        coordinates: (S, 2), scaled row and column of the centre of each child's receptive field.
    """
    return votes + coordinate_offsets(coordinates)[:, None]


def coordinate_offsets(coordinates: Tensor) -> Tensor:
    """What coordinate addition adds to the votes of each child: (S, 4, 4)."""
    offsets = coordinates.new_zeros(len(coordinates), 4, 4)
    offsets[:, :2, 3] = coordinates
    return offsets
