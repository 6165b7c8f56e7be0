"""Files that are whole or not there, and errors that a person can mend."""

import errno
import hashlib
import stat
from pathlib import Path

import pytest

from capsedu.errors import CapseduError, unknown_name
from capsedu.files import atomic_write, sha256


def write_half(path: Path, error: BaseException) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text("ha")
        raise error


def test_content_appears_at_the_end(tmp_path):
    path = tmp_path / "new" / "folder" / "file.txt"
    with atomic_write(path) as temporary:
        temporary.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


def test_others_may_read_the_file(tmp_path):
    with atomic_write(tmp_path / "file") as temporary:
        temporary.write_text("whole")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644


@pytest.mark.parametrize("error", [OSError("plug pulled"), ValueError("no"), KeyboardInterrupt()], ids=repr)
def test_nothing_is_left_after_an_error(tmp_path, error):
    with pytest.raises(type(error)):
        write_half(tmp_path / "file", error)
    assert list(tmp_path.iterdir()) == []


def test_old_content_stays_after_an_error(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(ValueError, match="no"):
        write_half(tmp_path / "file", ValueError("no"))
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("file", "old")]


def test_full_disk_is_told_in_one_sentence(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(CapseduError, match="no space left on the disk") as caught, atomic_write(path):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(path) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_cannot_take_the_place_of_a_file(tmp_path):
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError, match="directory"), atomic_write(tmp_path / "file") as temporary:
        temporary.write_text("whole")
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("size", [0, 1, 1_000_000])
def test_sha256_is_that_of_the_content(tmp_path, size):
    path: Path = tmp_path / "file"
    path.write_bytes(b"a" * size)
    assert sha256(path) == hashlib.sha256(b"a" * size).hexdigest()


def test_nearest_names_come_first_and_at_most_three():
    known = ["capsnet-mnist", "capsnet-mnist-small", "capsnet-multimnist", "cnn-mnist", "other"]
    error = unknown_name("model", "capsnet-mnst", known)
    assert str(error).startswith("there is no model named 'capsnet-mnst'; did you mean capsnet-mnist,")
    assert "other" not in str(error)


def test_all_names_are_offered_where_none_is_near():
    assert str(unknown_name("split", "zzz", ["train", "test"])) == (
        "there is no split named 'zzz'; did you mean test, train?"
    )


def test_no_names_to_offer():
    assert str(unknown_name("shipped network", "x", [])) == "there is no shipped network named 'x'"
