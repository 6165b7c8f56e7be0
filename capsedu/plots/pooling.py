"""Pictures of what max-pooling keeps and what it forgets."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from capsedu.plots.digits import grey
from capsedu.plots.figure import COLOURS, describe, new_figure, picture

LINES, MARKERS = ("-", "--", ":", "-."), ("o", "s", "^", "D")  # four networks at most


def number_lists(columns: Mapping[str, Mapping[str, Sequence[float]]], *, name: str, alt: str) -> Figure:
    """Short lists of numbers as boxes, the darker the larger: a column a case, a row a function of it.

    Args:
        columns: title of each column, and its lists by row label. All columns have the same labels.
        name: a slug for the figure's file.
        alt: what is to be seen.
    """
    labels = list(next(iter(columns.values())))
    figure, axes = new_figure(
        len(labels), len(columns), size=(7, 0.75 * len(labels) + 0.3), squeeze=False, sharex=True
    )
    every = [values for lists in columns.values() for values in lists.values()]
    largest, longest = max(map(max, every)), max(map(len, every))
    for c, (title, lists) in enumerate(columns.items()):
        axes[0, c].set_title(title, fontsize="medium")
        for r, label in enumerate(labels):
            _boxes(axes[r, c], lists[label], largest, longest)
            if c == 0:
                axes[r, c].set_ylabel(label, rotation=0, ha="right", va="center")
    return describe(figure, name, alt)


def detector_maps(
    pictures: Mapping[str, Tensor], maps: Mapping[str, Tensor], parts: Sequence[str], *, name: str, alt: str
) -> Figure:
    """Each picture beside the map of each detector, with the map's largest value above it and ringed.

    Args:
        pictures: a title and a picture (1, H, W) for each row.
        maps: under the same titles, the detectors' answers (parts, H', W').
        parts: what each detector looks for.
        name: a slug for the figure's file.
        alt: what is to be seen.
    """
    size = (7, 1.85 * len(pictures))
    figure, axes = new_figure(len(pictures), 1 + len(parts), size=size, squeeze=False)
    for row, (title, image) in zip(axes, pictures.items(), strict=True):
        picture(row[0], grey(image), title)
        for place, part, answers in zip(row[1:], parts, maps[title], strict=True):
            values = grey(answers)
            picture(place, values.clip(0, 1), f"{part}: largest {values.max():.2f}")
            y, x = divmod(int(values.argmax()), values.shape[1])
            place.plot(
                x, y, "o", markersize=11, markerfacecolor="none", color=COLOURS[4], markeredgewidth=1.5
            )
    return describe(figure, name, alt)


def moved_curves(
    curves: Mapping[str, Mapping[str, Sequence[float]]],
    amounts: Mapping[str, Sequence[float]],
    *,
    name: str,
    alt: str,
    y_label: str,
    trained: Mapping[str, float] | None = None,
) -> Figure:
    """One panel a change (shift, turn, ...): a curve for each network against how much was changed.

    Args:
        curves: by the change's label, then by network: values from 0 to 1.
        amounts: by the change's label: how much.
        name: a slug for the figure's file.
        alt: what is to be seen.
        y_label: what the values are.
        trained: by the change's label: how far training went. That range is grey.
    """
    figure, axes = new_figure(1, len(curves), size=(7, 3.4), sharey=True, squeeze=False)
    for panel, (change, by_network) in zip(axes[0], curves.items(), strict=True):
        if trained is not None:
            panel.axvspan(0, trained[change], color="0.88", zorder=0)
        for index, (label, values) in enumerate(by_network.items()):
            panel.plot(
                amounts[change], values, LINES[index], marker=MARKERS[index], markersize=5, label=label
            )
        panel.set(xlabel=change, ylim=(-0.05, 1.05))
    axes[0, 0].set_ylabel(y_label)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    if len(labels) > 1:
        figure.legend(handles, labels, loc="outside upper center", ncols=2, fontsize="small", frameon=False)
    return describe(figure, name, alt)


def _boxes(axes: Axes, values: Sequence[float], largest: float, longest: int) -> None:
    for place, value in enumerate(values):
        shade = 1 - 0.75 * value / largest
        axes.add_patch(Rectangle((place - 0.5, -0.5), 1, 1, facecolor=str(shade), edgecolor="black"))
        axes.text(place, 0, f"{value:g}", ha="center", va="center", color="white" if shade < 0.5 else "black")
    axes.set(xlim=(-0.6, longest - 0.4), ylim=(-0.6, 0.6), xticks=[], yticks=[], aspect="equal")
    axes.grid(False)
    axes.spines[:].set_visible(False)
