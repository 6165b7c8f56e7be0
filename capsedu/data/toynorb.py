"""ToyNORB: smallNORB's categories, views, lightings and split, of toys that are rendered here.

Five categories of ten toys each, made by :mod:`capsedu.render.toys`, seen by two eyes from 9 elevations and
18 azimuths under 6 lightings. The toy stands on a turntable: azimuth turns it, the eyes only go up and down,
and the lamps stay where they are.
"""

from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm.auto import tqdm

from capsedu.data.dataset import ImageDataset
from capsedu.data.download import cache_folder
from capsedu.data.npz import read_npz
from capsedu.data.registry import register
from capsedu.data.smallnorb import CATEGORIES, FACTORS, INSTANCES, VALIDATION_INSTANCE
from capsedu.errors import CapseduError
from capsedu.files import atomic_write
from capsedu.render import Camera, Light, Scene, make_toy, rotate, shade, trace

VERSION = 1  # goes into the name of the cached files: raise it when the pictures change
SIZE = 48
LIGHTINGS = (
    Light(to_lamp=(0.3, -0.7, 0.7), strength=0.60, ambient=0.35, background=0.86),
    Light(to_lamp=(0.3, 0.7, 0.7), strength=0.50, ambient=0.30, background=0.78),
    Light(to_lamp=(0.8, 0.1, 0.6), strength=0.35, ambient=0.22, background=0.54),
    Light(to_lamp=(0.1, 0.1, 1.0), strength=0.50, ambient=0.40, background=0.90),
    Light(to_lamp=(-0.7, 0.3, 0.7), strength=0.45, ambient=0.28, background=0.70),
    Light(to_lamp=(0.7, -0.5, 0.5), strength=0.60, ambient=0.45, background=0.97),
)
# Every view of a toy: elevation 0 to 8, azimuth 0, 2, …, 34, lighting 0 to 5, as smallNORB numbers them.
VIEWS = torch.cartesian_prod(torch.arange(9), torch.arange(0, 36, 2), torch.arange(6))  # (972, 3)
AT_ONCE = 4  # places of the eye that are rendered together


@register("toynorb")
def load_toynorb(
    split: str, views: int | None = None, toy_seed: int = 0, validation: bool = True
) -> ImageDataset:
    """Load ToyNORB: stereo pairs of 48 × 48, as uint8 images (N, 2, 48, 48), left eye first.

    The whole set is rendered on first use, in a minute or two for each part, and kept in the user's cache.
    ``factors`` holds instance, elevation, azimuth and lighting, numbered as in smallNORB.

    Args:
        split: ``"validation"`` is instance 9 of each category, and ``"train"`` the other four.
        views: only this many of each toy's 972 views, chosen at random; rendered anew each time, in seconds.
        toy_seed: decides proportions and extra parts of all toys.
        validation: False leaves all five instances in ``"train"``.

    Example:
        >>> toys = load_toynorb("test", views=1)
        >>> toys.images.shape, list(toys.factors)
        (torch.Size([25, 2, 48, 48]), ['instance', 'elevation', 'azimuth', 'lighting'])
    """
    if split == "validation" and not validation:
        raise CapseduError("validation=False leaves toynorb without a validation part")
    if views is not None and not 1 <= views <= len(VIEWS):
        raise CapseduError(f"a toy of toynorb has from 1 to {len(VIEWS)} views, not {views}")
    instances = _instances(split, validation)
    source = f"toys rendered here, from seed {toy_seed}"
    if views is not None:
        labels, info = table(instances, views, toy_seed)
        images = make_images(labels, info, toy_seed)
    else:
        part = "test" if split == "test" else "train"
        images, labels, info = _cached(part, toy_seed)
        chosen = torch.isin(info[:, 0], torch.tensor(instances))
        images, labels, info = images[chosen], labels[chosen], info[chosen]
    factors = dict(zip(FACTORS, info.unbind(dim=1), strict=True))
    return ImageDataset("toynorb", split, images, labels, source, factors)


def fetch_toynorb() -> Path:
    """Render both parts into the user's cache and say where that is."""
    for part in INSTANCES:
        _cached(part, toy_seed=0)
    return cache_folder() / "toynorb"


def _instances(split: str, validation: bool) -> tuple[int, ...]:
    if split == "validation":
        return (VALIDATION_INSTANCE,)
    everything = INSTANCES["test" if split == "test" else "train"]
    return tuple(i for i in everything if split == "test" or not validation or i != VALIDATION_INSTANCE)


def table(instances: tuple[int, ...], views: int | None = None, toy_seed: int = 0) -> tuple[Tensor, Tensor]:
    """What to render: category (N,), and instance, elevation, azimuth and lighting (N, 4), toy by toy."""
    labels, info = [], []
    for category in range(len(CATEGORIES)):
        for instance in instances:
            generator = torch.Generator().manual_seed((toy_seed * 10 + category) * 10 + instance)
            order = torch.randperm(len(VIEWS), generator=generator)[:views].sort().values
            chosen = VIEWS if views is None else VIEWS[order]
            labels.append(torch.full((len(chosen),), category))
            info.append(torch.cat([torch.full((len(chosen), 1), instance), chosen], dim=1))
    return torch.cat(labels), torch.cat(info)


def make_images(labels: Tensor, info: Tensor, toy_seed: int = 0) -> Tensor:
    """Render stereo pairs (N, 2, 48, 48), uint8; with a progress bar, if it takes long."""
    images = torch.empty(len(labels), 2, SIZE, SIZE, dtype=torch.uint8)
    places, which = torch.cat([labels[:, None], info[:, :3]], dim=1).unique(dim=0, return_inverse=True)
    with tqdm(total=len(labels), desc="rendering toys", unit="pair", disable=len(labels) < 2_000) as bar:
        for toy in places[:, :2].unique(dim=0):
            scene = make_toy(CATEGORIES[toy[0]], int(toy[1]), toy_seed)
            for chosen in (places[:, :2] == toy).all(dim=1).nonzero()[:, 0].split(AT_ONCE):
                pairs = look(scene, 30.0 + 5.0 * places[chosen, 2], 10.0 * places[chosen, 3])
                rows = torch.isin(which, chosen).nonzero()[:, 0]
                images[rows] = pairs[which[rows] - chosen[0], info[rows, 3]]
                bar.update(len(rows))
    return images


@torch.inference_mode()
def look(toy: Scene, elevations: Tensor, azimuths: Tensor) -> Tensor:
    """See a toy on the turntable under every lighting: stereo pairs (M, 6, 2, 48, 48), uint8.

    Each pixel is the mean of 2 × 2. The lamps are changed last: what is seen where doesn't depend on them.

    Args:
        toy: one, B = 1.
        elevations: of the eyes, in degrees, (M,).
        azimuths: of the turntable, in degrees, (M,).
    """
    camera = Camera(elevation=elevations, width=2.6)
    turned = toy.moved(rotate("z", azimuths))
    eyes = []
    for eye in (-1.0, 1.0):
        surfaces = trace(turned, camera, size=2 * SIZE, eye=eye)
        eyes.append(torch.cat([shade(surfaces, light) for light in LIGHTINGS], dim=1))
    small = F.avg_pool2d(torch.cat(eyes, dim=1), 2)  # (M, 2 * 6, 48, 48)
    pixels = (small.clamp(0, 1) * 255).round().to(torch.uint8)
    return pixels.unflatten(1, (2, len(LIGHTINGS))).transpose(1, 2)


def _cached(part: str, toy_seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """All of a part from the user's cache; rendered and put there the first time."""
    labels, info = table(INSTANCES["test" if part == "test" else "train"])
    path = cache_folder() / "toynorb" / f"{part}-version{VERSION}-seed{toy_seed}.npz"
    if not path.is_file():
        _write(path, make_images(labels, info, toy_seed), labels, info)
    return _read(path, labels, info), labels, info


def _write(path: Path, images: Tensor, labels: Tensor, info: Tensor) -> None:
    with atomic_write(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, images=images.numpy(), category=labels.numpy(), info=info.numpy())


def _read(path: Path, labels: Tensor, info: Tensor) -> Tensor:
    count = len(labels)
    numbers = {"category": ((count,), np.integer), "info": ((count, 4), np.integer)}
    try:
        arrays = read_npz(path, {**numbers, "images": ((count, 2, SIZE, SIZE), np.uint8)})
    except CapseduError as error:
        raise CapseduError(f"{error}; delete it, and it is made again") from error
    if not np.array_equal(arrays["category"], labels) or not np.array_equal(arrays["info"], info):
        raise CapseduError(f"{path} holds other views than it should; delete it, and it is made again")
    return torch.from_numpy(arrays["images"])
