"""Exercises of the chapter on what a capsule knows."""

from collections.abc import Callable

import torch
from torch import Tensor

from capsedu import models
from capsedu.layers import Decoder
from capsedu.models import CapsNet, CapsNetConfig
from capsedu.teach.exercise import exercise_property

Move = Callable[[Decoder, Tensor, Tensor, int, float], Tensor]
Turn = Callable[[CapsNet, Tensor], CapsNet]
LABELS = torch.tensor([1, 4, 1])


def _decoder_and_capsules() -> tuple[Decoder, Tensor]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Decoder(5, 6, (1, 4, 4), (8,)).requires_grad_(False), torch.randn(3, 5, 6)


@exercise_property("move-capsule", "moving by 0 draws what the decoder draws anyway")
def zero_changes_nothing(answer: Move) -> str | None:
    decoder, capsules = _decoder_and_capsules()
    found, wanted = answer(decoder, capsules.clone(), LABELS, 2, 0.0), decoder(capsules, LABELS)
    if found.shape != wanted.shape:
        return f"you draw pictures of shape {tuple(found.shape)}, the decoder {tuple(wanted.shape)}"
    return None if torch.allclose(found, wanted, atol=1e-6) else "the pictures differ"


@exercise_property("move-capsule", "one dimension of the capsule that is drawn moves by the offset")
def right_move(answer: Move) -> str | None:
    decoder, capsules = _decoder_and_capsules()
    for dimension, offset in ((0, 0.5), (5, -2.0)):
        wanted = torch.stack(
            [
                decoder(_moved(row, int(label), dimension, offset)[None], label[None])[0]
                for row, label in zip(capsules, LABELS, strict=True)
            ]
        )
        found = answer(decoder, capsules.clone(), LABELS, dimension, offset)
        if not torch.allclose(found, wanted, atol=1e-6):
            return f"moving dimension {dimension} (counted from 0) by {offset} draws other pictures"
    return None


@exercise_property("move-capsule", "the capsules that you were given stay as they were")
def no_side_effect(answer: Move) -> str | None:
    decoder, capsules = _decoder_and_capsules()
    given = capsules.clone()
    answer(decoder, given, LABELS, 2, 0.5)
    if torch.equal(given, capsules):
        return None
    changed = int((given != capsules).sum())
    return f"{changed} of their numbers have changed: the next move would start from there"


def _moved(capsules: Tensor, label: int, dimension: int, offset: float) -> Tensor:
    moved = capsules.clone()
    moved[label, dimension] += offset
    return moved


def _network_and_pictures() -> tuple[CapsNet, Tensor, Tensor]:
    """A small network, three pictures and a random rotation of its class capsules' dimensions."""
    config = CapsNetConfig(channels=4, primary_types=2, classes=5, class_dim=6, decoder=(8,), init_scale=1.0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = models.CapsNet(config).requires_grad_(False)
        rotation = torch.linalg.qr(torch.randn(6, 6)).Q
        return network, torch.rand(3, 1, 28, 28), rotation


@exercise_property("turn-capsules", "every class capsule v becomes Q v")
def capsules_turn(answer: Turn) -> str | None:
    network, pictures, rotation = _network_and_pictures()
    wanted = network(pictures).capsules @ rotation.T
    found = answer(network, rotation)(pictures).capsules
    distance = float((found - wanted).abs().max())
    if distance < 1e-4:
        return None
    if torch.allclose(found, wanted @ rotation @ rotation, atol=1e-4):
        return "they turn the other way"
    return f"they are off by up to {distance:.3f}"


@exercise_property("turn-capsules", "the lengths stay what they were")
def lengths_stay(answer: Turn) -> str | None:
    network, pictures, rotation = _network_and_pictures()
    before = network(pictures).lengths
    distance = float((answer(network, rotation)(pictures).lengths - before).abs().max())
    return None if distance < 1e-4 else f"they differ by up to {distance:.3f}"


@exercise_property("turn-capsules", "the decoder draws what it drew")
def drawings_stay(answer: Turn) -> str | None:
    network, pictures, rotation = _network_and_pictures()
    before = network(pictures).reconstruction
    turned = answer(network, rotation)(pictures).reconstruction
    assert before is not None
    assert turned is not None
    distance = float((turned - before).abs().max())
    return None if distance < 1e-4 else f"pixels differ by up to {distance:.3f}"


@exercise_property("turn-capsules", "the network that you were given stays as it was")
def network_stays(answer: Turn) -> str | None:
    network, pictures, rotation = _network_and_pictures()
    before = network(pictures).capsules
    answer(network, rotation)
    return None if torch.equal(network(pictures).capsules, before) else "its own capsules have changed"
