"""Every notebook runs quick in a fresh kernel, and its tagged cells still say what they said."""

import subprocess
import sys
from pathlib import Path

import nbformat
import papermill
import pytest
from nbclient.exceptions import CellTimeoutError
from papermill.parameterize import parameterize_notebook

TAG = "nbval-check-output"
TIMEOUT = 120  # seconds a cell
NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def quick_copy(path: Path, folder: Path) -> Path:
    """The notebook with its kept outputs, set to the quick profile."""
    notebook = parameterize_notebook(papermill.iorw.load_notebook_node(str(path)), {"PROFILE": "quick"})
    copy = folder / path.name
    nbformat.write(notebook, copy)
    return copy


def nbval(notebook: Path) -> subprocess.CompletedProcess[str]:
    """Run the notebook and compare the outputs of its tagged cells."""
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "--nbval-current-env"]
    options = ["-q", f"--nbval-cell-timeout={TIMEOUT}", str(notebook)]
    return subprocess.run([*command, *options], cwd=notebook.parent, capture_output=True, text=True)


def run_quick(path: Path, folder: Path) -> nbformat.NotebookNode:
    """Run the notebook in ``folder`` with papermill, in a kernel of its own."""
    return papermill.execute_notebook(
        path,
        folder / path.name,
        {"PROFILE": "quick"},
        cwd=folder,
        kernel_name="python3",
        progress_bar=False,
        execution_timeout=TIMEOUT,
    )


@each_notebook
def test_notebook_runs_quick_in_a_fresh_kernel_from_another_folder(path: Path, tmp_path: Path):
    try:
        made = run_quick(path, tmp_path)
    except CellTimeoutError:  # a busy machine can lose a kernel's answer, and the kernel then waits for ever
        made = run_quick(path, tmp_path)
    outputs = [output for cell in made.cells if cell.cell_type == "code" for output in cell.outputs]
    assert outputs
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []


@each_notebook
def test_tagged_cells_say_what_they_said(path: Path, tmp_path: Path):
    result = nbval(quick_copy(path, tmp_path))
    assert result.returncode == 0, result.stdout[-3000:]


def test_a_wrong_number_in_a_tagged_cell_fails(tmp_path: Path):
    copy = quick_copy(NOTEBOOKS[0], tmp_path)
    notebook = nbformat.read(copy, as_version=4)
    first = next(cell for cell in notebook.cells if TAG in cell.metadata.get("tags", []))
    first.outputs = [nbformat.v4.new_output("stream", text="a number that no run gives\n")]
    nbformat.write(notebook, copy)
    result = nbval(copy)
    assert result.returncode == 1
    assert "a number that no run gives" in result.stdout
