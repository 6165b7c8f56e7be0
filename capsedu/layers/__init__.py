"""Modules that own weights and call :mod:`capsedu.ops`."""

from capsedu.layers.decoder import Decoder
from capsedu.layers.dense import DenseCaps
from capsedu.layers.primary import PrimaryCaps

__all__ = ["Decoder", "DenseCaps", "PrimaryCaps"]
