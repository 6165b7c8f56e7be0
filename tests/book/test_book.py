"""The book's sources are complete, and the built pages have no dead link and no figure without words."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
from bs4 import BeautifulSoup

from notebooks.strip import stripped
from tests.built_book import ROOT, built_book, toc_files

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
DIRECTIVE = re.compile(r"^\s*(```|:::+)\{[\w:.-]+\}|\{[\w:.-]+\}`", re.MULTILINE)


def cells(path: Path, kind: str) -> list[nbformat.NotebookNode]:
    notebook = nbformat.read(path, as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == kind]


def test_every_notebook_is_in_the_table_of_contents():
    assert [name for name in toc_files() if name.startswith("notebooks/")] == [
        f"notebooks/{path.stem}" for path in NOTEBOOKS
    ]


def test_every_page_of_the_book_folder_is_in_the_table_of_contents():
    pages = {f"book/{path.stem}" for path in (ROOT / "book").glob("*.md")}
    assert pages == {name for name in toc_files() if name.startswith("book/")}


@each_notebook
def test_no_untagged_output_is_committed(path: Path):
    source = path.read_text(encoding="utf-8")
    assert stripped(source) == source, "run: python notebooks/strip.py"


def test_strip_removes_untagged_outputs_and_keeps_tagged_ones():
    notebook = nbformat.v4.new_notebook()
    for tags in ([], ["nbval-check-output"]):
        output = nbformat.v4.new_output("stream", text="2\n")
        notebook.cells.append(nbformat.v4.new_code_cell("print(1 + 1)", outputs=[output], execution_count=3))
        notebook.cells[-1].metadata["tags"] = tags
    plain, tagged = nbformat.reads(stripped(nbformat.writes(notebook)), as_version=4).cells
    assert plain.outputs == []
    assert [output.text for output in tagged.outputs] == ["2\n"]
    assert (plain.execution_count, tagged.execution_count) == (None, 3)


@each_notebook
def test_notebook_has_one_parameters_cell_with_profile_and_seed(path: Path):
    found = [cell.source for cell in cells(path, "code") if "parameters" in cell.metadata.get("tags", [])]
    assert len(found) == 1
    assert re.findall(r"^([A-Z]+) *=", found[0], re.MULTILINE) == ["PROFILE", "SEED"]
    assert re.search(r'^PROFILE *= *"laptop"', found[0], re.MULTILINE), (
        "the book is built in the laptop profile"
    )


def test_notebooks_begin_with_the_same_code_cell():
    assert len({cells(path, "code")[0].source for path in NOTEBOOKS}) == 1


@each_notebook
def test_notebook_has_no_myst_directive_or_role(path: Path):
    assert [cell.source for cell in cells(path, "markdown") if DIRECTIVE.search(cell.source)] == []


@each_notebook
def test_notebook_keeps_a_checked_output(path: Path):
    tagged = [cell for cell in cells(path, "code") if "nbval-check-output" in cell.metadata.get("tags", [])]
    assert tagged
    assert all(cell.outputs for cell in tagged)


@cache
def soup(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@cache
def anchors(page: Path) -> set[str]:
    return {tag["id"] for tag in soup(page).find_all(id=True)} | {
        tag["name"] for tag in soup(page).find_all("a", attrs={"name": True})
    }


def pages() -> list[Path]:
    found = [built_book() / f"{name}.html" for name in toc_files()]
    assert all(page.exists() for page in found)
    return found


def is_dead(page: Path, link: str) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return False
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return True
    return (
        bool(parts.fragment) and target.suffix == ".html" and unquote(parts.fragment) not in anchors(target)
    )


def test_no_internal_link_is_broken():
    links = [(page, tag["href"]) for page in pages() for tag in soup(page).find_all("a", href=True)]
    assert len(links) > 100
    assert {f"{page.name} -> {link}" for page, link in links if is_dead(page, link)} == set()


def test_no_picture_file_is_missing():
    sources = [
        (page, tag["src"]) for page in pages() for tag in soup(page).find_all(["img", "script"], src=True)
    ]
    assert {f"{page.name} -> {source}" for page, source in sources if is_dead(page, source)} == set()


def test_every_image_has_alt_text():
    images = [(page, tag) for page in pages() for tag in soup(page).find_all("img")]
    assert images
    assert [f"{page.name}: {tag.get('src', '')[:80]}" for page, tag in images if not has_alt(tag)] == []


def has_alt(image) -> bool:
    """An alt text in words: Sphinx falls back on the file's path, which tells a reader nothing."""
    alt = image.get("alt", "").strip()
    return bool(alt) and not re.search(r"[0-9a-f]{32}|\.(png|svg|jpe?g)$", alt)


def test_pages_load_nothing_from_another_host():
    tags = [
        tag for page in pages() for tag in soup(page).find_all(["script", "img", "link", "iframe", "source"])
    ]
    loaded = {tag.get("src") or tag.get("href") or "" for tag in tags if tag.get("rel") != ["canonical"]}
    assert {address for address in loaded if urlsplit(address).netloc} == set()
