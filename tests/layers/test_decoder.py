"""Decoder: a picture from the capsule of one class, the others masked."""

import pytest
import torch

from capsedu.layers import Decoder
from tests import references

LABELS = torch.tensor([2, 0, 3])


def capsules() -> torch.Tensor:
    return torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(0))


def test_sees_what_the_loops_leave_unmasked():
    decoder = Decoder(4, 5, (1, 6, 7), hidden=(8, 9))
    expected = decoder.layers(references.masked_capsules(capsules(), LABELS))
    torch.testing.assert_close(decoder(capsules(), LABELS), expected, atol=1e-5, rtol=0)


def test_only_the_labelled_capsule_has_a_gradient():
    inputs = capsules().requires_grad_()
    (gradient,) = torch.autograd.grad(Decoder(4, 5, (1, 6, 7))(inputs, LABELS).sum(), inputs)
    touched = gradient.abs().sum(dim=-1) > 0
    assert touched.nonzero().tolist() == [[0, 2], [1, 0], [2, 3]]


def test_layers_are_relu_relu_sigmoid():
    kinds = [type(layer).__name__ for layer in Decoder(10, 16, (1, 28, 28)).layers]
    assert kinds == ["Linear", "ReLU", "Linear", "ReLU", "Linear", "Sigmoid", "Unflatten"]


def test_pictures_have_pixels_between_zero_and_one():
    picture = Decoder(4, 5, (3, 6, 7))(100 * capsules(), LABELS)
    assert picture.shape == (3, 3, 6, 7)
    assert ((picture >= 0) & (picture <= 1)).all()


def test_paper_sizes_have_1411344_parameters():
    decoder = Decoder(10, 16, (1, 28, 28))
    counted = (160 * 512 + 512) + (512 * 1024 + 1024) + (1024 * 784 + 784)
    assert sum(p.numel() for p in decoder.parameters()) == counted == 1_411_344


@pytest.mark.parametrize(
    ("capsule_shape", "label_shape"),
    [((3, 5, 5), (3,)), ((3, 4, 5), (1,)), ((3, 4, 5), (3, 4)), ((4, 5), (4,)), ((3, 4, 5), ())],
)
def test_wrong_shapes_are_told(capsule_shape, label_shape):
    with pytest.raises(ValueError, match=r"capsules must be \(B, 4, 5\) and labels \(B,\)") as caught:
        Decoder(4, 5, (1, 6, 7))(torch.zeros(capsule_shape), torch.zeros(label_shape, dtype=torch.long))
    assert f"got {capsule_shape} and {label_shape}" in str(caught.value)
