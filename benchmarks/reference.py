"""Straightforward networks: what you write after reading the papers, and what most public versions look like.

They compute what :mod:`capsedu.models` computes, with the same weights. They keep everything: every vote, and
in the CapsNet every image's own copy of every transformation matrix.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn

from capsedu.layers import MatrixCapsules
from capsedu.models import CapsNet, CapsNetOutput, MatrixCapsNet, MatrixCapsNetOutput
from capsedu.ops import RoutingResult, em_routing, votes_on_grid


class ReferenceCapsNet(nn.Module):
    """CapsNet with materialised, broadcast votes; takes its sizes and weights from ``model``."""

    def __init__(self, model: CapsNet) -> None:
        super().__init__()
        config = model.config
        self.iterations, self.types, self.dim = config.iterations, config.primary_types, config.primary_dim
        self.conv = nn.Conv2d(config.image_shape[0], config.channels, config.kernel_size)
        self.primary = nn.Conv2d(config.channels, self.types * self.dim, config.kernel_size, stride=2)
        self.conv.load_state_dict(model.conv[0].state_dict())
        self.primary.load_state_dict(model.primary.conv.state_dict())
        # W_ij as (I, J, D, C): one D × C matrix a pair of capsules
        self.weight = nn.Parameter(model.classes.weight.detach().permute(0, 2, 3, 1).contiguous())
        self.image_shape = config.image_shape
        widths = [config.classes * config.class_dim, *config.decoder]
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers += [nn.Linear(before, after), nn.ReLU()]
        layers += [nn.Linear(widths[-1], torch.Size(self.image_shape).numel()), nn.Sigmoid(), nn.Identity()]
        self.decoder = nn.Sequential(*layers)
        self.decoder.load_state_dict(model.decoder.layers.state_dict())

    def forward(self, images: Tensor, labels: Tensor) -> CapsNetOutput:
        maps = self.primary(torch.relu(self.conv(images)))  # (B, types * C, H, W)
        batch = len(images)
        children = maps.view(batch, self.types, self.dim, -1).transpose(2, 3).reshape(batch, -1, self.dim)
        routing = route(broadcast_votes(squash(children), self.weight), self.iterations)
        capsules = routing.outputs
        mask = nn.functional.one_hot(labels, capsules.shape[1])[..., None]
        drawn = self.decoder((capsules * mask).view(batch, -1)).view(batch, *self.image_shape)
        return CapsNetOutput(capsules, capsules.norm(dim=-1), drawn, routing)


def broadcast_votes(children: Tensor, weight: Tensor) -> Tensor:
    """Children (B, I, C) and weight (I, J, D, C) to votes (B, I, J, D).

    To broadcast, the product copies W once for every image of the batch.
    """
    return (weight[None] @ children[:, :, None, :, None]).squeeze(-1)


def route(votes: Tensor, iterations: int) -> RoutingResult:
    """Dynamic routing with elementwise products and sums over votes (B, I, J, D)."""
    logits = torch.zeros(votes.shape[:3])
    for iteration in range(iterations):
        couplings = logits.softmax(dim=2)
        outputs = squash((couplings[..., None] * votes).sum(dim=1))  # (B, J, D)
        if iteration < iterations - 1:
            logits = logits + (votes * outputs[:, None]).sum(dim=-1)
    return RoutingResult(outputs, couplings)


def squash(s: Tensor) -> Tensor:
    """The paper's equation 1, as it stands."""
    length = s.norm(dim=-1, keepdim=True)
    return length**2 / (1 + length**2) * s / (length + 1e-8)


class ReferenceMatrixCapsNet(nn.Module):
    """A matrix capsule network that makes all votes and hands them to the plain EM routing."""

    def __init__(self, model: MatrixCapsNet) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor, labels: Tensor | None = None) -> MatrixCapsNetOutput:
        model = self.model
        capsules = model.primary(model.conv(images))
        for layer in (model.conv1, model.conv2, model.classes):
            seen = capsules.activations[:, layer.grid.children_of(images.device)].flatten(2)
            result = em_routing(
                votes_on_grid(capsules.poses, layer.matrices(), layer.grid, layer.offsets),
                seen,
                layer.beta_u,
                layer.beta_a_scale * layer.beta_a,
                iterations=layer.iterations,
                inverse_temperature=layer.inverse_temperature,
                grid=layer.grid,
            )
            capsules = MatrixCapsules(result.poses.unflatten(-1, (4, 4)), result.activations)
        return MatrixCapsNetOutput(capsules.activations.squeeze(1), capsules.poses.squeeze(1))
