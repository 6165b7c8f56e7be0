"""What a change of viewpoint does to poses, to votes, and to the poses that EM routing finds."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Generator, Tensor
from torch.nn.functional import logsigmoid

from capsedu.layers.matrix import MatrixCapsules
from capsedu.models.matrixcaps import MatrixCapsNet
from capsedu.ops import EMResult, em_routing
from capsedu.ops.em import VARIANCE_FLOOR, activation_logit, average_mass
from capsedu.render import Camera, rotate, translate

# The camera has x to the right, y up and z back to the eye: the world's y, z and x, seen from the x-axis.
AXES = torch.tensor([[0.0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]])

Route = Callable[..., EMResult]  # from votes (B, I, J, 4, 4) and activations (B, I)


def view_matrix(camera: Camera, dtype: torch.dtype = torch.float64) -> Tensor:
    """The pose (B, 4, 4) of the world in the camera's coordinates: x to the right, y up, z towards you.

    Multiply a part's pose in the world by it from the left, and you have the part's pose for this camera.

    Example:
        >>> eye = torch.tensor([6.0, 0.0, 0.0, 1.0], dtype=torch.float64)
        >>> view_matrix(Camera(elevation=0.0, distance=6.0)) @ eye
        tensor([[0., 0., 0., 1.]], dtype=torch.float64)
    """
    elevation, azimuth = (
        torch.as_tensor(angle, dtype=dtype).reshape(-1) for angle in (camera.elevation, camera.azimuth)
    )
    back = translate(torch.tensor([0.0, 0.0, -camera.distance], dtype=dtype))
    return back @ AXES.to(dtype) @ rotate("y", elevation) @ rotate("z", -azimuth)


def pixels_of(points: Tensor, camera: Camera, size: int) -> Tensor:
    """Column and row (..., 2) at which the camera sees points (..., 3) given in its own coordinates.

    Example:
        >>> pixels_of(torch.tensor([0.0, 0.0, -6.0]), Camera(distance=6.0), 49)  # the middle of the picture
        tensor([24., 24.])
    """
    flat = points[..., :2] * torch.tensor([1.0, -1.0], dtype=points.dtype) / -points[..., 2:]
    return flat * camera.distance * size / camera.width + (size - 1) / 2


def vote_distances(votes: Tensor) -> Tensor:
    """How far each vote (..., I, 4, 4) is from the entry-wise median of all I: (..., I)."""
    median = votes.median(dim=-3, keepdim=True).values
    return (votes - median).flatten(-2).norm(dim=-1)


def route_poses(
    votes: Tensor,
    activations: Tensor,
    beta_u: Tensor,
    beta_a: Tensor,
    *,
    iterations: int = 3,
    inverse_temperature: float = 1.0,
) -> EMResult:
    """EM routing of votes (B, I, J, 4, 4): :func:`capsedu.ops.em_routing`, with poses (B, J, 4, 4)."""
    result = em_routing(
        votes.flatten(-2),
        activations,
        beta_u,
        beta_a,
        iterations=iterations,
        inverse_temperature=inverse_temperature,
    )
    return EMResult(result.poses.unflatten(-1, (4, 4)), result.activations, result.responsibilities)


def route_with_round_gaussians(
    votes: Tensor,
    activations: Tensor,
    beta_u: Tensor,
    beta_a: Tensor,
    *,
    iterations: int = 3,
    inverse_temperature: float = 1.0,
    tied: bool = True,
) -> EMResult:
    """EM routing in which the four entries of a pose's column share one variance.

    A viewpoint multiplies each column of a vote like a point of space. A Gaussian that is round in that space
    turns with it; one with a variance for each entry does not.

    Args:
        votes: (B, I, J, 4, 4).
        activations: (B, I).
        beta_u, beta_a: (J,).
        iterations: number of M-steps.
        inverse_temperature: see :func:`capsedu.ops.em_routing`.
        tied: False gives each entry its own variance, which is ``em_routing`` itself.
    """
    mean_mass = average_mass(votes.shape[1], votes.shape[2], None)
    responsibilities = torch.full_like(votes[..., 0, 0], 1 / votes.shape[2])  # (B, I, J)
    for t in range(iterations):
        weights = responsibilities * activations[..., None]
        mass = weights.sum(dim=1)  # (B, J)
        share = (weights / (mass[:, None] + 1e-8))[..., None, None]
        mean = (share * votes).sum(dim=1, keepdim=True)  # (B, 1, J, 4, 4)
        variance = (share * (votes - mean).square()).sum(dim=1, keepdim=True) + VARIANCE_FLOOR
        if tied:
            variance = variance.mean(dim=-2, keepdim=True).expand_as(mean)  # over the rows
        logit = activation_logit(
            mass / mean_mass, variance.log().sum(dim=(1, 3, 4)), 16, beta_u, beta_a,
            inverse_temperature * (1 - 0.95 ** (t + 1)),
        )  # fmt: skip
        if t + 1 < iterations:
            distance = (votes - mean).square() / variance + variance.log() + math.log(2 * math.pi)
            scores = logsigmoid(logit)[:, None] - 0.5 * distance.sum(dim=(-2, -1))
            responsibilities = scores.softmax(dim=-1)
    return EMResult(mean[:, 0], logit.sigmoid(), responsibilities)


@dataclass
class Drift:
    """By how much routing fails to follow a viewpoint, for V viewpoints (or layers) and B examples."""

    poses: Tensor  # (V, B): |poses from turned votes - turned poses| / |poses|
    activations: Tensor  # (V, B): mean absolute change; a viewpoint should change none


def pose_drift(
    votes: Tensor, activations: Tensor, viewpoints: Tensor, route: Route = route_poses, **options: object
) -> Drift:
    """Route the votes as they are and as seen from each viewpoint, and compare.

    Args:
        votes: (B, I, J, 4, 4).
        activations: (B, I).
        viewpoints: matrices (V, 4, 4) that multiply every vote from the left.
        route: what routes them.
        **options: of ``route``.
    """
    still = route(votes, activations, **options)
    return _drift(
        [(viewpoint, still, route(viewpoint @ votes, activations, **options)) for viewpoint in viewpoints]
    )


def _drift(runs: list[tuple[Tensor, Any, Any]]) -> Drift:
    """Of pairs of results, each with the viewpoint between them."""
    poses, activations = [], []
    for viewpoint, still, moved in runs:
        wanted = (viewpoint @ still.poses).flatten(1)  # (B, J * 16)
        poses.append((moved.poses.flatten(1) - wanted).norm(dim=1) / wanted.norm(dim=1))
        activations.append((moved.activations - still.activations).flatten(1).abs().mean(dim=1))
    return Drift(torch.stack(poses), torch.stack(activations))


def network_votes(count: int, children: int, parents: int, generator: Generator) -> Tensor:
    """Votes (B, I, J, 4, 4) as a matrix capsule network starts with: nobody agrees with anybody."""
    poses = 0.5 * _normal(generator, count, children, 1, 4, 4)
    return poses @ (0.3 * _normal(generator, children, parents, 4, 4))


def clustered_votes(count: int, children: int, parents: int, spread: float, generator: Generator) -> Tensor:
    """Votes (B, I, J, 4, 4) in which every parent has its share of the children.

    Their votes for it lie around its pose with standard deviation ``spread``; all other votes are random,
    with standard deviation 1.
    """
    truth = _normal(generator, count, 1, parents, 4, 4)
    near = truth + spread * _normal(generator, count, children, parents, 4, 4)
    far = _normal(generator, count, children, parents, 4, 4)
    belongs = torch.arange(children)[:, None] % parents == torch.arange(parents)  # (I, J)
    return torch.where(belongs[..., None, None], near, far)


def layer_drift(model: MatrixCapsNet, images: Tensor, viewpoint: Tensor) -> Drift:
    """Multiply all primary poses by ``viewpoint`` (4, 4) and see how each later layer follows; V = 3."""
    with torch.no_grad():
        capsules = model.primary(model.conv(images))
        turned = MatrixCapsules(viewpoint @ capsules.poses, capsules.activations)
        runs = []
        for layer in (model.conv1, model.conv2, model.classes):
            capsules, turned = layer(capsules), layer(turned)
            runs.append((viewpoint, capsules, turned))
        return _drift(runs)


def _normal(generator: Generator, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=generator, dtype=torch.float64)
