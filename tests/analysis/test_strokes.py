"""The measures read what was drawn, and a known change shows up as that change."""

import pytest
import torch

from capsedu import data
from capsedu.analysis import FACTORS, LARGEST_CHANGE, change_strokes, measure_strokes


def bar(thickness: int = 4, left: int = 12, brightness: float = 1.0) -> torch.Tensor:
    """An upright bar, (1, 1, 28, 28)."""
    image = torch.zeros(1, 1, 28, 28)
    image[..., 4:24, left : left + thickness] = brightness
    return image


@pytest.fixture(scope="module")
def digits() -> torch.Tensor:
    return data.load("mnist", "validation", size=60).batch(slice(None))[0]


def measured(images: torch.Tensor, factor: str) -> torch.Tensor:
    return measure_strokes(images)[:, FACTORS.index(factor)]


@pytest.mark.parametrize("thickness", [2, 3, 5])
def test_thickness_of_a_bar(thickness):
    # area over half the outline, of which the two short ends are a part
    expected = thickness * 20 / (thickness + 20)
    assert measured(bar(thickness), "thickness").item() == pytest.approx(expected, rel=0.02)


def test_an_upright_bar_has_no_slant_and_its_own_width():
    assert measured(bar(), "slant").item() == pytest.approx(0, abs=1e-6)
    assert measured(bar(), "width").item() == pytest.approx((4**2 - 1) ** 0.5, rel=1e-4)


def test_a_line_that_climbs_to_the_right_has_positive_slant():
    line = torch.eye(28).flip(0)[None, None]
    assert measured(line, "slant").item() == pytest.approx(1)
    assert measured(line.flip(3), "slant").item() == pytest.approx(-1)
    assert measured(line, "width").item() == pytest.approx(0, abs=1e-2)


def test_measures_depend_neither_on_place_nor_on_brightness():
    torch.testing.assert_close(measure_strokes(bar(left=5)), measure_strokes(bar()), atol=1e-4, rtol=0)
    torch.testing.assert_close(
        measure_strokes(bar(brightness=0.3)), measure_strokes(bar()), atol=1e-4, rtol=0
    )


@pytest.mark.parametrize("amount", [-0.3, 0.15, 0.3])
def test_slant_changes_by_the_amount_and_width_stays(digits, amount):
    changed = change_strokes(digits, "slant", amount)
    found = measured(changed, "slant") - measured(digits, "slant")
    torch.testing.assert_close(found.mean(), torch.tensor(amount), atol=0.005, rtol=0)
    assert (measured(changed, "width") / measured(digits, "width")).mean() == pytest.approx(1, abs=0.03)


@pytest.mark.parametrize("amount", [-0.2, 0.1, 0.2])
def test_width_changes_by_the_factor_and_slant_stays(digits, amount):
    changed = change_strokes(digits, "width", amount)
    ratio = measured(changed, "width") / measured(digits, "width")
    assert ratio.median().item() == pytest.approx(1 + amount, abs=0.03)
    assert (measured(changed, "slant") - measured(digits, "slant")).abs().mean() < 0.01


def test_thickness_grows_with_the_amount_and_slant_stays(digits):
    series = [change_strokes(digits, "thickness", amount) for amount in (-0.5, -0.25, 0, 0.25, 0.5)]
    steps = torch.stack([measured(images, "thickness") for images in series]).diff(dim=0)
    assert (steps > 0).float().mean() > 0.99
    assert all(0.2 < step < 0.8 for step in steps.mean(dim=1).tolist())  # two edges of a quarter pixel: 0.5
    for images in series:
        assert (measured(images, "slant") - measured(digits, "slant")).abs().mean() < 0.03


@pytest.mark.parametrize("factor", ["slant", "width"])
def test_no_amount_no_change(digits, factor):
    torch.testing.assert_close(change_strokes(digits, factor, 0.0), digits, atol=1e-4, rtol=0)


@pytest.mark.parametrize("factor", FACTORS)
def test_changed_digits_are_still_pictures(digits, factor):
    for sign in (-1, 1):
        changed = change_strokes(digits, factor, sign * LARGEST_CHANGE[factor])
        assert changed.shape == digits.shape
        assert 0 <= changed.min() <= changed.max() <= 1


def test_unknown_factor_is_told():
    with pytest.raises(ValueError, match="thickness, slant, width, got 'colour'"):
        change_strokes(bar(), "colour", 0.1)
