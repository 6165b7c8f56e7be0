"""Recipes for smallNORB and ToyNORB: the matrix capsule network, each ablation of the paper, the CNN."""

from typing import Any

from capsedu.training.recipe import Recipe

DATA = ("smallnorb", "toynorb")

# What each ablation changes, and the paper's test error (%) for it on smallNORB with its larger network.
ABLATIONS: dict[str, tuple[dict[str, Any], float]] = {
    "": ({}, 2.2),
    "-1-iteration": ({"model_options": {"iterations": 1}}, 9.7),
    "-3-iterations": ({"model_options": {"iterations": 3}}, 1.8),
    "-5-iterations": ({"model_options": {"iterations": 5}}, 3.9),
    "-vector": ({"model_options": {"iterations": 2, "pose": "vector"}}, 2.9),
    "-vector-no-coordinates": (
        {"model_options": {"iterations": 2, "pose": "vector", "coordinates": False}},
        3.2,
    ),
    "-no-coordinates": ({"model_options": {"iterations": 2, "coordinates": False}}, 2.6),
    "-margin": ({"loss": "margin"}, 3.2),
    "-cross-entropy": ({"loss": "cross_entropy"}, 5.8),
}
CNN_PAPER = 5.2


def _matrixcaps(data: str, ablation: str) -> Recipe:
    changes, _ = ABLATIONS[ablation]
    usual: dict[str, Any] = {
        "model_options": {"iterations": 2},
        "data_options": {"validation": False},
        "augmentation": "norb",
        "loss": "spread",
        "reconstruction_weight": 0.0,
        "learning_rate": 3e-3,
        "weight_decay": 2e-7,
        "schedule": "cosine",
        "batch_size": 64,
        "epochs": 45,
        "compiled": True,
    }
    return Recipe(f"matrixcaps-small-{data}{ablation}", "matrixcaps-small", data, **(usual | changes))


def _cnn(data: str) -> Recipe:
    return Recipe(
        f"cnn-{data}",
        "cnn-smallnorb",
        data,
        data_options={"validation": False},
        augmentation="norb",
        loss="cross_entropy",
        reconstruction_weight=0.0,
        schedule="cosine",
        batch_size=64,
        epochs=45,
    )


def norb_recipes() -> list[Recipe]:
    """All of them."""
    return [
        made
        for data in DATA
        for made in (*(_matrixcaps(data, ablation) for ablation in ABLATIONS), _cnn(data))
    ]
