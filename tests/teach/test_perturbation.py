"""The exercises on what a capsule knows accept the solutions and refuse typical mistakes."""

import copy

import torch

from capsedu import teach


def failures(printed: str) -> list[str]:
    return [line.split("fails  ")[1].split(":")[0] for line in printed.splitlines() if "fails  " in line]


def move(decoder, capsules, labels, dimension, offset):
    moved = capsules.clone()
    moved[torch.arange(len(labels)), labels, dimension] += offset
    return decoder(moved, labels)


def move_in_place(decoder, capsules, labels, dimension, offset):
    capsules[..., dimension] += offset
    return decoder(capsules, labels)


def turn(model, rotation, classes=True, decoder=True):
    turned = copy.deepcopy(model)
    if classes:
        turned.classes.weight.data = model.classes.weight @ rotation.T
    if decoder:
        first = turned.decoder.layers[0]
        blocks = first.weight.unflatten(1, model.decoder.capsule_shape)
        first.weight.data = (blocks @ rotation.T).flatten(1)
    return turned


def test_move_accepts_the_solution():
    assert teach.check("move-capsule", move)


def test_move_finds_a_change_in_place(capsys):
    assert not teach.check("move-capsule", move_in_place)
    assert failures(capsys.readouterr().out) == ["the capsules that you were given stay as they were"]


def test_move_finds_the_wrong_dimension_and_the_wrong_size(capsys):
    def every_dimension(decoder, capsules, labels, dimension, offset):
        return decoder(capsules + offset, labels)

    def scaled(decoder, capsules, labels, dimension, offset):
        return move(decoder, capsules, labels, dimension, capsules[0, 0, dimension] * offset)

    for answer in (every_dimension, scaled):
        assert not teach.check("move-capsule", answer)
        assert failures(capsys.readouterr().out) == [
            "one dimension of the capsule that is drawn moves by the offset"
        ]


def test_move_finds_a_decoder_without_a_mask(capsys):
    def unmasked(decoder, capsules, labels, dimension, offset):
        return decoder.layers(capsules.flatten(1))

    assert not teach.check("move-capsule", unmasked)
    assert failures(capsys.readouterr().out)[0] == "moving by 0 draws what the decoder draws anyway"


def test_turn_accepts_the_solution():
    assert teach.check("turn-capsules", turn)


def test_turn_finds_a_forgotten_decoder(capsys):
    assert not teach.check("turn-capsules", lambda model, q: turn(model, q, decoder=False))
    assert failures(capsys.readouterr().out) == ["the decoder draws what it drew"]


def test_turn_finds_the_other_way_round(capsys):
    assert not teach.check("turn-capsules", lambda model, q: turn(model, q.T))
    printed = capsys.readouterr().out
    assert failures(printed) == ["every class capsule v becomes Q v"]
    assert "they turn the other way" in printed


def test_turn_finds_a_changed_original(capsys):
    def in_place(model, rotation):
        turned = turn(model, rotation)
        model.load_state_dict(turned.state_dict())
        return model

    assert not teach.check("turn-capsules", in_place)
    assert failures(capsys.readouterr().out) == ["the network that you were given stays as it was"]
