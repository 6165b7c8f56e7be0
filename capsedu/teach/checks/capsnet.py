"""Exercises of the chapter on CapsNet's layers."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from capsedu import models
from capsedu.models import CapsNetConfig
from capsedu.teach.exercise import exercise_property

Counter = Callable[[CapsNetConfig], dict[str, int]]
Grouping = Callable[[Tensor, int, int], Tensor]
Loss = Callable[..., Tensor]
PAPER = CapsNetConfig()
OTHER = CapsNetConfig(
    image_shape=(3, 24, 20), channels=6, primary_types=2, primary_dim=4, classes=5, decoder=(7,)
)


def _count_problem(answer: Counter, layer: str, config: CapsNetConfig) -> str | None:
    wanted = sum(weights.numel() for weights in getattr(models.CapsNet(config), layer).parameters())
    found = answer(config)[layer]
    if found == wanted:
        return None
    return f"you count {found:,}, which is {'more' if found > wanted else 'fewer'} than there are"


@exercise_property("count-parameters", "the first convolution of the paper's network")
def right_convolution(answer: Counter) -> str | None:
    return _count_problem(answer, "conv", PAPER)


@exercise_property("count-parameters", "its primary capsules")
def right_primary(answer: Counter) -> str | None:
    return _count_problem(answer, "primary", PAPER)


@exercise_property("count-parameters", "its class capsules, which have no bias")
def right_classes(answer: Counter) -> str | None:
    return _count_problem(answer, "classes", PAPER)


@exercise_property("count-parameters", "its decoder")
def right_decoder(answer: Counter) -> str | None:
    return _count_problem(answer, "decoder", PAPER)


@exercise_property("count-parameters", "a small network for colour pictures of 24 × 20 and five classes")
def right_for_another(answer: Counter) -> str | None:
    for layer in ("conv", "primary", "classes", "decoder"):
        problem = _count_problem(answer, layer, OTHER)
        if problem:
            return f"{layer}: {problem}"
    return None


def _labelled_maps(types: int, dim: int, rows: int, columns: int) -> Tensor:
    """Feature maps (1, types · dim, rows, columns) in which each number is its own address."""
    return torch.arange(float(types * dim * rows * columns)).view(1, types * dim, rows, columns)


@exercise_property("primary-grouping", "6 × 6 positions of 4 types give 144 capsules of 8 numbers")
def right_shape(answer: Grouping) -> str | None:
    found = tuple(answer(_labelled_maps(4, 8, 6, 6), 4, 8).shape)
    return None if found == (1, 144, 8) else f"you give shape {found}"


@exercise_property("primary-grouping", "the numbers of a capsule come from one position")
def one_position(answer: Grouping) -> str | None:
    positions = answer(_labelled_maps(4, 8, 6, 6), 4, 8)[0] % 36  # (I, 8)
    mixed = (positions != positions[:, :1]).any(dim=1)
    if not mixed.any():
        return None
    used = len(positions[mixed][0].unique())
    return f"{int(mixed.sum())} of {len(mixed)} capsules mix positions; the first of them uses {used}"


@exercise_property("primary-grouping", "the numbers of a capsule are the channels of one type, in order")
def one_type(answer: Grouping) -> str | None:
    channels = answer(_labelled_maps(4, 8, 6, 6), 4, 8)[0] // 36  # (I, 8)
    wanted = torch.arange(8.0)
    if bool((channels % 8 == wanted).all()) and bool((channels // 8 == channels[:, :1] // 8).all()):
        return None
    return f"the first capsule holds channels {', '.join(f'{c + 1:.0f}' for c in channels[0].tolist())}"


@exercise_property("primary-grouping", "pictures of a batch stay apart")
def batch_stays_apart(answer: Grouping) -> str | None:
    maps = torch.cat([_labelled_maps(2, 4, 3, 5), -_labelled_maps(2, 4, 3, 5)])
    together, alone = answer(maps, 2, 4), answer(maps[1:], 2, 4)
    return None if torch.equal(together[1:], alone) else "the second picture's capsules depend on the first"


class _Network:
    """Says what it is told to, and remembers the labels that it was called with."""

    def __init__(self, lengths: list[float], error: float = 0.0) -> None:
        self.lengths, self.error = torch.tensor([lengths]), error
        self.labels: Any = None

    def __call__(self, images: Tensor, labels: Tensor | None = None) -> SimpleNamespace:
        self.labels = labels
        lengths = self.lengths.expand(len(images), -1)
        return SimpleNamespace(lengths=lengths, scores=lengths, reconstruction=images + self.error)


def _loss(answer: Loss, network: _Network, batch: int = 1) -> float:
    return float(answer(network, torch.zeros(batch, 1, 28, 28), torch.full((batch,), 2)))


@exercise_property("training-loss", "a capsule that is twice as far from its margin costs four times as much")
def squared(answer: Loss) -> str | None:
    absent = [0.0] * 10
    for name, near, far in (("present", 0.7, 0.5), ("absent", 0.2, 0.3)):
        place = 2 if name == "present" else 5
        costs = []
        for length in (near, far):
            lengths = [*absent[:2], 0.95, *absent[3:]]
            lengths[place] = length
            costs.append(_loss(answer, _Network(lengths)))
        if abs(costs[1] - 4 * costs[0]) > 1e-4:
            ratio = costs[1] / max(costs[0], 1e-9)
            return f"for the capsule of a class that is {name} it costs {ratio:.2f} times as much"
    return None


@exercise_property("training-loss", "the capsule of a present class at length 0.5 costs 0.16")
def right_present(answer: Loss) -> str | None:
    found = _loss(answer, _Network([0.0, 0.0, 0.5] + [0.0] * 7))
    return None if abs(found - 0.16) < 1e-4 else f"yours costs {found:.4f}"


@exercise_property("training-loss", "the capsules of two absent classes at length 0.5 cost 0.16 together")
def right_absent(answer: Loss) -> str | None:
    found = _loss(answer, _Network([0.5, 0.5, 0.95] + [0.0] * 7))
    return None if abs(found - 0.16) < 1e-4 else f"yours cost {found:.4f}"


@exercise_property("training-loss", "a picture that is wrong by 1 in each of its 784 pixels costs 0.392")
def right_reconstruction(answer: Loss) -> str | None:
    found = _loss(answer, _Network([0.0, 0.0, 0.95] + [0.0] * 7, error=1.0))
    return None if abs(found - 0.392) < 1e-4 else f"yours costs {found:.6f}"


@exercise_property("training-loss", "a larger batch of the same pictures costs the same")
def batch_mean(answer: Loss) -> str | None:
    one, four = (_loss(answer, _Network([0.3] * 10, error=0.5), batch) for batch in (1, 4))
    return None if abs(one - four) < 1e-4 else f"one picture costs {one:.3f}, four of them {four:.3f}"


@exercise_property(
    "training-loss", "the decoder draws the true class, however sure the network is of another"
)
def true_class_is_drawn(answer: Loss) -> str | None:
    network = _Network([0.0] * 9 + [0.95])
    _loss(answer, network)
    if network.labels is None:
        return "the network had to choose for itself what to draw, and chose a class that is not there"
    found = torch.as_tensor(network.labels).flatten().tolist()
    return None if found == [2] else f"for a picture of class 2 the network was told {found}"
