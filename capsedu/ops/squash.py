"""The squash non-linearity of Sabour et al. (2017), equation 1."""

import torch
from torch import Tensor


def squash(s: Tensor, dim: int = -1) -> Tensor:
    r"""Shrink a vector to a length below 1 and keep its direction.

    .. math:: v = \frac{\lVert s\rVert^2}{1 + \lVert s\rVert^2}\,\frac{s}{\lVert s\rVert}

    Finite, with a finite gradient, for every finite input: at 0 both are 0.

    Args:
        s: vectors along ``dim``, any shape.
        dim: the axis that holds one capsule's entries.

    Returns:
        A tensor of the shape of ``s``.

    Example:
        >>> squash(torch.tensor([3.0, 4.0]))  # length 5 becomes 25/26
        tensor([0.5769, 0.7692])
    """
    # Past 1/sqrt(eps) the squashed length is 1 to the last bit, but its square may overflow:
    # bring such vectors back to that size. The tangential gradient, 1/|s|, stays exact.
    large = torch.finfo(s.dtype).eps ** -0.5
    s = s / (s.detach().abs().amax(dim, keepdim=True) / large).clamp(min=1)
    # vector_norm has gradient 0, not NaN, at 0.
    length = torch.linalg.vector_norm(s, dim=dim, keepdim=True)
    # |s|^2 / (1 + |s|^2) * s / |s|  =  s * |s| / (1 + |s|^2): no division by |s|
    return s * (length / (1 + length * length))
