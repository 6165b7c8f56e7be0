"""CapsNet (Sabour et al. 2017): convolution, primary capsules, routed class capsules, decoder."""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from capsedu.layers import Decoder, DenseCaps, PrimaryCaps
from capsedu.models.images import check_images
from capsedu.models.registry import register
from capsedu.ops import RoutingResult


@dataclass(frozen=True)
class CapsNetConfig:
    """Every size of a CapsNet; the defaults are the paper's, for MNIST."""

    image_shape: tuple[int, int, int] = (1, 28, 28)  # channels, height, width
    channels: int = 256  # of the first convolution
    kernel_size: int = 9  # of both convolutions
    primary_types: int = 32
    primary_dim: int = 8
    classes: int = 10
    class_dim: int = 16
    decoder: tuple[int, ...] | None = (512, 1024)  # hidden widths; None for no reconstruction
    iterations: int = 3
    gradient: Literal["all", "last"] = "all"
    leaky: bool = False
    init_scale: float = 0.1  # standard deviation of the transformation matrices at the start

    @property
    def primary_grid(self) -> tuple[int, int]:
        """Rows and columns of the primary capsules, after a stride-1 and a stride-2 convolution."""
        _, height, width = self.image_shape
        cut = 2 * (self.kernel_size - 1)
        return (height - cut + 1) // 2, (width - cut + 1) // 2


@dataclass
class CapsNetOutput:
    """What a CapsNet says of a batch of images."""

    capsules: Tensor  # (B, J, D)
    lengths: Tensor  # (B, J), each below 1: how sure the network is that class j is there
    reconstruction: Tensor | None  # (B, C, H, W)
    routing: RoutingResult

    @property
    def scores(self) -> Tensor:
        """The lengths, under the name that every classifier here has."""
        return self.lengths


class CapsNet(nn.Module):
    """The network of the paper's figures 1 and 2.

    Example:
        >>> CapsNet(CapsNetConfig())(torch.zeros(1, 1, 28, 28)).lengths.shape
        torch.Size([1, 10])
    """

    def __init__(self, config: CapsNetConfig) -> None:
        super().__init__()
        self.config = config
        rows, columns = config.primary_grid
        self.conv = nn.Sequential(
            nn.Conv2d(config.image_shape[0], config.channels, config.kernel_size), nn.ReLU(inplace=True)
        )
        self.primary = PrimaryCaps(
            config.channels, config.primary_types, config.primary_dim, config.kernel_size, stride=2
        )
        self.classes = DenseCaps(
            config.primary_types * rows * columns,
            config.primary_dim,
            config.classes,
            config.class_dim,
            iterations=config.iterations,
            gradient=config.gradient,
            leaky=config.leaky,
            init_scale=config.init_scale,
        )
        self.decoder = (
            Decoder(config.classes, config.class_dim, config.image_shape, config.decoder)
            if config.decoder is not None
            else None
        )
        # A tenth faster on a CPU, the same numbers.
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, images: Tensor, labels: Tensor | None = None, *, trace: bool = False) -> CapsNetOutput:
        """Recognise images (B, C, H, W) and redraw them.

        Args:
            images: pixels in [0, 1].
            labels: the classes (B,) to reconstruct. Pass the true ones in training; without them the
                predicted class is drawn, as in test.
            trace: keep every routing iteration in ``output.routing.trace``.
        """
        check_images(images, self.config.image_shape)
        routing = self.classes(self.primary(self.conv(images)), trace)
        capsules = routing.outputs
        lengths = capsules.norm(dim=-1)
        reconstruction = None
        if self.decoder is not None:
            chosen = lengths.argmax(dim=-1) if labels is None else labels
            reconstruction = self.decoder(capsules, chosen)
        return CapsNetOutput(capsules, lengths, reconstruction, routing)


@register("capsnet-mnist")
def capsnet_mnist(**overrides: object) -> CapsNet:
    """The paper's network: 8,215,568 parameters."""
    return CapsNet(CapsNetConfig(**overrides))  # type: ignore[arg-type]


@register("capsnet-mnist-small")
def capsnet_mnist_small(**overrides: object) -> CapsNet:
    """The same design at a sixth of the size: trains in minutes on two cores."""
    small = {"channels": 64, "primary_types": 8, "decoder": (256, 512)}
    return CapsNet(CapsNetConfig(**{**small, **overrides}))  # type: ignore[arg-type]


@register("capsnet-multimnist")
def capsnet_multimnist(**overrides: object) -> CapsNet:
    """The paper's network on 36 × 36 pictures of two digits: 11.36 M parameters."""
    return CapsNet(CapsNetConfig(**{"image_shape": (1, 36, 36), **overrides}))  # type: ignore[arg-type]
