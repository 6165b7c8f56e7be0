"""Numbers in, a matplotlib figure with alt text out."""

from capsedu.plots.digits import class_answers, digit_grid
from capsedu.plots.figure import describe, new_figure, show

__all__ = ["class_answers", "describe", "digit_grid", "new_figure", "show"]
