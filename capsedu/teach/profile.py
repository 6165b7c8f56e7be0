"""The three sizes in which every notebook runs."""

from typing import TypeVar

from capsedu.errors import unknown_name

Value = TypeVar("Value")


def pick(profile: str, *, quick: Value, laptop: Value, full: Value) -> Value:
    """The value for a profile: ``quick`` (seconds), ``laptop`` (the book's) or ``full`` (the paper's).

    Example:
        >>> pick("quick", quick=64, laptop=3000, full=54000)
        64
    """
    values = {"quick": quick, "laptop": laptop, "full": full}
    if profile not in values:
        raise unknown_name("profile", profile, values)
    return values[profile]
