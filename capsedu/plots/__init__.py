"""Numbers in, a matplotlib figure with alt text out."""

from capsedu.plots.figure import describe, new_figure, show

__all__ = ["describe", "new_figure", "show"]
