"""The recipes by name, and the profiles that make them smaller."""

from dataclasses import replace
from typing import Any

from capsedu.errors import unknown_name
from capsedu.training.norb import norb_recipes
from capsedu.training.recipe import Recipe

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
        *norb_recipes(),
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
