"""Data sets by name, each of which says where its data came from."""

# Each module registers its loader.
from capsedu.data import mnist  # noqa: F401
from capsedu.data.dataset import ImageDataset
from capsedu.data.registry import load, names

__all__ = ["ImageDataset", "load", "names"]
