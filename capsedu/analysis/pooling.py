"""What a network with max-pooling says of faces that are moved, turned or jumbled."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Generator, Tensor, nn

from capsedu.analysis.faces import WINDOW, part_patch, random_pictures

PARTS = ("eye", "nose", "mouth")


def bag_of_parts() -> nn.Sequential:
    """A network made by hand: a detector for each part, global max-pooling, the mean of the three.

    A detector is the part's own picture with its mean taken off, scaled to answer 1 where it fits exactly.

    Example:
        >>> from capsedu.analysis import draw_face
        >>> round(bag_of_parts()(draw_face()[None]).item(), 3)
        1.0
    """
    patches = torch.stack([part_patch(part) for part in PARTS])[:, None]  # (3, 1, 9, 9)
    patches = patches - patches.mean(dim=(2, 3), keepdim=True)
    detectors = nn.Conv2d(1, len(PARTS), WINDOW, bias=False)
    detectors.weight.data = patches / patches.square().sum(dim=(2, 3), keepdim=True)
    mean = nn.Linear(len(PARTS), 1, bias=False)
    nn.init.constant_(mean.weight, 1 / len(PARTS))
    return nn.Sequential(detectors, nn.AdaptiveMaxPool2d(1), nn.Flatten(), mean).requires_grad_(False)


def train_on_faces(
    network: nn.Module, non_faces: Sequence[str], steps: int, *, seed: int = 0, learning_rate: float = 3e-3
) -> list[float]:
    """Teach a network with two outputs to tell faces (1) from non-faces (0). Every picture is a new drawing.

    Args:
        network: pictures (B, 1, 48, 48) in, logits (B, 2) out.
        non_faces: kinds of non-faces, see :func:`random_pictures`, in equal shares.
        steps: batches of 32 faces and 32 non-faces.
        seed: of the drawings.
        learning_rate: of Adam at the first step; it falls to 0 in a straight line.

    Returns:
        The loss of every step.
    """
    generator = Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(network.parameters(), learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    labels = torch.tensor([1] * 32 + [0] * 32)
    losses = []
    for _ in range(steps):
        batches = [random_pictures(like, 32 // len(non_faces), generator) for like in non_faces]
        pictures = torch.cat([random_pictures("face", 32, generator), *batches])
        loss = F.cross_entropy(network(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


@torch.no_grad()
def share_called_face(network: nn.Module, pictures: Tensor) -> float:
    """How many of the pictures (N, 1, 48, 48) the network takes for a face, from 0 to 1."""
    return (network(pictures).argmax(dim=1) == 1).float().mean().item()


def share_when_moved(
    network: nn.Module, change: str, amounts: Sequence[float], *, count: int = 200, seed: int = 1
) -> list[float]:
    """The share of faces still called a face when all are shifted or turned by the same amount.

    Args:
        network: one trained by :func:`train_on_faces`.
        change: ``"shift"`` (pixels to the right) or ``"degrees"`` (clockwise).
        amounts: how much.
        count: faces at each amount, the same ones at all.
        seed: of the faces; take another one than in training.
    """
    if change not in ("shift", "degrees"):
        raise ValueError(f'change must be "shift" or "degrees", got {change!r}')
    still = {f"max_{change}": 0.0}
    return [
        share_called_face(
            network,
            random_pictures("face", count, Generator().manual_seed(seed), **{change: amount}, **still),
        )
        for amount in amounts
    ]
