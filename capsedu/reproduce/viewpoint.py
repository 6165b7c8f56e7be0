"""Hinton et al. (2018), section 5.1: trained on a third of the views, tested on the others.

Two networks are compared where they do equally well on familiar views: the level is the worse of the two at
the end of training, and each is taken at the first evaluation at which it is as good as that.
"""

from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Literal

import torch

from capsedu import results
from capsedu.data import ImageDataset, load, viewpoint_split
from capsedu.reproduce.rows import Curve, run_row
from capsedu.training import recipe

By = Literal["azimuth", "elevation"]
PAPER = {  # error in %
    "azimuth": {"familiar": 3.7, "novel": {"cnn": 20.0, "capsules": 13.5}},
    "elevation": {"familiar": 4.3, "novel": {"cnn": 17.8, "capsules": 12.3}},
}
TRAINED_INSTANCES = (0, 1, 2)  # of smallNORB's test part, where its training azimuths are not known
EVALUATIONS = 20


def parts(data: str, by: By) -> tuple[ImageDataset, dict[str, ImageDataset]]:
    """What to train on, and the familiar and novel views of other toys to test on."""
    train, test = load(data, "train", validation=False), load(data, "test")
    assert train.factors is not None
    assert test.factors is not None
    if (train.factors[by] < 0).any():
        trained = torch.isin(test.factors["instance"], torch.tensor(TRAINED_INSTANCES))
        train, test = test.select(trained), test.select(~trained)
    familiar, novel = viewpoint_split(test, by)
    return viewpoint_split(train, by)[0], {"familiar": familiar, "novel": novel}


def reproduce_viewpoint(
    data: str, epochs: int, seeds: int, folder: Path, *, train_size: int | None = None, test_size: int = 3000
) -> dict[str, Any]:
    """Train both networks on familiar views, once a seed and angle; the result file grows with each.

    Args:
        data: ``"smallnorb"`` or ``"toynorb"``.
        epochs: budget of every run.
        seeds: how many.
        folder: for checkpoints and curves; the same folder goes on.
        train_size: fewer images, for a trial.
        test_size: of each of the two test sets, chosen at random, the same for all.
    """
    found: dict[str, Any] = {"data": data, "epochs": epochs, "paper": PAPER}
    for by in PAPER:
        train, tests = parts(data, by)  # type: ignore[arg-type]
        train = train if train_size is None else train.take(train_size)
        tests = {name: test.take(min(test_size, len(test))) for name, test in tests.items()}
        found[by] = {"trained on": len(train), "tested on": {name: len(test) for name, test in tests.items()}}
        pairs = []
        for seed in range(seeds):
            curves = {
                net: run_row(
                    replace(recipe(name), epochs=epochs, seed=seed),
                    folder / by / f"{net}-{seed}",
                    train,
                    tests,
                    evaluations=EVALUATIONS,
                )
                for net, name in {"cnn": f"cnn-{data}", "capsules": f"matrixcaps-small-{data}"}.items()
            }
            pairs.append(matched(curves))
            found[by] |= {"seeds": pairs, "summary": summary(pairs)}
            results.save(f"{data}_viewpoint", found)
    return found


def matched(curves: dict[str, Curve]) -> dict[str, Any]:
    """Both networks at the first moment when each is as good on familiar views as the worse one ends."""
    level = max(curve[-1]["familiar"] for curve in curves.values())
    chosen = {
        net: next(entry for entry in curve if entry["familiar"] <= level) for net, curve in curves.items()
    }
    errors = {name: {net: entry[name] for net, entry in chosen.items()} for name in ("familiar", "novel")}
    return errors | {"at the end": {net: curve[-1] for net, curve in curves.items()}}


def summary(pairs: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation over the seeds, of each network on familiar and on novel views."""
    return {
        name: {net: _spread([pair[name][net] for pair in pairs]) for net in ("cnn", "capsules")}
        for name in ("familiar", "novel")
    }


def _spread(values: list[float]) -> dict[str, float | None]:
    return {
        "mean": round(mean(values), 2),
        "stdev": round(stdev(values), 2) if len(values) > 1 else None,
    }
