"""The paper's familiar and novel views."""

from dataclasses import replace

import pytest
import torch

from capsedu.data import ImageDataset, viewpoint_split
from capsedu.data.viewpoint import FAMILIAR
from capsedu.errors import CapseduError


def every_view() -> ImageDataset:
    """Each of 9 elevations × 18 azimuths once, told by the picture."""
    elevation, azimuth = torch.cartesian_prod(torch.arange(9), torch.arange(0, 36, 2)).unbind(dim=1)
    images = torch.stack([elevation, azimuth], dim=1).to(torch.uint8)[:, :, None, None]
    factors = {"elevation": elevation, "azimuth": azimuth}
    return ImageDataset("views", "test", images, torch.arange(162) % 5, "made here", factors)


def degrees(dataset: ImageDataset) -> tuple[set[int], set[int]]:
    azimuths = {10 * code for code in dataset.factors["azimuth"].tolist()}
    return azimuths, {30 + 5 * code for code in dataset.factors["elevation"].tolist()}


def test_azimuth_split_is_the_papers():
    familiar, novel = viewpoint_split(every_view(), by="azimuth")
    assert degrees(familiar) == ({300, 320, 340, 0, 20, 40}, set(range(30, 75, 5)))
    assert degrees(novel) == (set(range(60, 300, 20)), set(range(30, 75, 5)))


def test_elevation_split_is_the_papers():
    familiar, novel = viewpoint_split(every_view(), by="elevation")
    assert degrees(familiar) == (set(range(0, 360, 20)), {30, 35, 40})
    assert degrees(novel) == (set(range(0, 360, 20)), {45, 50, 55, 60, 65, 70})


@pytest.mark.parametrize("by", FAMILIAR)
def test_a_third_of_the_views_is_familiar_and_none_is_lost(by):
    familiar, novel = viewpoint_split(every_view(), by)
    assert (len(familiar), len(novel)) == (54, 108)
    both = torch.cat([familiar.images, novel.images]).flatten(1).tolist()
    assert sorted(both) == every_view().images.flatten(1).tolist()


@pytest.mark.parametrize("by", FAMILIAR)
def test_pictures_keep_their_labels_and_factors(by):
    for part in viewpoint_split(every_view(), by):
        elevation, azimuth = part.images.flatten(1).long().unbind(dim=1)
        assert torch.equal(part.labels, (18 * elevation + azimuth // 2) % 5)
        assert torch.equal(part.factors["elevation"], elevation)
        assert torch.equal(part.factors["azimuth"], azimuth)


def test_unknown_angles_are_told():
    whole = every_view()
    some = whole.factors["azimuth"].clone()
    some[7] = -1
    unknown = replace(whole, factors={**whole.factors, "azimuth": some})
    with pytest.raises(CapseduError, match="the azimuth of the images of views test is not known"):
        viewpoint_split(unknown, "azimuth")
    assert len(viewpoint_split(unknown, "elevation")[0]) == 54


def test_a_data_set_without_factors_is_told():
    with pytest.raises(CapseduError, match="the elevation of the images of views test is not known"):
        viewpoint_split(replace(every_view(), factors=None), "elevation")


def test_unknown_split_offers_the_nearest():
    with pytest.raises(CapseduError, match="did you mean elevation"):
        viewpoint_split(every_view(), "elevations")
