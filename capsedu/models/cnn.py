"""The convolutional baselines that the papers compare with."""

from dataclasses import dataclass

from torch import Tensor, nn

from capsedu.models.images import check_images
from capsedu.models.registry import register


@dataclass(frozen=True)
class CNNConfig:
    """A stack of SAME-padded convolutions, each with optional 2 × 2 pooling, and a stack of linear layers."""

    image_shape: tuple[int, int, int]
    convolutions: tuple[tuple[int, int], ...]  # (channels, kernel side) of each
    pool: bool
    hidden: tuple[int, ...]
    classes: int = 10
    dropout: float = 0.0  # before the last layer


@dataclass
class CNNOutput:
    """What a baseline says of a batch of images."""

    scores: Tensor  # (B, classes), logits


class CNN(nn.Module):
    """Convolutions, linear layers, ReLU after each but the last."""

    def __init__(self, config: CNNConfig) -> None:
        super().__init__()
        self.config = config
        channels, height, width = config.image_shape
        layers: list[nn.Module] = []
        for out_channels, kernel in config.convolutions:
            layers += [nn.Conv2d(channels, out_channels, kernel, padding="same"), nn.ReLU()]
            channels = out_channels
            if config.pool:
                layers.append(nn.MaxPool2d(2))
                height, width = height // 2, width // 2
        layers.append(nn.Flatten())
        features = channels * height * width
        for out_features in config.hidden:
            layers += [nn.Linear(features, out_features), nn.ReLU()]
            features = out_features
        layers += [nn.Dropout(config.dropout), nn.Linear(features, config.classes)]
        self.layers = nn.Sequential(*layers)

    def forward(self, images: Tensor, labels: Tensor | None = None) -> CNNOutput:
        """Scores of images (B, C, H, W). ``labels`` are not used: every classifier is called alike."""
        check_images(images, self.config.image_shape)
        return CNNOutput(self.layers(images))


@register("cnn-mnist")
def cnn_mnist(**overrides: object) -> CNN:
    """Sabour et al.'s MNIST baseline, no pooling: 35,445,522 parameters."""
    paper = {
        "image_shape": (1, 28, 28),
        "convolutions": ((256, 5), (256, 5), (128, 5)),
        "pool": False,
        "hidden": (328, 192),
        "dropout": 0.5,
    }
    return CNN(CNNConfig(**{**paper, **overrides}))  # type: ignore[arg-type]


@register("cnn-multimnist")
def cnn_multimnist(**overrides: object) -> CNN:
    """Sabour et al.'s MultiMNIST baseline, pooled: 24.56 M parameters."""
    paper = {
        "image_shape": (1, 36, 36),
        "convolutions": ((512, 9), (256, 5)),
        "pool": True,
        "hidden": (1024,),
    }
    return CNN(CNNConfig(**{**paper, **overrides}))  # type: ignore[arg-type]


@register("cnn-smallnorb")
def cnn_smallnorb(**overrides: object) -> CNN:
    """Hinton et al.'s smallNORB baseline, pooled: 4,253,349 parameters."""
    paper = {
        "image_shape": (2, 32, 32),
        "convolutions": ((32, 5), (64, 5)),
        "pool": True,
        "hidden": (1024,),
        "classes": 5,
        "dropout": 0.5,
    }
    return CNN(CNNConfig(**{**paper, **overrides}))  # type: ignore[arg-type]
