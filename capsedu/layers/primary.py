"""The first capsules: a convolution whose channels are grouped into vectors."""

from torch import Tensor, nn

from capsedu.ops import squash


class PrimaryCaps(nn.Module):
    """Turn feature maps into capsules.

    One capsule is ``dim`` channels *at one position of one type*. A bare ``view`` of the feature maps
    would mix positions instead.

    Args:
        in_channels: channels of the feature maps.
        types: how many kinds of capsule.
        dim: entries of a capsule.
        kernel_size, stride: of the convolution.

    Example:
        >>> PrimaryCaps(256, types=32, dim=8)(torch.zeros(1, 256, 20, 20)).shape
        torch.Size([1, 1152, 8])
    """

    def __init__(self, in_channels: int, types: int, dim: int, kernel_size: int = 9, stride: int = 2) -> None:
        super().__init__()
        self.types, self.dim = types, dim
        self.conv = nn.Conv2d(in_channels, types * dim, kernel_size, stride)

    def forward(self, features: Tensor) -> Tensor:
        """Features (B, C, H, W) to capsules (B, I, D), children ordered by type, row, column."""
        if features.ndim != 4 or features.shape[1] != self.conv.in_channels:
            raise ValueError(
                f"features must be (B, {self.conv.in_channels}, H, W), got {tuple(features.shape)}"
            )
        maps = self.conv(features).unflatten(1, (self.types, self.dim))  # (B, types, D, H', W')
        capsules = maps.movedim(2, -1).flatten(1, 3)  # (B, I, D)
        return squash(capsules)
