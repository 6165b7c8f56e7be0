"""Does a dimension of a capsule mean one thing? What it has to do with the strokes of the digit."""

import torch
from torch import Tensor, nn

from capsedu.analysis.strokes import FACTORS, LARGEST_CHANGE, change_strokes

STEPS = torch.linspace(-1, 1, 5)  # parts of a factor's largest change


@torch.no_grad()
def class_capsules(model: nn.Module, images: Tensor, labels: Tensor, batch_size: int = 100) -> Tensor:
    """The capsule (B, D) of each image's own class, ``labels`` (B,)."""
    capsules = torch.cat([model(part).capsules for part in images.split(batch_size)])  # (B, J, D)
    return capsules[torch.arange(len(labels)), labels]


def correlations(inputs: Tensor, outputs: Tensor) -> Tensor:
    """Pearson's correlation of every column of inputs (N, X) with every column of outputs (N, Y), (X, Y).

    A column that does not vary correlates with nothing: 0.

    Example:
        >>> correlations(torch.tensor([[1.0], [2.0]]), torch.tensor([[5.0, 1.0], [4.0, 1.0]]))
        tensor([[-1.,  0.]])
    """
    inputs, outputs = _standardised(inputs), _standardised(outputs)
    return inputs.T @ outputs / len(inputs)


def capsule_tracks(model: nn.Module, images: Tensor, labels: Tensor, steps: Tensor = STEPS) -> Tensor:
    """What the capsule of an image's class does while one factor of the image is changed by known amounts.

    Args:
        model: a CapsNet.
        images: digits (B, 1, H, W).
        labels: their classes (B,).
        steps: the changes, as parts of ``LARGEST_CHANGE`` of each factor, (S,).

    Returns:
        Capsules (F, S, B, D); the F factors stand in the order of ``FACTORS``.
    """
    capsules = [
        class_capsules(model, change_strokes(images, factor, step * LARGEST_CHANGE[factor]), labels)
        for factor in FACTORS
        for step in steps.tolist()
    ]
    return torch.stack(capsules).unflatten(0, (len(FACTORS), len(steps)))


def track_correlations(tracks: Tensor, steps: Tensor = STEPS) -> Tensor:
    """How closely each dimension follows a known change.

    These are the correlations (F, D) of tracks (F, S, B, D) with steps (S,). Each image's own mean is taken
    out first, so that differences between images count for nothing.
    """
    centred = tracks - tracks.mean(dim=1, keepdim=True)
    moves = steps[:, None].expand(tracks.shape[1:3]).reshape(-1, 1)  # (S B, 1)
    return torch.stack([correlations(moves, values.flatten(0, 1))[0] for values in centred])


def track_slopes(tracks: Tensor, steps: Tensor = STEPS) -> Tensor:
    """How far each dimension moves with a known change: slopes (F, D) of tracks (F, S, B, D) over steps (S,).

    It is the mean over images of each image's regression line. As a vector of D numbers it is the direction
    in which the capsule moves.
    """
    centred = steps - steps.mean()
    return torch.einsum("s,fsbd->fd", centred, tracks) / (centred.square().sum() * tracks.shape[2])


def mean_cosine(directions: Tensor) -> Tensor:
    """The mean cosine over all pairs of the directions (K, D): 1 if all agree, near 0 if none do.

    Example:
        >>> round(mean_cosine(torch.eye(3)).item(), 4), round(mean_cosine(torch.ones(3, 2)).item(), 4)
        (0.0, 1.0)
    """
    unit = torch.nn.functional.normalize(directions, dim=1)
    pairs = torch.triu_indices(len(unit), len(unit), offset=1)
    return (unit @ unit.T)[pairs[0], pairs[1]].mean()


def largest_share(directions: Tensor) -> Tensor:
    """The share of a direction's squared length that lies in its largest dimension: (..., D) to (...).

    Example:
        >>> largest_share(torch.tensor([[0.0, 2.0], [1.0, 1.0]]))
        tensor([1.0000, 0.5000])
    """
    squares = directions.square()
    return squares.amax(dim=-1) / squares.sum(dim=-1)


def _standardised(columns: Tensor) -> Tensor:
    centred = columns - columns.mean(dim=0)
    spread = centred.square().mean(dim=0).sqrt()
    return torch.where(spread > 1e-7, centred / spread.clamp(min=1e-7), 0.0)
