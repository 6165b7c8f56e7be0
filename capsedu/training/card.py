"""What is said of weights: how they were made, on what, and what they were measured to do."""

import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import nn

from capsedu.data import ImageDataset
from capsedu.training.evaluate import Evaluation
from capsedu.training.recipe import Recipe


def make_card(
    recipe: Recipe, model: nn.Module, data: ImageDataset, steps: int, seconds: float
) -> dict[str, Any]:
    """The card of freshly trained weights; :func:`add_evaluation` adds what they can do."""
    return {
        "model": recipe.model,
        "model_options": dict(recipe.model_options),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "command": f"capsedu train {recipe.name} --profile {recipe.profile} --seed {recipe.seed}",
        "recipe": asdict(recipe),
        "data": {
            "name": data.name,
            "split": data.split,
            "items": len(data),
            "source": data.source,
            "sha256": data.checksum,
        },
        "steps": steps,
        "minutes": round(seconds / 60, 1),
        "commit": commit(),
        "torch": torch.__version__,
        "errors": {},
    }


def add_evaluation(card: dict[str, Any], data: ImageDataset, evaluation: Evaluation) -> dict[str, Any]:
    """The card with the errors on one more split."""
    found = {
        "error_percent": round(evaluation.error, 4),
        "wrong": len(evaluation.wrong),
        "items": len(data),
        "per_class_percent": {str(k): round(error, 3) for k, error in evaluation.per_class.items()},
        "source": data.source,
        "sha256": data.checksum,
    }
    return {**card, "errors": {**card["errors"], data.split: found}}


def commit() -> str:
    """The commit of the code that runs, or "unknown" outside a checkout."""
    try:
        return subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
