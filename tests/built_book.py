"""Builds the book for the tests that read it, once, whichever test asks first."""

import functools
import subprocess
import sys
from pathlib import Path

import yaml
from filelock import FileLock

ROOT = Path(__file__).parents[1]
HTML = ROOT / "_build" / "html"
STAMP = ROOT / "_build" / ".tested"
SOURCES = (
    "_config.yml",
    "_toc.yml",
    "book/**/*",
    "notebooks/*.ipynb",
    "capsedu/**/*.py",
    "capsedu/**/*.json",
)


def toc_files() -> list[str]:
    """The pages of the table of contents, root first, without suffix."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [toc["root"], *(chapter["file"] for part in toc["parts"] for chapter in part["chapters"])]


@functools.cache
def built_book() -> Path:
    """Returns the folder of the built pages, building what has changed since the last time."""
    HTML.parent.mkdir(exist_ok=True)
    with FileLock(HTML.parent / ".lock"):
        newest = max(path.stat().st_mtime for pattern in SOURCES for path in ROOT.glob(pattern))
        if not STAMP.exists() or STAMP.stat().st_mtime < newest or not (HTML / "index.html").exists():
            command = [sys.executable, "-m", "jupyter_book", "build", str(ROOT), "-W", "-n", "--keep-going"]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            assert run.returncode == 0, (
                f"the book does not build:\n{run.stdout[-4000:]}\n{run.stderr[-4000:]}"
            )
            STAMP.touch()
    return HTML
