"""One row of a table: train a recipe, watch its errors, keep them in a file beside the checkpoint."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from torch import nn
from tqdm.auto import tqdm

from capsedu.data import ImageDataset
from capsedu.files import atomic_write
from capsedu.training import PREPARATIONS, Recipe, evaluate, train

Curve = list[dict[str, Any]]  # one entry an evaluation: step, seconds, and an error in % for each test set


def run_row(
    recipe: Recipe,
    folder: Path,
    data: ImageDataset,
    tests: Mapping[str, ImageDataset],
    *,
    evaluations: int = 1,
    enough: Callable[[Curve], bool] = lambda curve: False,
) -> Curve:
    """Train ``recipe`` on ``data`` and measure it on ``tests``, going on where an earlier call stopped.

    Args:
        recipe: what to train.
        folder: of this row.
        data: what to train on.
        tests: sets to measure the error on, by name.
        evaluations: how often in the training, at equal distances; the last is at its end.
        enough: tells from the curve so far whether to stop early.
    """
    path = folder / "curve.json"
    curve: Curve = json.loads(path.read_text()) if path.exists() else []
    if curve and (curve[-1]["step"] == curve[-1]["steps"] or enough(curve)):
        return curve
    folder.mkdir(parents=True, exist_ok=True)
    with tqdm(desc=f"{folder.parent.name}/{folder.name}", unit="step") as bar:
        for metrics in train(recipe, folder, dataset=data):
            bar.total, bar.n = metrics.steps, metrics.step
            bar.set_postfix(loss=f"{metrics.loss:.4f}")
            due = metrics.step == metrics.steps or metrics.step % -(-metrics.steps // evaluations) == 0
            if due and (not curve or metrics.step > curve[-1]["step"]):
                time = {"step": metrics.step, "steps": metrics.steps, "seconds": round(metrics.seconds)}
                curve.append(time | errors(metrics.model, recipe, tests))
                with atomic_write(path) as temporary:
                    temporary.write_text(json.dumps(curve))
                if enough(curve):
                    break
    return curve


def errors(model: nn.Module, recipe: Recipe, tests: Mapping[str, ImageDataset]) -> dict[str, float]:
    """The error in % on each test set, prepared as the recipe says."""
    prepare = PREPARATIONS[recipe.augmentation].test
    return {name: round(evaluate(model, test, prepare=prepare).error, 3) for name, test in tests.items()}
