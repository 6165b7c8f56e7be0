"""Pictures of a capsule's vector and of what squash does to it."""

from collections.abc import Callable, Mapping

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from torch import Tensor

from capsedu.analysis import length_before_squash, squash_gains
from capsedu.ops import squash
from capsedu.plots.figure import COLOURS, describe, new_figure

MARGINS = (0.1, 0.9)  # where the margin loss wants the lengths of absent and present classes
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))


def capsule_as_arrow() -> Figure:
    """A drawing, not a run: a rectangle that turns and fades, and the arrow of its capsule."""
    states = [(0, 0.9), (35, 0.9), (70, 0.9), (70, 0.5), (70, 0.1)]  # angle in degrees, how sure
    figure, axes = new_figure(2, len(states), size=(7, 2.9))
    for (angle, sure), drawing, plane in zip(states, axes[0], axes[1], strict=True):
        drawing.add_patch(
            Rectangle(
                (-0.75, -0.3), 1.5, 0.6, angle=angle, rotation_point="center", color="black", alpha=sure
            )
        )
        _plane(drawing, 1)
        drawing.set(xticks=[], yticks=[])
        drawing.grid(False)
        drawing.spines[:].set_visible(True)
        radians = torch.deg2rad(torch.tensor(float(angle)))
        _plane(plane, 1.1)
        _arrow(plane, sure * torch.stack([radians.cos(), radians.sin()]), COLOURS[0])
        plane.set(xticks=[-1, 0, 1], yticks=[-1, 0, 1])
        plane.set_title(f"{angle}°, length {sure}", fontsize="small")
    axes[0, 0].set_ylabel("picture")
    axes[1, 0].set_ylabel("capsule")
    return describe(
        figure,
        "capsule-as-arrow",
        "Top: a rectangle turns from 0 to 35 to 70 degrees, then stays there and fades away. Bottom: the "
        "arrow of a two-dimensional capsule. It turns with the rectangle at length 0.9, then keeps its "
        "direction and shrinks to 0.5 and 0.1 as the rectangle fades.",
    )


def squash_curve(longest: float = 5.0) -> Figure:
    """Squash in one dimension, and length in against length out with the margins of the loss."""
    s = torch.linspace(-longest, longest, 401)
    figure, (left, right) = new_figure(1, 2, size=(7, 3.2))
    left.plot(s, squash(s[:, None])[:, 0])
    left.plot(s, s, "--", color="grey", linewidth=1, label="no squash")
    left.set(
        xlabel="s, one number", ylabel="squash(s)", ylim=(-1.25, 1.25), title="A capsule of one dimension"
    )
    left.legend(frameon=False, loc="upper left")

    n = s[s >= 0]
    right.plot(n, squash(n[:, None])[:, 0])
    right.axhline(1, color="grey", linestyle=":", linewidth=1)
    for length in (MARGINS[0], 0.5, MARGINS[1]):
        before = float(length_before_squash(torch.tensor(length)))
        right.plot([before, before, 0], [0, length, length], "--", color="grey", linewidth=1)
        right.plot(before, length, "o", color=COLOURS[1])
        right.annotate(f"{before:.2f} → {length}", (before, length), (6, -12), textcoords="offset points")
    right.set(xlabel="‖s‖, length in", ylabel="‖v‖, length out", ylim=(0, 1.08), xlim=(0, longest))
    right.set_title("A capsule of any dimension")
    return describe(
        figure,
        "squash-1d",
        "Left: squash of one number, an S-shaped odd curve that is flat at 0, steep near 0.6 and approaches "
        "plus and minus 1; it always lies closer to 0 than the line without squash. Right: length out "
        "against length in, from 0 towards 1. Three points are marked: a third gives 0.1, one gives 0.5, "
        "three gives 0.9.",
    )


def squash_field() -> Figure:
    """Squash in the plane: the output at each input, and where circles and rays land."""
    figure, (left, right) = new_figure(1, 2, size=(7, 3.6))
    ticks = torch.linspace(-3, 3, 13)
    s = torch.cartesian_prod(ticks, ticks)
    v = squash(s)
    left.quiver(
        *s.T, *v.T, v.norm(dim=-1), cmap="viridis_r", angles="xy", scale_units="xy", scale=2, width=0.006
    )
    left.add_patch(Circle((0, 0), 1, fill=False, linestyle="--", color="grey"))
    _plane(left, 3.4)
    left.set(xlabel="$s_1$", ylabel="$s_2$", title="v, drawn at s (half size)")

    turn = torch.linspace(0, 2 * torch.pi, 181)
    circle = torch.stack([turn.cos(), turn.sin()], dim=-1)
    for colour, line, length in zip(COLOURS, LINES, (0.25, 0.5, 1.0, 2.0, 4.0), strict=False):
        right.plot(*squash(length * circle).T, color=colour, linestyle=line, label=f"‖s‖ = {length:g}")
    for ray in circle[::15]:
        right.plot(*squash(torch.linspace(0, 50, 200)[:, None] * ray).T, color="grey", linewidth=0.5)
    _plane(right, 1.05)
    right.set(xlabel="$v_1$", ylabel="$v_2$", title="Where circles and rays of s land")
    right.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
    return describe(
        figure,
        "squash-field",
        "Left: a grid of arrows, each the squashed vector of the point it starts from. All point straight "
        "away from the centre; near the centre they are tiny, and from about distance 2 on all are nearly "
        "equally long. Right: circles of radius 0.25, 0.5, 1, 2 and 4 land on circles inside the unit "
        "circle; rays stay straight. The two inner circles fall close to the centre, the two outer ones "
        "close to the rim.",
    )


def squash_vectors(vectors: Tensor) -> Figure:
    """One panel a vector s: s in grey, its squash v in colour, and the unit circle.

    Args:
        vectors: one, two or four vectors of the plane, (N, 2).
    """
    outputs = squash(vectors)
    columns = min(len(vectors), 2)
    rows = (len(vectors) + 1) // 2
    figure, axes = new_figure(rows, columns, size=(3.5 * columns, 2.7 * rows), squeeze=False)
    lengths = [(float(s.norm()), float(v.norm())) for s, v in zip(vectors, outputs, strict=True)]
    low = (1.05 * vectors.amin(dim=0).clamp(max=-1.1)).tolist()
    high = (1.05 * vectors.amax(dim=0).clamp(min=1.1)).tolist()
    for place, s, v, (before, after) in zip(axes.flat, vectors, outputs, lengths, strict=False):
        place.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        place.add_patch(Circle((0, 0), 1, fill=False, linestyle="--", color="grey"))
        _arrow(place, s, "silver", width=0.03)
        _arrow(place, v, COLOURS[0], width=0.014)
        place.set_title(f"‖s‖ = {before:.2f},  ‖v‖ = {after:.2f}", fontsize="medium")
    told = "; ".join(f"length {before:.2f} becomes {after:.2f}" for before, after in lengths)
    return describe(
        figure,
        "squash-vectors",
        f"A grey vector s and its squash v in blue, same direction, inside the unit circle: {told}.",
    )


def squash_gradient(lengths: Tensor, radial: Tensor, tangential: Tensor) -> Figure:
    """The two gains of a squash against the length of s, plain and on log scales.

    Args:
        lengths: of s, (N,), above 0.
        radial, tangential: as :func:`capsedu.analysis.squash_gains` gives them.
    """
    figure, (left, right) = new_figure(1, 2, size=(7, 3.2))
    for axes in (left, right):
        axes.plot(lengths, radial, "-", label="radial: longer or shorter")
        axes.plot(lengths, tangential, "--", label="tangential: turned")
        axes.set_xlabel("‖s‖")
    steepest = int(radial.argmax())
    left.plot(lengths[steepest], radial[steepest], "o", color=COLOURS[0])
    left.set(ylabel="gain", xlim=(0, 5), ylim=(0, 0.75), title="Gain of a small change")
    left.legend(frameon=False, loc="upper right")
    right.set(xscale="log", yscale="log", title="The same, log scales")
    return describe(
        figure,
        "squash-gradient",
        "Gain of squash against the length of s. Both curves start at 0 and fall back towards 0. "
        f"The radial gain peaks at {float(radial[steepest]):.2f} near length {float(lengths[steepest]):.2f} "
        f"and falls fast; the tangential gain peaks at {float(tangential.max()):.2f} "
        f"near length {float(lengths[tangential.argmax()]):.2f} and falls slowly. "
        "On log scales both rise along straight lines, then fall along straight lines, the radial one three "
        "times as steeply.",
    )


def squash_comparison(squashes: Mapping[str, Callable[[Tensor], Tensor]], longest: float = 4.0) -> Figure:
    """Several squashes side by side: length out, radial gain, tangential gain.

    Args:
        squashes: by name, functions of vectors (N, D); at most six.
        longest: the largest length of s drawn.
    """
    lengths = torch.linspace(0.01, longest, 200)
    s = torch.stack([lengths, torch.zeros_like(lengths)], dim=-1)
    figure, axes = new_figure(1, 3, size=(7, 3.6))
    for line, colour, (name, function) in zip(LINES, COLOURS, squashes.items(), strict=False):
        curves = (function(s).norm(dim=-1), *squash_gains(function, lengths))
        for place, curve in zip(axes, curves, strict=True):
            place.plot(lengths, curve, linestyle=line, color=colour, label=name)
    for place, title in zip(axes, ("Length out", "Radial gain", "Tangential gain"), strict=True):
        place.set(xlabel="‖s‖", title=title, ylim=(-0.03, 1.5), xlim=(0, longest))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False)
    flat = [name for name, function in squashes.items() if squash_gains(function, lengths[:1])[0] < 0.1]
    return describe(
        figure,
        "squash-comparison",
        f"Length out, radial gain and tangential gain of {len(squashes)} functions against the length of s: "
        f"{'; '.join(squashes)}. The radial gain starts at 0 only for: {'; '.join(flat)}.",
    )


def squash_inputs(present: Tensor, absent: Tensor, longest: float = 8.0) -> Figure:
    """Where a trained network's class capsules sit on the squash curve.

    Args:
        present: lengths before squash of the capsules of the true class, any shape.
        absent: the same for all other classes.
        longest: the largest length drawn; longer ones are counted there.
    """
    figure, (top, bottom) = new_figure(2, 1, size=(7, 4.2), sharex=True)
    n = torch.linspace(0, longest, 200)
    top.plot(n, squash(n[:, None])[:, 0], color="black")
    for margin in MARGINS:
        top.axhline(margin, color="grey", linestyle=":", linewidth=1)
    top.set(ylabel="‖v‖", yticks=[0, *MARGINS, 1])
    bins = torch.linspace(0, longest, 41).numpy()
    parts = {"absent classes": (absent, COLOURS[5], ""), "true class": (present, COLOURS[0], "//")}
    for label, (lengths, colour, hatch) in parts.items():
        values = lengths.flatten().clamp(max=longest).numpy()
        shares = torch.full((len(values),), 1 / len(values)).numpy()
        bottom.hist(
            values,
            bins,
            weights=shares,
            label=label,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            alpha=0.85,
        )
    bottom.set(xlabel="‖s‖, length before squash", ylabel="share of capsules")
    bottom.legend(frameon=False)
    return describe(
        figure,
        "squash-inputs",
        "Top: the squash curve with the margins 0.1 and 0.9. Bottom: histograms of lengths before squash. "
        f"Capsules of absent classes have a median of {float(absent.median()):.2f}, "
        f"those of the true class {float(present.median()):.2f}.",
    )


def _plane(axes: Axes, limit: float) -> None:
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")


def _arrow(axes: Axes, vector: Tensor, colour: str, width: float = 0.03) -> None:
    x, y = vector.tolist()
    axes.quiver(0, 0, x, y, angles="xy", scale_units="xy", scale=1, width=width, color=colour, zorder=3)
