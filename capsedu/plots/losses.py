"""What a loss asks for, and how it falls."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor

from capsedu.losses import margin_loss
from capsedu.plots.figure import COLOURS, describe, new_figure

LINES = ("-", "--", "-.", ":")


def margin_loss_curves() -> Figure:
    """The loss of one class against the length of its capsule, its slope, and the same without the square."""
    lengths = torch.linspace(0, 1, 201, requires_grad=True)
    squared = {label: _one_class(lengths, present) for label, present in (("present", 1.0), ("absent", 0.0))}
    linear = {
        "present": (0.9 - lengths).clamp(min=0),
        "absent": 0.5 * (lengths - 0.1).clamp(min=0),
    }
    figure, axes = new_figure(1, 2, size=(7, 3.3))
    for label, line, colour in zip(("present", "absent"), ("-", "--"), COLOURS, strict=False):
        for losses, width, name in (
            (squared, 2.0, f"class is {label}"),
            (linear, 0.9, f"{label}, not squared"),
        ):
            style = {"linestyle": line, "color": colour, "linewidth": width, "alpha": 1 if width > 1 else 0.6}
            (slope,) = torch.autograd.grad(losses[label].sum(), lengths, retain_graph=True)
            axes[0].plot(lengths.detach(), losses[label].detach(), label=name, **style)
            axes[1].plot(lengths.detach(), slope, **style)
    for place, title in zip(axes, ("loss of one class", "its slope: the push on the length"), strict=True):
        place.set(xlabel="length of the capsule", title=title, xticks=[0, 0.1, 0.5, 0.9, 1])
        for margin in (0.1, 0.9):
            place.axvline(margin, color="grey", linestyle=":", linewidth=1)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return describe(
        figure,
        "margin-loss",
        "Left: the margin loss of one class. If the class is present it falls in a parabola from 0.81 at "
        "length 0 to 0 at 0.9 and stays 0. If it is absent the loss is 0 up to length 0.1 and then climbs in "
        "a parabola half as steep. Thin straight lines show the same without the square. Right: the slopes. "
        "With the square the push fades to 0 at the margin; without it the push is constant and stops with "
        "a jump.",
    )


def loss_curves(
    curves: Mapping[str, Sequence[float]], *, name: str = "loss-curves", window: int = 10
) -> Figure:
    """Training losses against the step: a running mean over ``window`` steps, the raw values behind it.

    Args:
        curves: losses by the name that the legend shows.
        name: a slug for the figure's file.
        window: steps in the running mean.
    """
    figure, axes = new_figure(size=(7, 3.0))
    ends = []
    for number, (label, losses) in enumerate(curves.items()):
        values = torch.tensor(losses)
        smooth = values.unfold(0, min(window, len(values)), 1).mean(dim=1)
        colour = COLOURS[number % len(COLOURS)]
        steps = range(1, len(values) + 1)
        axes.plot(steps, values, color=colour, linewidth=0.6, alpha=0.35)
        axes.plot(
            steps[-len(smooth) :], smooth, color=colour, linestyle=LINES[number % len(LINES)], label=label
        )
        ends.append(f"{label} from {float(smooth[0]):.3f} to {float(smooth[-1]):.3f}")
    axes.set(xlabel="step", ylabel="loss", yscale="log")
    axes.legend(frameon=False, fontsize="small")
    return describe(
        figure, name, f"Training loss against the step, on a log scale. Running means: {'; '.join(ends)}."
    )


def loss_shares(terms: Mapping[str, tuple[float, float]]) -> Figure:
    """How much of the total loss is margin and how much reconstruction, one bar a case.

    Args:
        terms: margin and reconstruction loss, by the name of the case.
    """
    figure, axes = new_figure(size=(7, 0.55 * len(terms) + 0.9))
    shares = [reconstruction / (margin + reconstruction) for margin, reconstruction in terms.values()]
    places = range(len(terms))
    axes.barh(places, [1 - share for share in shares], color=COLOURS[0], label="margin")
    axes.barh(
        places,
        shares,
        left=[1 - share for share in shares],
        color=COLOURS[4],
        hatch="//",
        edgecolor="white",
        label="reconstruction",
    )
    axes.set_yticks(places, list(terms))
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="share of the loss")
    axes.grid(axis="y", visible=False)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    told = "; ".join(f"{case}: {share:.0%}" for case, share in zip(terms, shares, strict=True))
    return describe(figure, "loss-shares", f"Share of reconstruction in the total loss. {told}.")


def _one_class(lengths: Tensor, present: float) -> Tensor:
    """The margin loss of a single class at each length; `margin_loss` would average them."""
    many = lengths[:, None]
    return torch.stack([margin_loss(one[None], torch.full_like(one[None], present)) for one in many])
