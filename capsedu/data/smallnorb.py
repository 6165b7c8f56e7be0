"""smallNORB: stereo photographs of 50 toys (LeCun, Huang & Bottou 2004), for research only.

Five categories of ten toys each, seen by two cameras from 9 elevations and 18 azimuths under 6 lightings.
Five toys of each category are for training, the other five for testing.
"""

import os
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from capsedu.data.binary_matrix import read_binary_matrix
from capsedu.data.dataset import ImageDataset
from capsedu.data.download import RemoteFile, cache_folder, check, download, user_folder
from capsedu.data.npz import read_npz
from capsedu.data.registry import register
from capsedu.errors import CapseduError

Part = Literal["train", "test"]
Source = Literal["folder", "cache", "download"]

HOME = "https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/"
MIRRORS = (
    HOME,
    "http://www.cs.nyu.edu/~ylclab/data/norb-v1.0-small/",
    f"https://web.archive.org/web/2022id_/{HOME}",
)
TRAIN = "smallnorb-5x46789x9x18x6x2x96x96-training"
TEST = "smallnorb-5x01235x9x18x6x2x96x96-testing"
CHECKSUMS: dict[Part, dict[str, str]] = {  # SHA-256 of images, categories and factors
    "train": {
        f"{TRAIN}-dat.mat.gz": "5ffd6272a07d32695ee1082a26a41a93a37aab8c28da047f8c34ed348d214873",
        f"{TRAIN}-cat.mat.gz": "2784e542c1922060691090952b6cd6278879a216c90f81476f0f00256d42cdaa",
        f"{TRAIN}-info.mat.gz": "de7eb932ebe7a4ee16217fead60660d0eb3d23632c2f4d1c51f88c501c17bf32",
    },
    "test": {
        f"{TEST}-dat.mat.gz": "cf7104eed3e51174d2f65b66d1e5878b9da233b886f161b0d88f4510ba2c7474",
        f"{TEST}-cat.mat.gz": "ecaf6d5bb8c3bc5eab9cf0258f6d2198dd474e016e374836fc097f2e5ff509ff",
        f"{TEST}-info.mat.gz": "16adf314226327ee006d1a44db8cfef52773c06c829951d5653a9f6f310248a2",
    },
}
FILES: dict[Part, tuple[RemoteFile, ...]] = {
    part: tuple(RemoteFile(name, checksum, MIRRORS) for name, checksum in files.items())
    for part, files in CHECKSUMS.items()
}
PAIRS = 24_300  # of images, in each part
CATEGORIES = ("animal", "human", "airplane", "truck", "car")
FACTORS = ("instance", "elevation", "azimuth", "lighting")
INSTANCES: dict[Part, tuple[int, ...]] = {"train": (4, 6, 7, 8, 9), "test": (0, 1, 2, 3, 5)}
VALIDATION_INSTANCE = 9  # of each category, out of the training file


@register("smallnorb")
def load_smallnorb(split: str, source: Source | None = None, validation: bool = True) -> ImageDataset:
    """Load smallNORB at 48 × 48 from the first place that has it: folder, cache, download.

    ``factors`` holds the instance, the elevation (0 to 8 for 30° to 70°), the azimuth (0, 2, …, 34: tens of
    degrees) and the lighting (0 to 5). Where the azimuth is not known it is −1, and ``azimuth_relative``
    is right up to one constant turn for each toy.

    Args:
        split: ``"validation"`` is instance 9 of each category, and ``"train"`` the other four.
        source: look nowhere else.
        validation: False leaves all five instances in ``"train"``.
    """
    if split == "validation" and not validation:
        raise CapseduError("validation=False leaves smallnorb without a validation part")
    part: Part = "test" if split == "test" else "train"
    folder, where = _find(part, source)
    images, labels, factors = _read(folder, part)
    dataset = ImageDataset("smallnorb", split, images, labels, where, factors)
    if part == "test" or not validation:
        return dataset
    held_out = factors["instance"] == VALIDATION_INSTANCE
    return dataset.select(held_out if split == "validation" else ~held_out)


def fetch_smallnorb() -> Path:
    """Bring the six files into the user's cache and say where that is."""
    folder = cache_folder() / "smallnorb"
    for files in FILES.values():
        download(files, folder)
    return folder


def _find(part: Part, source: Source | None) -> tuple[Path, str]:
    """The folder with one part of the set, and a sentence that says so."""
    named, cached = user_folder(), cache_folder() / "smallnorb"
    if source in (None, "folder") and named is not None and (what := _form(named, part)):
        return named, f"{what} in {named.name}, the folder that CAPSEDU_DATA names"
    if source in (None, "cache") and (what := _form(cached, part)):
        return cached, f"{what} in the cache"
    reason = ""
    if source == "download" or (source is None and not os.environ.get("CAPSEDU_OFFLINE")):
        try:
            download(FILES[part], cached)
            return cached, f"{_form(cached, part)}, downloaded to the cache"
        except (CapseduError, OSError) as error:
            reason = f" ({error})"
    place = f"in the {source}" if source in ("folder", "cache") else "on this machine"
    raise CapseduError(
        f"smallNORB is not {place}{reason}: name the folder with its files from {HOME} with CAPSEDU_DATA, "
        f'or take "toynorb", which needs no download'
    )


def _form(folder: Path, part: Part) -> str:
    """Which form of a part ``folder`` holds; empty for none."""
    if all(path.is_file() for path in _originals(folder, part)):
        return f"the three smallNORB files for {part}ing"
    npz = _npz(folder, part)
    return npz.name if npz.is_file() else ""


def _npz(folder: Path, part: Part) -> Path:
    return folder / f"smallnorb48_{part}.npz"


def _originals(folder: Path, part: Part) -> list[Path]:
    """Images, categories, factors; each gzipped, or unpacked where only that is there."""
    packed = [folder / file.name for file in FILES[part]]
    return [path if path.is_file() else path.with_suffix("") for path in packed]


def _read(folder: Path, part: Part) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Images (N, 2, 48, 48), labels (N,), factors (N,)."""
    paths = _originals(folder, part)
    if all(path.is_file() for path in paths):
        check(folder, [file for file in FILES[part] if (folder / file.name).is_file()])
        labels = read_binary_matrix(paths[1], (PAIRS,), torch.int32).long()
        info = read_binary_matrix(paths[2], (PAIRS, 4), torch.int32).long()
        images = halve(read_binary_matrix(paths[0], (PAIRS, 2, 96, 96), torch.uint8))
        factors = dict(zip(FACTORS, info.unbind(dim=1), strict=True))
    else:
        paths = [_npz(folder, part)]
        images, labels, factors = _read_npz(paths[0])
    _check_values(paths[-1], part, {"category": labels, **factors})
    return images, labels, factors


def _read_npz(path: Path) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    wanted = {"category": ((PAIRS,), np.integer), "info": ((PAIRS, 4), np.integer)}
    arrays = read_npz(path, {**wanted, "images": ((PAIRS, 2, 48, 48), np.uint8)})
    labels, info = (torch.from_numpy(arrays[name].astype(np.int64)) for name in wanted)
    factors = dict(zip(FACTORS, info.unbind(dim=1), strict=True))
    if (factors["azimuth"] == -1).any():
        relative = read_npz(path, {"azimuth_rel": ((PAIRS,), np.integer)})["azimuth_rel"]
        factors["azimuth_relative"] = 2 * torch.from_numpy(relative.astype(np.int64))
    return torch.from_numpy(arrays["images"]), labels, factors


def _check_values(path: Path, part: Part, numbers: dict[str, Tensor]) -> None:
    """Refuse what smallNORB doesn't have: one part under the other's name, for one."""
    azimuths = tuple(range(0, 36, 2))
    allowed = {
        "category": range(5),
        "instance": INSTANCES[part],
        "elevation": range(9),
        "azimuth": (-1, *azimuths),
        "lighting": range(6),
        "azimuth_relative": azimuths,
    }
    for name, values in numbers.items():
        strange = sorted(set(values.unique().tolist()) - set(allowed[name]))
        if strange:
            raise CapseduError(f"{path} has {name} {strange[0]}, which smallNORB's {part} part has not")


def halve(images: Tensor) -> Tensor:
    """Bring images (N, C, H, W) to half their size by 2 × 2 means, rounded, halves up.

    Example:
        >>> halve(torch.tensor([[[[1, 2], [3, 4]]]], dtype=torch.uint8))
        tensor([[[[3]]]], dtype=torch.uint8)
    """
    count, channels, height, width = images.shape
    small = images.new_empty(count, channels, height // 2, width // 2)
    for part, out in zip(images.split(500), small.split(500), strict=True):  # in 16 bits, a little at a time
        fours = part.unflatten(3, (-1, 2)).unflatten(2, (-1, 2))  # (N, C, H/2, 2, W/2, 2)
        out.copy_((fours.sum(dim=(3, 5), dtype=torch.int16) + 2) // 4)
    return small
