"""The networks that ship: small enough, good enough, and never shown what they are judged on."""

import pytest

from capsedu import models
from capsedu.data import load
from capsedu.models.pretrained import WEIGHTS
from capsedu.training import evaluate

# Most megabytes on disk and most error on the whole test set, in per cent.
LIMITS = {"capsnet-mnist-small": (5, 0.60), "capsnet-mnist": (17, 0.35), "matrixcaps-small": (0.2, 8.0)}
TEST_ITEMS = {"mnist": 10_000, "smallnorb": 24_300}
SHIPPED = sorted(path.stem for path in WEIGHTS.glob("*.safetensors"))

each_network = pytest.mark.parametrize("name", SHIPPED)
each_on_mnist = pytest.mark.parametrize("name", [name for name in SHIPPED if "mnist" in name])


@each_network
def test_file_is_small_enough(name):
    assert (WEIGHTS / f"{name}.safetensors").stat().st_size <= LIMITS[name][0] * 1e6


@each_network
def test_card_tells_how_the_weights_were_made_and_what_they_do(name):
    model = models.pretrained(name)
    card = model.card
    assert card["model"] == name
    assert card["parameters"] == sum(parameter.numel() for parameter in model.parameters())
    assert card["command"].startswith(f"capsedu train {card['recipe']['name']} ")
    assert len(card["commit"]) == 40
    assert len(card["data"]["sha256"]) == 64
    assert card["data"]["split"] == "train"
    assert card["minutes"] > 0
    assert "seed" in card["recipe"]
    assert card["errors"]["test"]["items"] == TEST_ITEMS[card["data"]["name"]]
    assert card["errors"]["test"]["error_percent"] <= LIMITS[name][1]
    for found in card["errors"].values():
        assert sorted(found["per_class_percent"]) == [str(k) for k in range(model.config.classes)]


@each_on_mnist
def test_recognises_embedded_test_digits(name):
    found = evaluate(models.pretrained(name), load("mnist", "test", size=200, source="embedded"))
    assert len(found.wrong) <= 3


@each_on_mnist
def test_was_trained_on_the_part_that_leaves_out_the_embedded_test_digits(name, real_mnist):
    data = models.pretrained(name).card["data"]
    assert load("mnist", data["split"], source="folder").checksum == data["sha256"]
