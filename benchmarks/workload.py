"""The pieces of work that are measured. JSON can describe each, so another process can build it again."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch
from torch import nn

from benchmarks.reference import ReferenceCapsNet, ReferenceMatrixCapsNet
from capsedu import losses, models, ops

SEED = 0
TINY = {"channels": 8, "primary_types": 1, "decoder": (8,)}  # a CapsNet that takes no time and no room


@dataclass(frozen=True)
class Step:
    """One full training step of a CapsNet: forward, both losses, backward, Adam."""

    batch: int
    implementation: Literal["reference", "capsedu"] = "capsedu"
    precision: Literal["fp32", "bf16"] = "fp32"
    iterations: int = 3
    model_options: dict[str, Any] = field(default_factory=dict)  # other sizes than capsnet-mnist's

    def tiny(self) -> "Step":
        """The same work at next to no size."""
        return replace(self, batch=1, model_options=TINY)

    def model(self) -> nn.Module:
        """The network, the same weights in every implementation."""
        torch.manual_seed(SEED)
        model = models.create("capsnet-mnist", iterations=self.iterations, **self.model_options)
        return ReferenceCapsNet(model) if self.implementation == "reference" else model

    def build(self) -> Callable[[], None]:
        """The step as a function to be called again and again."""
        model = self.model()
        images, labels = torch.rand(self.batch, 1, 28, 28), torch.randint(10, (self.batch,))
        optimizer = torch.optim.Adam(model.parameters())

        def step() -> None:
            with torch.autocast("cpu", torch.bfloat16, enabled=self.precision == "bf16"):
                output = model(images, labels)
            loss = losses.margin_loss(output.lengths.float(), labels)
            loss = loss + losses.reconstruction_loss(output.reconstruction.float(), images)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()

        return step


@dataclass(frozen=True)
class Routing:
    """Votes and routing alone, forward and backward.

    ``"plain"`` makes the votes and hands them to `dynamic_routing`, ``"sliced"`` is `predict_and_route`.
    """

    batch: int
    implementation: Literal["plain", "sliced"]
    iterations: int
    children: int = 1152

    def tiny(self) -> "Routing":
        """The same work at next to no size."""
        return replace(self, batch=1, children=36)

    def build(self) -> Callable[[], None]:
        """The work as a function to be called again and again."""
        torch.manual_seed(SEED)
        children = torch.randn(self.batch, self.children, 8, requires_grad=True)
        weight = (0.1 * torch.randn(self.children, 8, 10, 16)).requires_grad_()
        grad = torch.randn(self.batch, 10, 16)

        def route() -> None:
            children.grad = weight.grad = None
            if self.implementation == "plain":
                votes = torch.einsum("bic,icjd->bijd", children, weight)
                result = ops.dynamic_routing(votes, self.iterations)
            else:
                result = ops.predict_and_route(children, weight, self.iterations)
            result.outputs.backward(grad)

        return route


@dataclass(frozen=True)
class MatrixStep:
    """One full training step of a matrix capsule network: forward, spread loss, backward, Adam.

    ``"compiled"`` fuses the routing, ``"sliced"`` does without a compiler, ``"reference"`` keeps all votes.
    """

    batch: int
    implementation: Literal["reference", "sliced", "compiled"] = "compiled"
    iterations: int = 3
    side: int = 32  # of the images
    model_options: dict[str, Any] = field(default_factory=dict)  # other sizes than matrixcaps-small's

    def tiny(self) -> "MatrixStep":
        """The same work at next to no size."""
        return replace(self, batch=1, model_options={"A": 4, "B": 2, "C": 2, "D": 2})

    def model(self) -> nn.Module:
        """The network, the same weights in every implementation."""
        torch.manual_seed(SEED)
        options = {"iterations": self.iterations, "image_shape": (2, self.side, self.side)}
        compiled = self.implementation == "compiled"
        model = models.create("matrixcaps-small", compiled=compiled, **options, **self.model_options)
        return ReferenceMatrixCapsNet(model) if self.implementation == "reference" else model

    def build(self) -> Callable[[], None]:
        """The step as a function to be called again and again."""
        model = self.model()
        images, labels = torch.randn(self.batch, 2, self.side, self.side), torch.randint(5, (self.batch,))
        optimizer = torch.optim.Adam(model.parameters())

        def step() -> None:
            losses.spread_loss(model(images).activations, labels).backward()
            optimizer.step()
            optimizer.zero_grad()

        return step


KINDS = {"Step": Step, "Routing": Routing, "MatrixStep": MatrixStep}
Workload = Step | Routing | MatrixStep
