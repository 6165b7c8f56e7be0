"""Poses under a change of viewpoint: the camera's matrix, votes that agree, and how far routing follows."""

import pytest
import torch

from capsedu import analysis, models
from capsedu.analysis.poses import pixels_of
from capsedu.render import Camera, Light, Part, Scene, make_toy, render, rotate, stretch, translate
from capsedu.render.camera import rays

QUARTER = rotate("z", 90.0).double().round()
TILT = rotate("z", torch.tensor(20.0).double()) @ rotate("x", torch.tensor(40.0).double())
ONES = torch.ones(6, 12, dtype=torch.float64)
SETTINGS = {
    "beta_u": torch.full((3,), 0.7, dtype=torch.float64),
    "beta_a": torch.tensor([0.0, 1.0, -1.0], dtype=torch.float64),
    "inverse_temperature": 0.5,
}


def votes(seed: int = 0) -> torch.Tensor:
    return analysis.network_votes(6, 12, 3, torch.Generator().manual_seed(seed))


def drift(cast: torch.Tensor, viewpoint: torch.Tensor, iterations: int, **options: object):
    return analysis.pose_drift(cast, ONES, viewpoint[None], iterations=iterations, **SETTINGS, **options)


def test_view_matrix_puts_the_eye_at_the_origin_and_its_axes_straight():
    camera = Camera(elevation=torch.tensor([10.0, 50.0]), azimuth=torch.tensor([30.0, 200.0]), distance=5.0)
    views = analysis.view_matrix(camera)
    sight = rays(camera, 3, torch.zeros(1, dtype=torch.float64))
    eyes = torch.cat([sight.origins, torch.ones(2, 1)], dim=1)[..., None]
    assert torch.allclose((views @ eyes).squeeze(), torch.tensor([0.0, 0, 0, 1]).double(), atol=1e-6)
    ahead = views[:, :3, :3] @ sight.directions[:, :, 4:5]  # the middle ray of 3 × 3
    assert torch.allclose(ahead.squeeze(), torch.tensor([0.0, 0, -1]).double(), atol=1e-6)
    assert torch.allclose(views[:, :3, :3] @ views[:, :3, :3].mT, torch.eye(3).double())


@pytest.mark.parametrize("place", [(0.4, 0.2, 0.5), (-0.3, 0.5, -0.4), (0.0, -0.6, 0.1)])
def test_a_small_ball_is_drawn_where_its_pose_says(place):
    camera, size = Camera(elevation=30.0, azimuth=50.0), 97
    pose = translate(place) @ stretch([0.05, 0.05, 0.05])
    image = render(Scene.of([Part("ball", pose, albedo=0.0)]), camera, Light(), size=size)[0, 0]
    dark = Light().background - image
    steps = torch.arange(size, dtype=torch.float32)
    seen = torch.stack([(dark * steps).sum(), (dark * steps[:, None]).sum()]) / dark.sum()
    expected = pixels_of((analysis.view_matrix(camera)[0] @ pose.double())[:3, 3], camera, size)
    assert torch.allclose(seen.double(), expected, atol=0.5)


def test_votes_of_a_toy_agree_from_every_side_and_a_moved_part_is_off_by_the_same():
    parts = make_toy("truck", 3).poses[0].double()
    views = analysis.view_matrix(Camera(20.0, torch.arange(0.0, 360.0, 45.0)))[:, None]
    weight = torch.linalg.inv(parts)
    assert analysis.vote_distances(views @ parts @ weight).max() < 1e-5
    moved = parts.clone()
    moved[4] = translate([0.5, 0.0, 0.0]).double() @ rotate("y", 30.0).double() @ parts[4]
    distances = analysis.vote_distances(views @ moved @ weight)
    assert (distances.argmax(dim=1) == 4).all()
    assert torch.allclose(distances[:, 4], distances[0, 4].expand(8), atol=1e-5)
    assert distances[:, :4].max() < 1e-5


def test_one_iteration_follows_any_matrix_in_poses_and_drifts_in_activations():
    anything = torch.randn(4, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    found = drift(votes(), anything, 1)
    assert found.poses.shape == found.activations.shape == (1, 6)
    assert found.poses.max() < 1e-12
    assert found.activations.mean() > 1e-4


@pytest.mark.parametrize("iterations", [2, 5])
def test_more_iterations_are_exact_for_signed_permutations_only(iterations):
    exact, tilted = drift(votes(), QUARTER, iterations), drift(votes(), TILT, iterations)
    assert exact.poses.max() < 1e-9
    assert exact.activations.max() < 1e-9
    assert tilted.poses.mean() > 0.05


def test_a_shift_is_exact_for_poses_that_end_in_0001():
    cast, shift = votes(), translate([1.0, 2.0, 3.0]).double()
    assert drift(cast, shift, 3).poses.mean() > 0.01
    cast[..., 3, :] = torch.tensor([0.0, 0, 0, 1])
    found = drift(cast, shift, 3)
    assert found.poses.max() < 1e-6  # the shares of a mean sum to 1 up to the least mass, 1e-8
    assert found.activations.max() < 1e-6


def test_round_gaussians_follow_every_rotation():
    found = drift(votes(), TILT, 5, route=analysis.route_with_round_gaussians)
    assert found.poses.max() < 1e-9
    assert found.activations.max() < 1e-9


@pytest.mark.parametrize("iterations", [1, 4])
def test_untied_gaussians_are_em_routing(iterations):
    ours = analysis.route_with_round_gaussians(votes(), ONES, iterations=iterations, tied=False, **SETTINGS)
    theirs = analysis.route_poses(votes(), ONES, iterations=iterations, **SETTINGS)
    for name in ("poses", "activations", "responsibilities"):
        torch.testing.assert_close(getattr(ours, name), getattr(theirs, name))


def test_clusters_are_as_wide_as_told():
    cast = analysis.clustered_votes(40, 12, 3, 0.1, torch.Generator().manual_seed(0))
    own = cast[:, 1::3, 1]  # children 1, 4, 7, 10 belong to parent 1
    assert float(own.std(dim=1).mean()) == pytest.approx(0.1, rel=0.15)
    assert float(cast[:, 0::3, 1].std(dim=1).mean()) == pytest.approx(1.0, rel=0.15)


def test_layers_drift_in_turn_and_coordinates_break_the_last():
    images = torch.randn(2, 2, 32, 32, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    torch.manual_seed(0)
    plain = models.create("matrixcaps-small", iterations=2, coordinates=False).double()
    assert analysis.layer_drift(plain, images, QUARTER).poses.max() < 1e-9
    tilted = analysis.layer_drift(plain, images, TILT).poses
    assert tilted.shape == (3, 2)
    assert (tilted > 0.02).all()
    placed = models.create("matrixcaps-small", iterations=1, coordinates=True).double()
    by_layer = analysis.layer_drift(placed, images, QUARTER).poses
    assert by_layer[:2].max() < 1e-9
    assert by_layer[2].min() > 0.5
