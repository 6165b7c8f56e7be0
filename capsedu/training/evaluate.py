"""How often a classifier is wrong."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from capsedu.data import ImageDataset


@dataclass(frozen=True)
class Evaluation:
    """Errors of a model on a data set."""

    predictions: Tensor  # (N,)
    labels: Tensor  # (N,)

    @property
    def wrong(self) -> Tensor:
        """The indices of the images that the model got wrong."""
        return (self.predictions != self.labels).nonzero().flatten()

    @property
    def error(self) -> float:
        """Share of wrong answers, in per cent."""
        return 100 * len(self.wrong) / len(self.labels)

    @property
    def per_class(self) -> dict[int, float]:
        """Error in per cent among the images of each class."""
        wrong = self.predictions != self.labels
        return {int(k): 100 * wrong[self.labels == k].float().mean().item() for k in self.labels.unique()}


@torch.no_grad()
def evaluate(
    model: nn.Module, dataset: ImageDataset, *, batch_size: int = 256, progress: bool = False
) -> Evaluation:
    """Classify every image of ``dataset``, unaugmented, with the model in evaluation mode."""
    device = next(model.parameters()).device
    was_training = model.training
    model.eval()
    predictions = []
    for start in tqdm(range(0, len(dataset), batch_size), "evaluating", disable=not progress, leave=False):
        images, _ = dataset.batch(slice(start, start + batch_size))
        predictions.append(model(images.to(device)).scores.argmax(dim=-1).cpu())
    model.train(was_training)
    return Evaluation(torch.cat(predictions), dataset.labels.cpu())
