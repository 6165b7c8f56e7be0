"""Matrix capsules (Hinton et al. 2018): a 4 × 4 pose and an activation each."""

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from capsedu.ops.coordinates import coordinate_offsets
from capsedu.ops.em import EMResult, em_routing, votes_on_grid
from capsedu.ops.em_fast import vote_and_route
from capsedu.ops.neighbourhood import Neighbourhood

Pose = Literal["matrix", "vector"]
POSE_SHAPE = {"matrix": (4, 4), "vector": (1, 16)}  # the rows times 16 / rows entries of a pose


@dataclass
class MatrixCapsules:
    """Capsules of C types on a grid."""

    poses: Tensor  # (B, H*W, C, 4, 4), or (B, H*W, C, 1, 16) for vector poses
    activations: Tensor  # (B, H*W, C)
    routing: EMResult | None = None  # how they were found, where asked for


class MatrixPrimaryCaps(nn.Module):
    """The first matrix capsules: a 1 × 1 convolution without bias gives poses and activation logits."""

    def __init__(
        self, in_channels: int, types: int, *, pose: Pose = "matrix", init_scale: float = 0.5
    ) -> None:
        super().__init__()
        self.types, self.shape = types, POSE_SHAPE[pose]
        self.poses = nn.Conv2d(in_channels, 16 * types, 1, bias=False)
        self.activations = nn.Conv2d(in_channels, types, 1, bias=False)
        nn.init.normal_(self.poses.weight, std=init_scale)

    def forward(self, features: Tensor) -> MatrixCapsules:
        """Features (B, A, H, W) to capsules on the same grid."""
        poses = self.poses(features).flatten(2).unflatten(1, (self.types, *self.shape))  # (B, C, 4, 4, H*W)
        activations = self.activations(features).flatten(2).sigmoid()  # (B, C, H*W)
        return MatrixCapsules(poses.permute(0, 4, 1, 2, 3), activations.transpose(1, 2))


class ConvCaps(nn.Module):
    """Convolutional matrix capsules: every parent type and position that covers a child competes for it.

    Args:
        grid: sizes of the children's grid, kernel and stride.
        in_types, types: capsule types below and here.
        iterations: of EM routing.
        pose: "matrix" multiplies 4 × 4 poses, "vector" multiplies 16-vectors by 16 × 16 matrices.
        init_scale: standard deviation of W at the start.
        beta_u: its start.
        beta_a_scale: β_a is this times its parameter, so that an optimiser moves it fast enough.
        inverse_temperature: see :func:`capsedu.ops.em_routing`.
        compiled: see :func:`capsedu.ops.vote_and_route`.
    """

    offsets: Tensor | None

    def __init__(
        self,
        grid: Neighbourhood,
        in_types: int,
        types: int,
        *,
        iterations: int = 3,
        pose: Pose = "matrix",
        init_scale: float = 0.3,
        beta_u: float = 0.7,
        beta_a_scale: float = 100.0,
        inverse_temperature: float = 0.5,
        compiled: bool = False,
    ) -> None:
        super().__init__()
        self.grid, self.iterations, self.pose, self.compiled = grid, iterations, pose, compiled
        self.beta_a_scale, self.inverse_temperature = beta_a_scale, inverse_temperature
        inner = POSE_SHAPE[pose][1]
        self.weight = nn.Parameter(init_scale * torch.randn(grid.kernel**2 * in_types, types, inner, inner))
        self.beta_u = nn.Parameter(torch.full((types,), beta_u))
        self.beta_a = nn.Parameter(torch.zeros(types))
        self.register_buffer("offsets", None, persistent=False)  # (K*K*C, D), added to the votes

    def matrices(self) -> Tensor:
        """W of every slot, (K*K*C, J, 4, 4)."""
        return self.weight

    def forward(self, capsules: MatrixCapsules, trace: bool = False) -> MatrixCapsules:
        """Capsules on the children's grid to capsules on the parents' grid.

        ``trace`` routes by the plain form, which tells every iteration; the numbers are the same.
        """
        betas = self.beta_u, self.beta_a_scale * self.beta_a
        options: Any = {"iterations": self.iterations, "inverse_temperature": self.inverse_temperature}
        if trace:
            seen = capsules.activations[:, self.grid.children_of(capsules.activations.device)].flatten(2)
            votes = votes_on_grid(capsules.poses, self.matrices(), self.grid, self.offsets)
            routing = em_routing(votes, seen, *betas, grid=self.grid, trace=True, **options)
            poses, activations = routing.poses, routing.activations
        else:
            routing = None
            poses, activations = vote_and_route(
                capsules.poses,
                capsules.activations,
                self.matrices(),
                *betas,
                self.grid,
                offsets=self.offsets,
                compiled=self.compiled,
                **options,
            )
        return MatrixCapsules(poses.unflatten(-1, POSE_SHAPE[self.pose]), activations, routing)


class ClassCaps(ConvCaps):
    """One capsule a class. Matrices are shared by all positions of a type; coordinates tell them apart.

    Args:
        side: rows and columns of the children's grid.
        in_types: their types.
        classes: E.
        coordinates: (side * side, 2) scaled centres of the children's receptive fields; None adds none.
        **options: as for :class:`ConvCaps`.
    """

    def __init__(
        self, side: int, in_types: int, classes: int, *, coordinates: Tensor | None = None, **options: object
    ) -> None:
        super().__init__(Neighbourhood(side, side, side, 1), in_types, classes, **options)  # type: ignore[arg-type]
        with torch.no_grad():
            self.weight = nn.Parameter(self.weight[:in_types].clone())  # one matrix a type
        if coordinates is not None:
            by_slot = coordinates.repeat_interleave(in_types, dim=0)
            self.offsets = coordinate_offsets(by_slot).flatten(1)

    def matrices(self) -> Tensor:
        """W of every slot: one matrix a type, repeated for each position."""
        return self.weight.expand(self.grid.kernel**2, *self.weight.shape).flatten(0, 1)
