"""Arrays from an npz file: what is written comes back, what is malformed is told, cheaply."""

import io
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsedu.data.npz import read_npz
from capsedu.errors import CapseduError

WANTED = {"images": ((2, 3), np.uint8), "info": ((4,), np.integer)}


def arrays() -> dict[str, np.ndarray]:
    return {"images": np.arange(6, dtype=np.uint8).reshape(2, 3), "info": np.arange(4, dtype=np.int16) - 1}


def npz(save=np.savez_compressed, **changes: np.ndarray) -> bytes:
    file = io.BytesIO()
    save(file, **{**arrays(), **changes})
    return file.getvalue()


def zipped(images: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file with any content under the name of an array."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("images.npy", images)
    return file.getvalue()


def npy_header(shape: str, dtype: str = "|u1", version: bytes = b"\x01\x00") -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text


def assert_refused(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(CapseduError, match="is not the npz file that it should be") as caught:
        read_npz(path, WANTED)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_what_is_written_comes_back(tmp_path, save):
    path = tmp_path / "arrays.npz"
    path.write_bytes(npz(save, more=np.zeros(3)))
    found = read_npz(path, WANTED)
    assert list(found) == ["images", "info"]
    for name, array in arrays().items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype


def test_what_differs_is_said(tmp_path):
    path = tmp_path / "arrays.npz"
    assert "images is (3, 2) uint8, not (2, 3) uint8" in assert_refused(
        path, npz(images=np.ones((3, 2), "u1"))
    )
    assert "images is (2, 3) int8, not (2, 3) uint8" in assert_refused(
        path, npz(images=np.ones((2, 3), "i1"))
    )
    assert "info is (4,) float64, not (4,) integer" in assert_refused(path, npz(info=np.ones(4)))
    assert "info.npy" in assert_refused(path, zipped(npy_header("(2, 3)") + bytes(6)))


MALFORMED = {
    "empty": b"",
    "not a zip": b"PK\x03\x04 and then nothing of the kind",
    "an npy file": npy_header("(2, 3)") + bytes(6),
    "cut": npz()[:-30],
    "half": npz()[:200],
    "objects": npz(images=np.array([["a"] * 3] * 2, dtype=object)),
    "empty array file": zipped(b""),
    "no array": zipped(b"hello, this is no array at all"),
    "data missing": zipped(npy_header("(2, 3)") + bytes(5)),
    "2^40 elements": zipped(npy_header("(1048576, 1048576)") + bytes(6)),
    "negative sizes": zipped(npy_header("(-2, -3)") + bytes(6)),
    "sizes that are no numbers": zipped(npy_header("('2', 3)") + bytes(6)),
    "header of code": zipped(npy_header("__import__('os').getcwd()") + bytes(6)),
    "header longer than the file": zipped(b"\x93NUMPY\x01\x00\xff\xff{}"),
    "header of 20,000 spaces": zipped(npy_header("(2, 3)" + " " * 20_000) + bytes(6)),
    "header of 4 GiB": zipped(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}"),
    "packed with lzma": zipped(npy_header("(2, 3)") + bytes(6), zipfile.ZIP_LZMA),
}


@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_file_is_told(tmp_path, content):
    assert_refused(tmp_path / "arrays.npz", content)


@pytest.mark.parametrize(
    "start",
    [npy_header("(1048576, 1048576)"), b"\x93NUMPY\x02\x00\xff\xff\xff\xff", b""],
    ids=["2^40 elements", "header of 4 GiB", "zeros"],
)
def test_a_zip_bomb_is_not_unpacked(tmp_path, start):
    content = zipped(start + bytes(2**26))
    assert len(content) < 2**17
    tracemalloc.start()
    try:
        assert_refused(tmp_path / "bomb.npz", content)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


@given(st.data())
def test_a_changed_byte_is_read_or_told(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("npz") / "arrays.npz"
    content = bytearray(npz())
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        found = read_npz(path, WANTED)
    except CapseduError:
        return
    for name, array in arrays().items():
        np.testing.assert_array_equal(found[name], array)


@given(st.binary(max_size=120))
def test_random_content_is_told(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("npz") / "arrays.npz"
    assert_refused(path, content)
    assert_refused(path, zipped(b"\x93NUMPY\x01\x00" + content))


def test_missing_file_is_told(tmp_path):
    with pytest.raises(CapseduError, match=r"nothing\.npz"):
        read_npz(tmp_path / "nothing.npz", WANTED)
