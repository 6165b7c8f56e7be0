"""What to train (recipe), how (loop), what is left on disk (checkpoint)."""

from capsedu.training.evaluate import Evaluation, evaluate
from capsedu.training.loop import Metrics, train
from capsedu.training.prepare import PREPARATIONS, Preparation, crops
from capsedu.training.recipe import Recipe
from capsedu.training.recipes import recipe, recipe_names

__all__ = [
    "PREPARATIONS",
    "Evaluation",
    "Metrics",
    "Preparation",
    "Recipe",
    "crops",
    "evaluate",
    "recipe",
    "recipe_names",
    "train",
]
