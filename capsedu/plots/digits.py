"""Grey pictures in rows, and what a classifier says of each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from torch import Tensor

from capsedu.plots.figure import COLOURS, describe, new_figure, picture


def digit_grid(
    rows: Tensor | Sequence[Any],
    *,
    name: str,
    alt: str,
    row_labels: Sequence[str] = (),
    column_labels: Sequence[str] = (),
    titles: Sequence[Sequence[str]] = (),
    width: float = 7.0,
) -> Figure:
    """Rows of grey pictures with labels.

    Args:
        rows: the pictures, a tensor (rows, columns, H, W) or a list of rows. A picture has values in [0, 1]
            and shape (H, W) or (1, H, W); None leaves its place empty, and so does a row that ends early.
        name: a slug for the figure's file.
        alt: what is to be seen.
        row_labels: one to the left of each row.
        column_labels: one above each column.
        titles: one above each picture, row by row; they replace the column labels.
        width: of the figure, in inches.

    Example:
        >>> digit_grid(torch.zeros(2, 5, 28, 28), name="black", alt="Ten black pictures.").get_label()
        'black'
    """
    columns = max(len(row) for row in rows)
    height = len(rows) * (width / columns + (0.3 if len(titles) else 0)) + (0.3 if len(column_labels) else 0)
    figure, axes = new_figure(len(rows), columns, size=(width, height), squeeze=False)
    for place in axes.flat:
        _hide_frame(place)
    for r, row in enumerate(rows):
        for c, image in enumerate(row):
            if image is not None:
                picture(axes[r, c], grey(image), titles[r][c] if len(titles) else "")
    if not len(titles):
        for place, label in zip(axes[0], column_labels, strict=False):
            place.set_title(label, fontsize="small")
    for place, label in zip(axes[:, 0], row_labels, strict=False):
        place.set_ylabel(label, fontsize="small", rotation=0, ha="right", va="center")
    return describe(figure, name, alt)


def class_answers(
    images: Tensor | Sequence[Any],
    lengths: Tensor,
    reconstructions: Tensor | Sequence[Any],
    *,
    name: str,
    alt: str,
    titles: Sequence[str] = (),
    redrawn_titles: Sequence[str] = (),
) -> Figure:
    """One row a picture: what went in, the length of each class capsule, what came out of the decoder.

    Args:
        images: the pictures, (N, 1, H, W).
        lengths: of the class capsules, (N, J). The longest is drawn dark, with its value.
        reconstructions: what the decoder drew, like ``images``.
        name: a slug for the figure's file.
        alt: what is to be seen.
        titles: one above each picture.
        redrawn_titles: one above each reconstruction; "redrawn" by default.
    """
    count = len(lengths)
    figure, axes = new_figure(
        count, 3, size=(7, 1.75 * count), squeeze=False, gridspec_kw={"width_ratios": [1, 2.6, 1]}
    )
    for row in range(count):
        left, middle, right = axes[row]
        picture(left, grey(images[row]), titles[row] if len(titles) else "")
        length_bars(middle, lengths[row])
        redrawn = redrawn_titles[row] if len(redrawn_titles) else "redrawn"
        picture(right, grey(reconstructions[row]), redrawn)
    axes[-1, 1].set_xlabel("class")
    return describe(figure, name, alt)


def overlap_answers(
    images: Tensor,
    lengths: Tensor,
    drawn: Tensor,
    pairs: Sequence[Sequence[int]],
    titles: Sequence[str],
    *,
    name: str,
    alt: str,
) -> Figure:
    """One row a picture of two digits: the picture, the lengths, each digit drawn from its own capsule.

    The last column lays the two drawings on top of each other, the first in orange and the second in light
    blue: which pixels belong to which digit.

    Args:
        images: (N, 1, H, W).
        lengths: of the class capsules, (N, J).
        drawn: what the decoder drew from the two capsules, (N, 2, 1, H, W).
        pairs: the classes of these two capsules, N times two.
        titles: one above each picture.
        name: a slug for the figure's file.
        alt: what is to be seen.
    """
    count = len(images)
    figure, axes = new_figure(
        count, 5, size=(7, 1.4 * count), squeeze=False, gridspec_kw={"width_ratios": [1, 1.9, 1, 1, 1]}
    )
    for (left, bars, first, second, both), image, length, drawings, pair, title in zip(
        axes, images, lengths, drawn, pairs, titles, strict=True
    ):
        picture(left, grey(image), title)
        length_bars(bars, length)
        for place, drawing, digit in zip((first, second), drawings, pair, strict=True):
            picture(place, grey(drawing), f"drawn as {digit}")
        both.imshow(_two_colours(*drawings))
        _hide_frame(both)
        both.set_title("both", fontsize="small")
    axes[-1, 1].set_xlabel("class")
    return describe(figure, name, alt)


def length_bars(axes: Axes, lengths: Tensor | Sequence[float], threshold: float | None = 0.5) -> None:
    """Draw capsule lengths as bars from 0 to 1, the longest dark and with its value."""
    values = np.asarray(torch.as_tensor(lengths).detach().cpu(), dtype=float)
    bars = axes.bar(range(len(values)), values, color=COLOURS[5])
    longest = int(values.argmax())
    bars[longest].set_color(COLOURS[0])
    axes.text(longest, values[longest], f"{values[longest]:.2f}", ha="center", va="bottom", fontsize="small")
    if threshold is not None:
        axes.axhline(threshold, color="black", linestyle=":", linewidth=1)
    axes.set(ylim=(0, 1.15), yticks=[0, 0.5, 1], xticks=range(len(values)), ylabel="length")
    axes.grid(axis="x", visible=False)


def grey(image: Tensor | Sequence[Any]) -> np.ndarray:
    """A picture (H, W) or (1, H, W) of any device as an array (H, W)."""
    array = torch.as_tensor(image).detach().cpu().float().numpy()
    if array.ndim == 3 and len(array) == 1:
        array = array[0]
    if array.ndim != 2:
        raise ValueError(f"a grey picture must be (H, W) or (1, H, W), got {array.shape}")
    return array


def _two_colours(first: Tensor, second: Tensor) -> np.ndarray:
    """Two grey pictures as one of colours, (H, W, 3)."""
    colours = np.array([to_rgb(COLOURS[1]), to_rgb(COLOURS[5])])
    return np.stack([grey(first), grey(second)], axis=-1).dot(colours).clip(0, 1)


def _hide_frame(axes: Axes) -> None:
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    axes.spines[:].set_visible(False)
