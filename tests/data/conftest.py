"""A small set that stands for the full MNIST."""

from pathlib import Path

import pytest
import torch

from capsedu.data import load, mnist
from tests.conftest import NAMED_BY_THE_USER
from tests.data.fake_mnist import FakeMNIST

HELD_OUT, EMBEDDED, VALIDATION = 6, 5, 8


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeMNIST:
    """40 training images, 6 of them embedded *test* digits, 5 embedded *training* digits; 12 test images."""
    generator = torch.Generator().manual_seed(0)
    random = torch.randint(0, 256, (29 + 12, 28, 28), generator=generator, dtype=torch.uint8)
    held_out = load("mnist", "test", source="embedded").images[:HELD_OUT, 0]
    embedded = load("mnist", "train", source="embedded").images[:EMBEDDED, 0]
    train = torch.cat([held_out, random[:29], embedded])
    labels = torch.randint(0, 10, (40 + 12,), generator=generator)
    made = FakeMNIST(train, labels[:40], random[29:], labels[40:])
    monkeypatch.setattr(mnist, "FILES", made.remote_files())
    monkeypatch.setattr(mnist, "VALIDATION", VALIDATION)
    return made


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of this test's own."""
    monkeypatch.setenv("CAPSEDU_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def named_folder(fake: FakeMNIST, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small set in a folder that CAPSEDU_DATA names."""
    folder = fake.write(tmp_path / "my digits")
    monkeypatch.setenv("CAPSEDU_DATA", str(folder))
    return folder


@pytest.fixture
def real_smallnorb(monkeypatch: pytest.MonkeyPatch) -> None:
    """smallNORB in the folder that the user named when starting the tests."""
    if not NAMED_BY_THE_USER or not any(Path(NAMED_BY_THE_USER).glob("smallnorb*test*")):
        pytest.skip("needs the real smallNORB: name its folder with CAPSEDU_DATA")
    monkeypatch.setenv("CAPSEDU_DATA", NAMED_BY_THE_USER)
