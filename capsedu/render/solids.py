"""Where rays meet a solid, in closed form, and how far inside or outside its outline they pass.

There are three solids: the ball of radius 1, the box from -1 to 1, and the cylinder of radius 1 that stands
on z = -1 and ends at z = 1. A pose stretches, turns and moves them, so an egg is a ball with another pose.
Rays are brought into the solid's own coordinates, where the intersection is easy: with x = o + t d,

    ball      |x|² = 1                   a quadratic in t
    box       |x_i| = 1 for each axis    three slabs: in at the last entry, out at the first exit
    cylinder  x² + y² = 1, |z| = 1       a quadratic and a slab
"""

from dataclasses import dataclass

import torch
from torch import Tensor

SOLIDS = ("ball", "box", "cylinder")
TINY = 1e-6  # keeps a ray that runs along a face from dividing by 0
GRAZE = 1e-3  # the shortest half chord squared: keeps the slope of the square root finite


@dataclass(frozen=True)
class Hits:
    """What each of P rays met. Where it missed, depth and normals are roughly those of the outline."""

    depth: Tensor  # (B, P): distance from the eye
    margin: Tensor  # (B, P): distance from the outline, positive inside
    normals: Tensor  # (B, 3, P): unit, pointing out; a mean of two where two faces share the pixel


def intersect(solid: str, pose: Tensor, origins: Tensor, directions: Tensor, softness: float) -> Hits:
    """Meet one solid with rays.

    Args:
        solid: "ball", "box" or "cylinder".
        pose: of the solid in the world, (B, 4, 4).
        origins: of the rays, (B, 3).
        directions: (B, 3, P), of length 1.
        softness: the width over which a box's edge is rounded where its faces meet, in the world's units. The
            rounding is in the normals only; it makes shading change smoothly with the pose.

    Example:
        >>> eye, ahead = torch.tensor([[5.0, 0.0, 0.0]]), torch.tensor([[[-1.0], [0.0], [0.0]]])
        >>> hits = intersect("ball", torch.eye(4)[None], eye, ahead, 0.01)
        >>> hits.depth
        tensor([[4.]])
    """
    if solid not in SOLIDS:
        raise ValueError(f"a solid must be one of {', '.join(SOLIDS)}, got {solid!r}")
    inverse = torch.linalg.inv(pose)
    linear = inverse[:, :3, :3]  # (B, 3, 3); its transpose brings gradients into the world
    origin = (linear @ origins[..., None] + inverse[:, :3, 3:]).expand(-1, -1, directions.shape[-1])
    direction = linear @ directions  # (B, 3, P)
    return _MEET[solid](origin, direction, linear, softness)


def _ball(origin: Tensor, direction: Tensor, linear: Tensor, softness: float) -> Hits:
    closest, half, _, margin = _round(origin, direction, linear)
    depth = closest - half
    normals = linear.mT @ (origin + depth[:, None] * direction)
    return Hits(depth, margin, _unit(normals))


def _box(origin: Tensor, direction: Tensor, linear: Tensor, softness: float) -> Hits:
    inverse = 1 / _nonzero(direction)
    middle, half = -origin * inverse, inverse.abs()
    enter, leave = middle - half, middle + half  # (B, 3, P)
    first, last = enter.amax(dim=1), leave.amin(dim=1)
    faces = torch.softmax(enter / softness, dim=1)  # through which face the ray comes in
    lengths = linear.norm(dim=2, keepdim=True)  # (B, 3, 1)
    normals = linear.mT @ (-faces * direction.sign() / lengths)
    margin = _hexagon(enter, leave, inverse, linear @ linear.mT)
    return Hits(torch.minimum(first, (first + last) / 2), margin, normals)


def _hexagon(enter: Tensor, leave: Tensor, inverse: Tensor, gram: Tensor) -> Tensor:
    """Distance from a box's outline, a hexagon: one edge for each pair of axes, leave_i = enter_j."""
    edges = []
    for i, j in ((0, 1), (1, 2), (2, 0)):
        gap = torch.minimum(leave[:, i] - enter[:, j], leave[:, j] - enter[:, i])
        # Moving the ray changes the gap at the rate a_i / d_i - a_j / d_j, a_i a row of the inverse pose.
        squares = inverse[:, i] ** 2 * gram[:, i, i, None] + inverse[:, j] ** 2 * gram[:, j, j, None]
        squares = squares - 2 * inverse[:, i] * inverse[:, j] * gram[:, i, j, None]
        edges.append(gap / squares.clamp(min=TINY**2).sqrt())
    return torch.minimum(torch.minimum(edges[0], edges[1]), edges[2])


def _cylinder(origin: Tensor, direction: Tensor, linear: Tensor, softness: float) -> Hits:
    flat = direction.new_tensor([1.0, 1.0, 0.0])[:, None]
    closest, half, nearest, round_margin = _round(origin * flat, direction * flat, linear)
    inverse = 1 / _nonzero(direction[:, 2])
    middle, slab = -origin[:, 2] * inverse, inverse.abs()
    enter_side, enter_cap = closest - half, middle - slab
    first, last = torch.maximum(enter_side, enter_cap), torch.minimum(closest + half, middle + slab)
    cap = torch.sigmoid((enter_cap - enter_side) / softness)[
        :, None
    ]  # 1: comes in through a cap, 0: the side
    side_normals = _unit(linear.mT @ ((origin + enter_side[:, None] * direction) * flat))
    cap_normals = -linear[:, 2, :, None] / linear[:, 2].norm(dim=1)[:, None, None] * direction[:, 2:].sign()
    margin = torch.minimum(round_margin, _ends(origin, direction, closest, half, nearest, linear))
    depth = torch.minimum(first, (first + last) / 2)
    return Hits(depth, margin, cap * cap_normals + (1 - cap) * side_normals)


def _ends(
    origin: Tensor, direction: Tensor, closest: Tensor, half: Tensor, nearest: Tensor, linear: Tensor
) -> Tensor:
    """Distance from the outline of a cylinder's two ends.

    Inside the endless cylinder the ray climbs from height - climb to height + climb. It meets the part
    between the caps if that reaches into [-1, 1]. Outside, the distance is measured along the axis.
    """
    height, climb = origin[:, 2] + closest * direction[:, 2], half * direction[:, 2].abs()
    flat = direction[:, :2]
    level = _length(flat)  # (B, P)
    lean = -(direction[:, 2] / level**2)[:, None] * flat  # how the height changes with the ray's origin
    slope = torch.cat([lean, torch.ones_like(lean[:, :1])], dim=1) * height.sign()[:, None]
    gap = 1 + climb - height.abs()
    steep = torch.where(gap > 0, climb / (half * level) ** 2, torch.zeros_like(climb))  # how the climb does
    return gap / _length(linear.mT @ (slope + nearest * steep[:, None]))


_MEET = {"ball": _ball, "box": _box, "cylinder": _cylinder}


def _round(origin: Tensor, direction: Tensor, linear: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Meet the unit ball: time of closest approach to its middle, half the chord, closest point, margin.

    All are (B, P), the point (B, 3, P); times are along the ray, the margin is in the world's units.
    """
    squared = (direction * direction).sum(dim=1).clamp(min=TINY**2)
    closest = -(origin * direction).sum(dim=1) / squared
    nearest = origin + closest[:, None] * direction  # (B, 3, P), perpendicular to the direction
    distance = _length(nearest)
    half = ((1 - distance * distance).clamp(min=GRAZE) / squared).sqrt()
    # |x| grows in the world at the rate |linearᵀ x| / |x|, so this is the outline's distance to first order.
    margin = (1 - distance) * distance / _length(linear.mT @ nearest)
    return closest, half, nearest, margin


def _length(vectors: Tensor) -> Tensor:
    return (vectors * vectors).sum(dim=1).clamp(min=TINY**2).sqrt()


def _unit(vectors: Tensor) -> Tensor:
    return vectors / _length(vectors)[:, None]


def _nonzero(numbers: Tensor) -> Tensor:
    """The numbers with those near 0 moved away from it."""
    return torch.where(numbers.abs() < TINY, torch.full_like(numbers, TINY), numbers)
