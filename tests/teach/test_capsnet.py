"""The exercises on CapsNet's layers accept the solutions and refuse the field's mistakes."""

from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F

from capsedu import losses, teach
from capsedu.models import CapsNetConfig


def failures(printed: str) -> list[str]:
    return [line.split("fails  ")[1].split(":")[0] for line in printed.splitlines() if "fails  " in line]


def counts(config: CapsNetConfig, class_bias: bool = False, bias: bool = True) -> dict[str, int]:
    channels, height, width = config.image_shape
    rows, columns = config.primary_grid
    kernel, maps = config.kernel_size**2, config.primary_types * config.primary_dim
    widths = [config.classes * config.class_dim, *config.decoder, channels * height * width]
    children = config.primary_types * rows * columns
    return {
        "conv": (channels * kernel + bias) * config.channels,
        "primary": (config.channels * kernel + bias) * maps,
        "classes": (children * config.primary_dim + class_bias) * config.classes * config.class_dim,
        "decoder": sum((a + bias) * b for a, b in pairwise(widths)),
    }


def test_counting_accepts_the_solution():
    assert teach.check("count-parameters", counts)


def test_counting_finds_a_bias_where_there_is_none(capsys):
    assert not teach.check("count-parameters", lambda config: counts(config, class_bias=True))
    found = failures(capsys.readouterr().out)
    assert found[0] == "its class capsules, which have no bias"
    assert "the first convolution of the paper's network" not in found


def test_counting_finds_missing_biases(capsys):
    assert not teach.check("count-parameters", lambda config: counts(config, bias=False))
    assert "its class capsules, which have no bias" not in failures(capsys.readouterr().out)


def test_counting_finds_numbers_learned_by_heart(capsys):
    paper = counts(CapsNetConfig())
    assert not teach.check("count-parameters", lambda config: paper)
    assert failures(capsys.readouterr().out) == [
        "a small network for colour pictures of 24 × 20 and five classes"
    ]


def group(maps, types, dim):
    return maps.unflatten(1, (types, dim)).movedim(2, -1).flatten(1, 3)


def test_grouping_accepts_the_solution():
    assert teach.check("primary-grouping", group)


def test_grouping_finds_the_bare_view(capsys):
    assert not teach.check("primary-grouping", lambda maps, types, dim: maps.reshape(len(maps), -1, dim))
    assert failures(capsys.readouterr().out) == [
        "the numbers of a capsule come from one position",
        "the numbers of a capsule are the channels of one type, in order",
    ]


def test_grouping_finds_mixed_types(capsys):
    def interleaved(maps, types, dim):
        return maps.unflatten(1, (dim, types)).movedim(1, -1).flatten(1, 3)

    assert not teach.check("primary-grouping", interleaved)
    assert failures(capsys.readouterr().out) == [
        "the numbers of a capsule are the channels of one type, in order"
    ]


def test_grouping_finds_a_mixed_batch(capsys):
    assert not teach.check("primary-grouping", lambda maps, t, d: group(maps, t, d) + maps[0].mean())
    assert "pictures of a batch stay apart" in failures(capsys.readouterr().out)


def loss(model, images, labels, power=2, reduce=torch.sum, masked_by_label=True):
    output = model(images, labels) if masked_by_label else model(images)
    present = F.one_hot(labels, 10)
    lengths = output.lengths
    margin = present * F.relu(0.9 - lengths) ** power + 0.5 * (1 - present) * F.relu(lengths - 0.1) ** power
    errors = (output.reconstruction - images).square().flatten(1)
    return margin.sum(dim=1).mean() + 0.0005 * reduce(errors, dim=1).mean()


def test_loss_accepts_both_solutions():
    def with_capsedu(model, images, labels):
        output = model(images, labels)
        return losses.margin_loss(output.lengths, labels) + losses.reconstruction_loss(
            output.reconstruction, images
        )

    assert teach.check("training-loss", loss)
    assert teach.check("training-loss", with_capsedu)


@pytest.mark.parametrize(
    ("mistake", "statement"),
    [
        ({"power": 1}, "a capsule that is twice as far from its margin costs four times as much"),
        ({"reduce": torch.mean}, "a picture that is wrong by 1 in each of its 784 pixels costs 0.392"),
        (
            {"masked_by_label": False},
            "the decoder draws the true class, however sure the network is of another",
        ),
    ],
    ids=["margin not squared", "mean instead of sum", "masked by the prediction"],
)
def test_loss_finds_the_mistake(mistake, statement, capsys):
    assert not teach.check("training-loss", lambda *given: loss(*given, **mistake))
    found = failures(capsys.readouterr().out)
    assert found[0] == statement
    assert len(found) == (3 if "power" in mistake else 1)


def test_loss_finds_a_sum_over_the_batch(capsys):
    assert not teach.check("training-loss", lambda model, images, y: len(y) * loss(model, images, y))
    assert failures(capsys.readouterr().out) == ["a larger batch of the same pictures costs the same"]
