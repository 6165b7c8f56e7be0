"""A whole training run as the command line starts it: progress bar, weights and card at the end."""

from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from capsedu.data import load
from capsedu.errors import CapseduError
from capsedu.models.pretrained import load_weights, pretrained, save_weights, write_card
from capsedu.training.card import add_evaluation, make_card
from capsedu.training.evaluate import evaluate
from capsedu.training.loop import train, training_data
from capsedu.training.prepare import PREPARATIONS
from capsedu.training.recipe import Recipe

FILE_NAME = "weights.safetensors"


def run_recipe(recipe: Recipe, folder: Path) -> Path | None:
    """Train into ``folder``; returns the weights' path in the process that wrote them, else None."""
    if (folder / FILE_NAME).exists():
        raise CapseduError(
            f"{folder / FILE_NAME} is there already: this run has ended; choose another folder"
        )
    folder.mkdir(
        parents=True, exist_ok=True
    )  # a folder that cannot be made is told before the work, not after
    data = training_data(recipe)
    with tqdm(desc=recipe.name, unit="step") as bar:
        for metrics in train(recipe, folder, dataset=data):
            bar.total, bar.n = metrics.steps, metrics.step
            bar.disable = not metrics.main
            bar.set_postfix(loss=f"{metrics.loss:.4f}")
    if not metrics.main:
        return None
    card = make_card(recipe, metrics.model, data, metrics.steps, metrics.seconds)
    save_weights(metrics.model, folder / FILE_NAME, card)
    if recipe.data_options.get("validation", True):
        evaluate_weights(str(folder / FILE_NAME), "validation")
    return folder / FILE_NAME


def evaluate_weights(weights: str, split: str) -> dict[str, Any]:
    """Measure shipped or own weights on a split; own weights get it written on their card, on the split."""
    own = Path(weights) if weights.endswith(".safetensors") else None
    model = load_weights(own) if own else pretrained(weights)
    card: dict[str, Any] = model.card  # type: ignore[assignment]
    data = load(card["data"]["name"], split)
    prepare = PREPARATIONS[card["recipe"]["augmentation"]].test
    card = add_evaluation(card, data, evaluate(model, data, prepare=prepare, progress=True))
    if own:
        write_card(own, card)
    return card
