"""Each op is one graph for `torch.compile`, with the values and gradients of the eager op.

The backend is aot_eager: what is tested is that the forward and backward graphs can be captured whole.
"""

import pytest
import torch
from torch import Tensor

from capsedu.ops import dynamic_routing, predict_and_route, squash

VOTES = (2, 5, 3, 4)
CASES = {
    "squash": (squash, [VOTES]),
    "dynamic_routing": (lambda votes: dynamic_routing(votes).outputs, [VOTES]),
    "dynamic_routing, leaky": (lambda votes: dynamic_routing(votes, leaky=True).outputs, [VOTES]),
    "dynamic_routing, last": (lambda votes: dynamic_routing(votes, gradient="last").outputs, [VOTES]),
    "predict_and_route": (lambda u, w: predict_and_route(u, w).outputs, [(2, 5, 4), (5, 4, 3, 2)]),
}


# Dynamo makes an instance of an autograd.Function while it traces one, and warns of itself.
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.parametrize("name", CASES)
def test_compiles_to_one_graph(name):
    op, shapes = CASES[name]
    generator = torch.Generator().manual_seed(0)
    arguments = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
    torch.compiler.reset()
    compiled = torch.compile(op, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(*arguments), op(*arguments))
    torch.testing.assert_close(
        gradients(compiled(*arguments), arguments), gradients(op(*arguments), arguments)
    )


def gradients(outputs: Tensor, arguments: list[Tensor]) -> tuple[Tensor, ...]:
    return torch.autograd.grad(outputs.square().sum(), arguments)
