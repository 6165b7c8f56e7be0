"""Files in smallNORB's formats with few pairs."""

import gzip
import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from capsedu.data.binary_matrix import MAGIC
from capsedu.data.download import RemoteFile

NAMES = {
    "train": "smallnorb-5x46789x9x18x6x2x96x96-training-{}.mat",
    "test": "smallnorb-5x01235x9x18x6x2x96x96-testing-{}.mat",
}
INSTANCES = {"train": [4, 6, 7, 8, 9], "test": [0, 1, 2, 3, 5]}


def matrix_bytes(numbers: Tensor) -> bytes:
    """Magic number, number of dimensions, at least three sizes, numbers: all little-endian."""
    sizes = [*numbers.shape, 1, 1, 1][: max(3, numbers.ndim)]
    header = struct.pack(f"<II{len(sizes)}I", MAGIC[numbers.dtype], numbers.ndim, *sizes)
    return header + numbers.numpy().astype("<i4" if numbers.dtype == torch.int32 else "u1").tobytes()


@dataclass(frozen=True)
class FakePart:
    """Every category and instance of a part, ``views`` times, with random pixels and views."""

    part: str
    images: Tensor  # (N, 2, 96, 96), uint8
    category: Tensor  # (N,), int32
    info: Tensor  # (N, 4), int32

    @property
    def contents(self) -> dict[str, bytes]:
        """The three gzipped files, by name."""
        tensors = {"dat": self.images, "cat": self.category, "info": self.info}
        return {
            NAMES[self.part].format(kind) + ".gz": gzip.compress(matrix_bytes(tensor), 1, mtime=0)
            for kind, tensor in tensors.items()
        }

    def remote_files(self, *mirrors: str) -> tuple[RemoteFile, ...]:
        return tuple(
            RemoteFile(name, hashlib.sha256(content).hexdigest(), mirrors)
            for name, content in self.contents.items()
        )

    def write(self, folder: Path, packed: bool = True) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.contents.items():
            if packed:
                (folder / name).write_bytes(content)
            else:
                (folder / name.removesuffix(".gz")).write_bytes(gzip.decompress(content))

    def arrays(self) -> dict[str, np.ndarray]:
        """What the npz form holds."""
        info = self.info.numpy().astype(np.int8)
        found = {"images": self.halved(), "category": self.category.numpy().astype(np.int8), "info": info}
        if self.part == "train":
            found["azimuth_rel"] = info[:, 2] // 2
            info[:, 2] = -1
        return found

    def halved(self) -> np.ndarray:
        """2 × 2 means, halves up, as a loop over the four corners."""
        corners = sum(
            self.images.numpy()[:, :, row::2, column::2].astype(int) for row in (0, 1) for column in (0, 1)
        )
        return np.floor(corners / 4 + 0.5).astype(np.uint8)

    def write_npz(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"smallnorb48_{self.part}.npz"
        np.savez_compressed(path, **self.arrays())
        return path


def fake_part(part: str, views: int = 2) -> FakePart:
    """5 categories × 5 instances × ``views`` pairs, shuffled."""
    generator = torch.Generator().manual_seed(len(part))
    toys = torch.cartesian_prod(torch.arange(5), torch.tensor(INSTANCES[part])).repeat(views, 1)
    toys = toys[torch.randperm(len(toys), generator=generator)]
    draw = [torch.randint(0, high, (len(toys),), generator=generator) for high in (9, 18, 6)]
    info = torch.stack([toys[:, 1], draw[0], 2 * draw[1], draw[2]], dim=1)
    images = torch.randint(0, 256, (len(toys), 2, 96, 96), generator=generator, dtype=torch.uint8)
    return FakePart(part, images, toys[:, 0].int(), info.int())
