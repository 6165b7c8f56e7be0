"""Matrix capsule layers: shapes, shared matrices, coordinates, and the plain form behind ``trace``."""

import pytest
import torch

from capsedu.layers import ClassCaps, ConvCaps, MatrixCapsules, MatrixPrimaryCaps
from capsedu.ops import Neighbourhood


def capsules(side=5, types=2, rows=4, columns=4, batch=2):
    generator = torch.Generator().manual_seed(0)
    poses = torch.randn(batch, side**2, types, rows, columns, generator=generator)
    return MatrixCapsules(poses, torch.rand(batch, side**2, types, generator=generator))


def test_a_primary_capsule_is_made_of_its_own_channels_at_its_own_place():
    """Mistake 2: a bare view of (B, C, H, W) mixes channels with places."""
    layer = MatrixPrimaryCaps(3, 2)
    features = torch.randn(1, 3, 4, 5)
    found = layer(features)
    row, column, kind = 2, 3, 1
    at_place = features[0, :, row, column]
    pose = layer.poses.weight[16 * kind : 16 * (kind + 1), :, 0, 0] @ at_place
    logit = layer.activations.weight[kind, :, 0, 0] @ at_place
    torch.testing.assert_close(found.poses[0, row * 5 + column, kind].flatten(), pose)
    torch.testing.assert_close(found.activations[0, row * 5 + column, kind], logit.sigmoid())


@pytest.mark.parametrize(("pose", "shape", "weights"), [("matrix", (4, 4), 16), ("vector", (1, 16), 256)])
def test_shapes_and_weights_of_conv_capsules(pose, shape, weights):
    layer = ConvCaps(Neighbourhood(5, 5, 3, 2), 2, 3, pose=pose)
    found = layer(capsules(rows=shape[0], columns=shape[1]))
    assert found.poses.shape == (2, 4, 3, *shape)
    assert found.activations.shape == (2, 4, 3)
    assert layer.weight.numel() == 9 * 2 * 3 * weights
    assert ((found.activations > 0) & (found.activations < 1)).all()


@pytest.mark.parametrize("pose", ["matrix", "vector"])
def test_trace_gives_the_same_numbers_and_every_iteration(pose):
    shape = {"matrix": (4, 4), "vector": (1, 16)}[pose]
    layer = ConvCaps(Neighbourhood(5, 5, 3, 1), 2, 3, pose=pose, iterations=3)
    below = capsules(rows=shape[0], columns=shape[1])
    fast, told = layer(below), layer(below, trace=True)
    torch.testing.assert_close(fast.poses, told.poses, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(fast.activations, told.activations, atol=1e-4, rtol=1e-4)
    assert fast.routing is None
    assert len(told.routing.trace.parents) == 3


def test_class_matrices_are_shared_by_all_positions():
    layer = ClassCaps(3, 2, 5)
    assert layer.weight.shape == (2, 5, 4, 4)
    by_place = layer.matrices().unflatten(0, (9, 2))
    assert all(torch.equal(by_place[0], matrices) for matrices in by_place)


def test_without_coordinates_the_places_of_the_children_do_not_matter():
    torch.manual_seed(0)
    grid = torch.cartesian_prod(torch.arange(3.0), torch.arange(3.0))
    below, order = capsules(side=3), torch.randperm(9)
    shuffled = MatrixCapsules(below.poses[:, order], below.activations[:, order])
    without, with_places = ClassCaps(3, 2, 5), ClassCaps(3, 2, 5, coordinates=grid)
    torch.testing.assert_close(without(below).activations, without(shuffled).activations)
    assert not torch.allclose(with_places(below).poses, with_places(shuffled).poses, atol=1e-3)


def test_coordinates_go_to_the_first_two_entries_of_the_right_hand_column():
    layer = ClassCaps(2, 1, 5, coordinates=torch.tensor([[0.1, 0.2], [0.1, 0.3], [0.4, 0.2], [0.4, 0.3]]))
    added = layer.offsets.unflatten(-1, (4, 4))
    assert added[1, 0, 3].item() == pytest.approx(0.1)
    assert added[1, 1, 3].item() == pytest.approx(0.3)
    assert added.count_nonzero() == 8
