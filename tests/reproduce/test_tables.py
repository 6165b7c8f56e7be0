"""The tables of Hinton et al. (2018) have all their rows, compare like with like and are kept row by row."""

from dataclasses import replace

import pytest
import torch

from capsedu import results
from capsedu.data import ImageDataset
from capsedu.reproduce import smallnorb, viewpoint
from capsedu.training import recipe, recipe_names


@pytest.fixture(autouse=True)
def own_results(monkeypatch, tmp_path):
    monkeypatch.setattr(results, "FOLDER", tmp_path)


def curve(*errors):
    """Evaluations of a network: (familiar, novel) each."""
    return [
        {"step": k, "steps": len(errors), "familiar": f, "novel": n} for k, (f, n) in enumerate(errors, 1)
    ]


def test_networks_are_matched_on_familiar_views():
    found = viewpoint.matched(
        {"cnn": curve((40, 60), (9, 30), (5, 28)), "capsules": curve((50, 70), (20, 25), (10, 22))}
    )
    assert found["familiar"] == {"cnn": 9, "capsules": 10}  # the level is the capsules' 10
    assert found["novel"] == {"cnn": 30, "capsules": 22}
    assert found["at the end"]["cnn"]["novel"] == 28


def test_the_summary_has_the_spread_over_seeds():
    pairs = [{name: {"cnn": e, "capsules": e + 1} for name in ("familiar", "novel")} for e in (1.0, 3.0)]
    found = viewpoint.summary(pairs)
    assert found["novel"]["cnn"] == {"mean": 2.0, "stdev": pytest.approx(1.41)}
    assert found["familiar"]["capsules"]["mean"] == 3.0
    assert viewpoint.summary(pairs[:1])["novel"]["cnn"]["stdev"] is None


def norb(split, known=True):
    """All instances, elevations and azimuths once, of one category."""
    instances = (0, 1, 2, 3, 5) if split == "test" else (4, 6, 7, 8, 9)
    grid = torch.cartesian_prod(torch.tensor(instances), torch.arange(9), torch.arange(0, 36, 2))
    factors = dict(zip(("instance", "elevation", "azimuth"), grid.unbind(1), strict=True))
    if not known:
        factors["azimuth"] = torch.full_like(factors["azimuth"], -1)
    images = torch.zeros(len(grid), 2, 48, 48, dtype=torch.uint8)
    return ImageDataset("norb", split, images, torch.zeros(len(grid), dtype=torch.long), "made here", factors)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("by", ["azimuth", "elevation"])
def test_no_toy_and_no_novel_view_is_trained_on(monkeypatch, by, known):
    monkeypatch.setattr(viewpoint, "load", lambda data, split, **_: norb(split, known or split == "test"))
    train, tests = viewpoint.parts("smallnorb", by)
    trained_views = set(train.factors[by].tolist())
    assert trained_views == set(tests["familiar"].factors[by].tolist())
    assert trained_views.isdisjoint(tests["novel"].factors[by].tolist())
    for test in tests.values():
        assert set(train.factors["instance"].tolist()).isdisjoint(test.factors["instance"].tolist())


def test_every_row_of_the_ablation_table_is_a_recipe():
    for data in ("smallnorb", "toynorb"):
        rows = smallnorb.table(data)
        assert len(rows) == 10
        assert set(rows) <= set(recipe_names())
    assert sorted(smallnorb.table("smallnorb").values()) == sorted(
        [9.7, 2.2, 1.8, 3.9, 2.9, 3.2, 2.6, 3.2, 5.8, 5.2]
    )


def test_the_ablation_table_is_kept_row_by_row(monkeypatch, tmp_path):
    monkeypatch.setattr(smallnorb, "table", lambda data: {"cnn-toynorb": 5.2})
    tiny = {"convolutions": ((2, 3),), "hidden": (4,)}
    monkeypatch.setattr(smallnorb, "recipe", lambda name: recipe(name, model_options=tiny, batch_size=10))
    monkeypatch.setattr(smallnorb, "training_data", lambda wanted: toys("train"))
    monkeypatch.setattr(smallnorb, "load", lambda data, split, size: toys(split))
    found = smallnorb.reproduce_smallnorb("toynorb", 1, tmp_path / "runs")
    assert results.load("toynorb_ablations") == found
    row = found["rows"]["cnn-toynorb"]
    assert 0 <= row["error_percent"] <= 100
    assert row["paper_percent"] == 5.2
    assert row["iterations"] is None


def test_the_viewpoint_table_is_kept_seed_by_seed(monkeypatch, tmp_path):
    tiny = {"convolutions": ((2, 3),), "hidden": (4,)}
    cnn = recipe("cnn-toynorb", model_options=tiny, batch_size=10)
    monkeypatch.setattr(viewpoint, "recipe", lambda name: replace(cnn, name=name))
    monkeypatch.setattr(viewpoint, "load", lambda data, split, **_: norb(split))
    found = viewpoint.reproduce_viewpoint("toynorb", 1, 2, tmp_path / "runs", train_size=10, test_size=10)
    assert results.load("toynorb_viewpoint") == found
    for by in ("azimuth", "elevation"):
        assert found[by]["trained on"] == 10
        assert len(found[by]["seeds"]) == 2
        assert found[by]["summary"]["novel"]["capsules"]["stdev"] is not None


def toys(split):
    return norb(split).take(20)
