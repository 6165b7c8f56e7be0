"""Pictures and labels in memory."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True)
class ImageDataset(torch.utils.data.Dataset):
    """Images with labels that know where they came from.

    Indexing gives what torch's ``DataLoader`` expects: a float image (C, H, W) in [0, 1] and its label.
    """

    name: str
    split: str
    images: Tensor  # (N, C, H, W), uint8
    labels: Tensor  # (N,), int64
    source: str  # a sentence: which files, or which package
    factors: dict[str, Tensor] | None = None  # what made each picture, by name: (N,) each

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.images[index].float() / 255, self.labels[index]

    def batch(self, indices: Tensor | slice) -> tuple[Tensor, Tensor]:
        """Many at once: float images (B, C, H, W) in [0, 1] and labels (B,)."""
        return self.images[indices].float() / 255, self.labels[indices]

    @property
    def checksum(self) -> str:
        """SHA-256 of the images and labels, in their order."""
        digest = hashlib.sha256(self.images.cpu().numpy().tobytes())
        digest.update(self.labels.cpu().numpy().tobytes())
        return digest.hexdigest()

    def take(self, size: int, seed: int = 0) -> "ImageDataset":
        """A random part of ``size`` items, the same for the same seed."""
        if size > len(self):
            raise ValueError(f"cannot take {size} of the {len(self)} items of {self.name} {self.split}")
        return self.select(torch.randperm(len(self), generator=torch.Generator().manual_seed(seed))[:size])

    def select(self, chosen: Tensor) -> "ImageDataset":
        """The part that ``chosen`` names: indices (M,) or a mask (N,)."""
        return self._each(lambda tensor: tensor[chosen])

    def to(self, device: torch.device | str) -> "ImageDataset":
        """The same data on another device."""
        return self._each(lambda tensor: tensor.to(device))

    def _each(self, change: Callable[[Tensor], Tensor]) -> "ImageDataset":
        factors = self.factors and {name: change(values) for name, values in self.factors.items()}
        return replace(self, images=change(self.images), labels=change(self.labels), factors=factors)
