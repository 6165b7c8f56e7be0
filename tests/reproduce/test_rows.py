"""A row goes on where it stopped, and stops when it is enough."""

import json

import pytest
import torch

from capsedu.data import ImageDataset
from capsedu.reproduce import rows
from capsedu.reproduce.rows import run_row
from capsedu.training import recipe

TINY = recipe(
    "cnn-toynorb",
    epochs=2,
    batch_size=5,
    model_options={"convolutions": ((2, 3),), "hidden": (4,)},
)


@pytest.fixture
def toys():
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (20, 2, 48, 48), dtype=torch.uint8, generator=generator)
    return ImageDataset("toys", "train", images, torch.arange(20) % 5, "made here")


def test_a_row_is_measured_at_equal_distances_and_kept(tmp_path, toys):
    curve = run_row(TINY, tmp_path / "row", toys, {"a": toys, "b": toys.take(5)}, evaluations=4)
    assert [entry["step"] for entry in curve] == [2, 4, 6, 8]
    assert all(0 <= entry[name] <= 100 for entry in curve for name in ("a", "b"))
    assert json.loads((tmp_path / "row" / "curve.json").read_text()) == curve


def test_a_finished_row_is_not_trained_again(tmp_path, toys, monkeypatch):
    curve = run_row(TINY, tmp_path, toys, {"test": toys})
    monkeypatch.setattr(rows, "train", lambda *_, **__: pytest.fail("trained again"))
    assert run_row(TINY, tmp_path, toys, {"test": toys}) == curve


def test_a_row_that_stopped_goes_on_to_the_same_curve(tmp_path, toys):
    whole = run_row(TINY, tmp_path / "whole", toys, {"test": toys}, evaluations=4)

    def cut(*args, **kwargs):
        for metrics in whole_training(*args, **kwargs, checkpoint_every=1):
            if metrics.step > 5:
                raise KeyboardInterrupt
            yield metrics

    whole_training = rows.train
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "train", cut)
        with pytest.raises(KeyboardInterrupt):
            run_row(TINY, tmp_path / "cut", toys, {"test": toys}, evaluations=4)
    on = run_row(TINY, tmp_path / "cut", toys, {"test": toys}, evaluations=4)
    errors = [[(entry["step"], entry["test"]) for entry in curve] for curve in (whole, on)]
    assert errors[0] == errors[1]


def test_a_row_stops_when_it_is_enough(tmp_path, toys):
    options = {"evaluations": 4, "enough": lambda curve: len(curve) == 2}
    curve = run_row(TINY, tmp_path, toys, {"test": toys}, **options)
    assert [entry["step"] for entry in curve] == [2, 4]
