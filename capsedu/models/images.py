"""What every classifier asks of its input."""

from torch import Tensor


def check_images(images: Tensor, image_shape: tuple[int, int, int]) -> None:
    """Refuse images that are not (B, C, H, W) with the model's channels, height and width."""
    if images.ndim != 4 or images.shape[1:] != image_shape:
        wanted = ", ".join(map(str, image_shape))
        raise ValueError(f"images must be (B, {wanted}), got {tuple(images.shape)}")
