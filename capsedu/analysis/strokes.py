"""How thick, slanted and wide a digit is, measured; and the same digit changed by a known amount."""

import torch
import torch.nn.functional as F
from torch import Tensor

FACTORS = ("thickness", "slant", "width")
# The largest change of each that still leaves a natural digit, in the units of `change_strokes`.
LARGEST_CHANGE = {"thickness": 0.5, "slant": 0.3, "width": 0.2}


def measure_strokes(images: Tensor) -> Tensor:
    r"""Thickness, slant and width of each digit, (B, 3), from its ink alone.

    With ink :math:`x`, and variances and covariance of the place of the ink (x to the right, y up):

    * thickness :math:`2 \sum x / \sum \lVert\nabla x\rVert`, in pixels: a stroke has two edges, so that its
      area is half its edge's length times its thickness;
    * slant :math:`\sigma_{xy} / \sigma_y^2`: pixels to the right per pixel up;
    * width :math:`\sqrt{12\,(\sigma_x^2 - \sigma_{xy}^2/\sigma_y^2)}`, in pixels: of a box with the same
      spread, once the slant is taken out.

    Args:
        images: pictures (B, 1, H, W), ink bright.

    Example:
        >>> bar = torch.zeros(1, 1, 28, 28)
        >>> bar[..., 4:24, 12:16] = 1
        >>> round(measure_strokes(bar)[0, 2].item(), 4)  # about four pixels wide
        3.873
    """
    _, _, x_variance, y_variance, covariance = _moments(images)
    ink = images.flatten(1).sum(dim=1)
    padded = F.pad(images, [1, 1, 1, 1])
    right = padded.diff(dim=3)[:, :, :-1]
    down = padded.diff(dim=2)[..., :-1]
    edge = torch.hypot(right, down).flatten(1).sum(dim=1)
    width = (12 * (x_variance - covariance**2 / y_variance)).clamp(min=0).sqrt()
    return torch.stack([2 * ink / edge, covariance / y_variance, width], dim=1)


def change_strokes(images: Tensor, factor: str, amount: float) -> Tensor:
    """The same digits with one factor changed by a known amount, about the middle of their ink.

    Args:
        images: pictures (B, 1, H, W), ink bright.
        factor: ``"thickness"``: every edge moves out by ``amount`` pixels, in quarters of a pixel;
            ``"slant"``: ``amount`` is added to the slant; ``"width"``: the width is multiplied by
            1 + ``amount`` and the slant kept.
        amount: how much. At 0 only a thickened digit changes: it is blurred a little, as at every amount.

    Example:
        >>> change_strokes(torch.rand(2, 1, 28, 28), "slant", 0.2).shape
        torch.Size([2, 1, 28, 28])
    """
    if factor not in FACTORS:
        raise ValueError(f"factor must be one of {', '.join(FACTORS)}, got {factor!r}")
    if factor == "thickness":
        return _thicken(images, amount)
    x, y, _, y_variance, covariance = _moments(images)
    stretch = 1 + amount if factor == "width" else 1.0
    # A pixel at height h above the middle is read at x / stretch + lean h: from there its ink came.
    slant = covariance / y_variance
    lean = slant - slant / stretch if factor == "width" else torch.full_like(slant, -amount)
    return _read_at(images, x, y, stretch, lean)


def _moments(images: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Mean x, mean y, variances of x and y, covariance of the place of the ink; y runs up. (B,) each."""
    height, width = images.shape[2:]
    weight = images[:, 0] / images[:, 0].sum(dim=(1, 2), keepdim=True)
    x = torch.arange(width, device=images.device, dtype=images.dtype)
    y = -torch.arange(height, device=images.device, dtype=images.dtype)[:, None]

    def mean(values: Tensor) -> Tensor:
        return (weight * values).sum(dim=(1, 2))

    x_mean, y_mean = mean(x), mean(y)
    x, y = x - x_mean[:, None, None], y - y_mean[:, None, None]
    return x_mean, y_mean, mean(x * x), mean(y * y), mean(x * y)


def _thicken(images: Tensor, amount: float, fine: int = 4) -> Tensor:
    """Dilate (amount above 0) or erode (below) the digits on a grid ``fine`` times as fine."""
    sign = 1 if amount >= 0 else -1
    steps = round(abs(amount) * fine)
    large = F.interpolate(images, scale_factor=fine, mode="bilinear", align_corners=False)
    moved = sign * F.max_pool2d(sign * large, 2 * steps + 1, stride=1, padding=steps)
    return F.avg_pool2d(moved, fine)


def _read_at(images: Tensor, x: Tensor, y: Tensor, stretch: float, lean: Tensor) -> Tensor:
    """Each pixel takes its ink from (x / stretch + lean h), h the height above the middle (x, y)."""
    height, width = images.shape[2:]
    rows = -torch.arange(height, device=images.device, dtype=images.dtype) - y[:, None]  # h, (B, H)
    columns = torch.arange(width, device=images.device, dtype=images.dtype) - x[:, None]  # (B, W)
    source = x[:, None, None] + columns[:, None] / stretch + (lean[:, None] * rows)[..., None]
    across = (2 * source + 1) / width - 1  # grid_sample's coordinates: the picture spans -1 to 1
    down = (2 * torch.arange(height, device=images.device, dtype=images.dtype) + 1) / height - 1
    grid = torch.stack([across, down[None, :, None].expand_as(across)], dim=-1)
    return F.grid_sample(images, grid, align_corners=False)
