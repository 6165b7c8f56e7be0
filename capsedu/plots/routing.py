"""Pictures of votes in the plane and of how routing shares them out."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon, Rectangle
from matplotlib.transforms import Affine2D
from torch import Tensor

from capsedu.ops import RoutingTrace
from capsedu.plots.figure import COLOURS, describe, new_figure

MARKERS = ("s", "^", "o", "D", "v", "P", "X", "*")
HATCHES = ("", "///", "...", "xxx")


def boat_house_votes(tilt: float, boat: Tensor, house: Tensor) -> Figure:
    """The same two parts as a boat and as a house, and what they vote for in each picture.

    Args:
        tilt: by how many degrees both pictures are turned.
        boat, house: votes (I, J, 2) of rectangle and triangle for boat and house, in either picture.
    """
    figure, axes = new_figure(2, 3, size=(7, 4.8))
    for row, name, votes in zip(axes, ("boat", "house"), (boat, house), strict=True):
        _draw_parts(row[0], name, tilt)
        row[0].set_ylabel(f"a {name}")
        for parent, place in enumerate(row[1:]):
            draw_votes(place, votes[:, parent])
    axes[0, 0].set_title("picture", fontsize="medium")
    axes[0, 1].set_title("votes for boat", fontsize="medium")
    axes[0, 2].set_title("votes for house", fontsize="medium")
    axes[0, 1].legend(
        *_part_legend(axes[0, 1], ("rectangle", "triangle")),
        frameon=False,
        fontsize="small",
        loc="lower left",
    )
    return describe(
        figure,
        "boat-house-votes",
        f"Top: a boat, a lying rectangle with a triangle on it, turned by {tilt:g} degrees. The two parts' "
        f"votes for boat point the same way, within {_spread(boat[:, 0]):.0f} degrees; their votes for house "
        f"are {_spread(boat[:, 1]):.0f} degrees apart. Bottom: a house, a standing rectangle with the same "
        f"triangle. Now the votes for boat are {_spread(house[:, 0]):.0f} degrees apart, and those for house "
        f"agree within {_spread(house[:, 1]):.0f}.",
    )


def vote_clusters(votes: Tensor, parents: Sequence[str]) -> Figure:
    """All votes for each parent as points of the plane, with their mean.

    Args:
        votes: of one example, (I, J, 2).
        parents: their names.
    """
    figure, axes = new_figure(1, len(parents), size=(7, 3.5), squeeze=False)
    means = votes.mean(dim=0)
    for place, parent, name in zip(axes[0], range(len(parents)), parents, strict=True):
        draw_votes(place, votes[:, parent], output=means[parent])
        place.set_title(
            f"votes for {name}\nmean vote: length {float(means[parent].norm()):.2f}", fontsize="medium"
        )
    told = ", ".join(f"{name} {float(mean.norm()):.2f}" for name, mean in zip(parents, means, strict=True))
    return describe(
        figure,
        "vote-clusters",
        f"The votes of {len(votes)} children as points around the origin, one panel a parent. Where they lie "
        "close together their mean, an arrow, is long; where they are scattered it is short. "
        f"Lengths of the mean: {told}.",
    )


def routing_steps(
    votes: Tensor, trace: RoutingTrace, parents: Sequence[str], iterations: Sequence[int] | None = None
) -> Figure:
    """One row a routing iteration: the votes for each parent sized by coupling, the outputs, the couplings.

    Args:
        votes: of one example, (I, J, 2).
        trace: of :func:`capsedu.ops.dynamic_routing` on a batch of that example alone.
        parents: their names, at most four.
        iterations: which to draw, from 1 on; all by default.
    """
    shown = list(iterations or range(1, len(trace.outputs) + 1))
    figure, axes = new_figure(len(shown), len(parents) + 1, size=(7, 2.3 * len(shown) + 0.4), squeeze=False)
    for row, iteration in zip(axes, shown, strict=True):
        couplings, outputs = trace.couplings[iteration - 1][0], trace.outputs[iteration - 1][0]
        for parent, name in enumerate(parents):
            draw_votes(row[parent], votes[:, parent], couplings[:, parent], outputs[parent])
            row[parent].set_title(f"{name}: length {float(outputs[parent].norm()):.2f}", fontsize="medium")
        row[0].set_ylabel(f"iteration {iteration}")
        _draw_shares(row[-1], couplings, parents)
    axes[0, -1].set_title("couplings", fontsize="medium")
    handles, labels = axes[0, -1].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower right", ncols=len(labels), frameon=False, fontsize="small"
    )
    told = "; ".join(
        f"iteration {t}: "
        + ", ".join(
            f"{name} {float(v.norm()):.2f}" for name, v in zip(parents, trace.outputs[t - 1][0], strict=True)
        )
        for t in shown
    )
    return describe(
        figure,
        "routing-steps",
        f"Each row is a routing iteration. The votes for {' and '.join(parents)} are points whose size is "
        "their coupling, the output is an arrow inside the unit circle, and bars show how each child shares "
        f"itself out. Lengths of the outputs: {told}.",
    )


def outlier_couplings(angles: Tensor, couplings: Mapping[int, Tensor]) -> Figure:
    """How much of itself a stray child gives to a parent, against how far its vote is off.

    Args:
        angles: between the stray's vote and the others', in degrees, (N,), rising.
        couplings: of the stray to that parent, (N,), by number of iterations; at most four.
    """
    figure, axes = new_figure(size=(7, 3))
    for line, (iterations, curve) in zip((":", "-.", "--", "-"), couplings.items(), strict=False):
        axes.plot(angles, curve, line, label=f"{iterations} iteration{'s' if iterations > 1 else ''}")
    axes.set(xlabel="angle between the stray's vote and the cluster (degrees)", ylabel="its coupling")
    axes.set(ylim=(-0.02, 1.02), xticks=range(0, int(angles[-1]) + 1, 30))
    axes.legend(frameon=False)
    told = "; ".join(f"{r} iterations: from {c[0]:.2f} to {c[-1]:.2f}" for r, c in couplings.items())
    return describe(
        figure,
        "outlier-couplings",
        f"Coupling of a stray child to a parent, as its vote moves from {angles[0]:g} to {angles[-1]:g} "
        f"degrees off the others' votes. {told}. The more iterations, the steeper the fall.",
    )


def lengths_in_company(lengths: Tensor, parents: Sequence[str]) -> Figure:
    """Output lengths for one picture of a boat, routed in a batch with 0, 1, 2 ... houses.

    Args:
        lengths: (K, J), row k with k houses in the batch.
        parents: their names, at most eight.
    """
    figure, axes = new_figure(size=(7, 2.6))
    houses = range(len(lengths))
    for parent, name in enumerate(parents):
        axes.plot(
            houses, lengths[:, parent], marker=MARKERS[parent], linestyle=("-", "--")[parent % 2], label=name
        )
    axes.set(xlabel="pictures of houses in the same batch", ylabel="length, picture of a boat")
    axes.set(ylim=(0, 1), xticks=houses)
    axes.legend(frameon=False)
    told = "; ".join(
        f"{name} from {x[0]:.2f} to {x[-1]:.2f}" for name, x in zip(parents, lengths.T, strict=True)
    )
    return describe(
        figure,
        "lengths-in-company",
        "Lengths of the outputs for one picture of a boat, as the number of houses in its batch grows from "
        f"0 to {len(lengths) - 1}: {told}.",
    )


def softmax_directions(logits: Tensor, parents: Sequence[str]) -> Figure:
    """The same logits through a softmax over parents (routing) and over children (attention), with all sums.

    Args:
        logits: (I, J).
        parents: their names.
    """
    figure, axes = new_figure(1, 2, size=(7, 3.9))
    ways = {"routing: softmax over parents": 1, "attention: softmax over children": 0}
    for place, (title, dim) in zip(axes, ways.items(), strict=True):
        _table_with_sums(place, logits.softmax(dim), parents)
        place.set_title(title, fontsize="medium")
    received, given = logits.softmax(1).sum(dim=0), logits.softmax(0).sum(dim=1)
    return describe(
        figure,
        "softmax-directions",
        "Two tables of weights, children in rows and parents in columns, with the sums of rows and columns. "
        "Routing, left: every row sums to 1, and the columns sum to "
        f"{', '.join(f'{x:.2f}' for x in received.tolist())}. Attention, right: every column sums to 1, and "
        f"the rows sum to {', '.join(f'{x:.2f}' for x in given.tolist())}.",
    )


def draw_votes(
    axes: Axes, votes: Tensor, couplings: Tensor | None = None, output: Tensor | None = None
) -> None:
    """Draw votes (I, 2) as points, larger for a larger coupling (I,), and the output (2,) as an arrow."""
    weights = torch.full((len(votes),), 0.5) if couplings is None else couplings
    axes.add_patch(Circle((0, 0), 1, fill=False, linestyle="--", color="grey", linewidth=1))
    for child, ((x, y), weight) in enumerate(zip(votes.tolist(), weights.tolist(), strict=True)):
        axes.plot([0, x], [0, y], color=_colour(child), linewidth=3 * weight, alpha=0.4)
        axes.scatter(x, y, s=8 + 120 * weight, marker=MARKERS[child], color=_colour(child), zorder=3)
    if output is not None:
        axes.quiver(
            0,
            0,
            *output.tolist(),
            angles="xy",
            scale_units="xy",
            scale=1,
            width=0.022,
            color="black",
            zorder=4,
        )
    limit = max(1.25, 1.2 * float(votes.abs().max()))
    axes.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal", xticks=[-1, 0, 1], yticks=[-1, 0, 1])


def _draw_shares(axes: Axes, couplings: Tensor, parents: Sequence[str]) -> None:
    """One bar of length 1 a child, cut into its couplings."""
    start = torch.zeros(len(couplings))
    for parent, name in enumerate(parents):
        share = couplings[:, parent]
        axes.barh(
            range(len(couplings)),
            share.tolist(),
            left=start.tolist(),
            label=f"to {name}",
            hatch=HATCHES[parent],
            color=(COLOURS[5], "white", COLOURS[4], COLOURS[3])[parent],
            edgecolor="black",
            linewidth=0.6,
        )
        start = start + share
    for child in range(len(couplings)):
        axes.scatter(-0.12, child, marker=MARKERS[child], color=_colour(child))
    axes.set(xlim=(-0.22, 1), xticks=[0, 0.5, 1], yticks=[])
    axes.invert_yaxis()
    axes.spines["left"].set_visible(False)


def _table_with_sums(axes: Axes, weights: Tensor, parents: Sequence[str]) -> None:
    """A heat map of weights (I, J) with one more row and column for the sums."""
    children, count = weights.shape
    axes.imshow(weights.numpy(), cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
    entries = [(i, j, float(weights[i, j]), "normal") for i in range(children) for j in range(count)]
    entries += [(i, count, float(weights[i].sum()), "bold") for i in range(children)]
    entries += [(children, j, float(weights[:, j].sum()), "bold") for j in range(count)]
    for row, column, value, weight in entries:
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", weight=weight)
    axes.set(xlim=(-0.5, count + 0.5), ylim=(children + 0.5, -0.5))
    axes.set_xticks(range(count + 1), [*parents, "sum"])
    axes.set_yticks(range(children + 1), [*(f"child {i + 1}" for i in range(children)), "sum"])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(False)
    axes.spines[:].set_visible(False)


def _draw_parts(axes: Axes, name: str, tilt: float) -> None:
    """A triangle on a rectangle that lies (boat) or stands (house)."""
    width, height = (1.6, 0.55) if name == "boat" else (0.55, 1.6)
    base = -(height + 0.8) / 2
    turn = Affine2D().rotate_deg(tilt) + axes.transData
    body = Rectangle(
        (-width / 2, base), width, height, facecolor=COLOURS[0], edgecolor="black", transform=turn
    )
    top = base + height
    points = [(-0.4, top), (0.4, top), (0, top + 0.8)]
    roof = Polygon(points, facecolor=COLOURS[1], edgecolor="black", hatch="//", transform=turn)
    axes.set(xlim=(-1.3, 1.3), ylim=(-1.3, 1.3), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    axes.add_patch(body)
    axes.add_patch(roof)
    axes.grid(False)


def _part_legend(axes: Axes, names: Sequence[str]) -> tuple[list, list[str]]:
    return list(axes.collections[: len(names)]), list(names)


def _colour(child: int) -> str:
    return COLOURS[child % len(COLOURS)]


def _spread(votes: Tensor) -> float:
    """The angle between two votes, in degrees."""
    return float(torch.rad2deg(torch.acos(torch.cosine_similarity(votes[0], votes[1], dim=0).clamp(-1, 1))))
