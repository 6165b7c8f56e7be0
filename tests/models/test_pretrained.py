"""Weights on disk: what is written comes back, what is damaged is told, nothing is half written."""

import json
import os
import re
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

import capsedu
from capsedu import models
from capsedu.errors import CapseduError
from capsedu.models import load_weights, pretrained, save_weights

OPTIONS = {
    "image_shape": [1, 9, 9],
    "channels": 4,
    "kernel_size": 3,
    "primary_types": 2,
    "classes": 3,
    "class_dim": 4,
    "decoder": [6, 7],
}
CARD = {"model": "capsnet-mnist", "model_options": OPTIONS, "note": "made by a test"}


def small(**changes: object) -> models.CapsNet:
    options = {k: tuple(v) if isinstance(v, list) else v for k, v in {**OPTIONS, **changes}.items()}
    return models.create("capsnet-mnist", **options)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Weights and a card, saved."""
    save_weights(small(), tmp_path / "net.safetensors", CARD)
    return tmp_path / "net.safetensors"


def assert_refused(path: Path) -> str:
    """Loading says in one sentence what is wrong, and with which file."""
    with pytest.raises(CapseduError) as caught:
        load_weights(path)
    sentence = str(caught.value)
    assert path.stem in sentence
    assert "\n" not in sentence
    assert len(sentence) < 400
    return sentence


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float32, 0), (torch.float16, 1e-3), (torch.bfloat16, 1e-2)], ids=str
)
def test_weights_come_back(tmp_path, dtype, tolerance):
    model, path = small(), tmp_path / "net.safetensors"
    save_weights(model, path, CARD, dtype)
    loaded = load_weights(path)
    assert {tensor.dtype for tensor in load_file(path).values()} == {dtype}
    for name, tensor in model.state_dict().items():
        assert loaded.state_dict()[name].dtype == torch.float32
        torch.testing.assert_close(loaded.state_dict()[name], tensor, atol=tolerance, rtol=tolerance)


def test_fp16_is_the_default_and_halves_the_file(tmp_path):
    sizes = []
    for options in ({}, {"dtype": torch.float32}):
        save_weights(small(), tmp_path / "net.safetensors", CARD, **options)
        sizes.append(sum(t.numel() * t.itemsize for t in load_file(tmp_path / "net.safetensors").values()))
    assert sizes[1] == 2 * sizes[0]


def test_loaded_model_has_its_card_and_is_in_evaluation_mode(path):
    model = load_weights(path)
    assert model.card == CARD
    assert not model.training
    assert model.config == small().config


def test_saving_leaves_the_model_as_it_was(tmp_path):
    model = small().train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    save_weights(model, tmp_path / "net.safetensors", CARD)
    assert model.training
    assert all(torch.equal(model.state_dict()[name], tensor) for name, tensor in before.items())
    assert model.classes.weight.requires_grad


@pytest.mark.parametrize("missing", [".safetensors", ".json"])
def test_missing_file_is_named(path, missing):
    path.with_suffix(missing).unlink()
    assert assert_refused(path) == f"there is no file {path.with_suffix(missing)}"


@pytest.mark.parametrize("kept", [0, 4, 8, 100, -1])
def test_truncated_weights_are_refused(path, kept):
    path.write_bytes(path.read_bytes()[:kept])
    assert_refused(path)


def test_text_instead_of_weights_is_refused(path):
    path.write_text("<html>404 Not Found</html>")
    assert_refused(path)


@given(st.binary(max_size=200))
def test_random_bytes_instead_of_weights_are_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("weights") / "net.safetensors"
    path.write_bytes(content)
    path.with_suffix(".json").write_text(json.dumps(CARD))
    assert_refused(path)


@pytest.mark.parametrize(
    "card",
    [
        "",
        "{",
        "null",
        "[]",
        '"capsnet-mnist"',
        "{}",
        '{"model": "capsnet-mnist"}',
        '{"model": "capsnet-mnist", "model_options": []}',
        '{"model": "capsnet-mnist", "model_options": {"colour": 3}}',
        '{"model": "capsnet-mnist", "model_options": {"channels": "many"}}',
        '{"model": "capsnet-mnist", "model_options": {"channels": -1}}',
        '{"model": ["capsnet-mnist"], "model_options": {}}',
    ],
)
def test_damaged_card_is_refused(path, card):
    path.with_suffix(".json").write_text(card)
    assert_refused(path)


def test_card_that_is_not_text_is_refused(path):
    path.with_suffix(".json").write_bytes(b"\xff\xfe\x00")
    assert_refused(path)


def test_card_of_an_unknown_model_offers_names(path):
    path.with_suffix(".json").write_text(json.dumps({**CARD, "model": "capsnet-minst"}))
    assert "capsnet-mnist" in assert_refused(path)


@pytest.mark.parametrize("changes", [{"channels": 5}, {"decoder": None}, {"class_dim": 2}], ids=str)
def test_weights_of_another_model_are_refused(path, changes):
    save_weights(small(**changes), path, CARD)
    assert_refused(path)


@pytest.mark.parametrize("stage", ["weights", "card"])
def test_nothing_is_left_when_saving_fails_in_the_middle(tmp_path, monkeypatch, stage):
    fail_to_write(monkeypatch, stage)
    with pytest.raises(OSError, match="plug pulled"):
        save_weights(small(), tmp_path / "net.safetensors", CARD)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("stage", ["weights", "card"])
def test_old_weights_stay_whole_when_saving_fails_in_the_middle(path, monkeypatch, stage):
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    fail_to_write(monkeypatch, stage)
    with pytest.raises(OSError, match="plug pulled"):
        save_weights(small(), path, {**CARD, "note": "new"})
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def fail_to_write(monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    """Half of the content reaches the disk, then an error."""
    name, plain = {"weights": ("write_bytes", bytes), "card": ("write_text", str)}[stage]

    def half(self: Path, content: bytes | str, *_: object) -> None:
        with open(self, "wb" if plain is bytes else "w") as file:
            file.write(content[: len(content) // 2])
        raise OSError("plug pulled")

    monkeypatch.setattr(Path, name, half)


def test_card_that_json_cannot_hold_changes_nothing(path):
    before = path.read_bytes()
    with pytest.raises(TypeError):
        save_weights(small(), path, {**CARD, "folder": path})
    assert path.read_bytes() == before
    assert sorted(os.listdir(path.parent)) == ["net.json", "net.safetensors"]


def test_unknown_shipped_network_is_told():
    with pytest.raises(CapseduError, match="no shipped network named 'nothing'"):
        pretrained("nothing")


def test_loading_cannot_run_code():
    """safetensors and JSON only: pickle, and torch.load which uses it, run what a stranger wrote."""
    unsafe = re.compile(
        r"(?<!allow_)pickle|allow_pickle=True|torch\.load\b|torch\.save\b|joblib|shelve|marshal"
        r"|(?<![.\w])(eval|exec)\("
    )
    sources = list(Path(capsedu.__file__).parent.rglob("*.py"))
    assert len(sources) > 20
    assert [str(file) for file in sources if unsafe.search(file.read_text(encoding="utf-8"))] == []


def test_a_pickle_in_the_place_of_weights_is_refused(path):
    torch.save(small().state_dict(), path)
    assert_refused(path)
