"""Pictures of poses, of votes for a whole, and of how far routing follows a viewpoint."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from capsedu.analysis.poses import pixels_of, vote_distances
from capsedu.plots.digits import grey
from capsedu.plots.figure import COLOURS, describe, new_figure, picture
from capsedu.render import Camera

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
STRAY = 0.05  # votes farther than this from the median are drawn as strays
NOTICED = 0.01  # drift above this is counted


def pose_axes(
    pictures: Tensor, poses: Tensor, camera: Camera, parts: Sequence[str], views: Sequence[str]
) -> Figure:
    """A toy from several viewpoints, with the axes of some of its parts drawn from the parts' poses.

    Args:
        pictures: (V, 1, H, W).
        poses: of the parts for each camera, (V, I, 4, 4).
        camera: for its distance and width.
        parts: their names.
        views: a title for each picture.
    """
    figure, axes = new_figure(1, len(pictures), size=(7, 7 / len(pictures) + 0.6), squeeze=False)
    for place, image, part_poses, title in zip(axes[0], pictures, poses, views, strict=True):
        size = image.shape[-1]
        picture(place, grey(image), title)
        for pose, colour, line in zip(part_poses, COLOURS, LINES, strict=False):
            _draw_axes(place, pose, camera, size, colour, line)
        place.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
    handles = [
        axes[0, 0].plot([], [], color=colour, linestyle=line, linewidth=2)[0]
        for colour, line in zip(COLOURS, LINES[: len(parts)], strict=False)
    ]
    figure.legend(handles, parts, loc="outside lower center", ncols=len(parts), frameon=False)
    return describe(
        figure,
        "pose-axes",
        f"A toy seen from {len(pictures)} viewpoints ({', '.join(views)}). On it are drawn, as lines from "
        f"the centre of a part to its surface, the three axes of {_listed(parts)}. They turn with the toy.",
    )


def _draw_axes(place: Axes, pose: Tensor, camera: Camera, size: int, colour: str, line: object) -> None:
    """Column 4 is the centre; columns 1 to 3 lead from there to the part's surface."""
    centre = pose[:3, 3]
    column, row = pixels_of(centre, camera, size).tolist()
    place.plot(column, row, "o", color=colour, ms=3.5)
    for axis in range(3):
        ends = pixels_of(torch.stack([centre, centre + pose[:3, axis]]), camera, size)
        place.plot(ends[:, 0], ends[:, 1], color=colour, linestyle=line, linewidth=2)


def toy_votes(
    pictures: Tensor, votes: Tensor, camera: Camera, rows: Sequence[str], views: Sequence[str]
) -> Figure:
    """Toys from several viewpoints, each part's vote for the pose of the whole drawn over them.

    A vote is drawn as two arrows from the middle it votes for: to the front and, shorter, up.

    Args:
        pictures: (R, V, 1, H, W).
        votes: (R, V, I, 4, 4), for the camera of the picture.
        camera: for its distance and width.
        rows: a name for each row.
        views: a title for each column.
    """
    figure, axes = new_figure(
        *pictures.shape[:2], size=(7, 7 / pictures.shape[1] * len(rows) + 0.3), squeeze=False
    )
    distances = vote_distances(votes)  # (R, V, I)
    for r, name in enumerate(rows):
        for v, title in enumerate(views):
            place, size = axes[r, v], pictures.shape[-1]
            picture(place, grey(0.5 + pictures[r, v] / 2), title if r == 0 else "")
            for vote, distance in zip(votes[r, v], distances[r, v], strict=True):
                _draw_vote(place, vote, camera, size, stray=bool(distance > STRAY))
            place.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5))
        axes[r, 0].set_ylabel(name)
    strays = (distances > STRAY).sum(dim=-1)
    told = "; ".join(
        f"{name}: {votes.shape[2]} votes, of which {int(count.max())} lie"
        f"{'s' if int(count.max()) == 1 else ''} apart from the others in every view"
        for name, count in zip(rows, strays, strict=True)
    )
    return describe(
        figure,
        "toy-votes",
        f"Toys from {len(views)} viewpoints ({', '.join(views)}), and each part's vote for the pose of the "
        f"whole as a pair of arrows. {told}.",
    )


def _draw_vote(place: Axes, vote: Tensor, camera: Camera, size: int, stray: bool) -> None:
    colour, line = (COLOURS[1], "--") if stray else (COLOURS[0], "-")
    middle = vote[:3, 3]
    for axis, length in ((0, 0.7), (2, 0.4)):
        ends = pixels_of(torch.stack([middle, middle + length * vote[:3, axis]]), camera, size)
        place.plot(ends[:, 0], ends[:, 1], color=colour, linestyle=line, linewidth=1.6)
        neck = 0.9 * ends[1] + 0.1 * ends[0]  # the head alone, so that dashes don't cut it up
        arrow = {"arrowstyle": "->", "color": colour, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
        place.annotate(
            "", (float(ends[1, 0]), float(ends[1, 1])), (float(neck[0]), float(neck[1])), arrowprops=arrow
        )


def drift_by_angle(angles: Tensor, poses: Mapping[int, Tensor], activations: Mapping[int, Tensor]) -> Figure:
    """How far poses and activations are from where a viewpoint should take them, against its angle.

    Args:
        angles: in degrees, (V,).
        poses, activations: for each number of iterations, the drift (V,).
    """
    figure, (left, right) = new_figure(1, 2, size=(7, 3.4))
    for place, table in ((left, poses), (right, activations)):
        for (count, values), line, marker in zip(table.items(), LINES, MARKERS, strict=False):
            place.plot(
                angles, values, linestyle=line, marker=marker, markevery=(len(table), 6), ms=4, label=count
            )
        place.set(xlabel="degrees", xticks=range(0, int(angles.max()) + 1, 45))
    left.set(title="poses: relative drift", ylim=(-0.02, None))
    right.set(title="activations: mean change")
    left.legend(
        title="iterations",
        frameon=False,
        fontsize="small",
        ncols=2,
        title_fontsize="small",
        loc="upper right",
    )
    left.set_ylim(top=1.5 * left.get_ylim()[1])
    told = "; ".join(
        f"{count} iteration{'s' if count > 1 else ''}: at most {float(values.max()):.2g} for poses, "
        f"{float(activations[count].max()):.2g} for activations"
        for count, values in poses.items()
    )
    return describe(
        figure,
        "drift-by-angle",
        f"Drift against the angle of a rotation from 0 to {int(angles.max())} degrees, one line for each "
        f"number of iterations. It is zero at every quarter turn and largest halfway between. {told}.",
    )


def drift_by_spread(spreads: Sequence[float], drifts: Mapping[int, Tensor], degrees: float) -> Figure:
    """Drift of the poses against how widely the votes for a parent are spread: median, and how many drift.

    Args:
        spreads: standard deviations.
        drifts: for each number of iterations, (S, B).
        degrees: of the rotation.
    """
    figure, (left, right) = new_figure(1, 2, size=(7, 3.2))
    medians = {count: values.median(dim=1).values for count, values in drifts.items()}
    shares = {count: (values > NOTICED).float().mean(dim=1) for count, values in drifts.items()}
    for place, table in ((left, medians), (right, shares)):
        for (count, values), line, marker in zip(table.items(), LINES, MARKERS, strict=False):
            place.plot(spreads, values, linestyle=line, marker=marker, ms=4, label=f"{count} iterations")
        place.set(xlabel="spread of the votes", xscale="log")
    left.set_title("median drift of the poses", fontsize="medium")
    right.set_title(f"share of examples with drift > {NOTICED:g}", fontsize="medium")
    left.legend(frameon=False, fontsize="small")
    told = "; ".join(
        f"{count} iterations: median {float(medians[count][0]):.2g} and a share of {float(share[0]):.2g} at "
        f"spread {spreads[0]:g}, {float(medians[count][-1]):.2g} and {float(share[-1]):.2g} at "
        f"spread {spreads[-1]:g}"
        for count, share in shares.items()
    )
    return describe(
        figure,
        "drift-by-spread",
        f"Median relative drift of the poses under a rotation by {degrees:g} degrees, and the share of "
        f"examples that drift by more than {NOTICED:g}, against the spread of the votes that belong "
        f"together. {told}.",
    )


def vote_matrices(matrix: Tensor, general: Tensor) -> Figure:
    """What a matrix vote and a vector vote do to the 16 numbers of a pose, each as a 16 × 16 matrix.

    Args:
        matrix: of a matrix vote, (16, 16).
        general: of a vector vote, (16, 16).
    """
    figure, axes = new_figure(1, 2, size=(7, 3.5))
    limit = float(torch.maximum(matrix.abs().max(), general.abs().max()))
    titles = ("M W: 16 weights, used 4 times", "vector: 256 weights")
    for place, values, title in zip(axes, (matrix, general), titles, strict=True):
        shown = place.imshow(values.numpy(), cmap="RdBu", vmin=-limit, vmax=limit)
        for edge in (3.5, 7.5, 11.5):
            place.axhline(edge, color="grey", linewidth=0.8)
            place.axvline(edge, color="grey", linewidth=0.8)
        place.set(xticks=[], yticks=[], xlabel="16 numbers of the part", ylabel="16 numbers of the vote")
        place.grid(False)
        place.set_title(title, fontsize="medium")
    figure.colorbar(shown, ax=axes.tolist(), label="weight", shrink=0.8)
    filled = [int((values != 0).sum()) for values in (matrix, general)]
    return describe(
        figure,
        "vote-matrices",
        f"Two 16 by 16 matrices. Left, a matrix vote: {filled[0]} entries are not zero, the same 4 by 4 "
        f"block four times along the diagonal. Right, a vector vote: {filled[1]} entries are not zero.",
    )


def votes_by_azimuth(azimuths: Tensor, spreads: Mapping[str, Tensor]) -> Figure:
    """How far the farthest vote of an intact toy is from the others, while the camera goes round it.

    Args:
        azimuths: in degrees, (V,).
        spreads: for each way to vote, (V,).
    """
    figure, axes = new_figure(size=(7, 3))
    for (name, values), line, marker in zip(spreads.items(), LINES, MARKERS, strict=False):
        axes.plot(azimuths, values, linestyle=line, marker=marker, ms=4, label=name)
    axes.set(xlabel="the toy is turned by (degrees)", ylabel="farthest vote")
    axes.set_xticks(range(0, int(azimuths.max()) + 1, 60))
    axes.legend(frameon=False)
    told = "; ".join(
        f"{name}: {float(values[0]):.2g} at {float(azimuths[0]):g} degrees, at most {float(values.max()):.2g}"
        for name, values in spreads.items()
    )
    return describe(
        figure,
        "votes-by-azimuth",
        f"Distance of the farthest vote from the median vote while a toy whose parts are all in place turns "
        f"round. {told}.",
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1]
