"""Capsules that receive a vote from every child."""

from typing import Literal

import torch
from torch import Tensor, nn

from capsedu.ops import RoutingResult, dynamic_routing, predict_and_route


class DenseCaps(nn.Module):
    r"""Fully connected capsules: :math:`\hat u_{j|i} = W_{ij} u_i`, then dynamic routing.

    Args:
        children: number of lower capsules, I.
        child_dim: their dimensions, C.
        parents: number of capsules here, J.
        dim: their dimensions, D.
        iterations, gradient, leaky: see :func:`capsedu.ops.dynamic_routing`.
        init_scale: standard deviation of W at the start.

    Example:
        >>> DenseCaps(1152, 8, 10, 16)(torch.zeros(1, 1152, 8)).outputs.shape
        torch.Size([1, 10, 16])
    """

    def __init__(
        self,
        children: int,
        child_dim: int,
        parents: int,
        dim: int,
        *,
        iterations: int = 3,
        gradient: Literal["all", "last"] = "all",
        leaky: bool = False,
        init_scale: float = 0.1,
    ) -> None:
        super().__init__()
        self.iterations, self.gradient, self.leaky = iterations, gradient, leaky
        # W_ij stored so that one product per child predicts all parents: (I, C, J, D)
        self.weight = nn.Parameter(init_scale * torch.randn(children, child_dim, parents, dim))

    def votes(self, children: Tensor) -> Tensor:
        """The predictions (B, I, J, D) of children (B, I, C)."""
        count, size = self.weight.shape[:2]
        if children.ndim != 3 or children.shape[1:] != (count, size):
            raise ValueError(f"children must be (B, {count}, {size}), got {tuple(children.shape)}")
        return torch.einsum("bic,icjd->bijd", children, self.weight)

    def forward(self, children: Tensor, trace: bool = False) -> RoutingResult:
        """Route children (B, I, C); ``trace=True`` keeps the votes and every iteration."""
        if trace:
            return dynamic_routing(
                self.votes(children), self.iterations, gradient=self.gradient, leaky=self.leaky, trace=True
            )
        return predict_and_route(
            children, self.weight, self.iterations, gradient=self.gradient, leaky=self.leaky
        )
