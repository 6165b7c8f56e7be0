"""Coordinate addition against a plain loop."""

import torch

from capsedu.ops import coordinate_addition


def test_coordinate_addition_agrees_with_loops():
    votes, coordinates = torch.randn(2, 3, 4, 4, 4), torch.rand(3, 2)
    expected = votes.clone()
    for b in range(2):
        for child in range(3):
            for parent in range(4):
                for entry in range(2):
                    expected[b, child, parent, entry, 3] += coordinates[child, entry]
    assert torch.equal(coordinate_addition(votes, coordinates), expected)
