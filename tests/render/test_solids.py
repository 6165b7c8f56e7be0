"""Rays against solids: known cases, and a search along each ray that knows nothing of the closed forms."""

import math

import pytest
import torch
from torch import Tensor

from capsedu.render import rotate, stretch, translate
from capsedu.render.solids import SOLIDS, Hits, intersect

STEPS = 20_000  # of the search along a ray


def inside(solid: str, points: Tensor) -> Tensor:
    """Whether points (..., 3) lie in a solid, in its own coordinates: its definition."""
    if solid == "ball":
        return points.square().sum(dim=-1) <= 1
    if solid == "box":
        return points.abs().amax(dim=-1) <= 1
    return (points[..., :2].square().sum(dim=-1) <= 1) & (points[..., 2].abs() <= 1)


def search(solid: str, pose: Tensor, origin: Tensor, direction: Tensor) -> float | None:
    """The first time at which a ray is inside, by trying times up to 10."""
    times = torch.linspace(0, 10, STEPS, dtype=torch.float64)[:, None]
    points = torch.cat([origin + times * direction, torch.ones_like(times)], dim=1)
    found = inside(solid, (points @ torch.linalg.inv(pose).T)[:, :3]).nonzero()
    return None if len(found) == 0 else times[found[0, 0], 0].item()


def random_pose(generator: torch.Generator) -> Tensor:
    numbers = torch.rand(9, generator=generator, dtype=torch.float64)
    turn = rotate("x", 360 * numbers[0]) @ rotate("y", 360 * numbers[1]) @ rotate("z", 360 * numbers[2])
    return translate(numbers[3:6] - 0.5) @ turn @ stretch(0.3 + numbers[6:])


def random_rays(generator: torch.Generator, count: int) -> tuple[Tensor, Tensor]:
    """From one eye, 5 away, towards points around the origin."""
    eye = torch.randn(3, generator=generator, dtype=torch.float64)
    eye = 5 * eye / eye.norm()
    aims = 2.4 * (torch.rand(count, 3, generator=generator, dtype=torch.float64) - 0.5)
    directions = aims - eye
    return eye, directions / directions.norm(dim=1, keepdim=True)


def meet(solid: str, pose: Tensor, origin: Tensor, directions: Tensor, softness: float = 1e-3) -> Hits:
    """For one scene: depth (P,), margin (P,), normals (3, P)."""
    hits = intersect(solid, pose[None], origin[None], directions.T[None], softness)
    return Hits(hits.depth[0], hits.margin[0], hits.normals[0])


@pytest.mark.parametrize("solid", SOLIDS)
@pytest.mark.parametrize("seed", range(4))
def test_depth_is_where_a_search_along_the_ray_first_finds_the_solid(solid, seed):
    generator = torch.Generator().manual_seed(seed)
    pose = random_pose(generator)
    origin, directions = random_rays(generator, 40)
    hits = meet(solid, pose, origin, directions)
    found = [search(solid, pose, origin, direction) for direction in directions]
    assert [time is not None for time in found] == (hits.margin > 0).tolist()
    hit = [k for k, time in enumerate(found) if time is not None and hits.margin[k] > 0.02]
    assert len(hit) > 4
    for k in hit:
        assert hits.depth[k].item() == pytest.approx(found[k], abs=2 * 10 / STEPS)


@pytest.mark.parametrize("solid", SOLIDS)
@pytest.mark.parametrize("seed", range(3))
def test_margin_is_the_distance_from_the_outline(solid, seed):
    generator = torch.Generator().manual_seed(10 + seed)
    pose = random_pose(generator)
    origin, directions = random_rays(generator, 400)
    margins = meet(solid, pose, origin, directions).margin
    near = (margins.abs() < 0.05) & (margins.abs() > 1e-3)
    assert near.sum() > 10
    for direction, margin in zip(directions[near], margins[near], strict=True):
        side, over = torch.linalg.svd(direction[None]).Vh[1:]  # across the ray
        angles = torch.arange(72, dtype=torch.float64)[:, None] * math.tau / 72
        around = angles.cos() * side + angles.sin() * over
        for share, crosses in ((0.8, False), (1.5, True)):  # move the ray; a corner is up to √2 farther
            moved = origin + share * margin.abs() * around
            pairs = torch.eye(4, dtype=pose.dtype).expand(72, 4, 4) @ pose
            hits = intersect(solid, pairs, moved, direction.expand(72, 3)[..., None], 1e-3)
            if solid == "cylinder" and margin < 0 and not crosses:
                continue  # past its ends the distance is measured along the axis: it may be too large
            assert ((hits.margin[:, 0] > 0) != (margin > 0)).any() == crosses


@pytest.mark.parametrize("solid", SOLIDS)
def test_normals_are_those_of_the_nearest_surface(solid):
    generator = torch.Generator().manual_seed(5)
    pose = random_pose(generator)
    origin, directions = random_rays(generator, 60)
    hits = meet(solid, pose, origin, directions)
    tested = 0
    for k in (hits.margin > 0.05).nonzero()[:, 0].tolist():
        normal = hits.normals[:, k]
        if normal.norm() < 0.999:  # on an edge
            continue
        tested += 1
        point = origin + hits.depth[k] * directions[k]
        for step, found in ((1e-3, False), (-1e-3, True)):
            probe = torch.cat([point + step * normal, point.new_ones(1)])
            assert inside(solid, (torch.linalg.inv(pose) @ probe)[:3]) == found
        across = torch.linalg.svd(normal[None]).Vh[1:]  # along the surface: neither in nor out
        probes = point + 1e-4 * torch.cat([across, -across]) - 1e-5 * normal
        probes = torch.cat([probes, probes.new_ones(4, 1)], dim=1)
        assert inside(solid, (probes @ torch.linalg.inv(pose).T)[:, :3]).all()
    assert tested > 10


EYE = torch.tensor([5.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("solid", "pose", "aim", "depth", "normal", "margin"),
    [
        ("ball", torch.eye(4), (0, 0), 4, (1, 0, 0), 1),
        ("ball", stretch([2.0, 1.0, 1.0]), (0, 0), 3, (1, 0, 0), 1),
        ("ball", translate([1.0, 0.5, 0.0]), (0.5, 0), 3, (1, 0, 0), 1),
        ("ball", torch.eye(4), (0.6, 0), 4.2, (0.8, 0.6, 0), 0.4),
        ("ball", torch.eye(4), (1.5, 0), None, None, -0.5),
        ("box", torch.eye(4), (0.3, 0.8), 4, (1, 0, 0), 0.2),
        ("box", stretch([2.0, 1.0, 0.5]), (0.3, 0.4), 3, (1, 0, 0), 0.1),
        ("box", torch.eye(4), (0, 1.25), None, None, -0.25),
        ("box", rotate("z", 45.0), (0, 0.5), 5 - 2**0.5, None, 0.5),
        ("cylinder", torch.eye(4), (0.6, 0.9), 4.2, (0.8, 0.6, 0), 0.1),
        ("cylinder", torch.eye(4), (0, 1.5), None, None, -0.5),
        ("cylinder", rotate("y", 90.0), (0.3, 0.4), 4, (1, 0, 0), 0.5),
        ("cylinder", rotate("y", 90.0), (0.9, 1.2), None, None, -0.5),
    ],
)
def test_known_meetings(solid, pose, aim, depth, normal, margin):
    origin = EYE + torch.tensor([0.0, *aim])  # parallel rays along -x
    hits = intersect(solid, pose[None], origin[None], torch.tensor([[[-1.0], [0.0], [0.0]]]), 1e-3)
    assert hits.margin.item() == pytest.approx(margin, abs=2e-3)
    if depth is not None:
        assert hits.depth.item() == pytest.approx(depth, abs=1e-4)
    if normal is not None:
        torch.testing.assert_close(hits.normals[0, :, 0], torch.tensor(normal).float(), atol=1e-4, rtol=0)


@pytest.mark.parametrize("solid", SOLIDS)
def test_gradient_is_finite_for_rays_through_the_middle_along_a_face_and_past(solid):
    pose = torch.eye(4)[None].requires_grad_()
    across = torch.tensor([0.0, 1e-9, 0.2, 1.0, 1.3])
    directions = torch.stack([-torch.ones(5), across / 5, torch.zeros(5)])[None]
    hits = intersect(solid, pose, EYE[None], directions, 1e-2)
    (gradient,) = torch.autograd.grad(hits.depth.sum() + hits.margin.sum() + hits.normals.sum(), pose)
    assert gradient.isfinite().all()
    for found in (hits.depth, hits.margin, hits.normals):
        assert found.isfinite().all()


def test_unknown_solid_is_refused():
    with pytest.raises(ValueError, match="ball, box, cylinder, got 'cone'"):
        intersect("cone", torch.eye(4)[None], EYE[None], torch.zeros(1, 3, 1), 0.1)
