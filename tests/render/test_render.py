"""Pictures: where things are seen, how bright, and how they change with a pose."""

import pytest
import torch
from torch import Tensor

from capsedu.render import (
    Camera,
    Light,
    Part,
    Scene,
    render,
    render_pair,
    rotate,
    shade,
    stretch,
    trace,
    translate,
)
from capsedu.render.camera import rays
from capsedu.render.render import visible
from capsedu.render.scene import SOLIDS

FRONT = Camera(elevation=0.0)  # on the x-axis: y to the right, z up


def ball(x: float = 0.0, y: float = 0.0, z: float = 0.0, radius: float = 0.3, **options: float) -> Part:
    return Part("ball", translate([x, y, z]) @ stretch([radius] * 3), **options)


def heap(dtype: torch.dtype = torch.float32) -> Scene:
    """One of each solid, askew and overlapping."""
    turn = rotate("x", 25.0) @ rotate("z", 35.0)
    parts = [
        Part("ball", translate([0.1, -0.3, 0.1]) @ turn @ stretch([0.6, 0.35, 0.4]), 0.8),
        Part("box", translate([0.0, 0.3, -0.1]) @ turn @ stretch([0.3, 0.5, 0.2]), 0.6),
        Part("cylinder", translate([-0.2, 0.1, 0.3]) @ turn @ stretch([0.25, 0.25, 0.5]), 0.4),
    ]
    scene = Scene.of(parts)
    return Scene(scene.solids, scene.poses.to(dtype), scene.albedos.to(dtype))


def middle_of(shares: Tensor) -> tuple[float, float]:
    """Mean row and column of a picture (H, W), weighted."""
    places = torch.arange(len(shares), dtype=shares.dtype)
    whole = shares.sum()
    return (shares.sum(dim=1) @ places / whole).item(), (shares.sum(dim=0) @ places / whole).item()


def test_what_is_to_the_right_and_above_is_seen_there():
    surfaces = trace(Scene.of([ball(y=0.7), ball(z=0.7)]), FRONT, size=49)
    right, above = (middle_of(share) for share in surfaces.shares[0])
    assert right[0] == pytest.approx(24, abs=0.1)
    assert right[1] > 34
    assert above[0] < 14
    assert above[1] == pytest.approx(24, abs=0.1)


def test_a_ball_is_as_large_as_perspective_makes_it():
    camera = Camera(elevation=0.0, distance=5.0, width=2.0)
    area = trace(Scene.of([ball(radius=0.5)]), camera, size=200, softness=0.05).shares.sum().item()
    # The cone that touches the ball has the half angle asin(0.5 / 5), and meets the screen plane in a disc.
    radius = 5 * (0.5 / 5) / (1 - 0.1**2) ** 0.5 * 100
    assert area == pytest.approx(torch.pi * radius**2, rel=0.005)


def test_a_part_in_front_hides_the_one_behind_whatever_their_order():
    near, far = ball(x=1.0, radius=0.4), ball(x=-1.0, radius=0.4)
    for order, first in (([near, far], 0), ([far, near], 1)):
        shares = trace(Scene.of(order), FRONT, size=33).shares[0, :, 16, 16]
        assert shares[first] > 0.99
        assert shares[1 - first] < 0.01


def test_shares_are_a_part_of_one():
    shares = trace(heap(), Camera(azimuth=torch.tensor([0.0, 100.0, 200.0]))).shares
    assert shares.min() >= 0
    assert shares.sum(dim=1).max() <= 1 + 1e-5
    assert shares.sum(dim=1)[:, 24, 24].min() > 0.99
    assert shares.sum(dim=1)[:, 0].max() < 0.01


def test_three_equal_parts_share_a_pixel():
    one, depth = torch.ones(1, 1), torch.full((1, 1), 3.0)
    torch.testing.assert_close(visible([one] * 3, [depth] * 3, 0.1).flatten(), torch.full((3,), 1 / 3))


def test_background_is_plain_and_a_lit_side_brighter_than_a_dark_one():
    light = Light(to_lamp=(0.0, 1.0, 0.0), background=0.9)
    picture = render(Scene.of([ball(radius=0.8)]), FRONT, light)[0, 0]
    torch.testing.assert_close(picture[:3], torch.full((3, 48), 0.9), atol=1e-3, rtol=0)
    assert picture[24, 34] > picture[24, 14] + 0.2
    assert picture[16, 24] > picture[32, 24] + 0.05  # the sky


def test_brightness_is_lamberts():
    light = Light(to_lamp=(2.0, 0.0, 0.0), strength=0.5, ambient=0.3, sky=0.25)
    face = Scene.of([Part("box", stretch([0.5] * 3), 0.8)])
    assert render(face, FRONT, light, size=33)[0, 0, 16, 16].item() == pytest.approx(0.8 * 0.8, abs=1e-4)
    roof = render(face, Camera(elevation=90.0), light, size=33)[0, 0, 16, 16].item()
    assert roof == pytest.approx(0.8 * 0.3 * 1.25, abs=1e-4)


def test_shade_of_trace_is_render():
    camera, light = Camera(azimuth=30.0), Light(strength=0.2)
    assert torch.equal(shade(trace(heap(), camera), light), render(heap(), camera, light))


def test_turning_the_toy_is_walking_around_it_the_other_way():
    no_lamp = Light(strength=0.0)
    turned = render(heap().moved(rotate("z", 50.0)), FRONT, no_lamp)
    torch.testing.assert_close(turned, render(heap(), Camera(0.0, -50.0), no_lamp), atol=1e-4, rtol=0)


def test_batches_are_pictures_one_by_one():
    azimuths = torch.tensor([0.0, 70.0, 140.0])
    together = render(heap(), Camera(azimuth=azimuths), Light())
    alone = [render(heap(), Camera(azimuth=angle), Light()) for angle in azimuths.tolist()]
    torch.testing.assert_close(together, torch.cat(alone), atol=1e-5, rtol=0)
    moved = heap().moved(rotate("z", azimuths))
    assert render(moved, Camera(elevation=torch.tensor([0.0, 30.0, 60.0])), Light()).shape == (3, 1, 48, 48)


def test_what_is_near_is_farther_right_for_the_left_eye():
    for x, sign in ((0.8, 1), (-0.8, -1)):
        left, right = (
            middle_of(trace(Scene.of([ball(x=x)]), FRONT, eye=eye).shares[0, 0])[1] for eye in (-1.0, 1.0)
        )
        assert sign * (left - right) > 1
    left, right = (trace(Scene.of([ball()]), FRONT, eye=eye).shares[0, 0] for eye in (-1.0, 1.0))
    assert middle_of(left)[1] == pytest.approx(middle_of(right)[1], abs=1e-3)


def test_a_pair_is_left_then_right():
    pair = render_pair(heap(), FRONT, Light())
    assert pair.shape == (1, 2, 48, 48)
    assert torch.equal(pair[:, :1], render(heap(), FRONT, Light(), eye=-1.0))
    assert not torch.equal(pair[:, 0], pair[:, 1])


@pytest.mark.parametrize("elevation", [0.0, 30.0, 90.0])
def test_rays_are_unit_and_cross_at_the_origin(elevation):
    for eye in (-1.0, 0.0, 1.0):
        found = rays(Camera(elevation, 40.0), 5, torch.zeros(1), eye)
        torch.testing.assert_close(found.directions.norm(dim=1), torch.ones(1, 25))
        toward = -found.origins / found.origins.norm(dim=1, keepdim=True)
        torch.testing.assert_close(found.directions[:, :, 12], toward, atol=1e-6, rtol=0)


@pytest.mark.parametrize("softness", [0.5, 2.0])
def test_gradient_of_every_pixel_is_that_of_finite_differences(softness):
    scene = heap(torch.float64)
    camera = Camera(elevation=33.0, azimuth=21.0)

    def picture(poses: Tensor) -> Tensor:
        moved = Scene(scene.solids, poses, scene.albedos)
        return render(moved, camera, Light(), size=8, softness=softness)

    poses = scene.poses.clone().requires_grad_()
    assert torch.autograd.gradcheck(picture, poses, eps=1e-7, atol=1e-4, rtol=1e-3)
    (gradient,) = torch.autograd.grad(picture(poses).square().sum(), poses)
    assert (gradient[:, :, :3].abs().amax(dim=(2, 3)) > 1e-2).all()  # every part is felt


@pytest.mark.parametrize("solid", SOLIDS)
def test_gradient_descent_finds_a_pose(solid):
    shape = stretch([0.5, 0.3, 0.4])
    camera = Camera(elevation=35.0)

    def picture(offset: Tensor, angle: Tensor, softness: float) -> Tensor:
        pose = translate(offset) @ rotate("z", angle) @ shape
        scene = Scene((solid,), pose[None, None], torch.tensor([0.7]))
        return render(scene, camera, Light(), size=24, softness=softness)

    truth, true_angle = torch.tensor([0.0, 0.35, 0.15]), torch.tensor(30.0)
    offset, turns = torch.zeros(3, requires_grad=True), torch.zeros((), requires_grad=True)
    optimiser = torch.optim.Adam([offset, turns], lr=0.03)
    for step in range(240):
        softness = 2.0 if step < 120 else 0.5
        optimiser.zero_grad()
        wanted = picture(truth, true_angle, softness)
        loss = (picture(offset, 60 * turns, softness) - wanted).square().mean()
        loss.backward()
        optimiser.step()
    across = torch.tensor([0.0, 1.0, 0.0]), torch.tensor([-0.5, 0.0, 0.8])  # what a single eye sees well
    for direction in across:
        assert ((offset.detach() - truth) @ direction).item() == pytest.approx(0, abs=0.05)
    assert 60 * turns.item() == pytest.approx(30, abs=6)


def test_a_part_feels_a_target_it_does_not_touch_if_outlines_are_soft():
    target = render(Scene.of([ball(y=0.6)]), FRONT, Light(), softness=3.0)
    place = torch.tensor([0.0, -0.3, 0.0], requires_grad=True)
    pose = translate(place) @ stretch([0.3] * 3)
    seen = render(Scene(("ball",), pose[None, None], torch.tensor([0.75])), FRONT, Light(), softness=3.0)
    (gradient,) = torch.autograd.grad((seen - target).square().mean(), place)
    assert gradient[1] < -1e-4  # downhill is to the right


def test_float64_in_float64_out():
    assert render(heap(torch.float64), FRONT, Light()).dtype == torch.float64


def test_wrong_arguments_are_told():
    with pytest.raises(ValueError, match=r"must be \(B, 1, 4, 4\), got \(4, 4\)"):
        Scene(("ball",), torch.eye(4), torch.ones(1))
    with pytest.raises(ValueError, match=r"albedos must be \(1,\), got \(2,\)"):
        Scene(("ball",), torch.eye(4)[None, None], torch.ones(2))
    with pytest.raises(ValueError, match="got 'cone'"):
        Scene(("cone",), torch.eye(4)[None, None], torch.ones(1))
    with pytest.raises(ValueError, match=r"softness must be more than 0 pixels, got 0\.0"):
        render(heap(), FRONT, Light(), softness=0.0)
