"""Scenes: a few solids, each with a pose, and the light on them."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from capsedu.render.solids import SOLIDS


@dataclass(frozen=True)
class Part:
    """One solid of a toy."""

    solid: str  # "ball", "box" or "cylinder"
    pose: Tensor  # (4, 4)
    albedo: float = 0.75  # how much of the light it gives back


@dataclass(frozen=True)
class Scene:
    """B scenes of the same K solids, in different poses."""

    solids: tuple[str, ...]  # K
    poses: Tensor  # (B, K, 4, 4)
    albedos: Tensor  # (K,)

    def __post_init__(self) -> None:
        for solid in self.solids:
            if solid not in SOLIDS:
                raise ValueError(f"a solid must be one of {', '.join(SOLIDS)}, got {solid!r}")
        if self.poses.dim() != 4 or self.poses.shape[1:] != (len(self.solids), 4, 4):
            expected = f"(B, {len(self.solids)}, 4, 4)"
            raise ValueError(
                f"poses of {len(self.solids)} solids must be {expected}, got {tuple(self.poses.shape)}"
            )
        if self.albedos.shape != (len(self.solids),):
            raise ValueError(f"albedos must be ({len(self.solids)},), got {tuple(self.albedos.shape)}")

    @classmethod
    def of(cls, parts: list[Part]) -> "Scene":
        """One scene, B = 1, of these parts."""
        poses = torch.stack([part.pose for part in parts])[None]
        albedos = poses.new_tensor([part.albedo for part in parts])
        return cls(tuple(part.solid for part in parts), poses, albedos)

    def moved(self, pose: Tensor) -> "Scene":
        """The whole in another pose (4, 4) or (B, 4, 4): it multiplies the pose of every part alike.

        Example:
            >>> from capsedu.render import rotate
            >>> toy = Scene.of([Part("ball", torch.eye(4)), Part("box", torch.eye(4))])
            >>> toy.moved(rotate("z", [0.0, 20.0, 40.0])).poses.shape
            torch.Size([3, 2, 4, 4])
        """
        return replace(self, poses=pose.reshape(-1, 1, 4, 4) @ self.poses)


@dataclass(frozen=True)
class Light:
    """A lamp far away, light from all sides, and how bright the background is.

    A surface of albedo a and unit normal n, with l the unit vector to the lamp, is as bright as

        a (ambient (1 + sky n_z) + strength max(0, n · l))
    """

    to_lamp: tuple[float, float, float] = (0.5, -0.5, 0.7)  # a direction of any length
    strength: float = 0.6
    ambient: float = 0.4
    sky: float = 0.25  # how much brighter what looks up is than what looks to the side
    background: float = 0.8
