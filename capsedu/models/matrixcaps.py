"""The matrix capsule network (Hinton et al. 2018): A, B, C, D, E."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from capsedu.layers.matrix import ClassCaps, ConvCaps, MatrixPrimaryCaps, Pose
from capsedu.models.images import check_images
from capsedu.models.registry import register
from capsedu.ops.em import EMResult
from capsedu.ops.neighbourhood import Neighbourhood


@dataclass(frozen=True)
class MatrixCapsNetConfig:
    """Sizes of a matrix capsule network, named as in the paper."""

    image_shape: tuple[int, int, int] = (2, 32, 32)
    A: int = 32  # channels of the first convolution
    B: int = 32  # types of primary capsules
    C: int = 32  # of the first convolutional capsules
    D: int = 32  # of the second
    classes: int = 5  # E
    iterations: int = 3
    pose: Pose = "matrix"
    coordinates: bool = True
    compiled: bool = False  # fuse the routing with torch.compile: for training


@dataclass
class MatrixCapsNetOutput:
    """What a matrix capsule network says of a batch of images."""

    activations: Tensor  # (B, E)
    poses: Tensor  # (B, E, 4, 4)
    routing: tuple[EMResult, ...] | None = None  # of the three routed layers, where asked for

    @property
    def scores(self) -> Tensor:
        """The activations, under the name that every classifier here has."""
        return self.activations


class MatrixCapsNet(nn.Module):
    """Convolution, primary capsules, two layers of convolutional capsules, class capsules."""

    def __init__(self, config: MatrixCapsNetConfig) -> None:
        super().__init__()
        self.config = config
        side = (config.image_shape[1] - 5) // 2 + 1
        first = Neighbourhood(side, side, kernel=3, stride=2)
        second = Neighbourhood(first.out_height, first.out_width, kernel=3, stride=1)
        options: Any = {"iterations": config.iterations, "pose": config.pose, "compiled": config.compiled}
        self.conv = nn.Sequential(nn.Conv2d(config.image_shape[0], config.A, 5, stride=2), nn.ReLU())
        self.primary = MatrixPrimaryCaps(config.A, config.B, pose=config.pose)
        self.conv1 = ConvCaps(first, config.B, config.C, **options)
        self.conv2 = ConvCaps(second, config.C, config.D, **options)
        # Centre of a child's receptive field, in pixels: 2 (conv) * 2 (first) apart, starting at 2 + 2 + 4.
        centres = (8 + 4 * torch.arange(second.out_height)) / 100
        grid = torch.cartesian_prod(centres, centres) if config.coordinates else None
        self.classes = ClassCaps(
            second.out_height, config.D, config.classes, coordinates=grid,
            init_scale=0.1, beta_u=2.84, beta_a_scale=50.0, inverse_temperature=0.256, **options,
        )  # fmt: skip

    def forward(
        self, images: Tensor, labels: Tensor | None = None, *, trace: bool = False
    ) -> MatrixCapsNetOutput:
        """Recognise images (B, C, H, W).

        Args:
            images: standardised views.
            labels: not used; every classifier is called alike.
            trace: keep every routing iteration of every layer in ``output.routing``.
        """
        check_images(images, self.config.image_shape)
        capsules = self.primary(self.conv(images))
        routing = []
        for layer in (self.conv1, self.conv2, self.classes):
            capsules = layer(capsules, trace)
            routing.append(capsules.routing)
        return MatrixCapsNetOutput(
            capsules.activations.squeeze(1), capsules.poses.squeeze(1), tuple(routing) if trace else None
        )


@register("matrixcaps")
def matrixcaps(**overrides: object) -> MatrixCapsNet:
    """The paper's network: 316,650 parameters."""
    return MatrixCapsNet(MatrixCapsNetConfig(**overrides))  # type: ignore[arg-type]


@register("matrixcaps-small")
def matrixcaps_small(**overrides: object) -> MatrixCapsNet:
    """The paper's small network: 68,618 parameters."""
    small = {"A": 64, "B": 8, "C": 16, "D": 16}
    return MatrixCapsNet(MatrixCapsNetConfig(**{**small, **overrides}))  # type: ignore[arg-type]
