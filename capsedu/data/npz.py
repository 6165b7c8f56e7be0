"""Arrays of known shape from an npz file."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import IO, Any

import numpy as np

from capsedu.errors import CapseduError

Wanted = tuple[tuple[int, ...], type[np.generic]]  # shape, and a dtype or a family such as np.integer


def read_npz(path: Path, wanted: Mapping[str, Wanted]) -> dict[str, np.ndarray]:
    """Read the arrays that ``wanted`` names, each of the shape and kind that it says.

    Every header is compared with what is wanted before its array is allocated, and no code is run.

    Args:
        path: the file.
        wanted: shape and dtype, or family of dtypes, by name.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: _read_array(archive, name, *form) for name, form in wanted.items()}
    except Exception as error:  # a damaged zip raises nearly anything
        reason = shorten(str(error), 200, placeholder=" …")
        raise CapseduError(f"{path} is not the npz file that it should be: {reason}") from error


def _read_array(
    archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], kind: type[np.generic]
) -> np.ndarray:
    item = archive.getinfo(f"{name}.npy")
    if item.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} is packed in a way that numpy does not use")
    with archive.open(item) as file:
        _check_header(file, name, shape, kind)
        file.seek(0)
        return np.lib.format.read_array(file, allow_pickle=False)


def _check_header(file: IO[bytes], name: str, shape: tuple[int, ...], kind: type[np.generic]) -> None:
    version: Any = np.lib.format.read_magic(file)
    if version != (1, 0):  # later versions are for headers longer than 64 KiB
        raise ValueError(f"{name} has version {version} of the npy format, not (1, 0)")
    found, _, dtype = np.lib.format.read_array_header_1_0(file)
    if found != shape or not np.issubdtype(dtype, kind):
        raise ValueError(f"{name} is {found} {dtype}, not {shape} {kind.__name__}")
