"""PrimaryCaps: one capsule is some channels at one position of one type."""

import pytest
import torch

from capsedu.layers import PrimaryCaps
from tests import references


def features(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("height", "width", "stride"), [(7, 7, 2), (6, 8, 2), (5, 4, 1)])
def test_agrees_with_the_loops(height, width, stride):
    layer = PrimaryCaps(2, types=3, dim=4, kernel_size=3, stride=stride)
    images = features(2, 2, height, width)
    weight, bias = layer.conv.weight.detach(), layer.conv.bias.detach()
    expected = references.primary_capsules(images, weight, bias, types=3, dim=4, stride=stride)
    torch.testing.assert_close(layer(images), expected, atol=1e-5, rtol=0)


def test_paper_sizes_give_1152_capsules_of_8():
    with torch.device("meta"):
        assert PrimaryCaps(256, types=32, dim=8)(torch.zeros(2, 256, 20, 20)).shape == (2, 1152, 8)


def test_capsules_do_not_depend_on_memory_layout():
    layer, images = PrimaryCaps(2, types=3, dim=4, kernel_size=3), features(2, 2, 7, 7)
    channels_last = images.to(memory_format=torch.channels_last)
    torch.testing.assert_close(layer(channels_last), layer(images), atol=1e-6, rtol=0)


def test_capsules_are_squashed():
    layer = PrimaryCaps(2, types=3, dim=4, kernel_size=3)
    assert (layer(1e3 * features(2, 2, 7, 7)).norm(dim=-1) <= 1 + 1e-6).all()


@pytest.mark.parametrize("shape", [(1, 3, 7, 7), (2, 7, 7)])
def test_wrong_shape_is_told(shape):
    with pytest.raises(ValueError, match="features must be") as caught:
        PrimaryCaps(2, types=3, dim=4, kernel_size=3)(torch.zeros(shape))
    assert f"got {shape}" in str(caught.value)
