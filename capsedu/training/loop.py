"""How to train: a loop that knows a recipe and nothing of the model."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import Tensor, nn

from capsedu import losses, models
from capsedu.data import ImageDataset, load
from capsedu.errors import CapseduError
from capsedu.models.matrixcaps import MatrixCapsNetOutput
from capsedu.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from capsedu.training.prepare import PREPARATIONS
from capsedu.training.recipe import Recipe


@dataclass(frozen=True)
class Metrics:
    """One step of training, and the model as it is now."""

    step: int  # counted from 1
    steps: int  # of the whole run
    loss: float
    seconds: float  # since the run began, pauses not counted
    model: nn.Module
    main: bool  # whether this process is the one that writes and prints


def train(
    recipe: Recipe,
    run: Path | None = None,
    *,
    dataset: ImageDataset | None = None,
    checkpoint_every: int = 200,
) -> Iterator[Metrics]:
    """Train, yielding metrics after every step.

    Everything random is a function of the recipe's seed and the step. A run that stops at any moment and is
    started again with the same ``run`` folder ends, on a CPU, with the same bits.

    Args:
        recipe: what to train.
        run: folder for the checkpoint; None keeps nothing.
        dataset: training data other than the recipe's.
        checkpoint_every: steps between checkpoints.
    """
    set_seed(recipe.seed)
    accelerator = Accelerator()
    compiled = {"compiled": True} if recipe.compiled else {}
    model = models.create(recipe.model, **recipe.model_options, **compiled)
    optimizer = torch.optim.Adam(model.parameters(), recipe.learning_rate, weight_decay=recipe.weight_decay)
    model, optimizer = accelerator.prepare(model, optimizer)
    plain = accelerator.unwrap_model(model)
    progress = load_checkpoint(run, recipe, plain, optimizer) if run else Progress()

    data = (dataset or training_data(recipe)).to(accelerator.device)
    steps = total_steps(recipe, len(data))
    started = time.perf_counter() - progress.seconds

    def metrics() -> Metrics:
        return Metrics(
            progress.step, steps, progress.loss, progress.seconds, plain, accelerator.is_main_process
        )

    if progress.step:  # a run that goes on first tells where it stands
        yield metrics()
    model.train()
    while progress.step < steps:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(recipe, progress.step, steps)
        images, labels = batch_at(
            recipe, data, progress.step, accelerator.process_index, accelerator.num_processes
        )
        with torch.autocast(accelerator.device.type, torch.bfloat16, enabled=recipe.precision == "bf16"):
            output = model(images, labels)
        loss = total_loss(recipe, output, images, labels, losses.spread_margin(progress.step, steps))
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        mean_loss = accelerator.reduce(loss.detach(), "mean").item()
        progress = Progress(progress.step + 1, time.perf_counter() - started, mean_loss)
        due = progress.step == steps or progress.step % checkpoint_every == 0
        if run and due and accelerator.is_main_process:
            save_checkpoint(run, recipe, plain, optimizer, progress)
        yield metrics()


def training_data(recipe: Recipe) -> ImageDataset:
    """The images that the recipe trains on."""
    return load(recipe.data, "train", size=recipe.train_size, **recipe.data_options)


def total_steps(recipe: Recipe, items: int) -> int:
    """Whole batches an epoch, times epochs."""
    if items < recipe.batch_size:
        raise CapseduError(
            f"a batch of {recipe.batch_size} needs more than the {items} training images there are"
        )
    return recipe.epochs * (items // recipe.batch_size)


def learning_rate(recipe: Recipe, step: int, steps: int) -> float:
    """The learning rate of a step: ``decay`` every ``decay_steps``, or half a cosine a cycle, down to 0."""
    if recipe.schedule == "cosine":
        done = recipe.cycles * step % steps / steps  # of this cycle
        return recipe.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
    return recipe.learning_rate * recipe.decay ** (step / recipe.decay_steps)


def batch_at(
    recipe: Recipe, data: ImageDataset, step: int, process: int = 0, processes: int = 1
) -> tuple[Tensor, Tensor]:
    """This process's share of the prepared batch of a step. Together they don't depend on ``processes``."""
    batches = len(data) // recipe.batch_size
    epoch, position = divmod(step, batches)
    order = torch.randperm(len(data), generator=_generator(recipe.seed, 0, epoch))
    chosen = order[position * recipe.batch_size :][: recipe.batch_size]
    images, labels = data.batch(chosen.to(data.labels.device))
    images = PREPARATIONS[recipe.augmentation].train(images, _generator(recipe.seed, 1, step))
    return images.tensor_split(processes)[process], labels.tensor_split(processes)[process]


def total_loss(
    recipe: Recipe,
    output: models.CapsNetOutput | models.CNNOutput | MatrixCapsNetOutput,
    images: Tensor,
    labels: Tensor,
    margin: float = 0.9,
) -> Tensor:
    """The recipe's classification loss, plus reconstruction where the model reconstructs.

    ``margin`` is the spread loss's; it grows in training.
    """
    scores = output.scores.float()
    if recipe.loss == "cross_entropy":
        return F.cross_entropy(scores, labels)
    if recipe.loss == "spread":
        return losses.spread_loss(scores, labels, margin=margin)
    loss = losses.margin_loss(scores, labels, scaling=recipe.scaling)
    reconstruction = getattr(output, "reconstruction", None)
    if reconstruction is not None and recipe.reconstruction_weight:
        loss = loss + losses.reconstruction_loss(
            reconstruction.float(), images, weight=recipe.reconstruction_weight, scaling=recipe.scaling
        )
    return loss


def _generator(seed: int, purpose: int, number: int) -> torch.Generator:
    """Independent random numbers for every seed, purpose and number."""
    mixed = torch.tensor([seed, purpose, number], dtype=torch.int64)
    return torch.Generator().manual_seed(int((mixed * torch.tensor([2**40, 2**36, 1])).sum()))
