"""Views that a network is trained on, and views that it has never seen."""

from typing import Literal

import torch

from capsedu.data.dataset import ImageDataset
from capsedu.errors import CapseduError, unknown_name

# Hinton et al. (2018), section 5.1: a third of the views, as the data sets number them.
FAMILIAR = {
    "azimuth": (30, 32, 34, 0, 2, 4),  # 300°, 320°, 340°, 0°, 20°, 40°; novel: 60° to 280°
    "elevation": (0, 1, 2),  # the three lowest: 30°, 35°, 40°; novel: 45° to 70°
}


def viewpoint_split(
    dataset: ImageDataset, by: Literal["azimuth", "elevation"] = "azimuth"
) -> tuple[ImageDataset, ImageDataset]:
    """The part with the paper's familiar views, and the part with the novel ones.

    Train on the first part of a training set; compare the errors on both parts of a test set.

    Args:
        dataset: with ``factors``; smallNORB or ToyNORB.
        by: which angle tells them apart.

    Example:
        >>> pictures = torch.zeros(4, 1, 1, 1, dtype=torch.uint8)
        >>> angles = {"azimuth": torch.tensor([0, 6, 28, 30])}
        >>> whole = ImageDataset("toys", "test", pictures, torch.arange(4), "made here", angles)
        >>> [part.labels.tolist() for part in viewpoint_split(whole)]
        [[0, 3], [1, 2]]
    """
    if by not in FAMILIAR:
        raise unknown_name("viewpoint split", by, FAMILIAR)
    view = (dataset.factors or {}).get(by)
    if view is None or (view < 0).any():
        raise CapseduError(f"the {by} of the images of {dataset.name} {dataset.split} is not known")
    familiar = torch.isin(view, torch.tensor(FAMILIAR[by], device=view.device))
    return dataset.select(familiar), dataset.select(~familiar)
