"""Pictures of a capsule changed by hand, and of what its dimensions have to do with a digit's strokes."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from capsedu.plots.digits import grey
from capsedu.plots.figure import COLOURS, describe, new_figure, picture


def perturbation_grid(pictures: Tensor, offsets: Tensor, digit: int, width: float = 7.0) -> Figure:
    """One digit: a row for each dimension, a column for each offset, the unchanged digit framed.

    Args:
        pictures: what :func:`capsedu.analysis.perturb` gives for one image, (D, O, 1, H, W).
        offsets: (O,).
        digit: its class.
        width: of the figure, in inches.
    """
    rows, columns = pictures.shape[:2]
    figure, axes = new_figure(size=(width, width * rows / columns * 0.93))
    _draw_mosaic(axes, pictures)
    tall, wide = pictures.shape[-2:]
    axes.set_xticks((np.arange(columns) + 0.5) * wide, [_signed(offset) for offset in offsets.tolist()])
    axes.set_yticks((np.arange(rows) + 0.5) * tall, [str(row + 1) for row in range(rows)])
    axes.tick_params(length=0, labelsize="small" if width > 5 else 5)
    axes.xaxis.tick_top()
    axes.set(ylabel="dimension of the capsule", xlabel="added to that dimension alone")
    axes.xaxis.set_label_position("top")
    return describe(
        figure,
        f"perturbation-grid-{digit}",
        f"A grid of {rows} rows and {columns} columns of drawn {digit}s. The middle column repeats the same "
        f"{digit}. To the left and right one of the {rows} dimensions of its capsule is moved, and the digit "
        "becomes thicker or thinner, slants, widens or bends, more so towards the sides.",
    )


def perturbation_grids(pictures: Tensor, offsets: Tensor, digits: Sequence[int]) -> Figure:
    """Many digits, three grids a row: dimensions down, offsets across, as in :func:`perturbation_grid`.

    Args:
        pictures: (K, D, O, 1, H, W).
        offsets: (O,).
        digits: the class of each of the K grids.
    """
    count, rows, columns = pictures.shape[:3]
    lines = -(-count // 3)
    figure, axes = new_figure(lines, 3, size=(7, lines * (7 / 3 * rows / columns + 0.25)), squeeze=False)
    for place in axes.flat:
        place.axis("off")
    for place, grid, digit in zip(axes.flat, pictures, digits, strict=False):
        _draw_mosaic(place, grid)
        place.set_title(f"digit {digit}", fontsize="small")
    for place in axes.flat[count : count + 1]:  # what stands where, if there is room
        span = f"{_signed(offsets[0])} to {_signed(offsets[-1])}"
        key = f"down: dimensions 1 to {rows}\nacross: {span}\nframe: unchanged"
        place.text(0.05, 0.95, key, transform=place.transAxes, va="top")
    return describe(
        figure,
        "perturbation-grids",
        f"{count} grids, one for each of the digits {', '.join(map(str, digits))}, each of {rows} rows, the "
        f"dimensions of the capsule, and {columns} columns, the offsets. In every grid the middle column is "
        "the unchanged digit; the same row does different things to different digits.",
    )


def capsule_sliders(before: Tensor, after: Tensor, pictures: Sequence[Tensor]) -> Figure:
    """The numbers of a capsule as sliders: where they were, where they are, and the digit drawn from each.

    Args:
        before, after: the capsule's values (D,).
        pictures: what the decoder draws from each, two pictures (1, H, W).
    """
    figure, axes = new_figure(1, 3, size=(7, 3.6), gridspec_kw={"width_ratios": [2.2, 1, 1]})
    dimensions = np.arange(1, len(before) + 1)
    sliders = axes[0]
    sliders.hlines(dimensions, -0.9, 0.9, color="lightgrey", linewidth=3)
    sliders.plot(before.numpy(), dimensions, "o", markerfacecolor="white", color="grey", label="as it was")
    sliders.plot(after.numpy(), dimensions, "s", color=COLOURS[0], markersize=5, label="as it is")
    moved = [int(d) + 1 for d in (after != before).nonzero()]
    for d in moved:
        sliders.annotate(
            "", (after[d - 1], d), (before[d - 1], d), arrowprops={"arrowstyle": "->", "color": COLOURS[1]}
        )
    sliders.set(xlim=(-0.9, 0.9), yticks=dimensions, xlabel="value", ylabel="dimension")
    sliders.invert_yaxis()
    sliders.grid(False)
    sliders.tick_params(axis="y", labelsize="small")
    sliders.legend(loc="upper center", bbox_to_anchor=(0.5, 1.12), ncols=2, frameon=False, fontsize="small")
    for place, image, title in zip(axes[1:], pictures, ("as it was", "as it is"), strict=True):
        picture(place, grey(image), title)
    return describe(
        figure,
        "capsule-sliders",
        f"The {len(before)} numbers of a capsule as points on sliders. "
        + (f"Dimension {', '.join(map(str, moved))} was moved. " if moved else "None was moved. ")
        + "Beside them the digit drawn before and after.",
    )


def heat_maps(
    panels: Mapping[str, Tensor],
    columns: Sequence[str],
    *,
    name: str,
    alt: str,
    panels_a_row: int = 3,
    mark: float = 0.5,
) -> Figure:
    """Values in [−1, 1] as colours, one panel a title, dimensions down.

    Cells whose size is at least ``mark`` carry their sign, so that red and blue differ in grey too.

    Args:
        panels: tables (D, X) by title.
        columns: the X labels.
        name: a slug for the figure's file.
        alt: what is to be seen.
        panels_a_row: how many stand side by side.
        mark: from which size on the sign is written.
    """
    rows = -(-len(panels) // panels_a_row)
    figure, axes = new_figure(rows, panels_a_row, size=(7, 3.7 * rows), squeeze=False, sharey=True)
    for place in axes.flat[len(panels) :]:
        place.axis("off")
    for place, (title, values) in zip(axes.flat, panels.items(), strict=False):
        shown = place.imshow(values.numpy(), cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
        for d, x in (values.abs() >= mark).nonzero().tolist():
            sign = "+" if values[d, x] > 0 else "−"
            colour = "white" if abs(values[d, x]) > 0.65 else "black"
            place.text(x, d, sign, ha="center", va="center", fontsize="small", color=colour)
        place.set_xticks(range(len(columns)), columns)
        place.set_yticks(range(len(values)), [str(d + 1) for d in range(len(values))], fontsize="small")
        place.tick_params(length=0)
        place.grid(False)
        place.set_title(title, fontsize="medium")
    for row in axes:
        row[0].set_ylabel("dimension")
    figure.colorbar(shown, ax=axes, shrink=0.5, aspect=30)
    return describe(figure, name, alt)


def blend_lengths(
    lengths: Mapping[str, Tensor], labels: Mapping[str, int], *, name: str = "blend-lengths"
) -> Figure:
    """How long the capsules of interest are when the network reads the pictures of a blend.

    Args:
        lengths: for each blend, the network's lengths (steps, J) on its pictures.
        labels: the class to follow, by the name it has in the legend.
        name: a slug for the figure's file.
    """
    figure, axes = new_figure(1, len(lengths), size=(7, 2.6), squeeze=False, sharey=True)
    styles = (("-", "o"), ("--", "s"), (":", "^"))
    for place, (title, values) in zip(axes[0], lengths.items(), strict=True):
        t = torch.linspace(0, 1, len(values))
        for (label, digit), (line, marker) in zip(labels.items(), styles, strict=False):
            place.plot(t, values[:, digit], linestyle=line, marker=marker, markersize=4, label=label)
        rest = [k for k in range(values.shape[1]) if k not in labels.values()]
        place.plot(t, values[:, rest].amax(dim=1), ":", color="grey", label="longest other")
        place.set(ylim=(0, 1.05), xlabel="t", title=title)
    axes[0, 0].set_ylabel("length")
    axes[0, 0].legend(frameon=False, fontsize="small")
    middle = {title: values[len(values) // 2] for title, values in lengths.items()}
    told = "; ".join(
        f"{title}: " + ", ".join(f"{label} {float(values[digit]):.2f}" for label, digit in labels.items())
        for title, values in middle.items()
    )
    return describe(
        figure,
        name,
        f"Lengths of the capsules against t, one panel a blend. In the middle of the way, {told}.",
    )


def _draw_mosaic(axes: Axes, pictures: Tensor) -> None:
    """Pictures (R, C, 1, H, W) edge to edge, with a frame round the middle column."""
    rows, columns, _, height, width = pictures.shape
    mosaic = pictures[:, :, 0].permute(0, 2, 1, 3).reshape(rows * height, columns * width)
    axes.imshow(grey(mosaic), cmap="gray", vmin=0, vmax=1, extent=(0, columns * width, rows * height, 0))
    frame = Rectangle(
        (columns // 2 * width, 0), width, rows * height, fill=False, color=COLOURS[4], linewidth=1.5
    )
    axes.add_patch(frame)
    axes.grid(False)
    axes.spines[:].set_visible(False)


def _signed(number: Tensor | float) -> str:
    return f"{float(number):+.2f}".replace("-", "−") if number else "0"
