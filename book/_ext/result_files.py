"""The ``result-files`` directive: shows JSON files that a command wrote, one table a file."""

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

LONGEST_LIST = 12


def rows(value: Any, key: str = "") -> list[tuple[str, str]]:
    """Flattens nested dictionaries to (dotted key, text) pairs."""
    if isinstance(value, dict):
        return [row for name, item in value.items() for row in rows(item, f"{key}.{name}" if key else name)]
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return [row for k, item in enumerate(value) for row in rows(item, f"{key}[{k}]")]
    return [(key, text(value))]


def text(value: Any) -> str:
    if isinstance(value, list):
        if len(value) > LONGEST_LIST:
            return f"{len(value)} values, from {text(value[0])} to {text(value[-1])}"
        return ", ".join(text(item) for item in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def table(content: list[tuple[str, str]]) -> nodes.table:
    group = nodes.tgroup(cols=2)
    group += [nodes.colspec(colwidth=1), nodes.colspec(colwidth=3)]
    body = nodes.tbody()
    for pair in content:  # literals: Sphinx would turn the two hyphens of an option into a dash
        row = nodes.row()
        row += [nodes.entry("", nodes.paragraph("", "", nodes.literal(text=item))) for item in pair]
        body += row
    group += body
    return nodes.table("", group, classes=["result-file"])


class ResultFiles(SphinxDirective):
    """Takes one glob pattern, relative to the root of the book."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        self.env.note_reread()  # a new file must show up although this page did not change
        found = sorted(root.glob(self.arguments[0]))
        if not found:
            return [nodes.paragraph(text="None yet.")]
        return [self.section(path, root) for path in found]

    def section(self, path: Path, root: Path) -> nodes.section:
        name = path.relative_to(root).as_posix()
        section = nodes.section(ids=[nodes.make_id(name)], names=[name])
        section += nodes.title(text=path.stem)
        section += nodes.paragraph("", "", nodes.literal(text=name))
        section += table(rows(json.loads(path.read_text(encoding="utf-8"))))
        return section


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("result-files", ResultFiles)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
