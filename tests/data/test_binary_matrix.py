"""The binary-matrix format: what is written comes back, what is malformed is told, cheaply."""

import gzip
import struct
import tracemalloc
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from capsedu.data.binary_matrix import MAGIC, read_binary_matrix
from capsedu.errors import CapseduError
from tests.data.fake_smallnorb import matrix_bytes

UINT8, INT32 = 0x1E3D4C55, 0x1E3D4C54
SHAPE = (2, 3, 4)


def header(magic: int = UINT8, dimensions: int = 3, sizes: tuple[int, ...] = SHAPE) -> bytes:
    return struct.pack(f"<II{len(sizes)}I", magic, dimensions, *sizes)


def assert_refused(path: Path, content: bytes, shape=SHAPE, dtype=torch.uint8) -> str:
    path.write_bytes(content)
    with pytest.raises(CapseduError) as caught:
        read_binary_matrix(path, shape, dtype)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["numbers.mat", "numbers.mat.gz"])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32])
@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.integers(0, 2**32))
def test_what_is_written_comes_back(tmp_path_factory, name, dtype, sizes, seed):
    path = tmp_path_factory.mktemp("matrix") / name
    low, high = (0, 256) if dtype == torch.uint8 else (-(2**31), 2**31)
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randint(low, high, sizes, generator=generator).to(dtype)
    content = matrix_bytes(numbers)
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    found = read_binary_matrix(path, tuple(sizes), dtype)
    assert found.dtype == dtype
    assert torch.equal(found, numbers)
    found.add_(1)  # it may be written to


def test_a_file_written_by_hand_is_read(tmp_path):
    # The example of the format's description: little-endian, 1-D, the two missing sizes written as ones.
    path = tmp_path / "cat.mat"
    path.write_bytes(bytes.fromhex("544C3D1E 01000000 02000000 01000000 01000000 04000000 FFFFFFFF"))
    assert read_binary_matrix(path, (2,), torch.int32).tolist() == [4, -1]


def test_sizes_are_c_ordered(tmp_path):
    path = tmp_path / "dat.mat"
    path.write_bytes(header() + bytes(range(24)))
    assert read_binary_matrix(path, SHAPE, torch.uint8)[1, 2, 3] == 23
    assert read_binary_matrix(path, SHAPE, torch.uint8)[0, 1, 0] == 4


MALFORMED = {
    "empty": b"",
    "half a magic number": header()[:2],
    "magic number alone": header()[:4],
    "sizes missing": header()[:12],
    "data missing": header(),
    "a byte missing": header() + bytes(23),
    "a byte too many": header() + bytes(25),
    "wrong magic": header(magic=0x12345678) + bytes(24),
    "big-endian": struct.pack(">5I", UINT8, 3, *SHAPE) + bytes(24),
    "int32, not uint8": header(magic=INT32) + bytes(96),
    "other sizes, same count": header(sizes=(4, 3, 2)) + bytes(24),
    "2^40 elements": header(sizes=(2**20, 2**10, 2**10)) + bytes(24),
    "2^96 elements": header(sizes=(2**32 - 1,) * 3) + bytes(24),
    "gigabytes times nothing": header(sizes=(0, 2**32 - 1, 2**32 - 1)),
    "no dimensions": header(dimensions=0) + bytes(24),
    "two dimensions": header(dimensions=2) + bytes(24),
    "four dimensions": header(dimensions=4, sizes=(*SHAPE, 1)) + bytes(24),
    "2^32 dimensions": header(dimensions=2**32 - 1) + bytes(24),
}


@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED.keys())
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_malformed_file_is_told(tmp_path, content, packed):
    name = "numbers.mat.gz" if packed else "numbers.mat"
    assert_refused(tmp_path / name, gzip.compress(content) if packed else content)


PACKED_WRONG = {
    "not gzip": header() + bytes(24),
    "cut gzip": gzip.compress(header() + bytes(range(24)))[:-6],
    "wrong checksum": gzip.compress(header() + bytes(range(24)))[:-8] + bytes(8),
    "something behind": gzip.compress(header() + bytes(24)) + b"something",
}


@pytest.mark.parametrize("content", PACKED_WRONG.values(), ids=PACKED_WRONG.keys())
def test_malformed_gzip_is_told(tmp_path, content):
    assert_refused(tmp_path / "numbers.mat.gz", content)


def test_the_sentence_says_what_is_wrong(tmp_path):
    path = tmp_path / "numbers.mat"
    assert "0x1E3D4C54, not 0x1E3D4C55" in assert_refused(path, header(magic=INT32))
    assert "has 2 dimensions, not 3" in assert_refused(path, header(dimensions=2))
    assert "sizes are (4, 3, 2), not (2, 3, 4)" in assert_refused(path, header(sizes=(4, 3, 2)))
    assert "ends after 5 of 24 bytes" in assert_refused(path, header() + bytes(5))
    assert "goes on after the 24 bytes" in assert_refused(path, header() + bytes(30))


@pytest.mark.parametrize(
    "content",
    [header() + bytes(2**26), header(sizes=(2**20, 2**10, 2**10)) + bytes(2**26), bytes(2**26)],
    ids=["data without end", "2^40 elements", "zeros"],
)
def test_a_gzip_bomb_is_not_unpacked(tmp_path, content):
    path = tmp_path / "bomb.mat.gz"
    packed = gzip.compress(content)
    assert len(packed) < 2**17
    tracemalloc.start()
    try:
        assert_refused(path, packed)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_reading_gzip_needs_little_beside_the_numbers(tmp_path):
    path = tmp_path / "large.mat.gz"
    path.write_bytes(gzip.compress(matrix_bytes(torch.zeros(2**24, dtype=torch.uint8))))
    tracemalloc.start()
    try:
        assert read_binary_matrix(path, (2**24,), torch.uint8).sum() == 0
        assert tracemalloc.get_traced_memory()[1] < 2**24 + 2**23
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["numbers.mat", "numbers.mat.gz"])
@given(st.binary(max_size=80))
def test_random_content_is_told(tmp_path_factory, name, content):
    path = tmp_path_factory.mktemp("matrix") / name
    assert_refused(path, content)
    assert_refused(path, gzip.compress(header()[:4] + content))


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 2**32 - 1), max_size=8), st.binary(max_size=40))
def test_random_dimensions_are_read_or_told(tmp_path_factory, dimensions, sizes, content):
    path = tmp_path_factory.mktemp("matrix") / "numbers.mat"
    path.write_bytes(header(UINT8, dimensions, tuple(sizes)) + content)
    try:
        numbers = read_binary_matrix(path, SHAPE, torch.uint8)
    except CapseduError:
        return
    assert numbers.flatten().tolist() == list(path.read_bytes()[20:])


@pytest.mark.parametrize("name", ["numbers.mat", "numbers.mat.gz"])
@given(st.data())
def test_a_changed_byte_is_read_or_told(tmp_path_factory, name, data):
    path = tmp_path_factory.mktemp("matrix") / name
    plain = matrix_bytes(torch.arange(24, dtype=torch.uint8).view(SHAPE))
    content = bytearray(gzip.compress(plain) if name.endswith("gz") else plain)
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        numbers = read_binary_matrix(path, SHAPE, torch.uint8).flatten().tolist()
    except CapseduError:
        return
    assert numbers == (list(range(24)) if name.endswith("gz") else list(content[20:]))


@given(st.integers(0, 43))
def test_a_file_cut_anywhere_is_told(tmp_path_factory, length):
    path = tmp_path_factory.mktemp("matrix") / "numbers.mat"
    assert_refused(path, matrix_bytes(torch.arange(24, dtype=torch.uint8).view(SHAPE))[:length])


def test_missing_file_and_folder_are_told(tmp_path):
    for name in ("nothing.mat", "nothing.mat.gz"):
        with pytest.raises(CapseduError, match="nothing"):
            read_binary_matrix(tmp_path / name, SHAPE, torch.uint8)
    with pytest.raises(CapseduError, match="is not the binary matrix"):
        read_binary_matrix(tmp_path, SHAPE, torch.uint8)


def test_the_magic_numbers_are_those_of_the_format():
    assert {torch.uint8: UINT8, torch.int32: INT32} == MAGIC
