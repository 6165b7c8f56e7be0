"""How often a classifier is wrong."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from capsedu.data import ImageDataset
from capsedu.training.prepare import as_they_are


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
    model: nn.Module,
    dataset: ImageDataset,
    *,
    prepare: Callable[[Tensor], Tensor] = as_they_are,
    batch_size: int = 256,
    progress: bool = False,
) -> Evaluation:
    """Classify every image of ``dataset`` with the model in evaluation mode.

    Args:
        model: returns an object with ``scores`` (B, J).
        dataset: what to classify.
        prepare: the test side of the recipe's preparation; the images as they are by default. Where it
            returns several views (n, B, C, H, W), the scores are averaged over them.
        batch_size: images at a time.
        progress: show a bar.
    """
    device = next(model.parameters()).device
    was_training = model.training
    model.eval()
    predictions = []
    for start in tqdm(range(0, len(dataset), batch_size), "evaluating", disable=not progress, leave=False):
        images, _ = dataset.batch(slice(start, start + batch_size))
        predictions.append(_scores(model, prepare(images.to(device))).argmax(dim=-1).cpu())
    model.train(was_training)
    return Evaluation(torch.cat(predictions), dataset.labels.cpu())


def _scores(model: nn.Module, images: Tensor) -> Tensor:
    """Scores (B, J) of images (B, C, H, W), or their mean over views (n, B, C, H, W)."""
    if images.ndim == 4:
        return model(images).scores
    return torch.stack([model(view).scores for view in images]).mean(dim=0)
