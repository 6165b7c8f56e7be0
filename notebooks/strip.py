"""Strips outputs and execution counts from the notebooks, except in cells tagged ``nbval-check-output``.

python notebooks/strip.py            # rewrite every notebook beside this file
python notebooks/strip.py --check    # change nothing, exit with 1 if a notebook would change
"""

import argparse
import sys
from pathlib import Path

import nbformat

TAG = "nbval-check-output"
KEPT_METADATA = ("tags", "jupyter", "mystnb")  # everything else is a trace of somebody's editor


def stripped(source: str) -> str:
    """Returns the notebook's text without its untagged outputs."""
    notebook = nbformat.reads(source, as_version=4)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for cell in notebook.cells:
        cell.metadata = {key: cell.metadata[key] for key in KEPT_METADATA if cell.metadata.get(key)}
        if cell.cell_type != "code":
            continue
        if TAG not in cell.metadata.get("tags", []):  # nbval compares only cells that have a count
            cell.execution_count = None
            cell.outputs = []
    return nbformat.writes(notebook) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, fail if something would change")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all beside this file")
    options = parser.parse_args()
    changed = []
    for path in options.notebooks or sorted(Path(__file__).parent.glob("*.ipynb")):
        before = path.read_text(encoding="utf-8")
        after = stripped(before)
        if after != before:
            changed.append(path)
            if not options.check:
                path.write_text(after, encoding="utf-8")
    for path in changed:
        print(f"{path}: {'not stripped' if options.check else 'stripped'}")
    return int(bool(changed) and options.check)


if __name__ == "__main__":
    sys.exit(main())
