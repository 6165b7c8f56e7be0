"""The "binary matrix" format of the smallNORB files."""

import gzip
import struct
import zlib
from math import prod
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import torch
from torch import Tensor

from capsedu.errors import CapseduError

MAGIC = {torch.uint8: 0x1E3D4C55, torch.int32: 0x1E3D4C54}
LAYOUT = {torch.uint8: "u1", torch.int32: "<i4"}
CHUNK = 2**20  # bytes read at a time: a gzip stream hands out no more than is asked for


def read_binary_matrix(path: Path, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Read a file, plain or with a name that ends in ``.gz``, that must hold ``shape`` numbers of ``dtype``.

    The header is compared with what is wanted before anything is allocated, and no more is unpacked than
    is wanted: a file that lies costs neither memory nor time.

    Args:
        path: the file.
        shape: the sizes that it must have.
        dtype: ``torch.uint8`` or ``torch.int32``.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with cast(BinaryIO, opener(path, "rb")) as file:
            _check_header(file, shape, dtype)
            return _read_numbers(file, shape, dtype)
    except (OSError, EOFError, zlib.error, struct.error, ValueError) as error:
        raise CapseduError(f"{path} is not the binary matrix that it should be: {error}") from error


def _check_header(file: BinaryIO, shape: tuple[int, ...], dtype: torch.dtype) -> None:
    """Magic number, number of dimensions, then the sizes: three of them even where there are fewer."""
    magic, dimensions = struct.unpack("<II", file.read(8))
    if magic != MAGIC[dtype]:
        raise ValueError(f"it begins with 0x{magic:08X}, not 0x{MAGIC[dtype]:08X}")
    if dimensions != len(shape):
        raise ValueError(f"it has {dimensions} dimensions, not {len(shape)}")
    written = max(3, dimensions)
    sizes = struct.unpack(f"<{written}I", file.read(4 * written))[:dimensions]
    if sizes != shape:
        raise ValueError(f"its sizes are {sizes}, not {shape}")


def _read_numbers(file: BinaryIO, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    wanted = prod(shape) * dtype.itemsize
    content = np.empty(wanted, np.uint8)
    start = 0
    while start < wanted:
        part = file.read(min(CHUNK, wanted - start))
        if not part:
            raise ValueError(f"it ends after {start} of {wanted} bytes")
        content[start : start + len(part)] = np.frombuffer(part, np.uint8)
        start += len(part)
    if file.read(1):  # at the end of a gzip stream this also compares its checksum
        raise ValueError(f"it goes on after the {wanted} bytes that it should hold")
    numbers = content.view(np.dtype(LAYOUT[dtype])).reshape(shape)
    return torch.from_numpy(numbers.astype(numbers.dtype.newbyteorder("="), copy=False))
