"""Prediction and dynamic routing in one step: the same numbers as `dynamic_routing`, faster and smaller.

The votes are by far the largest tensor of a CapsNet. Three things keep them cheap here:

1. The batch is cut into slices whose votes fit the processor's cache; votes live only inside their slice.
2. The backward pass makes them again instead of keeping them.
3. Every iteration adds an outer product to the votes' gradient. Their sum over iterations is one matrix
   product (see `_route_backward`), so that three iterations cost little more than one.

`tests/ops/test_routing_fast.py` holds it to the plain form, value and gradient.
"""

from typing import Any, Literal

import torch
from torch import Tensor

from capsedu.ops.routing import RoutingResult, check_routing_options, couplings_of
from capsedu.ops.squash import squash

SLICE_BYTES = {"cpu": 6 * 2**20}  # a cache-sized slice of votes
DEFAULT_SLICE_BYTES = 512 * 2**20  # an accelerator wants few large slices


def predict_and_route(
    children: Tensor,
    weight: Tensor,
    iterations: int = 3,
    *,
    gradient: Literal["all", "last"] = "all",
    leaky: bool = False,
) -> RoutingResult:
    r"""Route the predictions :math:`\hat u_{j|i} = W_{ij} u_i` without keeping them.

    Args:
        children: capsules u_i (B, I, C).
        weight: W_ij stored as (I, C, J, D), so that :math:`\hat u = u W`.
        iterations, gradient, leaky: as in :func:`capsedu.ops.dynamic_routing`.

    Returns:
        ``outputs`` (B, J, D), differentiable, and ``couplings`` (B, I, J), constants.
    """
    check_routing_options(iterations, gradient)
    if children.ndim != 3 or weight.ndim != 4 or children.shape[1:] != weight.shape[:2]:
        raise ValueError(
            f"children must be (B, I, C) and weight (I, C, J, D), "
            f"got {tuple(children.shape)} and {tuple(weight.shape)}"
        )
    options = iterations, gradient == "all", leaky
    dtype, device = torch.promote_types(children.dtype, weight.dtype), children.device.type
    if torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device):
        low = torch.get_autocast_dtype(device)
        with torch.autocast(device, enabled=False):
            outputs, couplings = _PredictAndRoute.apply(children.to(low), weight.to(low), *options)
    else:
        outputs, couplings = _PredictAndRoute.apply(children, weight, *options)
    return RoutingResult(outputs.to(dtype), couplings)


def predict(children: Tensor, weight: Tensor) -> Tensor:
    """Votes (B, I, J, D) of children (B, I, C), laid out in memory as (B, J, I, D) for routing."""
    _, _, parents, size = weight.shape
    votes = torch.bmm(children.transpose(0, 1), weight.flatten(2))  # (I, B, J*D)
    votes = votes.unflatten(2, (parents, size)).permute(1, 2, 0, 3).contiguous()  # (B, J, I, D)
    return votes.transpose(1, 2)


class _PredictAndRoute(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, children: Tensor, weight: Tensor, iterations: int, through_all: bool, leaky: bool
    ) -> tuple[Tensor, Tensor]:
        slices = children.split(_slice_size(children, weight))
        routed = [_route(predict(part, weight).transpose(1, 2), iterations, leaky) for part in slices]
        totals = torch.cat([total for total, _ in routed], dim=1)  # (r, B, J, D)
        couplings = torch.cat([coupling for _, coupling in routed], dim=1)  # (r, B, J, I)
        ctx.save_for_backward(children, weight, totals, couplings)
        ctx.through_all = through_all
        last = couplings[-1].transpose(1, 2)
        ctx.mark_non_differentiable(last)
        return squash(totals[-1]), last

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad_outputs: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        children, weight, totals, couplings = ctx.saved_tensors
        size = _slice_size(children, weight)
        grad_children = torch.empty_like(children)
        grad_weight = torch.zeros_like(weight.flatten(2), dtype=_state_dtype(weight))  # (I, C, J*D)
        for start in range(0, len(children), size):
            part = slice(start, start + size)
            votes = predict(children[part], weight).transpose(1, 2)  # (B, J, I, D)
            grad_votes = _route_backward(
                votes, totals[:, part], couplings[:, part], grad_outputs[part], ctx.through_all
            )
            grad_votes = grad_votes.permute(2, 0, 1, 3).flatten(2)  # (I, B, J*D)
            grad_children[part] = torch.bmm(grad_votes, weight.flatten(2).mT).transpose(0, 1)
            grad_weight += torch.bmm(children[part].permute(1, 2, 0), grad_votes)
        return grad_children, grad_weight.view(weight.shape).to(weight.dtype), None, None, None


def _slice_size(children: Tensor, weight: Tensor) -> int:
    """How many images' votes fit the budget."""
    per_image = weight.shape[0] * weight.shape[2] * weight.shape[3] * weight.element_size()
    budget = SLICE_BYTES.get(children.device.type, DEFAULT_SLICE_BYTES)
    return max(1, budget // per_image)


def _route(votes: Tensor, iterations: int, leaky: bool) -> tuple[Tensor, Tensor]:
    """Routing on votes (B, J, I, D); returns every iteration's s_j (r, B, J, D) and c_ij (r, B, J, I)."""
    dtype = _state_dtype(votes)
    logits = votes.new_zeros(votes.shape[:3], dtype=dtype)
    totals: list[Tensor] = []
    couplings: list[Tensor] = []
    for iteration in range(iterations):
        if iteration:
            output = squash(totals[-1]).to(votes.dtype)
            logits = logits + (votes @ output[..., None]).squeeze(-1)  # u_j|i . v_j
        coupling = couplings_of(logits, leaky, dim=1).to(votes.dtype)
        couplings.append(coupling)
        totals.append((coupling[..., None, :] @ votes).squeeze(-2).to(dtype))  # sum_i c_ij u_j|i
    return torch.stack(totals), torch.stack(couplings)


def _route_backward(
    votes: Tensor, totals: Tensor, couplings: Tensor, grad_output: Tensor, through_all: bool
) -> Tensor:
    r"""Gradient of the votes (B, J, I, D).

    With :math:`g^s_t, g^b_t` the gradients of s and b at iteration t (and :math:`g^b` accumulating, since
    b does), the votes' gradient is :math:`\sum_t c_t \otimes g^s_t + g^b_{t+1} \otimes v_t`:
    columns (B, J, I, 2r-1) times rows (B, J, 2r-1, D).
    """
    columns, rows = [], []
    dtype = totals.dtype
    grad_v, grad_logits = grad_output.to(dtype), torch.zeros_like(couplings[0], dtype=dtype)
    for t in reversed(range(len(totals))):
        grad_total = _squash_backward(totals[t], grad_v)
        columns.append(couplings[t])
        rows.append(grad_total)
        if t == 0 or not through_all:
            break
        # c = softmax(b): g_b = c (g_c - sum_j c g_c), with g_c = u . g_s. A leak has g_c = 0: same formula.
        grad_c = (votes @ grad_total.to(votes.dtype)[..., None]).squeeze(-1).to(dtype)  # (B, J, I)
        coupling = couplings[t].to(dtype)
        grad_logits = grad_logits + coupling * (grad_c - (coupling * grad_c).sum(dim=1, keepdim=True))
        # b_t = b_{t-1} + u . v_{t-1}
        column = grad_logits.to(votes.dtype)
        grad_v = (column[..., None, :] @ votes).squeeze(-2).to(dtype)
        columns.append(column)
        rows.append(squash(totals[t - 1]))
    return torch.stack(columns, dim=-1) @ torch.stack(rows, dim=-2).to(votes.dtype)


def _squash_backward(total: Tensor, grad: Tensor) -> Tensor:
    pull_back = torch.func.vjp(squash, total)[1]
    return pull_back(grad)[0]


def _state_dtype(votes: Tensor) -> torch.dtype:
    """Logits, totals and summed gradients are small: keep them in at least fp32 when votes are bf16."""
    return torch.promote_types(votes.dtype, torch.float32)
