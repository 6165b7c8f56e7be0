"""Is this machine ready for the course?"""

import importlib
import importlib.metadata
import os
import platform
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from capsedu.errors import CapseduError


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    good: bool
    says: str


def report() -> list[Finding]:
    """Look at Python, the packages, the compute device, the data and the shipped weights."""
    checks: dict[str, Callable[[], str]] = {
        "Python": platform.python_version,
        "torch": _torch,
        "torchvision": _torchvision,
        "JupyterLab": lambda: importlib.metadata.version("jupyterlab"),
        "device": _device,
        "C++ compiler": _compiler,
        "disk": _disk,
        "MNIST": _mnist,
        "weights": _weights,
    }
    return [_look(what, check) for what, check in checks.items()]


def _look(what: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(what, True, check())
    except (ImportError, CapseduError, OSError, RuntimeError) as error:
        return Finding(what, False, str(error) or type(error).__name__)


def _torch() -> str:
    import torch

    return torch.__version__


def _torchvision() -> str:
    from capsedu.torchvision_cure import import_torchvision

    return str(import_torchvision().__version__)


def _device() -> str:
    from accelerate import Accelerator

    return f"{Accelerator().device}, {os.cpu_count()} cores"


def _compiler() -> str:
    found = next((name for name in ("c++", "g++", "clang++", "cl") if shutil.which(name)), None)
    return found or "none: matrix capsules will train without fused routing, several times slower"


def _disk() -> str:
    free = shutil.disk_usage(Path.cwd()).free / 2**30
    if free < 1:
        raise CapseduError(f"only {free:.1f} GiB free, the course needs 1")
    return f"{free:.0f} GiB free"


def _mnist() -> str:
    from capsedu.data import load

    return load("mnist", "test").source


def _weights() -> str:
    from capsedu.models.pretrained import WEIGHTS, pretrained

    names = sorted(path.stem for path in WEIGHTS.glob("*.safetensors"))
    for name in names:
        pretrained(name)
    return ", ".join(names)
