"""The matrix capsule network as a whole."""

import torch

from capsedu import models

TINY = {"A": 4, "B": 2, "C": 3, "D": 2}


def test_output_shapes_and_trace_of_each_layer():
    model = models.create("matrixcaps-small", **TINY)
    images = torch.randn(2, 2, 32, 32)
    output, told = model(images), model(images, trace=True)
    assert output.activations.shape == (2, 5)
    assert output.poses.shape == (2, 5, 4, 4)
    assert output.routing is None
    assert torch.equal(output.scores, output.activations)
    torch.testing.assert_close(output.activations, told.activations, atol=1e-4, rtol=1e-4)
    # 14 × 14 primary capsules, 6 × 6, 4 × 4, 1: (B, P, S, J) each
    shapes = [routing.responsibilities.shape for routing in told.routing]
    assert shapes == [(2, 36, 9 * 2, 3), (2, 16, 9 * 3, 2), (2, 1, 16 * 2, 5)]


def test_coordinates_are_the_centres_of_the_receptive_fields():
    """Measured as the pixels that have a gradient; one iteration, since competition reaches further."""
    model = models.create("matrixcaps-small", **TINY, iterations=1)
    rows = 100 * model.classes.offsets.unflatten(-1, (4, 4))[::2, 0, 3].view(4, 4)[:, 0]
    fields = []
    for child in range(4):
        images = torch.zeros(1, 2, 32, 32, requires_grad=True)
        grid = model.conv2(model.conv1(model.primary(model.conv(images + torch.rand(1, 2, 32, 32)))))
        grid.poses.unflatten(1, (4, 4))[0, child, 0].sum().backward()
        seen = images.grad.abs().sum(dim=(0, 1, 3)).nonzero().flatten()
        fields.append((seen.min() + seen.max()).item() / 2)
    assert torch.allclose(rows, torch.tensor(fields))


def test_an_image_does_not_depend_on_its_company():
    model = models.create("matrixcaps-small", **TINY)
    images = torch.randn(3, 2, 32, 32)
    torch.testing.assert_close(model(images).activations[1:2], model(images[1:2]).activations)
