"""The IDX format: what is written comes back, what is malformed is told."""

import gzip
import struct
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from capsedu.data.idx import read_idx
from capsedu.errors import CapseduError
from tests.data.fake_mnist import idx_bytes


def header(magic: int = 0x0803, sizes: tuple[int, ...] = (2, 3, 4)) -> bytes:
    return struct.pack(f">I{len(sizes)}I", magic, *sizes)


def assert_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(CapseduError) as caught:
        read_idx(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 2**32))
def test_what_is_written_comes_back(tmp_path_factory, sizes, seed):
    path = tmp_path_factory.mktemp("idx") / "numbers.gz"
    generator = torch.Generator().manual_seed(seed)
    numbers = torch.randint(0, 256, sizes, generator=generator, dtype=torch.uint8)
    path.write_bytes(idx_bytes(numbers))
    assert torch.equal(read_idx(path), numbers)


MALFORMED = {
    "empty file": b"",
    "not gzip": header() + bytes(24),
    "empty content": gzip.compress(b""),
    "half a magic number": gzip.compress(b"\x00\x00"),
    "sizes missing": gzip.compress(header()[:9]),
    "pixels missing": gzip.compress(header() + bytes(23)),
    "a pixel too many": gzip.compress(header() + bytes(25)),
    "wrong magic": gzip.compress(header(magic=0x12340803) + bytes(24)),
    "floats, not bytes": gzip.compress(header(magic=0x0D03) + bytes(24)),
    "lying dimensions": gzip.compress(header(sizes=(2, 3, 5)) + bytes(24)),
    "dimensions of gigabytes": gzip.compress(header(sizes=(2**32 - 1,) * 3) + bytes(24)),
    "dimensions of gigabytes times nothing": gzip.compress(header(sizes=(0, 2**32 - 1, 2**32 - 1))),
    "255 dimensions": gzip.compress(header(magic=0x08FF, sizes=(1,) * 255) + bytes(1)),
    "cut gzip": gzip.compress(header() + bytes(24))[:-6],
    "damaged gzip": gzip.compress(header() + bytes(range(24)))[:-8] + bytes(8),
}


@pytest.mark.parametrize("content", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_file_is_told(tmp_path, content):
    assert_refused(tmp_path / "numbers.gz", content)


@given(st.binary(max_size=60))
def test_random_content_never_passes_for_an_idx_file_by_accident(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("idx") / "numbers.gz"
    assert_refused(path, gzip.compress(b"\x00\x00\x09\x01" + content))
    assert_refused(path, content)


@given(st.binary(max_size=60))
def test_random_sizes_are_read_or_told(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("idx") / "numbers.gz"
    path.write_bytes(gzip.compress(b"\x00\x00\x08" + content))
    try:
        numbers = read_idx(path)
    except CapseduError:
        return
    assert numbers.numel() == len(content) - 1 - 4 * numbers.ndim


@given(st.data())
def test_a_changed_byte_is_read_or_told(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("idx") / "numbers.gz"
    content = bytearray(idx_bytes(torch.arange(24, dtype=torch.uint8).view(2, 3, 4)))
    content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        numbers = read_idx(path)
    except CapseduError:
        return
    assert numbers.flatten().tolist() == list(range(24))


def test_missing_file_is_told(tmp_path):
    with pytest.raises(CapseduError, match=r"nothing\.gz"):
        read_idx(tmp_path / "nothing.gz")
