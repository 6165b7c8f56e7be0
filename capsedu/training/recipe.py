"""What to train: one frozen object says all that decides the result."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from capsedu.errors import unknown_name


@dataclass(frozen=True)
class Recipe:
    """Model, data, loss, optimiser, schedule and preparation of one training run.

    The defaults are Sabour et al.'s for MNIST.
    """

    name: str
    model: str
    data: str
    model_options: Mapping[str, Any] = field(default_factory=dict)
    data_options: Mapping[str, Any] = field(default_factory=dict)  # see capsedu.data.load
    train_size: int | None = None  # None: all
    augmentation: Literal["none", "shift", "affine", "norb"] = "shift"  # see ``prepare``
    loss: Literal["margin", "cross_entropy", "spread"] = "margin"
    scaling: Literal["paper", "released"] = "paper"
    reconstruction_weight: float = 0.0005
    learning_rate: float = 1e-3
    schedule: Literal["exponential", "cosine"] = "exponential"  # cosine ends at 0
    cycles: int = 1  # cosine: times it falls from ``learning_rate`` to 0 (warm restarts)
    decay: float = 0.96  # exponential: this factor every ``decay_steps``
    decay_steps: int = 2000
    weight_decay: float = 0.0
    batch_size: int = 128
    epochs: int = 50
    precision: Literal["no", "bf16"] = "no"
    compiled: bool = False  # for models that take it: fuse the routing with torch.compile
    seed: int = 0
    profile: Literal["quick", "laptop", "full"] = "full"


RECIPES = {
    made.name: made
    for made in (
        Recipe("capsnet-mnist-paper", "capsnet-mnist", "mnist"),
        Recipe(
            "capsnet-mnist",
            "capsnet-mnist",
            "mnist",
            augmentation="affine",
            schedule="cosine",
            cycles=2,
            batch_size=64,
            epochs=40,
            precision="bf16",
        ),
        Recipe(
            "capsnet-mnist-small",
            "capsnet-mnist-small",
            "mnist",
            augmentation="affine",
            schedule="cosine",
            learning_rate=2e-3,
            epochs=40,
            precision="bf16",
        ),
        Recipe("cnn-mnist", "cnn-mnist", "mnist", loss="cross_entropy", reconstruction_weight=0.0),
        *(
            Recipe(
                f"matrixcaps-small-{data}",
                "matrixcaps-small",
                data,
                model_options={"iterations": 2},
                data_options={"validation": False},
                augmentation="norb",
                loss="spread",
                reconstruction_weight=0.0,
                learning_rate=3e-3,
                weight_decay=2e-7,
                schedule="cosine",
                batch_size=64,
                epochs=45,
                compiled=True,
            )
            for data in ("smallnorb", "toynorb")
        ),
    )
}

# What a profile changes: seconds on a CPU, minutes on a laptop, or the recipe as it stands.
PROFILES: dict[str, dict[str, Any]] = {
    "quick": {"train_size": 256, "epochs": 1, "batch_size": 32},
    "laptop": {"train_size": 3_000, "epochs": 4, "batch_size": 64},
    "full": {},
}


def recipe_names() -> list[str]:
    """The names that :func:`recipe` knows."""
    return sorted(RECIPES)


def recipe(name: str, profile: str = "full", **changes: Any) -> Recipe:
    """A recipe by name, scaled to a profile, with single fields changed.

    Example:
        >>> recipe("capsnet-mnist", "quick", seed=3).seed
        3
    """
    if name not in RECIPES:
        raise unknown_name("recipe", name, RECIPES)
    if profile not in PROFILES:
        raise unknown_name("profile", profile, PROFILES)
    return replace(RECIPES[name], **{"profile": profile, **PROFILES[profile], **changes})
