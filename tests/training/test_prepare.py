"""What is done to images, against plain-loop references, and its limits."""

import pytest
import torch

from capsedu.training import PREPARATIONS, crops
from capsedu.training.prepare import (
    affine,
    centre_crop,
    norb_test,
    norb_train,
    random_crop,
    shift,
    standardise,
    vary_light,
)


def seeded():
    return torch.Generator().manual_seed(3)


def pairs(count: int = 5, side: int = 48) -> torch.Tensor:
    return torch.rand(count, 2, side, side, generator=torch.Generator().manual_seed(8))


# MNIST


def test_shift_moves_each_image_as_a_loop_would():
    images = torch.rand(6, 2, 9, 7)
    moved = shift(images, seeded(), pixels=2)
    downs, rights = 2 - torch.randint(0, 5, (2, 6, 1), generator=seeded()).squeeze(-1)
    for b in range(6):
        for row in range(9):
            for column in range(7):
                from_row, from_column = row - int(downs[b]), column - int(rights[b])
                inside = 0 <= from_row < 9 and 0 <= from_column < 7
                expected = images[b, :, from_row, from_column] if inside else torch.zeros(2)
                assert torch.equal(moved[b, :, row, column], expected)


def test_shift_reaches_every_distance_and_no_further():
    image = torch.zeros(400, 1, 9, 9)
    image[:, :, 4, 4] = 1
    found = {tuple(place[2:].tolist()) for place in shift(image, seeded(), pixels=2).nonzero()}
    assert found == {(row, column) for row in range(2, 7) for column in range(2, 7)}


def test_affine_with_no_amounts_changes_nothing():
    images = torch.rand(3, 1, 12, 12)
    still = affine(images, seeded(), pixels=0, degrees=0, stretch=0, shear=0)
    assert torch.allclose(still, images, atol=1e-5)


def test_affine_moves_by_at_most_the_pixels_given():
    image = torch.zeros(200, 1, 21, 21)
    image[:, :, 10, 10] = 1
    moved = affine(image, seeded(), pixels=2, degrees=0, stretch=0, shear=0)
    assert torch.isclose(moved[:, :, 7:14, 7:14].sum(), moved.sum())
    assert moved.sum() > 150


@pytest.mark.parametrize("name", ["none", "shift", "affine"])
def test_digits_are_tested_as_they_are(name):
    images = torch.rand(4, 1, 28, 28)
    assert PREPARATIONS[name].test(images) is images


# smallNORB


def test_standardise_gives_each_image_of_a_pair_zero_mean_and_unit_variance():
    images = pairs() * torch.tensor([0.2, 0.9]).view(2, 1, 1) + torch.tensor([0.7, 0.0]).view(2, 1, 1)
    found = standardise(images)
    for b in range(5):
        for eye in range(2):
            image = images[b, eye].double()
            expected = (image - image.mean()) / image.std(correction=0)
            torch.testing.assert_close(found[b, eye].double(), expected, atol=1e-4, rtol=0)


def test_standardise_does_not_see_brightness_and_contrast():
    torch.testing.assert_close(standardise(pairs()), standardise(0.3 * pairs() + 0.5), atol=1e-4, rtol=0)


def test_an_even_grey_becomes_zero():
    found = standardise(torch.full((2, 2, 5, 5), 0.3))
    assert torch.allclose(found, torch.zeros(2, 2, 5, 5), atol=1e-4)


def test_random_crop_is_the_square_that_a_loop_would_cut():
    images, generator = pairs(20), seeded()
    cut = random_crop(images, seeded())
    downs, rights = (torch.randint(0, 17, (20, 1), generator=generator) for _ in range(2))
    assert cut.shape == (20, 2, 32, 32)
    for b, (down, right) in enumerate(zip(downs.tolist(), rights.tolist(), strict=True)):
        assert torch.equal(cut[b], images[b, :, down[0] : down[0] + 32, right[0] : right[0] + 32])


def test_random_crop_reaches_every_place_and_no_further():
    rows, columns = torch.meshgrid(torch.arange(6), torch.arange(5), indexing="ij")
    places = torch.stack([rows, columns]).expand(600, 2, 6, 5)
    found = {tuple(corner) for corner in random_crop(places, seeded(), side=4)[:, :, 0, 0].tolist()}
    assert found == {(row, column) for row in range(3) for column in range(2)}


def test_centre_crop_leaves_the_same_on_every_side():
    assert torch.equal(centre_crop(pairs()), pairs()[:, :, 8:40, 8:40])


def test_light_changes_as_a_loop_would():
    images = pairs()
    found = vary_light(images, seeded(), brightness=0.3, contrast=0.4)
    amounts = 2 * torch.rand(2, 5, 1, 1, 1, generator=seeded()) - 1
    for b in range(5):
        more, brighter = amounts[0, b].item(), amounts[1, b].item()
        for eye in range(2):
            mean = images[b, eye].mean()
            expected = (images[b, eye] - mean) * (1 + 0.4 * more) + mean + 0.3 * brighter
            torch.testing.assert_close(found[b, eye], expected)


def test_light_stays_within_its_amounts_and_uses_them():
    images = standardise(pairs(500, side=8))
    found = vary_light(images, seeded())
    brightness = found.mean(dim=(1, 2, 3))
    contrast = found.std(dim=(2, 3), correction=0)
    assert 0.9 * 32 / 255 < brightness.abs().max() < 32 / 255 + 1e-4
    assert contrast.min() > 0.5 - 1e-4
    assert contrast.max() < 1.5 + 1e-4
    assert contrast.max() - contrast.min() > 0.9
    torch.testing.assert_close(contrast[:, 0], contrast[:, 1])  # a pair changes together


def test_norb_is_standardised_before_it_is_cut():
    whole = standardise(pairs())
    assert torch.equal(norb_test(pairs()), whole[:, :, 8:40, 8:40])
    generator = seeded()
    expected = vary_light(random_crop(whole, generator), generator)
    assert torch.equal(norb_train(pairs(), seeded()), expected)


def test_training_crops_differ_and_test_crops_do_not():
    same = pairs(1).expand(8, -1, -1, -1)
    assert len(norb_train(same, seeded()).flatten(1).unique(dim=0)) == 8
    assert len(norb_test(same).flatten(1).unique(dim=0)) == 1


# Several crops


def test_a_single_crop_is_what_is_tested_otherwise():
    assert torch.equal(crops(pairs(), 1)[0], norb_test(pairs()))


@pytest.mark.parametrize(("n", "offsets"), [(1, [8]), (4, [4, 12]), (9, [2, 8, 13]), (16, [2, 6, 10, 14])])
def test_crops_are_spread_evenly(n, offsets):
    whole = standardise(pairs())
    places = [(down, right) for down in offsets for right in offsets]
    found = crops(pairs(), n)
    assert found.shape == (n, 5, 2, 32, 32)
    for square, (down, right) in zip(found, places, strict=True):
        assert torch.equal(square, whole[:, :, down : down + 32, right : right + 32])


@pytest.mark.parametrize("n", [-4, -1, 0, 2, 5, 8])
def test_crops_that_make_no_square_grid_are_refused(n):
    with pytest.raises(ValueError, match=f"n must be a square number, got {n}"):
        crops(pairs(), n)


@pytest.mark.parametrize("cut", [norb_test, centre_crop, lambda images: norb_train(images, seeded())])
def test_images_too_small_to_cut_are_told(cut):
    with pytest.raises(ValueError, match=r"at least 32 × 32, got \(5, 2, 28, 28\)"):
        cut(pairs(side=28))


# All


@pytest.mark.parametrize("name", PREPARATIONS)
def test_the_same_generator_gives_the_same_images(name):
    images = torch.rand(5, 1, 48, 48)
    prepare = PREPARATIONS[name]
    assert torch.equal(prepare.train(images, seeded()), prepare.train(images, seeded()))


@pytest.mark.parametrize("name", PREPARATIONS)
def test_torchs_own_generator_is_left_alone(name):
    torch.manual_seed(1)
    expected = torch.rand(())
    torch.manual_seed(1)
    PREPARATIONS[name].train(pairs(), seeded())
    PREPARATIONS[name].test(pairs())
    assert torch.rand(()) == expected


@pytest.mark.parametrize("name", PREPARATIONS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_dtype_is_kept(name, dtype):
    images = pairs().to(dtype)
    assert PREPARATIONS[name].train(images, seeded()).dtype == dtype
    assert PREPARATIONS[name].test(images).dtype == dtype


@pytest.mark.parametrize("name", PREPARATIONS)
def test_device_is_kept(name):
    images = pairs().to("meta")
    assert PREPARATIONS[name].train(images, seeded()).is_meta
    assert PREPARATIONS[name].test(images).is_meta
    assert crops(images, 4).is_meta


@pytest.mark.parametrize("name", PREPARATIONS)
def test_the_images_given_are_not_changed(name):
    images = pairs()
    PREPARATIONS[name].train(images, seeded()).add_(1) if name != "none" else None
    PREPARATIONS[name].test(images)
    assert torch.equal(images, pairs())
