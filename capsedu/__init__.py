"""capsedu: capsule networks to learn from and to build with.

``import capsedu`` brings ``ops``, ``layers``, ``losses`` and ``models``; the other rooms are opened when
first used, so that the import costs little more than torch's.
"""

import importlib
from types import ModuleType

from capsedu import layers, losses, models, ops

__version__ = "0.1.0"

_ROOMS_ON_DEMAND = ("analysis", "data", "plots", "render", "reproduce", "results", "teach", "training")

__all__ = ["layers", "losses", "models", "ops", *_ROOMS_ON_DEMAND]


def __getattr__(name: str) -> ModuleType:
    if name in _ROOMS_ON_DEMAND:
        return importlib.import_module(f"capsedu.{name}")
    raise AttributeError(f"module 'capsedu' has no attribute {name!r}")
