"""Pictures of what more routing iterations change, and of what they cost."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from capsedu.plots.digits import grey
from capsedu.plots.figure import COLOURS, describe, new_figure, picture

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 3)))
MARKERS = ("o", "s", "^", "D", "v", "P")


def coupling_maps(image: Tensor, couplings: Mapping[int, Tensor], outputs: Mapping[int, Tensor]) -> Figure:
    """One image's couplings and lengths after more and more iterations.

    Args:
        image: (H, W) or (1, H, W).
        couplings: for each number of iterations, (I, J).
        outputs: for each number of iterations, (J, D).
    """
    figure, axes = new_figure(2, len(couplings) + 1, size=(7, 4.2), height_ratios=(3, 1.2))
    picture(axes[0, 0], grey(image), "picture")
    axes[1, 0].axis("off")
    order = _by_final_parent(couplings[max(couplings)])
    for (count, coupling), top, bottom in zip(couplings.items(), axes[0, 1:], axes[1, 1:], strict=True):
        shown = top.imshow(
            coupling[order].numpy(), vmin=0, vmax=1, cmap="cividis", aspect="auto", interpolation="nearest"
        )
        top.set(xticks=[], title=f"r = {count}")
        top.grid(False)
        lengths = outputs[count].norm(dim=-1)
        bottom.bar(range(len(lengths)), lengths.numpy(), color=COLOURS[0])
        bottom.set(ylim=(0, 1), xticks=range(len(lengths)), xlabel="parent")
        bottom.tick_params(labelsize=6)
    axes[0, 1].set_ylabel("children")
    axes[1, 1].set_ylabel("length")
    for place in axes[:, 2:].flat:
        place.set_yticklabels([])
    figure.colorbar(shown, ax=axes[0, 1:].tolist(), label="coupling", shrink=0.8)
    told = "; ".join(
        f"r = {count}: the largest coupling is {float(coupling.max()):.2f}, and "
        f"{int((outputs[count].norm(dim=-1) > 0.5).sum())} of {coupling.shape[1]} outputs are longer than 0.5"
        for count, coupling in couplings.items()
    )
    return describe(
        figure,
        "coupling-maps",
        "A digit and, for each number of iterations, a map of its couplings with one row a child and one "
        f"column a parent, above a bar chart of the parents' lengths. {told}.",
    )


def routing_changes(changes: Mapping[str, Tensor]) -> Figure:
    """Mean change per iteration on a log scale, one line a quantity. Iteration 2 is the first to change."""
    figure, axes = new_figure(size=(7, 3.4))
    for (name, values), line, marker in zip(changes.items(), LINES, MARKERS, strict=False):
        axes.semilogy(range(2, len(values) + 2), values, linestyle=line, marker=marker, ms=4, label=name)
    axes.set(xlabel="iteration", ylabel="mean absolute change")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _whole_decades(axes)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    told = "; ".join(
        f"{name}: from {float(values[0]):.2g} to {float(values[-1]):.2g}" for name, values in changes.items()
    )
    return describe(
        figure,
        "routing-changes",
        "Mean absolute change from one routing iteration to the next, on a log scale, from iteration 2 to "
        f"iteration {1 + max(len(values) for values in changes.values())}. {told}.",
    )


def changes_in_training(changes: Mapping[int, Tensor], final: Mapping[str, Tensor]) -> Figure:
    """Left: the change of the logits against training steps. Right: against the iteration, on a log scale.

    Args:
        changes: for each training step, the mean change at iterations 2, 3, …
        final: the same for networks at the end of their training, by name.
    """
    figure, (left, right) = new_figure(1, 2, size=(7, 3.4))
    table = torch.stack(list(changes.values()))  # (steps, iterations - 1)
    for number, (values, line) in enumerate(zip(table.T, LINES, strict=False), start=2):
        left.plot(list(changes), values, linestyle=line, label=f"iteration {number}")
    left.set(
        xlabel="training step", ylabel="mean change of $b_{ij}$", title="during training", ylim=(0, None)
    )
    left.legend(frameon=False, fontsize="small")
    for (name, values), line, marker in zip(final.items(), LINES, MARKERS, strict=False):
        right.semilogy(range(2, len(values) + 2), values, linestyle=line, marker=marker, ms=4, label=name)
    right.set(xlabel="iteration", title="final differences, log scale")
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    _whole_decades(right)
    right.legend(frameon=False, fontsize="small")
    ends = "; ".join(
        f"{name}: from {float(values[0]):.2g} to {float(values[-1]):.2g}" for name, values in final.items()
    )
    return describe(
        figure,
        "changes-in-training",
        f"Left: the mean change of the routing logits at iterations 2 to {table.shape[1] + 1} over "
        f"{max(changes)} training steps; at the last iteration it goes from {float(table[0, -1]):.2g} to "
        f"{float(table[-1, -1]):.2g}. Right: the change at each iteration after training, on a log scale. "
        f"{ends}.",
    )


def entropy_by_iteration(entropies: Sequence[Tensor]) -> Figure:
    """How undecided the children are after each iteration: mean, and where the middle 80 % lie.

    Args:
        entropies: for each iteration, the entropies of all children of all images, any shape.
    """
    figure, axes = new_figure(size=(7, 3))
    values = torch.stack([entropy.flatten() for entropy in entropies])  # (r, N)
    numbers = range(1, len(values) + 1)
    mean = values.mean(dim=1)
    low, high = values.quantile(torch.tensor([0.1, 0.9]), dim=1)
    axes.fill_between(numbers, low, high, alpha=0.25, label="middle 80 % of the children")
    axes.plot(numbers, mean, label="mean")
    axes.set(xlabel="iteration", ylabel="entropy of a child's couplings", ylim=(0, 1.05))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False, loc="lower left")
    return describe(
        figure,
        "entropy-by-iteration",
        f"Entropy of the couplings against the iteration: 1 means undecided, 0 decided. The mean falls from "
        f"{float(mean[0]):.3f} at iteration 1 to {float(mean[-1]):.3f} at iteration {len(mean)}. A tenth of "
        f"the children end below {float(low[-1]):.3f}, another tenth above {float(high[-1]):.3f}.",
    )


def lengths_by_iterations(lengths: Mapping[int, Tensor], labels: Tensor) -> Figure:
    """Length of the true class's capsule, and of the longest other, against the number of iterations.

    Args:
        lengths: for each number of iterations, (B, J).
        labels: the true classes, (B,).
    """
    figure, axes = new_figure(size=(7, 3.4))
    pairs = [true_and_other(values, labels) for values in lengths.values()]
    true, other = (torch.stack(kind) for kind in zip(*pairs, strict=True))  # (counts, B) each
    curves = {"true class": true, "longest other": other}
    counts = range(len(lengths))
    for (name, table), line, marker, colour in zip(curves.items(), LINES, MARKERS, COLOURS, strict=False):
        low, high = table.quantile(torch.tensor([0.1, 0.9]), dim=1)
        axes.fill_between(counts, low, high, alpha=0.2, color=colour)
        axes.plot(counts, table.mean(dim=1), linestyle=line, marker=marker, ms=4, color=colour, label=name)
    for margin in (0.1, 0.9):
        axes.axhline(margin, color="grey", linewidth=1, linestyle=":")
    axes.set(xlabel="iterations", ylabel="length", ylim=(0, 1.02), xticks=counts)
    axes.set_xticklabels([str(count) for count in lengths])
    axes.legend(frameon=False, loc="center")
    told = "; ".join(
        f"{count}: {float(values.mean()):.2f} and {float(others.mean()):.2f}"
        for count, values, others in zip(lengths, true, other, strict=True)
    )
    return describe(
        figure,
        "lengths-by-iterations",
        "Mean length of the true class's capsule and of the longest other, against the number of iterations, "
        f"with the loss's margins 0.1 and 0.9 dotted. Iterations and the two lengths: {told}.",
    )


def true_and_other(lengths: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """The true class's length and the longest other's, (B,) each."""
    true = lengths.gather(1, labels[:, None]).squeeze(1)
    others = lengths.scatter(1, labels[:, None], -1.0)
    return true, others.max(dim=1).values


def routing_cost(routing: Mapping[str, Any], batch: int) -> Figure:
    """Time and peak memory against iterations, from the result file of the benchmarks.

    Args:
        routing: its ``"routing"`` part.
        batch: how many images were routed.
    """
    figure, (left, right) = new_figure(1, 2, size=(7, 3.2))
    counts = routing["iterations"]
    names = {"plain": "votes kept", "sliced": "votes remade"}
    for (key, name), line, marker in zip(names.items(), LINES, MARKERS, strict=False):
        left.plot(counts, routing[key]["seconds"], linestyle=line, marker=marker, label=name)
        right.plot(counts, routing[key]["megabytes"], linestyle=line, marker=marker, label=name)
    left.set(ylabel=f"seconds for {batch} images", title="time, forward and backward")
    right.set(ylabel="megabytes", title="peak memory")
    for axes in (left, right):
        axes.set(xlabel="iterations", xticks=counts, ylim=(0, 1.3 * axes.get_ylim()[1]))
        axes.legend(frameon=False, loc="upper left")
    told = "; ".join(
        f"{name}: {routing[key]['seconds'][0]:.2f} to {routing[key]['seconds'][-1]:.2f} seconds, "
        f"{routing[key]['megabytes'][0]:.0f} to {routing[key]['megabytes'][-1]:.0f} megabytes"
        for key, name in names.items()
    )
    return describe(
        figure,
        "routing-cost",
        f"Time and peak memory of routing {batch} images, forward and backward, from {counts[0]} to "
        f"{counts[-1]} iterations. {told}.",
    )


def long_run(curves: Mapping[str, Tensor]) -> Figure:
    """Small panels, one a quantity, against the iteration; each scaled for itself.

    All end at the same iteration: a change, which is one shorter, begins at iteration 2.
    """
    figure, axes = new_figure(2, (len(curves) + 1) // 2, size=(7, 4.4))
    longest = max(len(values) for values in curves.values())
    for place in axes.flat[len(curves) :]:
        place.axis("off")
    for (name, values), place in zip(curves.items(), axes.flat, strict=False):
        _panel(place, name, values, longest)
    told = "; ".join(
        f"{name}: from {float(values[0]):.3g} to {float(values[-1]):.3g}" for name, values in curves.items()
    )
    return describe(
        figure, "long-run", f"{len(curves)} quantities against the iteration, up to {longest}. {told}."
    )


def _panel(axes: Axes, name: str, values: Tensor, last: int) -> None:
    axes.plot(range(last - len(values) + 1, last + 1), values)
    axes.set_title(name, fontsize="medium")
    axes.set(ylim=(0, None), xlabel="iteration")


def _whole_decades(axes: Axes) -> None:
    """Let a log scale begin and end at powers of ten, so that both have a label."""
    low, high = axes.dataLim.intervaly
    axes.set_ylim(10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high)))


def _by_final_parent(couplings: Tensor) -> Tensor:
    """Children ordered by the parent they end up with, the most decided first."""
    strongest, parent = couplings.max(dim=-1)
    return (parent - 0.5 * strongest).argsort()
