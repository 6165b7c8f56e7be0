"""What a run leaves on disk: weights, optimiser and random state in one safetensors file, JSON in its header.

The step number and the recipe say all the rest: learning rate, order of the data and augmentation are
functions of the seed and the step.
"""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.optim import Optimizer

from capsedu.errors import CapseduError
from capsedu.files import atomic_write
from capsedu.training.recipe import Recipe

FILE_NAME = "checkpoint.safetensors"


@dataclass
class Progress:
    """How far a run has come."""

    step: int = 0
    seconds: float = 0.0
    loss: float = math.nan  # of the last step


def save_checkpoint(
    run: Path, recipe: Recipe, model: nn.Module, optimizer: Optimizer, progress: Progress
) -> None:
    """Replace the run's checkpoint in one go."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    for index, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": tensor for name, tensor in state.items()}
    tensors["random.torch"] = torch.get_rng_state()
    header = {"recipe": json.dumps(asdict(recipe)), "progress": json.dumps(asdict(progress))}
    with atomic_write(run / FILE_NAME) as temporary:
        temporary.write_bytes(save({name: tensor.contiguous() for name, tensor in tensors.items()}, header))


def load_checkpoint(run: Path, recipe: Recipe, model: nn.Module, optimizer: Optimizer) -> Progress:
    """Take up a run where it was left; a new run starts at step 0."""
    path = run / FILE_NAME
    if not path.exists():
        return Progress()
    try:
        with safe_open(path, "pt") as file:
            header = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        saved = _as_json(Recipe("", "", "")) | json.loads(header["recipe"])  # fields newer than the file
        progress = Progress(**json.loads(header["progress"]))
    except (SafetensorError, OSError, TypeError, KeyError, ValueError) as error:
        raise CapseduError(f"{path} is not a checkpoint: {error}") from error
    wanted = _as_json(recipe)
    if saved != wanted:
        different = ", ".join(name for name in wanted if saved.get(name) != wanted[name])
        raise CapseduError(
            f"{path} was made by another recipe (different: {different}); choose another folder"
        )
    model.load_state_dict(_part(tensors, "model."))
    _load_optimizer(optimizer, _part(tensors, "optimizer."))
    torch.set_rng_state(tensors["random.torch"])
    return progress


def _as_json(recipe: Recipe) -> dict[str, Any]:
    return json.loads(json.dumps(asdict(recipe)))


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _load_optimizer(optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        index, key = name.split(".")
        if tensor.ndim:  # a moment: laid out in memory like its parameter, so that not a bit changes
            tensor = torch.empty_like(parameters[int(index)]).copy_(tensor)
        state.setdefault(int(index), {})[key] = tensor
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
