"""The IDX format of the MNIST files."""

import gzip
import struct
import zlib
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from capsedu.errors import CapseduError


def read_idx(path: Path) -> Tensor:
    """Read a gzipped IDX file of unsigned bytes."""
    try:
        content = gzip.decompress(path.read_bytes())
        zeros, kind, dimensions = struct.unpack_from(">HBB", content)
        shape = struct.unpack_from(f">{dimensions}I", content, 4)
        numbers = np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(shape)
    except (OSError, EOFError, zlib.error, struct.error, ValueError) as error:
        raise CapseduError(f"{path} is not a gzipped IDX file: {error}") from error
    if (zeros, kind) != (0, 8):
        raise CapseduError(f"{path} is not an IDX file of unsigned bytes")
    return torch.from_numpy(numbers.copy())
