"""Weights on disk: safetensors beside a JSON card. Nothing that is loaded can run code."""

import json
from importlib.resources import files
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import nn

from capsedu.errors import CapseduError, unknown_name
from capsedu.files import atomic_write
from capsedu.models.registry import create

WEIGHTS = Path(str(files("capsedu") / "weights"))


def pretrained(name: str) -> nn.Module:
    """A trained network that ships with the package, in evaluation mode, with its ``card``.

    The card (a dict) says how the weights were made and what they were measured to do.

    Example:
        >>> model = pretrained("capsnet-mnist-small")
        >>> model.card["data"]["name"]
        'mnist'
    """
    shipped = {path.stem for path in WEIGHTS.glob("*.safetensors")}
    if name not in shipped:
        raise unknown_name("shipped network", name, shipped)
    return load_weights(WEIGHTS / f"{name}.safetensors")


def load_weights(path: Path) -> nn.Module:
    """Build the model that the card beside ``path`` names and fill it with the weights."""
    card_path = path.with_suffix(".json")
    for needed in (path, card_path):
        if not needed.is_file():
            raise CapseduError(f"there is no file {needed}")
    try:
        card = json.loads(card_path.read_text())
        model = create(card["model"], **_as_options(card["model_options"]))
        model.load_state_dict({name: tensor.float() for name, tensor in load_file(path).items()})
    except (SafetensorError, RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = shorten(str(error), 200, placeholder=" …")
        raise CapseduError(f"{path} does not hold the weights that its card describes: {reason}") from error
    model.card = card
    return model.eval()


def save_weights(
    model: nn.Module, path: Path, card: dict[str, Any], dtype: torch.dtype = torch.float16
) -> None:
    """Write the weights in ``dtype``, and the card beside them. The card must name ``model``."""
    tensors = {
        name: tensor.detach().to("cpu", dtype).contiguous() for name, tensor in model.state_dict().items()
    }
    with atomic_write(path) as temporary:
        temporary.write_bytes(save(tensors))
        write_card(path, card)  # before the weights are moved there: if it fails, neither changes


def write_card(path: Path, card: dict[str, Any]) -> None:
    """Write ``card`` beside the weights at ``path``."""
    with atomic_write(path.with_suffix(".json")) as temporary:
        temporary.write_text(json.dumps(card, indent=2) + "\n")


def _as_options(options: dict[str, Any]) -> dict[str, Any]:
    """JSON has lists where configs have tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in options.items()}
