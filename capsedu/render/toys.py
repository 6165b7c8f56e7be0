"""Fifty toys: five categories of ten, made of balls, boxes and cylinders, each with proportions of its own.

Every toy looks along +x, z is up. :func:`make_toy` moves its middle to the origin and scales it to reach a
distance of 1.
"""

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from capsedu.errors import unknown_name
from capsedu.render.poses import limb, rotate, stretch, translate
from capsedu.render.scene import Part, Scene

DARK, GLASS = 0.3, 0.2  # albedos of tyres and windows; everything else is of one light grey

Place = tuple[float, float, float]


class Chance:
    """Random choices from a seed."""

    def __init__(self, *seed: int) -> None:
        whole = 0
        for number in seed:
            whole = whole * 1009 + number  # different for different toys
        self._generator = Generator().manual_seed(whole)

    def between(self, low: float, high: float) -> float:
        """A number between the two."""
        return low + (high - low) * float(torch.rand((), generator=self._generator))

    def often(self, probability: float) -> bool:
        """True with this probability."""
        return self.between(0, 1) < probability

    def pick(self, count: int) -> int:
        """One of 0 … count - 1."""
        return int(self.between(0, count))


def make_toy(category: str, instance: int, seed: int = 0) -> Scene:
    """One toy, the same for the same arguments: a scene with B = 1.

    Args:
        category: one of ``CATEGORIES``.
        instance: which toy of its category, 0 to 9 in the data set.
        seed: of all toys.

    Example:
        >>> car = make_toy("car", 0)
        >>> car.solids.count("cylinder")  # its wheels
        4
    """
    if category not in CATEGORIES:
        raise unknown_name("category of toys", category, CATEGORIES)
    number = list(CATEGORIES).index(category)
    parts = CATEGORIES[category](Chance(seed, number, instance))
    points = torch.cat([surface_points(part) for part in parts])
    middle = (points.amin(dim=0) + points.amax(dim=0)) / 2
    reach = (points - middle).norm(dim=1).max()
    return Scene.of(parts).moved(stretch((1 / reach).expand(3)) @ translate(-middle))


def animal(chance: Chance) -> list[Part]:
    """Four legs, a body along x, a neck with a head, a tail."""
    trunk, horns = chance.often(0.2), chance.often(0.3)
    length, girth = chance.between(0.5, 0.68), chance.between(0.26, 0.36) + 0.06 * trunk
    leg, thick = chance.between(0.25, 0.5), chance.between(0.085, 0.12) + 0.03 * trunk
    neck, lean = (0.2 if trunk else chance.between(0.15, 0.75)), chance.between(0.5, 1.3)
    back = leg + girth
    parts = [ball((0, 0, back), (length, girth * 0.9, girth))]
    for x in (-0.68, 0.68):
        for y in (-0.5, 0.5):
            foot, hip = (x * length * 1.1, y * girth, 0.0), (x * length, y * girth, back - 0.2 * girth)
            parts.append(Part("cylinder", limb(foot, hip, thick)))
    nape = (0.75 * length, 0.0, back + 0.4 * girth)
    head = (nape[0] + neck * (1.5 - lean) * 0.7, 0.0, nape[2] + neck * lean * 0.8)
    parts.append(Part("ball", limb(_beyond(head, nape, 0.3), _beyond(nape, head, 0.8), girth * 0.5)))
    return parts + _animal_head(chance, head, girth, trunk, horns) + _animal_tail(chance, length, back)


def _animal_head(chance: Chance, head: Place, girth: float, trunk: bool, horns: bool) -> list[Part]:
    x, _, z = head
    size, snout = girth * chance.between(0.6, 0.8), chance.between(0.05, 0.25)
    parts = [ball(head, (size * 1.1, size * 0.8, size * 0.9))]
    nose = (x + size + snout, 0.0, z - 0.4 * size)
    if trunk:
        parts.append(Part("cylinder", limb((x + size, 0, z), (x + 1.8 * size, 0, z - 3 * size), 0.3 * size)))
    else:
        parts.append(Part("ball", limb((x, 0, z - 0.2 * size), nose, 0.5 * size)))
    for y in (-1, 1):
        if horns and not trunk:
            tip = (x - 0.2, y * size * 1.8, z + 2.2 * size)
            parts.append(Part("cylinder", limb((x, y * size * 0.4, z + 0.5 * size), tip, 0.04)))
        else:  # ears
            wide, high = (0.9, 0.1) if trunk else (0.35, 0.9)
            place = (x - 0.2 * size, y * size * (0.6 + 0.6 * wide), z + high * size)
            parts.append(ball(place, (0.15 * size, wide * size * 0.8, 0.7 * size)))
    return parts


def _animal_tail(chance: Chance, length: float, back: float) -> list[Part]:
    root = (-0.9 * length, 0.0, back + 0.05)
    tip = (-length - chance.between(0.1, 0.4), 0.0, back + chance.between(-0.3, 0.4))
    return [Part("ball", limb(_beyond(root, tip, 0.3), tip, chance.between(0.06, 0.12)))]


def human(chance: Chance) -> list[Part]:
    """On two legs, on a round foot plate as toy soldiers have it, arms held in some way."""
    tall, wide = chance.between(0.85, 1.1), chance.between(0.2, 0.28)
    stride, stance = chance.between(-0.2, 0.2), chance.between(0.1, 0.2)
    hip, shoulder, thick = tall, tall * 1.75, chance.between(0.085, 0.11)
    parts = [Part("cylinder", translate([0.0, 0.0, -0.03]) @ stretch([0.38, 0.42, 0.05]))]
    for side in (-1, 1):
        foot, top = (side * stride, side * stance, 0.0), (0.0, side * wide * 0.45, hip)
        parts.append(Part("cylinder", limb(foot, top, thick)))
    trunk = limb((0, 0, hip - 0.12), (0, 0, shoulder + 0.08), wide, wide * 0.6)
    parts.append(Part("ball" if chance.often(0.4) else "cylinder", trunk))
    head = chance.between(0.17, 0.21)
    crown = shoulder + 0.12 + head
    parts.append(ball((0.03, 0, crown), (head, head * 0.9, head * 1.15)))
    parts.append(Part("cylinder", limb((0, 0, shoulder), (0, 0, crown), 0.08)))
    return parts + _arms(chance, shoulder, wide) + _hat(chance, crown, head)


def _arms(chance: Chance, shoulder: float, wide: float) -> list[Part]:
    parts = []
    for side in (-1, 1):
        raised, forward = chance.between(-0.8, 0.7), chance.between(-0.2, 0.9)
        root = (0.0, side * wide * 0.95, shoulder - 0.05)
        elbow = (0.25 * forward, side * (wide + 0.26), shoulder - 0.05 + 0.3 * raised - 0.1)
        bend = raised + chance.between(-0.3, 0.8)
        hand = (elbow[0] + 0.3 * forward, side * (wide + chance.between(0.2, 0.45)), elbow[2] + 0.4 * bend)
        parts += [Part("cylinder", limb(root, elbow, 0.075)), Part("ball", limb(elbow, hand, 0.08))]
        if side == 1 and chance.often(0.35):  # something long in the hand
            lean = chance.between(-0.3, 0.3)
            low, high = (hand[0] - lean, hand[1], hand[2] - 0.7), (hand[0] + lean, hand[1], hand[2] + 0.6)
            parts.append(Part("cylinder", limb(low, high, 0.04)))
    return parts


def _hat(chance: Chance, crown: float, head: float) -> list[Part]:
    kind = chance.pick(4)
    if kind == 0:
        brim = translate([0.03, 0.0, crown + 0.5 * head]) @ stretch([head * 1.6, head * 1.5, 0.03])
        return [Part("cylinder", brim), ball((0.03, 0, crown + 0.7 * head), (head * 0.8, head * 0.8, head))]
    if kind == 1:
        return [ball((0.0, 0, crown + 0.35 * head), (head * 1.2, head * 1.1, head * 0.95))]
    return []


def airplane(chance: Chance) -> list[Part]:
    """A long body, wings across it, a tail with a fin."""
    girth, span = chance.between(0.12, 0.17), chance.between(0.75, 1.05)
    sweep, chord = chance.between(0, 35), chance.between(0.16, 0.26)
    root = chance.between(-0.05, 0.2)
    parts = [Part("ball", limb((-1, 0, 0.03), (1, 0, 0), girth, girth * 1.1))]
    parts += _wings(root, -0.03, span, chord, sweep, chance.between(0, 6))
    tail = chance.between(0.3, 0.4)
    parts += _wings(-0.85, 0.06, tail, chord * 0.5, sweep, 0)
    height = chance.between(0.28, 0.42)
    fin = translate([-0.88, 0.0, 0.05]) @ _lean(0.5) @ stretch([0.12, 0.02, height / 2])
    parts.append(Part("box", fin @ translate([0.0, 0.0, 1.0])))
    parts.append(ball((0.5, 0, girth * 0.75), (0.2, girth * 0.55, girth * 0.6), GLASS))
    return parts + _engines(chance, root, span, sweep, chord)


def _wings(x: float, z: float, span: float, chord: float, sweep: float, dihedral: float) -> list[Part]:
    parts = []
    for side in (-1, 1):
        turn = rotate("x", side * dihedral) @ rotate("z", side * sweep)
        flat = stretch([chord, span / 2, 0.025]) @ translate([0.0, float(side), 0.0])
        parts.append(Part("box", translate([x, 0.0, z]) @ turn @ flat))
    return parts


def _engines(chance: Chance, root: float, span: float, sweep: float, chord: float) -> list[Part]:
    if chance.often(0.35):  # one propeller in front
        blades = limb((0.98, 0, 0), (1.01, 0, 0), 0.03, 0.26)
        return [Part("box", blades, DARK), Part("ball", limb((0.8, 0, 0), (1.06, 0, 0), 0.07))]
    parts = []
    slope = torch.tensor(sweep).deg2rad().tan().item()
    for along in (0.35,) if chance.often(0.6) else (0.3, 0.6):
        for side in (-1, 1):
            x, y = root + chord * 0.6 - along * span * slope, side * along * span
            parts.append(Part("cylinder", limb((x - 0.15, y, -0.1), (x + 0.22, y, -0.1), 0.085)))
    return parts


def truck(chance: Chance) -> list[Part]:
    """A cab in front, a tall load behind it, six wheels."""
    half, wide = chance.between(0.85, 1.0), chance.between(0.27, 0.34)
    floor, cab = 0.2, chance.between(0.22, 0.28)
    roof = floor + chance.between(0.5, 0.62)
    front = half - 2 * cab
    parts = [box((-half, half - 0.05), wide * 0.8, (0.12, floor))]
    nose = chance.often(0.4)  # the engine in front of the cab
    if nose:
        parts.append(box((half - 0.26, half), wide * 0.75, (0.14, floor + 0.22)))
    face = half - 0.2 if nose else half
    parts.append(box((front, face), wide * 0.95, (0.14, roof)))
    parts.append(box((face - 0.12, face + 0.015), wide * 0.82, (roof - 0.28, roof - 0.08), GLASS))
    parts.append(box((front + 0.14, face - 0.08), wide * 0.97, (roof - 0.26, roof - 0.08), GLASS))
    parts += _load(chance, -half, front - chance.between(0.06, 0.12), wide, floor, roof)
    axles = (half - 0.25, -half + 0.2, -half + 0.2 + chance.between(0.34, 0.4))
    return parts + _wheels(axles, wide, chance.between(0.14, 0.17))


def _load(chance: Chance, back: float, front: float, wide: float, floor: float, roof: float) -> list[Part]:
    kind = chance.pick(4)
    if kind == 0:  # a tank
        radius = wide * 0.95
        return [Part("cylinder", limb((back, 0, floor + radius), (front, 0, floor + radius), radius))]
    if kind == 1:  # an open bed, with walls
        high = roof - chance.between(0.12, 0.25)
        walls = [box((x - 0.03, x + 0.03), wide, (floor, high)) for x in (back + 0.03, front - 0.03)]
        sides = [slab((back, front), side * (wide - 0.03), 0.03, (floor, high)) for side in (-1, 1)]
        return [box((back, front), wide * 0.98, (floor, floor + 0.16)), *walls, *sides]
    return [box((back, front), wide, (floor, roof + chance.between(0.05, 0.3)))]


def car(chance: Chance) -> list[Part]:
    """Low, with a cabin of glass in the middle and four wheels."""
    half, wide = chance.between(0.85, 1.0), chance.between(0.36, 0.43)
    belt, roof = chance.between(0.38, 0.44), chance.between(0.62, 0.76)
    parts = _body(chance, half, wide, belt)
    front, back = chance.between(0.25, 0.45) * half, -chance.between(0.5, 0.9) * half
    parts += _cabin(chance, front, back, wide * 0.86, belt, roof)
    if chance.often(0.3):  # a spoiler
        parts.append(box((-half * 1.02, -half * 0.85), wide * 0.95, (belt + 0.1, belt + 0.14)))
    reach = half * chance.between(0.58, 0.66)
    return parts + _wheels((reach, -reach), wide * 0.97, chance.between(0.14, 0.16))


def _body(chance: Chance, half: float, wide: float, belt: float) -> list[Part]:
    bumpers = box((-half, half), wide * 0.85, (0.12, 0.24), DARK)
    if chance.often(0.4):  # round in front and behind
        middle = box((-half * 0.72, half * 0.7), wide, (0.14, belt))
        ends = [
            ball((side * half * 0.6, 0, belt * 0.62), (half * 0.4, wide, belt * 0.38)) for side in (-1, 1)
        ]
        return [bumpers, middle, *ends]
    hood = chance.between(0.02, 0.06)  # how much lower than the boot
    return [
        bumpers,
        box((-half * 0.97, half * 0.4), wide, (0.14, belt)),
        box((half * 0.3, half * 0.97), wide, (0.14, belt - hood)),
    ]


def _cabin(chance: Chance, front: float, back: float, wide: float, belt: float, roof: float) -> list[Part]:
    """A trapezium of glass: a block between two slanted ones, and a roof on it."""
    run = front - back
    windscreen, rear = run * chance.between(0.2, 0.3), run * chance.between(0.08, 0.28)
    parts = [box((back + rear, front - windscreen), wide, (belt - 0.1, roof), GLASS)]
    for base, inwards in ((front, -windscreen), (back, rear)):
        slant = translate([base, 0.0, belt - 0.1]) @ _lean(-inwards / (roof - belt + 0.1))
        block = translate([inwards / 2, 0.0, (roof - belt + 0.1) / 2]) @ stretch(
            [abs(inwards) / 2, wide, (roof - belt + 0.1) / 2]
        )
        parts.append(Part("box", slant @ block, GLASS))
    parts.append(box((back + rear, front - windscreen), wide * 0.97, (roof - 0.02, roof + 0.03)))
    return parts


def _wheels(axles: tuple[float, ...], wide: float, radius: float) -> list[Part]:
    return [
        Part(
            "cylinder",
            limb((x, side * (wide - 0.1), radius), (x, side * (wide + 0.02), radius), radius),
            DARK,
        )
        for x in axles
        for side in (-1, 1)
    ]


def ball(middle: Place, radii: Place, albedo: float = 0.75) -> Part:
    """An egg at ``middle``."""
    return Part("ball", translate(middle) @ stretch(radii), albedo)


def box(x: tuple[float, float], y: float, z: tuple[float, float], albedo: float = 0.75) -> Part:
    """A block from x[0] to x[1], -y to y, and z[0] to z[1]."""
    middle = [(x[0] + x[1]) / 2, 0.0, (z[0] + z[1]) / 2]
    return Part("box", translate(middle) @ stretch([(x[1] - x[0]) / 2, y, (z[1] - z[0]) / 2]), albedo)


def slab(x: tuple[float, float], y: float, thick: float, z: tuple[float, float]) -> Part:
    """A wall along x at ``y``."""
    part = box(x, thick, z)
    return Part("box", translate([0.0, y, 0.0]) @ part.pose)


def _lean(back: float) -> Tensor:
    """A shear: what is higher by 1 goes back by ``back``."""
    pose = torch.eye(4)
    pose[0, 2] = -back
    return pose


def _beyond(end: Place, start: Place, share: float) -> Place:
    """A point past ``end`` as seen from ``start``."""
    x, y, z = (e + share * (e - s) for e, s in zip(end, start, strict=True))
    return x, y, z


def surface_points(part: Part) -> Tensor:
    """Some points (26, 3) of the part's surface, among them those that reach farthest."""
    corners = torch.cartesian_prod(*[torch.arange(-1.0, 2.0)] * 3)
    corners = corners[corners.abs().sum(dim=1) > 0]  # (26, 3)
    if part.solid == "ball":
        corners = corners / corners.norm(dim=1, keepdim=True)
    if part.solid == "cylinder":
        corners[:, :2] /= corners[:, :2].norm(dim=1, keepdim=True).clamp(min=1)
    return corners @ part.pose[:3, :3].T + part.pose[:3, 3]


# In smallNORB's order.
CATEGORIES: dict[str, Callable[[Chance], list[Part]]] = {
    "animal": animal,
    "human": human,
    "airplane": airplane,
    "truck": truck,
    "car": car,
}
