"""The fifty toys."""

import pytest
import torch

from capsedu.errors import CapseduError
from capsedu.render import Part, make_toy, stretch
from capsedu.render.toys import CATEGORIES, DARK, surface_points


@pytest.mark.parametrize("category", CATEGORIES)
def test_toys_are_the_same_for_the_same_seed_and_differ_from_each_other(category):
    toys = [make_toy(category, instance) for instance in range(10)]
    again = [make_toy(category, instance) for instance in range(10)]
    assert all(torch.equal(one.poses, other.poses) for one, other in zip(toys, again, strict=True))
    assert len({toy.poses.numpy().tobytes() for toy in toys}) == 10
    other = make_toy(category, 0, seed=1)
    assert other.poses.shape != toys[0].poses.shape or not torch.allclose(other.poses, toys[0].poses)


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("instance", range(10))
def test_a_toy_reaches_a_distance_of_one_and_is_the_same_left_and_right(category, instance):
    toy = make_toy(category, instance)
    assert torch.linalg.det(toy.poses).abs().min() > 0
    parts = [Part(solid, pose) for solid, pose in zip(toy.solids, toy.poses[0], strict=True)]
    points = torch.cat([surface_points(part) for part in parts])
    assert points.norm(dim=1).max().item() == pytest.approx(1, abs=1e-5)
    assert (points.amin(dim=0) + points.amax(dim=0)).abs().max().item() < 1e-5
    if category != "human":  # arms are free
        mirrored = points * torch.tensor([1.0, -1.0, 1.0])
        assert torch.cdist(mirrored, points).min(dim=1).values.max() < 0.05


def test_vehicles_stand_on_their_wheels():
    for category, wheels in (("truck", 6), ("car", 4)):
        for instance in range(10):
            toy = make_toy(category, instance)
            dark = [k for k, s in enumerate(toy.solids) if s == "cylinder" and toy.albedos[k] == DARK]
            assert len(dark) == wheels


def test_surface_points_of_a_box_are_its_corners_and_middles():
    points = surface_points(Part("box", stretch([1.0, 2.0, 3.0])))
    assert points.shape == (26, 3)
    assert points.amax(dim=0).tolist() == [1, 2, 3]


def test_unknown_category_offers_the_nearest():
    with pytest.raises(CapseduError, match="no category of toys named 'cars'; did you mean car"):
        make_toy("cars", 0)
