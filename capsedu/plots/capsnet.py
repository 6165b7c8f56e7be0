"""Drawings of CapsNet: its layers, and how feature maps become capsules."""

from collections.abc import Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from torch import Tensor

from capsedu.models import CapsNetConfig
from capsedu.plots.digits import grey
from capsedu.plots.figure import COLOURS, describe, new_figure

UPPER, LOWER = 3.6, 0.8  # where encoder and decoder stand
FACES = ("white", COLOURS[5], COLOURS[4], COLOURS[3], "white")  # of the encoder's blocks


def capsnet_diagram(config: CapsNetConfig, image: Tensor, lengths: Tensor, reconstruction: Tensor) -> Figure:
    """The layers as blocks with their shapes: the encoder above, the decoder below.

    Args:
        config: of the network.
        image: a picture (1, H, W) to put in.
        lengths: of the class capsules (J,) that came out.
        reconstruction: the picture that came out.
    """
    channels, height, width = config.image_shape
    rows, columns = config.primary_grid
    side = config.kernel_size
    inner = (height - side + 1, width - side + 1)
    hidden = config.decoder or ()
    encoder = [
        ("image", f"{channels} × {height} × {width}"),
        ("Conv1", f"{config.channels} × {inner[0]} × {inner[1]}"),
        ("PrimaryCaps", f"{config.primary_types} types × {rows} × {columns}\nof {config.primary_dim}-D"),
        ("DigitCaps", f"{config.classes} capsules\nof {config.class_dim}-D"),
        ("lengths", f"{config.classes}"),
    ]
    steps = [f"{side}×{side}\nReLU", f"{side}×{side}\nstride 2\nsquash", "votes\nrouting", "‖v‖"]
    decoder = [
        ("picture", f"{channels} × {height} × {width}"),
        *[("hidden", str(width_of)) for width_of in reversed(hidden)],
        ("masked", f"{config.classes * config.class_dim}"),
    ]
    figure, axes = new_figure(size=(7, 3.6))
    places = [0.75 + 2.1 * k for k in range(len(encoder))]
    for k, (x, (name, shape)) in enumerate(zip(places, encoder, strict=True)):
        _block(axes, x, UPPER, name, shape, FACES[k])
        if k:
            _arrow(axes, (places[k - 1] + 0.57, UPPER), (x - 0.57, UPPER), steps[k - 1])
    for k, (x, (name, shape)) in enumerate(zip(places, decoder, strict=False)):
        _block(axes, x, LOWER, name, shape, FACES[3] if name == "masked" else "lightgrey")
        if k:
            _arrow(axes, (x - 0.57, LOWER), (places[k - 1] + 0.57, LOWER), "sigmoid" if k == 1 else "ReLU")
    masked = places[len(decoder) - 1]
    _arrow(axes, (places[3], UPPER - 1.15), (masked, LOWER + 0.95), "")
    axes.text(
        places[3] + 0.15, (UPPER + LOWER) / 2 - 0.15, "keep one class", fontsize="small", style="italic"
    )
    for y, shown in ((UPPER, image), (LOWER, reconstruction)):
        axes.imshow(
            grey(shown), cmap="gray", extent=(0.27, 1.23, y - 0.48, y + 0.48), vmin=0, vmax=1, zorder=3
        )
    starts = [places[-1] - 0.45 + 0.9 * k / len(lengths) for k in range(len(lengths))]
    axes.bar(
        starts, (0.95 * lengths).tolist(), 0.07, bottom=UPPER - 0.47, align="edge", color=COLOURS[0], zorder=3
    )
    axes.set(xlim=(0, 10), ylim=(-0.1, 4.6), aspect="auto")
    axes.axis("off")
    told = "; ".join(f"{name}: {shape}" for name, shape in encoder).replace("\n", " ")
    drawn = ", ".join(shape for _, shape in reversed(decoder))
    return describe(
        figure,
        "capsnet-layers",
        f"The layers of CapsNet from left to right. {told}. From the digit capsules an arrow that keeps one "
        f"class leads down to the decoder, which runs back to the left through layers of {drawn} values and "
        "draws the digit.",
    )


def capsule_grouping(places: Sequence[Tensor], titles: Sequence[str], grid: tuple[int, int]) -> Figure:
    """Where in the feature maps the entries of one capsule come from, one row a way of grouping.

    Args:
        places: for each way, channel, row and column of the capsule's entries, (D, 3).
        titles: of the ways.
        grid: rows and columns of a feature map.
    """
    channels = 1 + max(int(entries[:, 0].max()) for entries in places)
    figure, axes = new_figure(len(places), channels, size=(7, 1.35 * len(places)), squeeze=False)
    for row, entries, title in zip(axes, places, titles, strict=True):
        for channel, place in enumerate(row):
            used = torch.zeros(grid)
            for entry, (c, y, x) in enumerate(entries.tolist()):
                if c == channel:
                    used[y, x] = 1
                    place.text(x, y, str(entry + 1), ha="center", va="center", color="white", fontsize=6)
            place.imshow((1 - used).numpy(), cmap="gray", vmin=-0.4, vmax=1)
            place.set(xticks=[], yticks=[])
            _grid_lines(place, grid)
            place.set_xlabel(f"channel {channel + 1}", fontsize=7)
            place.spines[:].set_visible(True)
        row[0].set_title(title, fontsize="medium", loc="left")
    told = "; ".join(
        f"{title}: {len(entries[:, 0].unique())} channels, {len(entries[:, 1:].unique(dim=0))} positions"
        for entries, title in zip(places, titles, strict=True)
    )
    return describe(
        figure,
        "capsule-grouping",
        f"{channels} feature maps of {grid[0]} by {grid[1]} positions, with the places marked from which the "
        f"entries of one capsule are taken. {told}.",
    )


def _block(axes: Axes, x: float, y: float, name: str, shape: str, colour: str) -> None:
    box = Rectangle((x - 0.52, y - 0.52), 1.04, 1.04, facecolor=colour, edgecolor="black", alpha=0.6)
    axes.add_patch(box)
    axes.text(x, y + 0.6, name, ha="center", va="bottom", weight="bold", fontsize="small")
    axes.text(x, y - 0.6, shape, ha="center", va="top", fontsize="small")


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], label: str) -> None:
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle="->", mutation_scale=12))
    axes.text((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + 0.1, label, ha="center", fontsize=7)


def _grid_lines(axes: Axes, grid: tuple[int, int]) -> None:
    """Thin lines between the pixels."""
    axes.set_xticks([x - 0.5 for x in range(grid[1])], minor=True)
    axes.set_yticks([y - 0.5 for y in range(grid[0])], minor=True)
    axes.grid(which="minor", color="lightgrey", linewidth=0.5, alpha=1)
    axes.tick_params(which="minor", length=0)
