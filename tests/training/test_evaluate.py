"""Errors are counted right, on untouched images, in evaluation mode."""

import torch
from torch import nn

from capsedu.data import ImageDataset
from capsedu.models import CNNOutput
from capsedu.training import evaluate


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
