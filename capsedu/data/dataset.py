"""Pictures and labels in memory."""

import hashlib
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
        chosen = torch.randperm(len(self), generator=torch.Generator().manual_seed(seed))[:size]
        return replace(self, images=self.images[chosen], labels=self.labels[chosen])

    def to(self, device: torch.device | str) -> "ImageDataset":
        """The same data on another device."""
        return replace(self, images=self.images.to(device), labels=self.labels.to(device))
