"""Data sets by name, each of which says where its data came from."""

# Each module registers its loader.
from capsedu.data import mnist, smallnorb, toynorb  # noqa: F401
from capsedu.data.dataset import ImageDataset
from capsedu.data.registry import load, names
from capsedu.data.viewpoint import viewpoint_split

__all__ = ["ImageDataset", "load", "names", "viewpoint_split"]
