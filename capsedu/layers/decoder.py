"""From a capsule back to a picture."""

from collections.abc import Sequence
from itertools import pairwise
from math import prod

import torch
from torch import Tensor, nn


class Decoder(nn.Module):
    """Draw a picture from one class capsule; all others are masked with zeros.

    Args:
        classes: number of class capsules, J.
        dim: their dimensions, D.
        image_shape: channels, height and width of the picture.
        hidden: widths of the hidden layers.

    Example:
        >>> Decoder(10, 16, (1, 28, 28))(torch.zeros(2, 10, 16), torch.tensor([3, 7])).shape
        torch.Size([2, 1, 28, 28])
    """

    def __init__(
        self, classes: int, dim: int, image_shape: Sequence[int], hidden: Sequence[int] = (512, 1024)
    ) -> None:
        super().__init__()
        self.capsule_shape = (classes, dim)
        widths = [classes * dim, *hidden]
        layers: list[nn.Module] = []
        for width_in, width_out in pairwise(widths):
            layers += [nn.Linear(width_in, width_out), nn.ReLU()]
        layers += [
            nn.Linear(widths[-1], prod(image_shape)),
            nn.Sigmoid(),
            nn.Unflatten(1, tuple(image_shape)),
        ]
        self.layers = nn.Sequential(*layers)

    def forward(self, capsules: Tensor, labels: Tensor) -> Tensor:
        """Capsules (B, J, D) and the class (B,) to draw: the true one in training, the predicted in test."""
        if labels.ndim != 1 or capsules.shape != (len(labels), *self.capsule_shape):
            raise ValueError(
                f"capsules must be (B, {', '.join(map(str, self.capsule_shape))}) and labels (B,), "
                f"got {tuple(capsules.shape)} and {tuple(labels.shape)}"
            )
        mask = torch.nn.functional.one_hot(labels, capsules.shape[1]).to(capsules.dtype)
        return self.layers((capsules * mask[..., None]).flatten(1))
