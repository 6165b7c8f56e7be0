"""Modules that own weights and call :mod:`capsedu.ops`."""

from capsedu.layers.decoder import Decoder
from capsedu.layers.dense import DenseCaps
from capsedu.layers.matrix import ClassCaps, ConvCaps, MatrixCapsules, MatrixPrimaryCaps
from capsedu.layers.primary import PrimaryCaps

__all__ = [
    "ClassCaps",
    "ConvCaps",
    "Decoder",
    "DenseCaps",
    "MatrixCapsules",
    "MatrixPrimaryCaps",
    "PrimaryCaps",
]
