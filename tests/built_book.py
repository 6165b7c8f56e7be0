"""Builds the book for the tests that read it, once, whichever test asks first."""

import functools
import subprocess
import sys
from pathlib import Path

import yaml
from filelock import FileLock

ROOT = Path(__file__).parents[1]
HTML = ROOT / "_build" / "html"
STAMP = ROOT / "_build" / ".built"  # `make book` leaves it too
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


def is_current() -> bool:
    if not (STAMP.exists() and (HTML / "index.html").exists()):
        return False
    newest = max(path.stat().st_mtime for pattern in SOURCES for path in ROOT.glob(pattern))
    return STAMP.stat().st_mtime >= newest


@functools.cache
def build() -> str:
    """Builds the book if a source is newer than the last build. Returns what went wrong, if anything."""
    HTML.parent.mkdir(exist_ok=True)
    with FileLock(HTML.parent / ".lock"):
        if is_current():
            return ""
        command = [
            Path(sys.executable).with_name("jupyter-book"),
            "build",
            ROOT,
            "--all",
            "-W",
            "-n",
            "--keep-going",
        ]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            return f"{run.stdout[-2000:]}\n{run.stderr[-2000:]}"
        STAMP.touch()
    return ""


def built_book() -> Path:
    """Returns the folder of the built pages."""
    problem = build()
    assert not problem, f"the book does not build:\n{problem}"
    return HTML
