"""Recipes by name."""

from dataclasses import FrozenInstanceError

import pytest

from capsedu import models
from capsedu.errors import CapseduError
from capsedu.training import PREPARATIONS, recipe, recipe_names


def test_the_papers_recipe_has_the_papers_settings():
    paper = recipe("capsnet-mnist-paper")
    assert (paper.learning_rate, paper.decay, paper.decay_steps, paper.batch_size) == (1e-3, 0.96, 2000, 128)
    assert (paper.augmentation, paper.loss, paper.reconstruction_weight) == ("shift", "margin", 0.0005)


@pytest.mark.parametrize("name", recipe_names())
@pytest.mark.parametrize("profile", ["quick", "laptop", "full"])
def test_every_recipe_names_a_model_in_every_profile(name, profile):
    made = recipe(name, profile)
    assert made.profile == profile
    assert made.model in models.names()


@pytest.mark.parametrize("data", ["smallnorb", "toynorb"])
def test_the_matrix_recipes_have_the_second_papers_settings(data):
    matrix = recipe(f"matrixcaps-small-{data}")
    assert (matrix.data, matrix.augmentation, matrix.loss) == (data, "norb", "spread")
    assert (matrix.learning_rate, matrix.weight_decay, matrix.batch_size) == (3e-3, 2e-7, 64)
    assert matrix.reconstruction_weight == 0


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_names_a_preparation(name):
    assert recipe(name).augmentation in PREPARATIONS


def test_a_recipe_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        recipe("capsnet-mnist").seed = 1


def test_unknown_names_offer_the_nearest():
    with pytest.raises(CapseduError, match="did you mean capsnet-mnist"):
        recipe("capsnet-mnst")
    with pytest.raises(CapseduError, match="did you mean laptop"):
        recipe("capsnet-mnist", "labtop")
