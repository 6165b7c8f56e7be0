"""Hinton et al. (2018), table 1: what routing iterations, poses, losses and coordinates are worth."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from capsedu import results
from capsedu.data import load
from capsedu.reproduce.rows import run_row
from capsedu.training import Recipe, recipe
from capsedu.training.loop import training_data
from capsedu.training.norb import ABLATIONS, CNN_PAPER


def table(data: str) -> dict[str, float]:
    """The recipe of each row, and the paper's error for it."""
    rows = {f"matrixcaps-small-{data}{ablation}": paper for ablation, (_, paper) in ABLATIONS.items()}
    return rows | {f"cnn-{data}": CNN_PAPER}


def reproduce_smallnorb(
    data: str, epochs: int, folder: Path, *, train_size: int | None = None, test_size: int | None = None
) -> dict[str, Any]:
    """Fill the table row by row; after each row the result file holds what there is.

    Args:
        data: ``"smallnorb"`` or ``"toynorb"``.
        epochs: budget of every row.
        folder: for checkpoints and rows; the same folder goes on.
        train_size, test_size: fewer images, for a trial.
    """
    found: dict[str, Any] = {"data": data, "epochs": epochs, "rows": {}}
    test = load(data, "test", size=test_size)
    for name, paper in table(data).items():
        wanted = replace(recipe(name), epochs=epochs, train_size=train_size)
        curve = run_row(wanted, folder / name, training_data(wanted), {"test": test})
        found["rows"][name] = _row(wanted, paper, curve[-1])
        results.save(f"{data}_ablations", found)
    return found


def _row(recipe: Recipe, paper: float, last: dict[str, Any]) -> dict[str, Any]:
    options = recipe.model_options
    routed = recipe.model.startswith("matrixcaps")
    return {
        "iterations": options.get("iterations", 3) if routed else None,
        "pose": options.get("pose", "matrix") if routed else None,
        "loss": recipe.loss,
        "coordinates": options.get("coordinates", True) if routed else None,
        "error_percent": last["test"],
        "paper_percent": paper,
        "minutes": round(last["seconds"] / 60, 1),
    }
