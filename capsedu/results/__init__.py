"""Results that a command wrote, with what it took to make them, as JSON files in this folder."""

import json
from pathlib import Path
from typing import Any

from capsedu.errors import unknown_name
from capsedu.files import atomic_write

FOLDER = Path(__file__).parent


def names() -> list[str]:
    """The results there are."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name: str) -> dict[str, Any]:
    """Read one result file."""
    if name not in names():
        raise unknown_name("result", name, names())
    return json.loads((FOLDER / f"{name}.json").read_text())


def save(name: str, result: dict[str, Any]) -> Path:
    """Write one result file, whole or not at all, and return where it is."""
    path = FOLDER / f"{name}.json"
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(result, indent=2) + "\n")
    return path
