"""Scene graphs, toys on their way to a pose, and the valleys that they go down."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from torch import Tensor

from capsedu.plots.digits import grey
from capsedu.plots.figure import COLOURS, describe, new_figure, picture

# A part in its own coordinates. The rectangle lies along x, around its middle; the triangle stands on its
# origin and points along y.
OUTLINES = {
    "rectangle": [(-0.8, -0.275), (0.8, -0.275), (0.8, 0.275), (-0.8, 0.275)],
    "triangle": [(-0.4, 0.0), (0.4, 0.0), (0.0, 0.8)],
}
LOOKS = {"rectangle": (COLOURS[0], ""), "triangle": (COLOURS[1], "//")}

Relations = Mapping[str, Tensor]  # by part: its pose (3, 3) in the whole


def scene_graphs(wholes: Mapping[str, Relations], pose: Tensor) -> Figure:
    """Each whole as a picture, and below it as a tree: the pose of the whole, and of each part in it.

    Args:
        wholes: by name, the relations of its parts.
        pose: of each whole in the picture, (3, 3).
    """
    figure, axes = new_figure(
        2, len(wholes), size=(7, 5.6), squeeze=False, gridspec_kw={"height_ratios": [1, 1.15]}
    )
    for column, (name, relations) in enumerate(wholes.items()):
        draw_scene(axes[0, column], {part: pose @ relation for part, relation in relations.items()})
        axes[0, column].set_title(name)
        _draw_tree(axes[1, column], name, relations, pose)
    told = " ".join(
        f"{name}: " + "; ".join(f"{part} at {_words(relation)}" for part, relation in relations.items()) + "."
        for name, relations in wholes.items()
    )
    return describe(
        figure,
        "scene-graphs",
        f"{' and '.join(wholes)}, drawn and as trees. Each tree has the picture at the top, the whole below "
        f"it and the two parts below the whole. The parts are the same, the relations differ. {told}",
    )


def flat_scenes(
    rows: Sequence[Sequence[Relations]],
    *,
    name: str,
    alt: str,
    titles: Sequence[Sequence[str]] = (),
    row_labels: Sequence[str] = (),
    width: float = 7.0,
) -> Figure:
    """Rows of drawings, each of parts with their poses in the picture.

    Args:
        rows: by part: its pose (3, 3) in the picture.
        name: a slug for the figure's file.
        alt: what is to be seen.
        titles: one above each drawing.
        row_labels: one to the left of each row.
        width: of the figure, in inches.
    """
    columns = max(len(row) for row in rows)
    height = len(rows) * (width / columns + (0.3 if len(titles) else 0))
    figure, axes = new_figure(len(rows), columns, size=(width, height), squeeze=False)
    for r, row in enumerate(rows):
        for c, scene in enumerate(row):
            draw_scene(axes[r, c], scene)
            axes[r, c].set_title(titles[r][c] if len(titles) else "", fontsize="small")
    for place, label in zip(axes[:, 0], row_labels, strict=False):
        place.set_ylabel(label, fontsize="small")
    return describe(figure, name, alt)


def draw_scene(axes: Axes, poses: Relations) -> None:
    """Draw parts, each with its pose (3, 3) in the picture."""
    for part, pose in poses.items():
        colour, hatch = LOOKS[part]
        corners = pose.new_tensor(OUTLINES[part])
        seen = corners @ pose[:2, :2].T + pose[:2, 2]
        axes.add_patch(Polygon(seen.tolist(), facecolor=colour, edgecolor="black", hatch=hatch))
    axes.set(xlim=(-1.6, 1.6), ylim=(-1.6, 1.6), aspect="equal", xticks=[], yticks=[])
    axes.grid(False)
    axes.spines[:].set_visible(True)


def loss_valleys(
    turns: Tensor, losses: Mapping[str, Tensor], pictures: Sequence[Tensor], true: float
) -> Figure:
    """The loss against the turn of a toy, all else right, with the target picture beside each curve.

    Args:
        turns: in degrees, (N,), rising.
        losses: by what differs, (N,); at most four.
        pictures: the target for each of them.
        true: the turn that is right.
    """
    figure, axes = new_figure(
        len(losses), 2, size=(7, 1.7 * len(losses)), squeeze=False, gridspec_kw={"width_ratios": [1, 4]}
    )
    told = []
    for (left, right), (label, loss), image in zip(axes, losses.items(), pictures, strict=True):
        picture(left, grey(image), label)
        right.plot(turns, loss)
        right.axvline(true, color="black", linestyle=":", linewidth=1)
        valleys = local_minima(loss)
        right.plot(turns[valleys], loss[valleys], "v", color=COLOURS[1], markersize=7)
        right.set(ylim=(0, None), xticks=range(0, 361, 60), ylabel="loss")
        right.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
        told.append(f"{label}: " + ", ".join(f"{turns[v]:.0f}° ({loss[v]:.1e})" for v in valleys))
    axes[-1, 1].set_xlabel("turn (degrees)")
    return describe(
        figure,
        "loss-valleys",
        f"The loss against the turn of the toy, which should be {true:.0f} degrees. Each curve has several "
        f"valleys; only one is the right one. Valleys and their losses: {'; '.join(told)}.",
    )


def local_minima(values: Tensor) -> list[int]:
    """Where a curve on a circle (N,) is lower than at both neighbours.

    Example:
        >>> local_minima(torch.tensor([0.0, 1.0, 0.5, 2.0]))
        [0, 2]
    """
    lower = (values < values.roll(1)) & (values < values.roll(-1))
    return lower.nonzero()[:, 0].tolist()


def pose_descent(losses: Tensor, turn_errors: Tensor, place_errors: Tensor, *, name: str) -> Figure:
    """Gradient descent on a pose, step by step: the loss, and how wrong turn and place are.

    Args:
        losses: at the start and after each of T steps, (T + 1,).
        turn_errors: in degrees, (T + 1,).
        place_errors: (T + 1,).
        name: a slug for the figure's file.
    """
    figure, (left, middle, right) = new_figure(1, 3, size=(7, 2.4))
    left.semilogy(losses)
    middle.plot(turn_errors)
    right.plot(place_errors)
    left.set_title("loss", fontsize="medium")
    middle.set_title("error of the turn (degrees)", fontsize="medium")
    right.set_title("error of the place", fontsize="medium")
    middle.set_ylim(0, max(10.0, 1.1 * float(turn_errors.max())))
    right.set_ylim(0, max(0.1, 1.1 * float(place_errors.max())))
    for axes in (left, middle, right):
        axes.set_xlabel("step")
    return describe(
        figure,
        name,
        f"Three curves over {len(losses) - 1} steps: the loss goes from {losses[0]:.1e} to {losses[-1]:.1e}, "
        f"the error of the turn from {turn_errors[0]:.0f} to {turn_errors[-1]:.0f} degrees, the error of the "
        f"place from {place_errors[0]:.2f} to {place_errors[-1]:.2f}.",
    )


def start_outcomes(starts: Tensor, ends: Tensor, losses: Tensor, right: Tensor, true: float) -> Figure:
    """Where gradient descent ends, and with which loss, against where it began.

    Args:
        starts: turns in degrees, (S,).
        ends: turns in degrees, from 0 to 360, (S,).
        losses: at the end, (S,).
        right: which of them found the pose, (S,), bool.
        true: the turn that is right.
    """
    figure, (left, middle) = new_figure(1, 2, size=(7, 3.2))
    for chosen, marker, colour, label in (
        (right, "o", COLOURS[0], "found"),
        (~right, "X", COLOURS[1], "stuck"),
    ):
        left.plot(starts[chosen], ends[chosen], marker, color=colour, label=label, markersize=7)
        middle.semilogy(starts[chosen], losses[chosen], marker, color=colour, markersize=7)
    left.axhline(true, color="black", linestyle=":", linewidth=1)
    left.axhline((true + 180) % 360, color="black", linestyle="--", linewidth=1)
    left.set(ylabel="turn at the end", ylim=(-10, 370), yticks=range(0, 361, 90))
    middle.set(ylabel="loss at the end")
    for axes in (left, middle):
        axes.set(xlabel="turn at the start", xticks=range(0, 361, 90))
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    opposite = int((((ends - true) % 360 - 180).abs() < 30).sum())
    told = (
        f" The losses of those that found it end at {losses[right].max():.1e} or less." if right.any() else ""
    )
    stuck = f" The others' losses end at {losses[~right].min():.1e} or more." if (~right).any() else ""
    return describe(
        figure,
        "start-outcomes",
        f"Turn and loss at the end for {len(starts)} starts all round the circle. {int(right.sum())} find "
        f"the turn of {true:.0f} degrees; {opposite} end near the opposite turn.{told}{stuck}",
    )


def _draw_tree(axes: Axes, name: str, relations: Relations, pose: Tensor) -> None:
    """The picture at the top, the whole below it, the parts at the bottom; a pose on each edge."""
    columns = torch.linspace(-1, 1, len(relations)).tolist()
    _edge(axes, (0, 2), (0, 1), _words(pose))
    for x, (part, relation) in zip(columns, relations.items(), strict=True):
        _edge(axes, (0, 1), (x, 0), _words(relation))
        _node(axes, (x, 0), part, LOOKS[part][0])
    _node(axes, (0, 2), "picture", "black")
    _node(axes, (0, 1), name, "black")
    axes.set(xlim=(-1.6, 1.6), ylim=(-0.3, 2.3), xticks=[], yticks=[])
    axes.grid(False)
    axes.spines[:].set_visible(False)


def _edge(axes: Axes, start: tuple[float, float], end: tuple[float, float], label: str) -> None:
    axes.plot(*zip(start, end, strict=True), color="0.4", linewidth=1.2)
    x, y = (start[0] + 1.25 * end[0]) / 2, (start[1] + end[1]) / 2
    background = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    axes.text(x, y, label, ha="center", va="center", fontsize="x-small", bbox=background)


def _node(axes: Axes, place: tuple[float, float], label: str, colour: str) -> None:
    box = {"boxstyle": "round", "facecolor": "white", "edgecolor": colour, "linewidth": 1.5}
    axes.text(*place, label, ha="center", va="center", bbox=box, fontsize="small")


def _words(pose: Tensor) -> str:
    """A pose (3, 3) as a place and a turn."""
    x, y = (round(number, 3) + 0.0 for number in pose[:2, 2].tolist())
    turn = round(torch.rad2deg(torch.atan2(pose[1, 0], pose[0, 0])).item()) + 0
    return f"({x:g}, {y:g}), turned {turn}°"
