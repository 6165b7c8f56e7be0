"""Errors are counted right, on images prepared for the test, in evaluation mode."""

from functools import partial

import torch
from torch import nn

from capsedu.data import ImageDataset
from capsedu.models import CNNOutput
from capsedu.training import PREPARATIONS, crops, evaluate


class Parrot(nn.Module):
    """Says the class that the first pixel names."""

    def __init__(self):
        super().__init__()
        self.unused = nn.Parameter(torch.zeros(1))
        self.modes = []

    def forward(self, images, labels=None):
        assert labels is None  # a prediction must not see the answer
        self.modes.append(self.training)
        said = (images[:, 0, 0, 0] * 255).round().long()
        return CNNOutput(nn.functional.one_hot(said, 4).float())


def dataset(said, labels):
    images = torch.zeros(len(said), 1, 3, 3, dtype=torch.uint8)
    images[:, 0, 0, 0] = torch.tensor(said, dtype=torch.uint8)
    return ImageDataset("parrot", "test", images, torch.tensor(labels), "made here")


def test_errors_are_counted_by_class():
    result = evaluate(Parrot(), dataset([0, 0, 1, 2, 3], [0, 1, 1, 2, 2]), batch_size=2)
    assert result.error == 40.0
    assert result.wrong.tolist() == [1, 4]
    assert result.per_class == {0: 0.0, 1: 50.0, 2: 50.0}


def test_the_model_is_evaluated_in_evaluation_mode_and_put_back():
    model = Parrot().train()
    evaluate(model, dataset([0], [0]))
    assert model.modes == [False]
    assert model.training


class Mean(nn.Module):
    """Scores are what it sees: the mean of each row of four pixels; it remembers the images."""

    def __init__(self):
        super().__init__()
        self.unused = nn.Parameter(torch.zeros(1))
        self.shown = []

    def forward(self, images, labels=None):
        self.shown.append(images)
        return CNNOutput(images[:, 0, :4].mean(dim=-1))


def toys(count: int = 6) -> ImageDataset:
    generator = torch.Generator().manual_seed(5)
    images = torch.randint(0, 256, (count, 2, 48, 48), generator=generator, dtype=torch.uint8)
    return ImageDataset("toys", "test", images, torch.zeros(count).long(), "made here")


def test_the_test_side_of_the_preparation_is_applied():
    model, prepare = Mean(), PREPARATIONS["norb"].test
    evaluate(model, toys(), prepare=prepare, batch_size=4)
    assert [len(images) for images in model.shown] == [4, 2]
    assert torch.equal(torch.cat(model.shown), prepare(toys().images / 255))


def test_answers_are_averaged_over_several_crops():
    model = Mean()
    result = evaluate(model, toys(), prepare=partial(crops, n=4), batch_size=4)
    assert [images.shape for images in model.shown] == 4 * [(4, 2, 32, 32)] + 4 * [(2, 2, 32, 32)]
    views = crops(toys().images / 255, 4)[:, :, 0, :4].mean(dim=-1)  # (n, B, 4)
    expected = [sum(view[b] for view in views).argmax().item() for b in range(6)]
    assert result.predictions.tolist() == expected
    single = evaluate(model, toys(), prepare=PREPARATIONS["norb"].test).predictions
    assert result.predictions.tolist() != single.tolist()  # the data tell the two apart
