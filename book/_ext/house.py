"""Small repairs to what Sphinx and the theme write."""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def resolve_public_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.Element
) -> nodes.Element | None:
    """Links ``capsedu.ops.routing.Routing`` to where it is documented, ``capsedu.ops.Routing``.

    Annotations name the file a class is written in; the API page lists it under the package that exports it.
    """
    parts = node.get("reftarget", "").split(".")
    if node.get("refdomain") != "py" or parts[0] != "capsedu":
        return None
    domain: Any = env.get_domain("py")
    for end in range(len(parts) - 2, 0, -1):
        public = ".".join([*parts[:end], parts[-1]])
        if public in domain.objects:
            entry = domain.objects[public]
            reference = nodes.reference("", "", contnode, internal=True)
            reference["refuri"] = (
                app.builder.get_relative_uri(node["refdoc"], entry.docname) + "#" + entry.node_id
            )
            return reference
    return None


def drop_thebe(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Thebe is off, yet its script is on each page twice and its constant is then declared twice."""
    context["script_files"] = [
        script
        for script in context.get("script_files", [])
        if "thebe" not in str(getattr(script, "filename", script)).lower()
        and "thebe" not in str(getattr(script, "attributes", {}).get("body", "")).lower()
    ]


FONT_PRELOAD = re.compile(r'<link rel="preload" as="font"[^>]*>')


def drop_font_preloads(app: Sphinx, exception: Exception | None) -> None:
    """A browser refuses to preload a font for a page opened from disk, and says so as an error."""
    for page in Path(app.outdir).rglob("*.html"):
        before = page.read_text(encoding="utf-8")
        after = FONT_PRELOAD.sub("", before)
        if after != before:
            page.write_text(after, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("missing-reference", resolve_public_name)
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("build-finished", drop_font_preloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
