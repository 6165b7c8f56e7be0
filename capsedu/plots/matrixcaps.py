"""Drawings of the matrix capsule network: its layers, who competes for a child, coordinates, votes."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from torch import Tensor

from capsedu.analysis import parent_counts, parent_positions
from capsedu.losses import spread_loss, spread_margin
from capsedu.models import MatrixCapsNetConfig
from capsedu.ops import Neighbourhood
from capsedu.plots.figure import COLOURS, describe, new_figure

LINES = ("-", "--", "-.", ":")


def matrixcaps_diagram(config: MatrixCapsNetConfig, pair: Tensor, activations: Tensor) -> Figure:
    """The layers as grids with their sizes, from a stereo pair to the class capsules.

    Args:
        config: of the network.
        pair: two views (2, H, W), standardised.
        activations: of the class capsules (E,) that came out.
    """
    channels, height, _ = config.image_shape
    first = (height - 5) // 2 + 1
    second = (first - 3) // 2 + 1
    third = second - 2
    layers = [
        ("image", f"{channels} × {height} × {height}", 0),
        ("Conv", f"A = {config.A}\nchannels\n{first} × {first}", first),
        ("PrimaryCaps", f"B = {config.B}\ntypes\n{first} × {first}", first),
        ("ConvCaps 1", f"C = {config.C}\ntypes\n{second} × {second}", second),
        ("ConvCaps 2", f"D = {config.D}\ntypes\n{third} × {third}", third),
        ("ClassCaps", f"E = {config.classes}\nclasses", 0),
    ]
    steps = ("5×5\nstride 2\nReLU", "1×1", "3×3\nstride 2\nEM", "3×3\nEM", "shared\nEM")
    faces = ("white", "lightgrey", COLOURS[5], COLOURS[4], COLOURS[3], "white")
    figure, axes = new_figure(size=(7, 1.75))
    places = [0.8 + 2.0 * k for k in range(len(layers))]
    for k, (x, (name, shape, side)) in enumerate(zip(places, layers, strict=True)):
        if k:  # the views have frames of their own
            box = Rectangle((x - 0.6, -0.6), 1.2, 1.2, facecolor=faces[k], edgecolor="black", alpha=0.6)
            axes.add_patch(box)
        for line in range(1, side):
            at = -0.6 + 1.2 * line / side
            axes.plot([x - 0.6, x + 0.6], [at, at], color="white", linewidth=0.7)
            axes.plot([x + at, x + at], [-0.6, 0.6], color="white", linewidth=0.7)
        axes.text(x, 0.72, name, ha="center", va="bottom", weight="bold", fontsize=8)
        axes.text(x, -0.72, shape, ha="center", va="top", fontsize=8)
        if k:
            arrow = FancyArrowPatch(
                (places[k - 1] + 0.63, 0), (x - 0.63, 0), arrowstyle="->", mutation_scale=10
            )
            axes.add_patch(arrow)
            axes.text(x - 1.0, 0.1, steps[k - 1], ha="center", va="bottom", fontsize=6.5)
    _stereo(axes, pair, places[0])
    starts = [places[-1] - 0.5 + 1.0 * k / len(activations) for k in range(len(activations))]
    heights = (1.1 * activations).tolist()
    axes.bar(starts, heights, 0.15, bottom=-0.58, align="edge", color=COLOURS[0], zorder=3)
    axes.set(xlim=(0, places[-1] + 0.8), ylim=(-1.75, 1.05), aspect="equal")
    axes.axis("off")
    told = "; ".join(f"{name}: {shape}" for name, shape, _ in layers).replace("\n", " ")
    return describe(
        figure,
        "matrixcaps-layers",
        f"The layers of the matrix capsule network from left to right, each drawn as its grid of positions. "
        f"{told}. The class capsules' activations are bars.",
    )


def _stereo(axes: Axes, pair: Tensor, x: float) -> None:
    """Two views, the right one behind the left."""
    low, high = float(pair.min()), float(pair.max())
    for order, (view, shift) in enumerate(((pair[1], 0.2), (pair[0], 0.0))):
        corner = (x - 0.6 + shift, -0.6 + shift)
        extent = (corner[0], corner[0] + 1.0, corner[1], corner[1] + 1.0)
        axes.imshow(view.numpy(), cmap="gray", extent=extent, vmin=low, vmax=high, zorder=2 + order)
        axes.add_patch(Rectangle(corner, 1.0, 1.0, fill=False, edgecolor="black", zorder=2.5 + order))


def parent_reach(
    grids: Mapping[str, Neighbourhood], children: Sequence[Mapping[str, tuple[int, int]]]
) -> Figure:
    """How many parent positions reach each child, and which reach some chosen ones.

    Args:
        grids: a row of panels each, by their titles.
        children: for each grid, (row, column) of the chosen children by name.
    """
    columns = 1 + max(len(chosen) for chosen in children)
    figure, axes = new_figure(len(grids), columns, size=(7, 2.15 * len(grids)), squeeze=False)
    told = []
    for row, (title, grid), chosen in zip(axes, grids.items(), children, strict=True):
        counts = parent_counts(grid)
        _count_map(row[0], counts, float(counts.max()), 5 if grid.width > 8 else 8)
        row[0].set_title(f"{title}\nparents of each child", fontsize=8)
        told.append(f"{title}: children are reached by {int(counts.min())} to {int(counts.max())} positions")
        for place, (name, child) in zip(row[1:], chosen.items(), strict=False):
            reached = parent_positions(grid, *child)
            draw_reach(place, grid, child)
            place.set_title(f"{name} {child}\n{_positions(len(reached))}", fontsize=8)
            told.append(f"the {name} by {len(reached)}")
        for place in row[1 + len(chosen) :]:
            place.axis("off")
    return describe(
        figure,
        "parent-reach",
        "For each grid, a map of how many parent positions reach each child, then single children with lines "
        f"to the parents that reach them. {', '.join(told)}.",
    )


def draw_reach(axes: Axes, grid: Neighbourhood, child: tuple[int, int]) -> None:
    """A child (black square) on its grid, the parents (circles) over the middle of their windows."""
    reached = parent_positions(grid, *child)
    middle = (grid.kernel - 1) / 2
    axes.add_patch(
        Rectangle((-0.5, -0.5), grid.width, grid.height, facecolor="#eeeeee", edgecolor="grey", zorder=0)
    )
    for line in range(1, max(grid.height, grid.width)):
        if line < grid.height:
            axes.plot([-0.5, grid.width - 0.5], [line - 0.5] * 2, color="white", linewidth=0.8, zorder=1)
        if line < grid.width:
            axes.plot([line - 0.5] * 2, [-0.5, grid.height - 0.5], color="white", linewidth=0.8, zorder=1)
    axes.add_patch(Rectangle((child[1] - 0.5, child[0] - 0.5), 1, 1, facecolor="black", zorder=2))
    size = 180 / max(grid.height, grid.width)
    for row in range(grid.out_height):
        for column in range(grid.out_width):
            y, x = row * grid.stride + middle, column * grid.stride + middle
            holds = (row, column) in reached
            if holds:
                axes.plot([child[1], x], [child[0], y], color=COLOURS[1], linewidth=1.2, zorder=3)
            face = COLOURS[1] if holds else "white"
            axes.scatter(x, y, s=size, facecolor=face, edgecolor="black", linewidth=0.7, zorder=4)
    axes.set(xlim=(-0.7, grid.width - 0.3), ylim=(grid.height - 0.3, -0.7), aspect="equal")
    axes.axis("off")


def child_reach(grid: Neighbourhood, child: tuple[int, int]) -> Figure:
    """One child and the parents that reach it; see ``draw_reach``."""
    figure, axes = new_figure(size=(3.2, 3.2))
    draw_reach(axes, grid, child)
    reached = parent_positions(grid, *child)
    axes.set_title(f"child {child}: {_positions(len(reached))}", fontsize="small")
    alt = f"A grid of {grid.height} by {grid.width} children with the one at {child} marked; "
    return describe(figure, "child-reach", f"{alt}{_positions(len(reached))} reach it: {reached}.")


def _positions(count: int) -> str:
    return f"{count} parent position{'' if count == 1 else 's'}"


def _count_map(axes: Axes, counts: Tensor, most: float, font: float) -> None:
    """Small numbers in the cells of a grid, lighter where they are larger."""
    axes.imshow(counts.numpy(), cmap="cividis", vmin=0, vmax=most)
    for y, row in enumerate(counts.tolist()):
        for x, count in enumerate(row):
            colour = "white" if count < 0.55 * most else "black"
            axes.text(x, y, f"{count:.0f}", ha="center", va="center", color=colour, fontsize=font)
    axes.set(xticks=[], yticks=[])
    axes.grid(False)


def handed_out_maps(maps: Mapping[str, Tensor]) -> Figure:
    """What a child at each position gives to all parents together, one map a way of competing.

    Args:
        maps: (H, W) each, by their titles.
    """
    figure, axes = new_figure(1, len(maps), size=(7, 3.5), squeeze=False)
    told = []
    for place, (title, given) in zip(axes[0], maps.items(), strict=True):
        _count_map(place, given, max(float(shown.max()) for shown in maps.values()), 7)
        place.set_title(title, fontsize=9)
        told.append(f"{title}: from {float(given.min()):.2f} to {float(given.max()):.2f}")
    return describe(
        figure,
        "handed-out",
        f"Maps of what a child at each position gives to all its parents together. {'; '.join(told)}.",
    )


def coordinate_addition_drawing(pair: Tensor, centres: Tensor, field: int, chosen: int) -> Figure:
    """What coordinate addition adds: where the fields lie, which entries change, what they then say.

    Args:
        pair: a stereo pair (2, H, W), standardised; the left view is drawn.
        centres: rows or columns (N,), in pixels, of the centres of the children's receptive fields.
        field: side of a receptive field, in pixels.
        chosen: number of the child, along both axes, to show as an example.
    """
    figure, axes = new_figure(1, 3, size=(7, 2.75), width_ratios=(1, 0.8, 1.25))
    axes[0].imshow(pair[0].numpy(), cmap="gray")
    rows, columns = torch.meshgrid(centres, centres, indexing="ij")
    axes[0].scatter(columns, rows, s=22, marker="o", facecolor="white", edgecolor="black", zorder=3)
    row, column = float(centres[chosen]), float(centres[-2])
    corner = (column - field / 2, row - field / 2)
    axes[0].add_patch(
        Rectangle(corner, field, field, fill=False, edgecolor=COLOURS[1], linewidth=2, zorder=3)
    )
    axes[0].scatter([column], [row], s=50, marker="s", color=COLOURS[1], edgecolor="black", zorder=4)
    axes[0].set(xticks=centres.tolist(), yticks=centres.tolist(), xlabel="column", ylabel="row")
    axes[0].grid(False)
    axes[0].set_title("centres of the fields", fontsize=9)
    added = {(0, 3): f"+{row / 100:.2f}", (1, 3): f"+{column / 100:.2f}"}
    for r in range(4):
        for c in range(4):
            face = COLOURS[4] if (r, c) in added else "#eeeeee"
            axes[1].add_patch(Rectangle((c, r), 1, 1, facecolor=face, edgecolor="white"))
            text = added.get((r, c), "·")
            axes[1].text(c + 0.5, r + 0.5, text, ha="center", va="center", fontsize=7.5)
    axes[1].set(xlim=(0, 4), ylim=(4, 0), aspect="equal")
    axes[1].axis("off")
    axes[1].set_title("added to its vote", fontsize=9)
    _fine_and_coarse(axes[2], centres)
    return describe(
        figure,
        "coordinate-addition",
        f"Left: a toy with a grid of {len(centres)} by {len(centres)} field centres, and one field of "
        f"{field} by {field} pixels outlined. Middle: a 4 by 4 vote; {row / 100:.2f} is added to the top "
        f"entry of the right-hand column, {column / 100:.2f} to the one below it. Right: the position entry "
        "of a vote while a part moves across the image. Without coordinates it is a saw-tooth, so several "
        "places give the same value; with them it is a straight line.",
    )


def _fine_and_coarse(axes: Axes, centres: Tensor) -> None:
    """The position entry of an ideal vote, without and with the centre of the nearest field."""
    pixels = torch.linspace(float(centres[0]) - 2, float(centres[-1]) + 2, 401)[:-1]
    nearest = centres[(pixels[:, None] - centres).abs().argmin(dim=1)]
    fine = torch.where(nearest.diff(append=nearest[-1:]) != 0, torch.nan, pixels - nearest)
    axes.plot(pixels, fine / 100, linestyle="--", color=COLOURS[1], label="without")
    axes.plot(pixels, pixels / 100, color=COLOURS[0], label="with")
    axes.set(xlabel="column of a part, pixels", xticks=centres.tolist())
    axes.set_title("position entry of a vote", fontsize=9)
    axes.legend(frameon=False, fontsize="small", loc="upper left")


def spread_loss_curves(margins: Sequence[float] = (0.2, 0.4, 0.6, 0.9)) -> Figure:
    """The loss of one wrong class against the right one's lead, its slope, and the margin's course.

    Args:
        margins: one curve each.
    """
    gaps = torch.linspace(-0.5, 1, 151, requires_grad=True)
    figure, axes = new_figure(1, 3, size=(7, 2.9))
    for number, margin in enumerate(margins):
        pairs = torch.stack([gaps, torch.zeros_like(gaps)], dim=1)
        losses = torch.stack(
            [spread_loss(pair[None], torch.tensor([0]), margin=margin) for pair in pairs.unbind()]
        )
        (slope,) = torch.autograd.grad(losses.sum(), gaps)
        style: Any = {"color": COLOURS[number % len(COLOURS)], "linestyle": LINES[number % len(LINES)]}
        axes[0].plot(gaps.detach(), losses.detach(), label=f"m = {margin:g}", **style)
        axes[1].plot(gaps.detach(), slope, **style)
    axes[0].set(title="loss", xlabel="$a_t - a_i$")
    axes[1].set(title="slope: the push", xlabel="$a_t - a_i$")
    for place in axes[:2]:
        place.axvline(0, color="grey", linestyle=":", linewidth=1)
    shares = torch.linspace(0, 1, 101)
    axes[2].plot(shares, [spread_margin(step, 100) for step in range(101)], color=COLOURS[0])
    axes[2].set(title="margin $m$", xlabel="share of the training", ylim=(0, 1), yticks=[0, 0.2, 0.55, 0.9])
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(margins), frameon=False
    )
    for place in axes:
        place.set_title(place.get_title(), fontsize=9)
    return describe(
        figure,
        "spread-loss",
        f"Left: the spread loss of one wrong class against how far the right one leads, for margins "
        f"{', '.join(f'{m:g}' for m in margins)}: a parabola that ends at the margin and stays 0. Middle: "
        "its slope, below the margin steeper for a larger margin. Right: the margin grows evenly from 0.2 "
        "to 0.9 over the first half of the training, then stays.",
    )


def vote_costs(
    by_types: Mapping[int, int], by_side: Mapping[int, int], by_iterations: Mapping[int, int]
) -> Figure:
    """Votes against types and image size, and what must be kept for the backward pass against iterations.

    Args:
        by_types: votes for an image, by the number of types in each layer.
        by_side: votes, by the side of the image.
        by_iterations: bytes kept for an image, by the number of iterations.
    """
    figure, axes = new_figure(1, 3, size=(7, 2.7))
    scale = 1e6
    panels = (
        (by_types, "types in each layer", "million votes", "o-"),
        (by_side, "side of the image", "million votes", "s--"),
        (by_iterations, "iterations", "megabytes kept", "^-."),
    )
    for number, (place, (counts, label, title, style)) in enumerate(zip(axes, panels, strict=True)):
        values = [count / scale for count in counts.values()]
        place.plot(list(counts), values, style, color=COLOURS[number], markersize=4)
        place.set(xlabel=label, xticks=list(counts), ylim=(0, 1.1 * max(values)))
        place.tick_params(labelsize=8)
        place.set_title(title, fontsize=9)
    told = "; ".join(
        f"{title} by {label}: {', '.join(f'{x}: {count / scale:.2f}' for x, count in counts.items())}"
        for counts, label, title, _ in panels
    )
    return describe(figure, "vote-costs", f"Three curves for one image, counted. {told}.")
