"""What every test starts from: no network, none of the user's data, one thread, hypothesis without chance."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings

settings.register_profile("capsedu", derandomize=True, deadline=None, max_examples=30, database=None)
settings.load_profile("capsedu")
torch.set_num_threads(1)

NAMED_BY_THE_USER = os.environ.get("CAPSEDU_DATA")


@pytest.fixture(scope="session", autouse=True)
def _surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No download, no named folder, an empty cache; for the processes that tests start, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAPSEDU_OFFLINE", "1")
        patch.setenv("CAPSEDU_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("CAPSEDU_DATA", raising=False)
        yield


@pytest.fixture
def real_mnist(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the four MNIST files that the user named when starting the tests."""
    if not NAMED_BY_THE_USER or not (Path(NAMED_BY_THE_USER) / "train-images-idx3-ubyte.gz").is_file():
        pytest.skip("needs the real MNIST: name its folder with CAPSEDU_DATA")
    monkeypatch.setenv("CAPSEDU_DATA", NAMED_BY_THE_USER)
    return Path(NAMED_BY_THE_USER)
