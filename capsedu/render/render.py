"""Pictures of scenes, differentiable in every pose."""

from dataclasses import dataclass

import torch
from torch import Tensor

from capsedu.render.camera import Camera, Rays, rays
from capsedu.render.scene import Light, Scene
from capsedu.render.solids import intersect


@dataclass(frozen=True)
class Surfaces:
    """What is seen in each pixel, before there is light."""

    shares: Tensor  # (B, K, H, W): how much of the pixel shows each part; the rest shows the background
    normals: Tensor  # (B, K, 3, H, W)
    albedos: Tensor  # (K,)


def render(
    scene: Scene, camera: Camera, light: Light, *, size: int = 48, softness: float = 0.3, eye: float = 0.0
) -> Tensor:
    """Draw B scenes as grey pictures (B, 1, H, W), about 0 to 1.

    Args:
        scene: solids and poses; with B = 1 it is seen by every camera.
        camera: one, or one for each scene.
        light: on all of them.
        size: pixels, height and width.
        softness: of outlines, in pixels. About 0.3 makes them smooth to the eye. For gradient descent on a
            pose a larger one lets a part feel a target that it doesn't touch yet.
        eye: -1 for the left eye, 1 for the right one, 0 for one in the middle.

    Example:
        >>> from capsedu.render import Part, stretch
        >>> egg = Scene.of([Part("ball", stretch([0.6, 0.6, 0.9]))])
        >>> render(egg, Camera(), Light()).shape
        torch.Size([1, 1, 48, 48])
    """
    return shade(trace(scene, camera, size=size, softness=softness, eye=eye), light)


def render_pair(
    scene: Scene, camera: Camera, light: Light, *, size: int = 48, softness: float = 0.3
) -> Tensor:
    """What the left and the right eye see, (B, 2, H, W)."""
    eyes = [render(scene, camera, light, size=size, softness=softness, eye=eye) for eye in (-1.0, 1.0)]
    return torch.cat(eyes, dim=1)


def trace(
    scene: Scene, camera: Camera, *, size: int = 48, softness: float = 0.3, eye: float = 0.0
) -> Surfaces:
    """Find what is seen where; the arguments are those of :func:`render`."""
    if not softness > 0:
        raise ValueError(f"softness must be more than 0 pixels, got {softness}")
    sight = rays(camera, size, scene.poses, eye)
    batch = max(len(scene.poses), len(sight.origins))
    sight = Rays(sight.origins.expand(batch, -1), sight.directions.expand(batch, -1, -1), sight.pixel)
    blur = softness * sight.pixel
    hits = [
        intersect(solid, pose.expand(batch, -1, -1), sight.origins, sight.directions, blur)
        for solid, pose in zip(scene.solids, scene.poses.unbind(dim=1), strict=True)
    ]
    covers = [torch.sigmoid(hit.margin / blur) for hit in hits]
    shares = visible(covers, [hit.depth for hit in hits], blur)
    normals = torch.stack([hit.normals for hit in hits], dim=1)
    return Surfaces(shares.unflatten(-1, (size, size)), normals.unflatten(-1, (size, size)), scene.albedos)


def visible(covers: list[Tensor], depths: list[Tensor], blur: float) -> Tensor:
    """How much of each pixel shows each part.

    Part k is seen where it covers the pixel and no other part covers it in front:

        share_k = cover_k Π_{j≠k} (1 - cover_j σ((depth_k - depth_j) / blur))

    scaled so that the shares add up to what the parts cover together, 1 - Π_k (1 - cover_k).

    Args:
        covers: K of (B, P), in [0, 1].
        depths: K of (B, P).
        blur: difference of depths below which two parts are seen through each other.

    Returns:
        (B, K, P)

    Example:
        >>> near, far = torch.tensor([[1.0]]), torch.tensor([[2.0]])
        >>> visible([torch.tensor([[0.25]]), torch.tensor([[1.0]])], [near, far], 0.01).squeeze()
        tensor([0.2500, 0.7500])
    """
    shares = list(covers)
    for k in range(len(covers)):
        for j in range(k):
            behind = torch.sigmoid((depths[k] - depths[j]) / blur)  # is k behind j?
            shares[k] = shares[k] * (1 - covers[j] * behind)
            shares[j] = shares[j] * (1 - covers[k] * (1 - behind))
    seen = torch.stack(shares, dim=1)  # (B, K, P)
    covered = 1 - torch.stack([1 - cover for cover in covers]).prod(dim=0)
    return seen * (covered / seen.sum(dim=1).clamp(min=1e-6))[:, None]


def shade(surfaces: Surfaces, light: Light) -> Tensor:
    """Light the surfaces: grey pictures (B, 1, H, W)."""
    to_lamp = surfaces.normals.new_tensor(light.to_lamp)
    to_lamp = (to_lamp / to_lamp.norm())[:, None, None]
    lamp = (surfaces.normals * to_lamp).sum(dim=2).clamp(min=0)  # (B, K, H, W)
    ambient = light.ambient * (1 + light.sky * surfaces.normals[:, :, 2])
    bright = surfaces.albedos[:, None, None] * (ambient + light.strength * lamp)
    background = light.background * (1 - surfaces.shares.sum(dim=1))
    return ((surfaces.shares * bright).sum(dim=1) + background)[:, None]
