"""Pictures of EM routing: votes as points, parents as ellipses, responsibilities as colour."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse
from torch import Tensor

from capsedu.ops import EMTrace, Gaussians
from capsedu.plots.figure import COLOURS, describe, new_figure

MARKERS = ("o", "s", "P", "^", "D")
LINES = ("-", "--", ":", "-.")
SHADE = "Blues"


def vote_planes(
    votes: Tensor, activations: Tensor, parents: Sequence[str], groups: Mapping[str, Sequence[int]]
) -> Figure:
    """The votes for each parent as points of a plane of its own.

    Args:
        votes: of one example, (I, J, 2).
        activations: a_i, (I,); a larger one makes a larger point.
        parents: their names.
        groups: children by what they are, at most five groups; each has a marker.
    """
    figure, axes = new_figure(1, len(parents), size=(7, 3.0), squeeze=False, sharex=True, sharey=True)
    for parent, (place, name) in enumerate(zip(axes[0], parents, strict=True)):
        _draw_points(place, votes[:, parent], activations, None, groups)
        place.set_title(f"votes for {name}", fontsize="medium")
    _name_groups(figure, groups)
    told = "; ".join(
        f"those of {group} spread by " + ", ".join(f"{_spread(votes[list(children), j]):.2f} for {name}"
                                                   for j, name in enumerate(parents))
        for group, children in groups.items()
    )  # fmt: skip
    return describe(
        figure,
        "em-vote-planes",
        f"The votes of {len(votes)} children for {', '.join(parents)}, one plane a parent, with a marker for "
        f"each kind of child and larger points for more active ones. Their standard deviations: {told}.",
    )


def em_steps(
    votes: Tensor,
    activations: Tensor,
    trace: EMTrace,
    parents: Sequence[str],
    groups: Mapping[str, Sequence[int]],
    iterations: Sequence[int] | None = None,
) -> Figure:
    """One row an iteration: the votes for each parent, shaded by responsibility, and its Gaussian.

    Args:
        votes: of one example, (I, J, 2).
        activations: a_i, (I,).
        trace: of :func:`capsedu.ops.em_routing` on a batch of that example alone.
        parents: their names.
        groups: children by what they are.
        iterations: which to draw, from 1 on; all by default.
    """
    shown = list(iterations or range(1, len(trace.parents) + 1))
    size = (7, 1.8 * len(shown) + 0.5)
    figure, axes = new_figure(len(shown), len(parents), size=size, squeeze=False, sharex=True, sharey=True)
    for row, t in zip(axes, shown, strict=True):
        shares, fitted = trace.responsibilities[t - 1][0], trace.parents[t - 1]
        for parent, name in enumerate(parents):
            _draw_points(row[parent], votes[:, parent], activations, shares[:, parent], groups)
            active = float(fitted.activation[0, parent])
            _draw_gaussian(
                row[parent], fitted.mean[0, parent], fitted.variance[0, parent], 0.7 + 1.3 * active
            )
            row[parent].set_title(f"{name}: activation {active:.2f}", fontsize="medium")
        row[0].set_ylabel(f"iteration {t}")
    _name_groups(figure, groups)
    figure.colorbar(_shades(), ax=axes, label="responsibility", shrink=0.9 / len(shown) ** 0.5, aspect=30)
    told = "; ".join(
        f"iteration {t}: "
        + ", ".join(
            f"{name} {a:.2f}"
            for name, a in zip(parents, trace.parents[t - 1].activation[0].tolist(), strict=True)
        )
        for t in shown
    )
    return describe(
        figure,
        "em-steps",
        f"Each row is an iteration of EM routing, each column a parent: {', '.join(parents)}. Votes are "
        "points, darker where the parent takes more of the child; ellipses at one and two standard "
        f"deviations show the parent's Gaussian, drawn thicker for an active parent. Activations: {told}.",
    )


def mixture_frames(
    points: Tensor,
    responsibilities: Sequence[Tensor],
    gaussians: Sequence[Gaussians],
    iterations: Sequence[int],
    notes: Sequence[str] | None = None,
) -> Figure:
    """All parents in one plane: a point has the colours of its parents, mixed by responsibility.

    Args:
        points: (I, 2).
        responsibilities: (1, I, J) of each iteration; at most three parents.
        gaussians: of each iteration.
        iterations: which to draw, from 1 on: an even number of them.
        notes: a line under each frame's title, for the drawn iterations.
    """
    rows = len(iterations) // 2
    figure, axes = new_figure(rows, 2, size=(7, 3.0 * rows), squeeze=False, sharex=True, sharey=True)
    palette = torch.tensor([to_rgb(colour) for colour in COLOURS[:3]], dtype=points.dtype)
    for number, (place, t) in enumerate(zip(axes.flat, iterations, strict=True)):
        shares, fitted = responsibilities[t - 1][0], gaussians[t - 1]
        colours = (shares @ palette[: shares.shape[1]]).clamp(0, 1)
        for parent in range(shares.shape[1]):
            chosen = shares.argmax(dim=1) == parent
            place.scatter(*points[chosen].T, c=colours[chosen].numpy(), marker=MARKERS[parent], s=18)
            _draw_gaussian(
                place, fitted.mean[0, parent], fitted.variance[0, parent], 1.8, COLOURS[parent], LINES[parent]
            )
        place.set_title(f"iteration {t}" + (f", {notes[number]}" if notes else ""), fontsize="medium")
        place.set_aspect("equal")
    means = gaussians[iterations[-1] - 1].mean[0].tolist()
    told = ", ".join(f"({x:.1f}, {y:.1f})" for x, y in means)
    return describe(
        figure,
        "em-mixture-frames",
        f"{len(points)} points in the plane and {len(means)} ellipses, one a parent, at iterations "
        f"{', '.join(map(str, iterations))}. The ellipses begin on top of each other; they end around "
        f"{told}, each on a cluster of points of its colour.",
    )


def description_cost(
    spreads: Tensor, savings: Mapping[str, Tensor], activations: Mapping[str, Tensor], threshold: float
) -> Figure:
    """What a parent saves against the spread of its votes, and its activation.

    Args:
        spreads: standard deviations, (N,), rising.
        savings: β_a - cost, (N,), by label; at most four.
        activations: (N,), by label; at most four.
        threshold: the spread at which a vote costs the same either way.
    """
    figure, axes = new_figure(1, 2, size=(7, 3.1))
    for place, curves in zip(axes, (savings, activations), strict=True):
        for line, (label, curve) in zip(LINES, curves.items(), strict=False):
            place.plot(spreads, curve, line, label=label)
        place.axvline(threshold, color="grey", linewidth=1)
        place.set(xscale="log", xlabel="spread σ of the votes", xticks=[0.1, 0.3, 1, 3])
        place.set_xticklabels(["0.1", "0.3", "1", "3"])
        place.minorticks_off()
        place.legend(frameon=False, fontsize="small")
    axes[0].set(ylabel=r"saving $\beta_a$ - cost")
    axes[1].set(ylabel="activation", ylim=(-0.02, 1.02))
    saved = "; ".join(f"{label}: from {c[0]:.1f} to {c[-1]:.1f}" for label, c in savings.items())
    active = "; ".join(f"{label}: from {c[0]:.2f} to {c[-1]:.2f}" for label, c in activations.items())
    return describe(
        figure,
        "em-description-cost",
        f"Left: what a parent saves, as the spread of its votes grows from {spreads[0]:.1f} to "
        f"{spreads[-1]:.0f}. {saved}. All lines cross at a spread of {threshold:.2f}. "
        f"Right: the activation. {active}.",
    )


def activation_by_children(counts: Sequence[int], curves: Mapping[str, Tensor]) -> Figure:
    """Activation of a parent, and how steep its logistic still is, against the number of children.

    Args:
        counts: numbers of children, rising.
        curves: activations (N,) in double precision, by label; at most four.
    """
    figure, axes = new_figure(1, 2, size=(7, 3.1))
    for number, (label, curve) in enumerate(curves.items()):
        style: Any = {"marker": MARKERS[number], "linestyle": LINES[number], "markersize": 4, "label": label}
        axes[0].plot(counts, curve, **style)
        axes[1].plot(counts, curve * (1 - curve), **style)
    axes[0].set(xscale="log", xlabel="children", ylabel="activation a", ylim=(-0.03, 1.03))
    axes[1].set(xscale="log", yscale="log", xlabel="children", ylabel="slope a (1 - a)")
    axes[1].legend(frameon=False, fontsize="small", loc="lower left")
    told = "; ".join(f"{label}: from {c[0]:.3f} to {c[-1]:.3g}" for label, c in curves.items())
    return describe(
        figure,
        "em-activation-by-children",
        f"Left: activation of a parent as the number of children grows from {counts[0]} to {counts[-1]}. "
        f"{told}. Right: the slope of the logistic there, log scale.",
    )


def mean_by_activation(activations: Tensor, means: Mapping[str, Tensor]) -> Figure:
    """Where a parent's mean lies, against the activation of one stray child.

    Args:
        activations: of the stray, (N,), rising.
        means: distance of the parent's mean from the other votes' mean, (N,), by label; at most four.
    """
    figure, axes = new_figure(size=(7, 2.7))
    for line, (label, curve) in zip(LINES, means.items(), strict=False):
        axes.plot(activations, curve, line, label=label)
    axes.set(xlabel="activation of the stray", ylabel="how far the mean is pulled")
    axes.set_ylim(0, 1.15 * max(float(curve.max()) for curve in means.values()))
    axes.legend(frameon=False)
    told = "; ".join(f"{label}: from {c[0]:.2f} to {c[-1]:.2f}" for label, c in means.items())
    return describe(
        figure,
        "em-mean-by-activation",
        "How far a parent's mean is pulled away by one stray vote, as the activation of the stray grows from "
        f"{activations[0]:g} to {activations[-1]:g}. {told}.",
    )


def _draw_points(
    axes: Axes, votes: Tensor, activations: Tensor, shares: Tensor | None, groups: Mapping[str, Sequence[int]]
) -> None:
    """Votes (I, 2) with a marker for each group, sized by activation (I,), shaded by share (I,)."""
    for marker, children in zip(MARKERS, groups.values(), strict=False):
        held = list(children)
        values = torch.full((len(held),), 0.5) if shares is None else shares[held]
        x, y = votes[held].T.numpy()
        axes.scatter(
            x,
            y,
            c=values.numpy(),
            s=(5 + 30 * activations[held]).numpy(),
            marker=marker,
            cmap=SHADE,
            vmin=0,
            vmax=1,
            edgecolors="black",
            linewidths=0.6,
            zorder=3,
        )
    axes.set_aspect("equal")


def _draw_gaussian(
    axes: Axes, mean: Tensor, variance: Tensor, width: float, colour: str = COLOURS[1], line: str = "-"
) -> None:
    """Ellipses at one and two standard deviations around the mean (2,)."""
    x, y = mean.tolist()
    wide, high = variance.sqrt().tolist()
    for deviations, alpha in ((1, 1.0), (2, 0.5)):
        axes.add_patch(
            Ellipse(
                (x, y),
                2 * deviations * wide,
                2 * deviations * high,
                fill=False,
                edgecolor=colour,
                linewidth=width,
                linestyle=line,
                alpha=alpha,
                zorder=4,
            )
        )
    axes.plot(x, y, marker="x", color=colour, zorder=5)


def _name_groups(figure: Figure, groups: Mapping[str, Sequence[int]]) -> None:
    handles = [
        Line2D([], [], marker=marker, color="black", markerfacecolor="lightgrey", linestyle="", label=name)
        for marker, name in zip(MARKERS, groups, strict=False)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)


def _shades() -> Any:
    from matplotlib.cm import ScalarMappable

    return ScalarMappable(Normalize(0, 1), SHADE)


def _spread(votes: Tensor) -> float:
    return float(votes.var(dim=0, correction=0).mean().sqrt())
