"""Faces drawn by code: a few parts, each at its place, on a grey canvas."""

from collections.abc import Callable, Mapping

import torch
from torch import Generator, Tensor

SIZE = 48  # pixels, height and width
WINDOW = 9  # pixels: a square that holds any one part
HEAD = 17.0  # radius
# How much random pictures differ, unless told otherwise.
MAX_SHIFT, MAX_DEGREES = 4.0, 10.0
NOISE = 0.1  # standard deviation

# Where the parts of a face are: x to the right and y down, in pixels from the middle.
FACE = {"left eye": (-5.0, -8.0), "right eye": (5.0, -8.0), "nose": (0.0, 0.0), "mouth": (0.0, 8.0)}
# The same places given to other parts.
JUMBLED = {"left eye": (0.0, 8.0), "right eye": (0.0, 0.0), "nose": (5.0, -8.0), "mouth": (-5.0, -8.0)}

Place = tuple[float, float]


def _eye(x: Tensor, y: Tensor) -> Tensor:
    radius = torch.hypot(x, y)
    return torch.minimum((radius - 2.6).abs() - 0.7, radius - 0.9)


def _nose(x: Tensor, y: Tensor) -> Tensor:
    along = ((y + 2.5) / 5).clamp(0, 1)  # from the bridge, (1, -2.5), to the left nostril, (-2, 2.5)
    bridge = torch.hypot(x - 1 + 3 * along, y + 2.5 - 5 * along)
    base = torch.hypot(x - x.clamp(-2, 2), y - 2.5)
    return torch.minimum(bridge, base) - 0.8


def _mouth(x: Tensor, y: Tensor) -> Tensor:
    arc = (torch.hypot(x, y + 4) - 5.5).abs() - 0.9  # part of a circle whose middle is above the mouth
    return torch.maximum(torch.maximum(arc, x.abs() - 3.4), -0.5 - y)


def _cross(x: Tensor, y: Tensor) -> Tensor:
    return torch.maximum(torch.minimum(x.abs(), y.abs()) - 0.8, torch.maximum(x.abs(), y.abs()) - 3.2)


def _square(x: Tensor, y: Tensor) -> Tensor:
    return (torch.maximum(x.abs(), y.abs()) - 2.5).abs() - 0.7


def _diamond(x: Tensor, y: Tensor) -> Tensor:
    return ((x.abs() + y.abs()) / 2**0.5 - 1.6).abs() - 0.7


# Each kind of part: how far a pixel at (x, y) is from its ink; negative inside.
KINDS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "eye": _eye,
    "nose": _nose,
    "mouth": _mouth,
    "cross": _cross,
    "square": _square,
    "diamond": _diamond,
}
KIND_NAMES = tuple(KINDS)  # the first three make a face
FACE_KINDS = torch.tensor([0, 0, 1, 2])  # of the parts of FACE, in its order
FACE_PLACES = torch.tensor(list(FACE.values()))  # (4, 2)


def draw_face(
    places: Mapping[str, Place] = FACE,
    *,
    shift: Place = (0.0, 0.0),
    degrees: float = 0.0,
) -> Tensor:
    """One picture (1, 48, 48) of the four parts at the given places, in a round head.

    Args:
        places: of ``"left eye"``, ``"right eye"``, ``"nose"`` and ``"mouth"``: x to the right and y down, in
            pixels from the middle. A part that is not named is not drawn.
        shift: moves the whole, in pixels.
        degrees: turns the whole clockwise.

    Example:
        >>> draw_face(degrees=30).shape
        torch.Size([1, 48, 48])
    """
    kinds = torch.tensor([[KIND_NAMES.index(part.split()[-1]) for part in places]])
    return draw(
        kinds, torch.tensor([list(places.values())]), torch.tensor([shift]), torch.tensor([float(degrees)])
    )[0]


def draw(kinds: Tensor, places: Tensor, shifts: Tensor, degrees: Tensor) -> Tensor:
    """Many pictures (N, 1, 48, 48) in [0, 1], each a round head with parts in it.

    Args:
        kinds: which part, an index of ``KINDS``, (N, parts).
        places: where it is, (N, parts, 2), before the whole is turned and shifted.
        shifts: of the whole, (N, 2).
        degrees: of the whole, clockwise, (N,).
    """
    x, y = _face_coordinates(shifts, degrees)  # (N, H, W) each
    pictures = _ink((torch.hypot(x, y) - HEAD).abs() - 0.7)
    for part in range(kinds.shape[1]):
        local_x = x - places[:, part, 0, None, None]
        local_y = y - places[:, part, 1, None, None]
        for kind in kinds[:, part].unique().tolist():
            chosen = kinds[:, part] == kind
            ink = _ink(KINDS[KIND_NAMES[kind]](local_x[chosen], local_y[chosen]))
            pictures[chosen] = torch.maximum(pictures[chosen], ink)
    return pictures[:, None]


def random_pictures(
    like: str,
    count: int,
    generator: Generator,
    *,
    shift: float = 0.0,
    degrees: float = 0.0,
    max_shift: float = MAX_SHIFT,
    max_degrees: float = MAX_DEGREES,
) -> Tensor:
    """Drawings (N, 1, 48, 48) that differ in pose, in small movements of the parts, and in noise.

    Args:
        like: ``"face"``; ``"jumbled"``, the parts of a face at each other's places; or ``"other"``, the
            places of a face with a cross, a square or a diamond instead of one part or more.
        count: how many.
        generator: decides all that is random.
        shift: moves every picture to the right, in pixels.
        degrees: turns every picture clockwise.
        max_shift: each picture is moved by up to so many pixels more, at random, in each direction.
        max_degrees: each picture is turned by up to so many degrees more, at random, in each direction.

    Example:
        >>> random_pictures("face", 2, Generator().manual_seed(0)).shape
        torch.Size([2, 1, 48, 48])
    """

    def uniform(*shape: int) -> Tensor:
        return 2 * torch.rand(*shape, generator=generator) - 1

    kinds = random_kinds(like, count, generator)
    places = FACE_PLACES + uniform(count, 4, 2)
    shifts = torch.tensor([shift, 0.0]) + max_shift * uniform(count, 2)
    pictures = draw(kinds, places, shifts, degrees + max_degrees * uniform(count))
    return (pictures + NOISE * torch.randn(pictures.shape, generator=generator)).clamp(0, 1)


def part_patch(kind: str) -> Tensor:
    """One part alone in its window, (9, 9).

    Args:
        kind: ``"eye"``, ``"nose"``, ``"mouth"``, or one of those no face has: ``"cross"``, ``"square"``,
            ``"diamond"``.
    """
    axis = torch.arange(WINDOW, dtype=torch.float32) - WINDOW // 2
    return _ink(KINDS[kind](*torch.meshgrid(axis, axis, indexing="xy")))


def random_kinds(like: str, count: int, generator: Generator) -> Tensor:
    """What stands at the four places of a face, (N, 4)."""
    kinds = FACE_KINDS.repeat(count, 1)
    if like == "face":
        return kinds
    if like == "jumbled":
        orders = _jumbles()
        return FACE_KINDS[orders[torch.randint(len(orders), (count,), generator=generator)]]
    if like == "other":
        replaced = torch.rand(count, 4, generator=generator) < 0.5
        replaced.scatter_(1, torch.randint(4, (count, 1), generator=generator), True)  # at least one
        strange = torch.randint(3, len(KINDS), (count, 4), generator=generator)
        return torch.where(replaced, strange, kinds)
    raise ValueError(f'like must be "face", "jumbled" or "other", got {like!r}')


def _jumbles() -> Tensor:
    """Every order of the four parts that leaves neither nose nor mouth where a face has it, (orders, 4)."""
    every = torch.cartesian_prod(*[torch.arange(4)] * 4)
    orders = every[[len(set(order)) == 4 for order in every.tolist()]]
    return orders[(orders[:, 2] != 2) & (orders[:, 3] != 3)]


def _face_coordinates(shifts: Tensor, degrees: Tensor) -> tuple[Tensor, Tensor]:
    """Every pixel's x and y as the upright, unshifted face has them, (N, H, W) each."""
    axis = torch.arange(SIZE) - SIZE // 2
    x = axis[None, None, :] - shifts[:, 0, None, None]
    y = axis[None, :, None] - shifts[:, 1, None, None]
    angle = torch.deg2rad(degrees)[:, None, None]
    return angle.cos() * x + angle.sin() * y, angle.cos() * y - angle.sin() * x


def _ink(distance: Tensor) -> Tensor:
    return (0.5 - distance).clamp(0, 1)
