"""The files around the package agree with each other."""

import re
import tomllib
from importlib.metadata import version
from itertools import chain
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONDA_NAMES = {"pytorch": "torch"}
COLAB = "colab.research.google.com/github/capsedu/capsedu/blob/main/notebooks/"


def declared() -> dict[str, str]:
    """Every requirement of pyproject.toml, extras included: name to bounds."""
    lines = [*PROJECT["dependencies"], *chain(*PROJECT["optional-dependencies"].values())]
    return {canonicalize_name(r.name): str(r.specifier) for r in map(Requirement, lines)}


def conda() -> dict[str, str]:
    """Every requirement of environment.yml under its PyPI name."""
    entries = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    lines = [entry for entry in entries if isinstance(entry, str)]
    (from_pip,) = [entry["pip"] for entry in entries if isinstance(entry, dict)]
    lines += [entry for entry in from_pip if entry != "-e ."]
    found = {}
    for line in lines:
        requirement = Requirement(line)
        name = CONDA_NAMES.get(requirement.name, requirement.name)
        found[canonicalize_name(name)] = str(requirement.specifier)
    return found


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): pin for name, pin in pins}


def test_conda_environment_has_the_packages_and_bounds_of_pyproject():
    environment = conda()
    assert environment.pop("python") == PROJECT["requires-python"]
    assert environment.pop("pip") == ""
    assert environment == declared()


def test_every_line_of_the_conda_environment_has_a_reason():
    lines = (ROOT / "environment.yml").read_text(encoding="utf-8").split("dependencies:")[1].splitlines()
    lines = [line for line in lines if line.lstrip().startswith("- ")]
    assert len(lines) > 20
    assert [line for line in lines if not re.search(r" # \w", line)] == []


def test_lock_satisfies_pyproject():
    pins = locked()
    missing = [name for name in declared() if name not in pins]
    broken = [
        f"{name} {pins[name]} is not {bounds}"
        for name, bounds in declared().items()
        if name in pins and pins[name] not in SpecifierSet(bounds)
    ]
    assert (missing, broken) == ([], [])


def test_lock_names_no_host():
    assert not re.search(r"https?://|file:|--", (ROOT / "requirements.lock").read_text(encoding="utf-8"))


def test_core_dependencies_have_lower_bounds_only():
    bounds = [str(Requirement(line).specifier) for line in PROJECT["dependencies"]]
    assert [bound for bound in bounds if not re.fullmatch(r">=[\w.]+", bound)] == []


def test_make_targets_named_in_the_documentation_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "book").glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"(?:`|^)make ([a-z]+)", text, re.MULTILINE))
    assert {"book", "test"} <= named
    assert named <= targets


def test_readme_links_each_notebook_on_colab():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(re.escape(COLAB) + r"(\w+)\.ipynb", readme))
    assert linked == {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}


def test_citation_gives_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"] == version("capsedu")
