"""What to train: one frozen object says all that decides the result. The ready ones are in ``recipes``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


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
