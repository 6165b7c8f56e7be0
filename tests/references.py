"""The equations of Sabour et al. (2017) as plain loops over b, i, j and d.

Slow, and meant to be read beside the paper. Every number is a tensor without dimensions, so that autograd
can tell the gradient of a reference as well as its value.
"""

from itertools import product

import torch
from torch import Tensor


def squash(s: list[Tensor]) -> list[Tensor]:
    """Equation 1: v = |s|² / (1 + |s|²) · s / |s|, and 0 at 0."""
    squared = sum(entry * entry for entry in s)
    if squared == 0:
        return s
    return [squared / (1 + squared) * (entry / squared**0.5) for entry in s]


def predictions(children: Tensor, weight: Tensor) -> Tensor:
    """Equation 2: û_j|i = W_ij u_i, for children (B, I, C) and weight (I, C, J, D)."""
    batch, child_count, child_size = children.shape
    _, _, parent_count, size = weight.shape
    votes = torch.zeros(batch, child_count, parent_count, size, dtype=children.dtype)
    for b, i, j, d in product(range(batch), range(child_count), range(parent_count), range(size)):
        votes[b, i, j, d] = sum(weight[i, c, j, d] * children[b, i, c] for c in range(child_size))
    return votes


def dynamic_routing(
    votes: Tensor, iterations: int, gradient: str = "all", leaky: bool = False
) -> tuple[Tensor, Tensor]:
    """Procedure 1, one example at a time: outputs (B, J, D) and the couplings (B, I, J) that made them."""
    routed = [_route_one(example, iterations, gradient, leaky) for example in votes]
    return torch.stack([v for v, _ in routed]), torch.stack([c for _, c in routed])


def _route_one(votes: Tensor, iterations: int, gradient: str, leaky: bool) -> tuple[Tensor, Tensor]:
    child_count, parent_count, size = votes.shape
    children, parents, entries = range(child_count), range(parent_count), range(size)
    # for all capsule i in layer l and capsule j in layer (l + 1): b_ij <- 0
    b = [[torch.zeros((), dtype=votes.dtype) for j in parents] for i in children]
    # for r iterations do
    for _ in range(iterations):
        # for all capsule i in layer l: c_i <- softmax(b_i)
        c = [_softmax(b[i], leaky) for i in children]
        if gradient == "last":
            c = [[c_ij.detach() for c_ij in c_i] for c_i in c]
        # for all capsule j in layer (l + 1): s_j <- sum_i c_ij û_j|i
        s = [[sum(c[i][j] * votes[i, j, d] for i in children) for d in entries] for j in parents]
        # for all capsule j in layer (l + 1): v_j <- squash(s_j)
        v = [squash(s[j]) for j in parents]
        # for all capsule i in layer l and capsule j in layer (l + 1): b_ij <- b_ij + û_j|i . v_j
        b = [[b[i][j] + sum(votes[i, j, d] * v[j][d] for d in entries) for j in parents] for i in children]
    # return v_j
    return _tensor(v), _tensor(c)


def _softmax(b_i: list[Tensor], leaky: bool) -> list[Tensor]:
    """Equation 3: c_ij = exp(b_ij) / sum_k exp(b_ik). A leak is one more k, with logit 0: exp(0) = 1."""
    total = sum(b_ij.exp() for b_ij in b_i) + (1 if leaky else 0)
    return [b_ij.exp() / total for b_ij in b_i]


def margin_loss(lengths: Tensor, present: Tensor, scaling: str = "paper") -> Tensor:
    """Equation 4, summed over the classes; ``present`` holds T_k as 0 or 1, both are (B, J)."""
    batch, classes = lengths.shape
    total = torch.zeros((), dtype=lengths.dtype)
    for b, k in product(range(batch), range(classes)):
        if present[b, k] == 1:
            loss = max(0, 0.9 - lengths[b, k]) ** 2
        else:
            loss = 0.5 * max(0, lengths[b, k] - 0.1) ** 2
        total = total + (loss if scaling == "paper" else 0.5 * loss / classes)
    return total / batch


def reconstruction_loss(reconstruction: Tensor, images: Tensor) -> Tensor:
    """Section 4.1: 0.0005 times the sum of the squared differences of the pixels."""
    batch, channels, height, width = images.shape
    total = torch.zeros((), dtype=images.dtype)
    for b, c, y, x in product(range(batch), range(channels), range(height), range(width)):
        total = total + 0.0005 * (reconstruction[b, c, y, x] - images[b, c, y, x]) ** 2
    return total / batch


def primary_capsules(
    features: Tensor, weight: Tensor, bias: Tensor, types: int, dim: int, stride: int
) -> Tensor:
    """Section 4: a convolution, then one capsule is ``dim`` channels at one position of one type."""
    batch, channels, height, width = features.shape
    kernel = weight.shape[-1]
    rows, columns = (height - kernel) // stride + 1, (width - kernel) // stride + 1
    capsules = torch.zeros(batch, types * rows * columns, dim, dtype=features.dtype)
    for b, kind, y, x in product(range(batch), range(types), range(rows), range(columns)):
        entries = []
        for d in range(dim):
            channel = kind * dim + d
            entry = bias[channel]
            for c, ky, kx in product(range(channels), range(kernel), range(kernel)):
                pixel = features[b, c, y * stride + ky, x * stride + kx]
                entry = entry + weight[channel, c, ky, kx] * pixel
            entries.append(entry)
        capsules[b, (kind * rows + y) * columns + x] = torch.stack(squash(entries))
    return capsules


def masked_capsules(capsules: Tensor, labels: Tensor) -> Tensor:
    """Section 4.1: what the decoder sees (B, J * D), all zero but the capsule of the label."""
    batch, classes, dim = capsules.shape
    masked = torch.zeros(batch, classes * dim, dtype=capsules.dtype)
    for b, j, d in product(range(batch), range(classes), range(dim)):
        masked[b, j * dim + d] = capsules[b, j, d] if j == labels[b] else 0
    return masked


def _tensor(rows: list[list[Tensor]]) -> Tensor:
    return torch.stack([torch.stack(row) for row in rows])
