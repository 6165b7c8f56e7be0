"""Errors that a person can mend, told in one sentence."""

import difflib
from collections.abc import Iterable


class CapseduError(Exception):
    """Something that the user can mend is wrong: a name, a file, a download, a run."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> CapseduError:
    """An error that offers the nearest names, or all of them where none is near."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or known
    offer = f"; did you mean {', '.join(near)}?" if near else ""
    return CapseduError(f"there is no {kind} named {name!r}{offer}")
