"""Figures that can be read by everyone: a name, alt text, and colours that work in grey and in dark mode."""

import base64
import html
import io
from collections.abc import Sequence
from typing import Any

import matplotlib
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Okabe and Ito's colours, ordered from dark to light so that they differ in grey too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
STYLE: Any = {
    "figure.dpi": 110,
    "figure.facecolor": "white",
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "font.size": 10,
    "image.cmap": "gray",
    "savefig.bbox": "tight",
}


def new_figure(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float] = (7, 3.5), **options: Any
) -> tuple[Figure, Any]:
    """A figure in the course's style and its axes, as ``matplotlib.pyplot.subplots`` gives them.

    It belongs to nobody but you: pyplot does not know it, so nothing is shown twice or left open.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(rows, columns, **options)
    return figure, axes


def picture(axes: Axes, image: Sequence[Any] | Any, title: str = "") -> None:
    """Draw one grey picture in [0, 1] with no ticks."""
    axes.imshow(image, vmin=0, vmax=1, cmap="gray")
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    axes.set_title(title, fontsize="small")


def describe(figure: Figure, name: str, alt: str) -> Figure:
    """Give the figure a name (for its file) and alt text (for those who cannot see it)."""
    figure.set_label(name)
    figure.alt_text = alt  # type: ignore[attr-defined]
    return figure


def show(figure: Figure) -> None:
    """Display a described figure in a notebook, with its alt text."""
    from IPython.display import display

    alt = getattr(figure, "alt_text", "")
    if not alt:
        raise ValueError("this figure has no alt text: call describe(figure, name, alt) first")
    png = figure_bytes(figure, "png")
    width = round(figure.get_size_inches()[0] * figure.dpi)
    tag = (
        f'<img class="capsedu-figure" alt="{html.escape(alt)}" width="{width}" '
        f'src="data:image/png;base64,{base64.b64encode(png).decode()}">'
    )
    bundle = {"text/html": tag, "image/png": png, "text/plain": f"[figure: {alt}]"}
    display(bundle, raw=True, metadata={"capsedu": {"figure": figure.get_label()}})


def figure_bytes(figure: Figure, form: str) -> bytes:
    """The figure as a file of the given form: png, svg or pdf."""
    buffer = io.BytesIO()
    with matplotlib.rc_context(STYLE):
        figure.savefig(buffer, format=form)
    return buffer.getvalue()
