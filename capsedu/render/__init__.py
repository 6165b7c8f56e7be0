"""A small differentiable ray caster: solids with poses, a camera, a light, a picture."""

from capsedu.render.camera import Camera
from capsedu.render.poses import limb, rotate, stretch, translate
from capsedu.render.render import Surfaces, render, render_pair, shade, trace
from capsedu.render.scene import Light, Part, Scene
from capsedu.render.toys import make_toy

__all__ = [
    "Camera",
    "Light",
    "Part",
    "Scene",
    "Surfaces",
    "limb",
    "make_toy",
    "render",
    "render_pair",
    "rotate",
    "shade",
    "stretch",
    "trace",
    "translate",
]
