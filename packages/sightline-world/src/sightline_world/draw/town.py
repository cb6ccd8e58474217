"""Places of a town: street, market, harbour, and a railway station with its platform, tracks and train."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from random import Random

from sightline_world.draw.landscape import bunting, hills, ripples, sky
from sightline_world.draw.palette import COLOURS, RGB, mix, shade
from sightline_world.draw.pen import Canvas, Point
from sightline_world.draw.weather import gloss, settle

_LAMP: RGB = (255, 216, 140)
_FACADES = ("red", "orange", "yellow", "green", "blue", "pink", "white")
_FLAGS = tuple(COLOURS[name] for name in ("red", "yellow", "blue", "green", "orange"))


@dataclass(frozen=True, slots=True)
class _Vista:
    """A street seen along its middle, by someone whose eyes are 1.6 m high."""

    c: Canvas
    vanish: Point

    def at(self, x: float, height: float, far: float) -> Point:
        """Metres to the right, above the ground and away from the viewer → a point of the picture."""
        return (self.vanish[0] + 0.9 * x / far, self.vanish[1] + 0.9 * (1.6 - height) / far)

    def wall(
        self, x: float, low: float, high: float, near: float, far: float, rgb: RGB, depth: float, lit: bool = False
    ) -> None:
        """A part of a house front, along the street."""
        corners = (self.at(x, low, far), self.at(x, high, far), self.at(x, high, near), self.at(x, low, near))
        self.c.poly(corners, rgb, depth, lit=lit)

    def mark(self, x: float, half: float, near: float, far: float, rgb: RGB) -> None:
        """A stripe painted on the road."""
        left, right = x - half, x + half
        self.c.poly(
            (self.at(left, 0, near), self.at(right, 0, near), self.at(right, 0, far), self.at(left, 0, far)), rgb
        )


def street(c: Canvas, rng: Random) -> None:
    """A street that runs to its vanishing point between tall houses, with lamps."""
    vista = _Vista(c, (c.w * rng.uniform(0.44, 0.56), 0.47))
    at, dust = vista.at, c.light.dust
    sky(c, rng, 0.5, clouds=2)
    c.gradient(0.47, 1.0, dust((120, 122, 130), 0.5), dust((88, 90, 98), 0.42))
    hills(c, rng, 0.475, 0.05, (120, 130, 146), 0.9)
    for side in (-1, 1):
        kerb = (at(side * 3.4, 0, 2.4), at(side * 3.4, 0, 80))
        c.poly((kerb[0], at(side * 9, 0, 2.4), at(side * 6, 0, 80), kerb[1]), dust((176, 170, 162), 0.75), 0.1)
        c.line(kerb, 0.006, (214, 210, 202), 0.1)
    for side in (-1, 1):
        _blocks(c, rng, side, vista)
    gloss(c, 0.475)
    for near in (40, 26, 18, 13, 9.5, 7, 5.2, 3.8, 2.8):
        vista.mark(0, 0.07, near, near * 1.18, (240, 236, 220))
    for bar in range(-3, 4):
        vista.mark(bar * 0.95, 0.26, 5.6, 8, (238, 236, 230))
    for far in (34, 20, 12, 7.5):
        for side in (-1, 1):
            _street_lamp(c, side, far, vista)
    settle(c, rng, 0.68)


def _street_lamp(c: Canvas, side: int, far: float, vista: _Vista) -> None:
    """A lamp on a bent post, and the pool of its light on the ground."""
    at = vista.at
    foot, head, lamp = at(side * 3.9, 0, far), at(side * 3.9, 4.6, far), at(side * 3.1, 4.7, far)
    c.line((foot, head, lamp), 0.09 / far, (70, 74, 82), min(1.0, far / 50))
    c.oval(lamp[0], lamp[1] + 0.1 / far, 0.22 / far, 0.13 / far, rgb=_LAMP, lit=True)
    if c.light.dim:
        c.glow(lamp[0], lamp[1], 1.6 / far + 0.02, _LAMP, 0.8 if c.light.dark else 0.45)
        pool = at(side * 3.1, 0, far)
        c.oval(pool[0], pool[1], 1.5 / far, 0.28 / far, rgb=_LAMP, alpha=0.16, lit=True)


def _blocks(c: Canvas, rng: Random, side: int, vista: _Vista) -> None:
    """One side of the street, from the far end to the viewer."""
    edges = [62.0]
    while edges[-1] > 2.6:
        edges.append(edges[-1] - rng.uniform(6, 10) if edges[-1] > 14 else edges[-1] - 5.5)
    for far, near in pairwise(edges):
        near = max(near, 2.2)
        wall = mix(COLOURS[rng.choice(("red", "orange", "yellow", "blue", "brown", "white"))], (190, 180, 170), 0.55)
        floors = rng.randint(3, 5)
        tall, depth, x = 1.2 + floors * 3.1, min(1.0, far / 60), side * 6.0
        vista.wall(x, 0, tall, near, far, shade(wall, -0.12 if side > 0 else 0.04), depth)
        vista.wall(x, tall, tall + 0.5, near, far, c.light.dust(shade(wall, -0.35), 0.8), depth)
        vista.wall(x, 2.5, 3.0, near, far, COLOURS[rng.choice(("red", "green", "blue", "yellow"))], depth)
        _windows(c, rng, x, floors, near, far, vista)


def _windows(c: Canvas, rng: Random, x: float, floors: int, near: float, far: float, vista: _Vista) -> None:
    """Three windows on each floor of a house, some of them lit after dark."""
    depth = min(1.0, far / 60)
    for column in range(3):
        a, b = (near + (far - near) * (column + edge) / 3 for edge in (0.22, 0.78))
        for floor in range(floors):
            low, tall = (0.9 + floor * 3.1, 1.7) if floor else (0.5, 1.8)
            lit = rng.random() < _lit(c)
            warm = mix(rng.choice(((255, 214, 130), (255, 232, 178), (250, 190, 110))), c.light.haze_rgb, depth * 0.4)
            vista.wall(x, low, low + tall, a, b, warm if lit else (92, 118, 142), depth, lit)


def _lit(c: Canvas) -> float:
    """The share of windows with a light behind them."""
    return 0.5 if c.light.dark else 0.18 if c.light.fall == "rain" else 0.0


def facades(c: Canvas, rng: Random, base: float, tallest: float, depth: float) -> None:
    """A row of narrow gabled houses in strong colours that stand on `base`."""
    x = -rng.uniform(0.0, 0.08)
    previous = ""
    while x < c.w:
        wide, tall = rng.uniform(0.13, 0.18), tallest * rng.uniform(0.72, 1.0)
        name = rng.choice([colour for colour in _FACADES if colour != previous])
        previous = name
        wall, top = mix(COLOURS[name], (255, 248, 236), 0.18), base - tall
        c.rect(x, top, x + wide, base, wall, depth)
        c.rect(x + wide - 0.006, top, x + wide, base, shade(wall, -0.25), depth)
        roof = c.light.dust(rng.choice(((150, 74, 58), (96, 86, 92), (124, 82, 66))), 0.85)
        c.poly(((x - 0.004, top), (x + wide / 2, top - wide * 0.55), (x + wide + 0.004, top)), roof, depth)
        rows, columns = max(2, round(tall / 0.085)), 3
        for row in range(rows):
            for column in range(columns):
                left = x + wide * (column + 0.26) / columns
                y = top + tall * (row + 0.22) / rows
                right, low = left + wide * 0.50 / columns, y + tall * 0.50 / rows
                lit = rng.random() < _lit(c)
                c.rect(left - 0.004, y - 0.004, right + 0.004, low + 0.004, (250, 248, 240), depth)
                c.rect(left, y, right, low, _LAMP if lit else (96, 128, 150), depth, lit=lit)
        if x + wide > 0.05 and x < c.w - 0.05:
            c.note("house", name, max(0.0, x), top - wide * 0.55, min(c.w, x + wide), base)
        x += wide


def market(c: Canvas, rng: Random) -> None:
    """A paved square with old houses, stalls under striped awnings, and bunting."""
    sky(c, rng, 0.45, clouds=3)
    facades(c, rng, 0.55, 0.30, 0.35)
    c.gradient(0.55, 1.0, c.light.dust((190, 178, 162), 0.7), c.light.dust((164, 150, 134), 0.65))
    gloss(c, 0.55, 0.22)
    for row in range(12):
        y = 0.55 + 0.45 * (row / 11) ** 1.8
        c.line(((0, y), (c.w, y)), 0.0025, (132, 120, 106), alpha=0.55)
    for column in range(-14, 15):
        c.line(((c.w / 2 + column * 0.09, 0.55), (c.w / 2 + column * 0.42, 1.0)), 0.0022, (132, 120, 106), alpha=0.45)
    settle(c, rng, 0.74)
    count = max(2, round(c.w / 0.42))
    for number in range(count):
        _stall(c, rng, c.w * (number + 0.5) / count, 0.70, 0.9 * c.w / count)
    for y, sag in ((0.05, 0.06), (0.13, 0.05)):
        bunting(c, rng, (-0.02, y), (c.w + 0.02, y + rng.uniform(-0.02, 0.04)), sag, _FLAGS)


def _stall(c: Canvas, rng: Random, x: float, base: float, wide: float) -> None:
    left, right, top = x - wide / 2, x + wide / 2, base - 0.30
    cloth = COLOURS[rng.choice(("red", "green", "blue", "orange"))]
    c.rect(left + 0.02, top + 0.03, right - 0.02, base, (86, 70, 60), alpha=0.8)
    for post in (left + 0.012, right - 0.012):
        c.rect(post - 0.006, top, post + 0.006, base + 0.01, (120, 90, 62))
    stripes = 8
    for stripe in range(stripes):
        a, b = left + wide * stripe / stripes, left + wide * (stripe + 1) / stripes
        slant = 0.10
        tone = cloth if stripe % 2 else (250, 246, 238)
        up = [(x + (edge - x) * (1 - slant), top - 0.035) for edge in (a, b)]
        c.poly((up[0], up[1], (b, top + 0.055), (a, top + 0.055)), c.light.dust(tone, 0.5))
        c.oval((a + b) / 2, top + 0.055, (b - a) / 2, 0.014, rgb=shade(tone, -0.1))
    fruit = ((214, 48, 49), (242, 134, 38), (250, 208, 58), (110, 170, 60), (126, 72, 130), (150, 190, 70))
    crates = 4
    for crate in range(crates):
        a, b = left + wide * (crate + 0.06) / crates, left + wide * (crate + 0.94) / crates
        tone = rng.choice(fruit)
        for _ in range(9):
            c.oval(
                rng.uniform(a + 0.008, b - 0.008),
                base - 0.095 - rng.uniform(0, 0.022),
                0.013,
                rgb=shade(tone, rng.uniform(-0.2, 0.2)),
            )
        c.rect(a, base - 0.092, b, base - 0.055, (186, 142, 92))
        c.line(((a, base - 0.074), (b, base - 0.074)), 0.003, (140, 102, 64))
    c.rect(left, base - 0.055, right, base + 0.012, shade(cloth, -0.25))
    if c.light.dim:
        c.glow(x, top + 0.08, 0.15, _LAMP, 0.7 if c.light.dark else 0.35)


def harbour(c: Canvas, rng: Random) -> None:
    """Coloured houses mirrored in the basin, and a stone quay in front."""
    line, quay = 0.47, 0.775
    sky(c, rng, 0.40)
    hills(c, rng, line - 0.02, 0.16, (108, 138, 112), 0.7)
    facades(c, rng, line - 0.018, rng.uniform(0.19, 0.25), 0.25)
    c.rect(0, line - 0.02, c.w, line + 0.004, c.light.dust((134, 124, 114), 0.5), 0.25)
    c.mirror(line + 0.004, quay - line - 0.004, (44, 96, 124), 0.45)
    ripples(c, line + 0.01, quay)
    c.gradient(quay, 1.0, c.light.dust((178, 168, 154), 0.65), c.light.dust((150, 140, 128), 0.6))
    c.rect(0, quay - 0.008, c.w, quay + 0.010, c.light.dust((206, 198, 186), 0.6))
    for row, y in enumerate((0.815, 0.865, 0.925)):
        c.line(((0, y), (c.w, y)), 0.003, (122, 112, 102), alpha=0.7)
        for step in range(-8, 9):
            x = c.w / 2 + (step + 0.5 * (row % 2)) * (0.15 + row * 0.02)
            c.line(((x, y), (x + 0.02 * step, y + 0.05 + 0.01 * row)), 0.003, (122, 112, 102), alpha=0.5)
    settle(c, rng, 0.82)
    for x in (rng.uniform(0.05, 0.14), rng.uniform(0.86, 0.95)):
        c.rect(c.w * x - 0.020, 0.745, c.w * x + 0.020, 0.80, (58, 62, 70), round_by=0.012)
        c.oval(c.w * x, 0.747, 0.028, 0.011, rgb=c.light.dust((84, 88, 96), 0.7))


def station(c: Canvas, rng: Random) -> None:
    """A platform with a white edge, a train on the track behind it, and the end of a roof on iron pillars."""
    sky(c, rng, 0.46, clouds=3)
    hills(c, rng, 0.47, 0.12, (104, 140, 110), 0.7)
    c.rect(0, 0.46, c.w, 0.68, c.light.dust((132, 124, 116), 0.5), 0.2)
    livery = COLOURS[rng.choice(("red", "green", "blue", "orange", "purple"))]
    offset, nose = rng.uniform(0, 0.4), rng.choice((0.0, 0.0, 0.34, 0.46)) * c.w
    _far_platform(c)
    _tracks(c)
    _train(c, livery, nose, offset if nose == 0.0 else 0.0)
    dust = c.light.dust
    c.gradient(0.66, 1.0, dust((176, 172, 166), 0.5), dust((150, 146, 142), 0.5))
    for row in range(6):
        y = 0.70 + 0.30 * (row / 5) ** 1.6
        c.line(((0, y), (c.w, y)), 0.0025, (116, 112, 108), alpha=0.5)
    for column in range(-9, 10):
        c.line(((c.w / 2 + column * 0.14, 0.70), (c.w / 2 + column * 0.34, 1.0)), 0.0025, (116, 112, 108), alpha=0.45)
    gloss(c, 0.66, 0.22)
    c.rect(0, 0.655, c.w, 0.672, (206, 202, 196))
    c.rect(0, 0.683, c.w, 0.699, (246, 240, 226))
    settle(c, rng, 0.74)
    _roof(c, rng.choice((-1, 1)))


def _tracks(c: Canvas) -> None:
    """Two rails on sleepers, along the platform."""
    for sleeper in range(round(c.w / 0.055) + 1):
        x = sleeper * 0.055
        c.poly(((x, 0.592), (x + 0.018, 0.592), (x + 0.022, 0.655), (x - 0.002, 0.655)), (96, 78, 66), 0.1)
    for y in (0.600, 0.640):
        c.rect(0, y, c.w, y + 0.009, (188, 192, 198), 0.1)
        c.rect(0, y + 0.009, c.w, y + 0.013, (84, 84, 90), 0.1)


def _far_platform(c: Canvas) -> None:
    """The other platform, with a shelter of glass."""
    c.rect(0, 0.545, c.w, 0.590, (160, 154, 148), 0.3)
    c.rect(0, 0.540, c.w, 0.552, c.light.dust((212, 206, 198), 0.5), 0.3)
    left, right = c.w * 0.22, c.w * 0.78
    c.rect(left, 0.40, right, 0.54, (150, 182, 196), 0.3, alpha=0.55)
    for step in range(7):
        x = left + (right - left) * step / 6
        c.rect(x - 0.005, 0.38, x + 0.005, 0.54, (84, 98, 104), 0.3)
    eaves = ((left - 0.05, 0.395), (left - 0.02, 0.355), (right + 0.02, 0.355), (right + 0.05, 0.395))
    c.poly(eaves, c.light.dust((96, 110, 118), 0.7), 0.3)


def _train(c: Canvas, livery: RGB, nose: float, offset: float) -> None:
    """The side of a long train from `nose` to the right edge: windows, doors, and a stripe in its colours."""
    top, low, cream = 0.30, 0.635, (232, 228, 216)
    paint = mix(livery, cream, 0.12)
    if nose:
        _cab(c, nose, top, low, paint)
    c.rect(max(0.0, nose - 0.10), low - 0.02, c.w, low + 0.012, (60, 62, 70))
    c.rect(nose, top - 0.012, c.w, top + 0.03, c.light.dust((120, 126, 134), 0.8))
    c.rect(nose, top + 0.015, c.w, low, cream)
    c.rect(nose, top + 0.20, c.w, low - 0.035, paint)
    c.rect(nose, low - 0.035, c.w, low, (84, 88, 96))
    car = 1.02
    start = nose - offset * car
    while start < c.w:
        if start > nose:
            c.rect(start, top + 0.015, start + 0.022, low, (52, 54, 60))
        for door in (0.10, 0.84):
            _door(c, start + door * car, top, low, livery)
        for pane in range(5):
            x = start + (0.225 + pane * 0.122) * car
            _pane(c, x, top + 0.065, x + 0.098, top + 0.185)
        start += car


def _cab(c: Canvas, x: float, top: float, low: float, paint: RGB) -> None:
    """The slanted front of the train, with its lamp."""
    c.poly(((x, top + 0.015), (x - 0.10, low - 0.12), (x - 0.11, low), (x, low)), paint)
    c.poly(((x, top + 0.05), (x - 0.075, low - 0.14), (x, low - 0.14)), (70, 92, 112))
    c.oval(x - 0.085, low - 0.075, 0.014, rgb=(255, 248, 220), lit=True)
    if c.light.dim:
        c.glow(x - 0.085, low - 0.075, 0.14, _LAMP, 0.7)


def _pane(c: Canvas, left: float, top: float, right: float, low: float) -> None:
    lit = c.light.dim
    c.rect(left - 0.005, top - 0.005, right + 0.005, low + 0.005, (250, 248, 240), round_by=0.012)
    c.rect(left, top, right, low, mix(_LAMP, (255, 255, 255), 0.25) if lit else (88, 116, 138), lit=lit, round_by=0.010)
    if not lit:
        foot, head, wide = left + (right - left) * 0.2, left + (right - left) * 0.5, (right - left) * 0.2
        c.poly(((foot, low), (head, top), (head + wide, top), (foot + wide, low)), (142, 168, 186))


def _door(c: Canvas, left: float, top: float, low: float, livery: RGB) -> None:
    c.rect(left, top + 0.04, left + 0.088, low - 0.01, shade(livery, -0.25), round_by=0.008)
    for leaf in (left + 0.006, left + 0.047):
        _pane(c, leaf + 0.004, top + 0.07, leaf + 0.031, top + 0.19)
    c.rect(left + 0.042, top + 0.045, left + 0.046, low - 0.012, (40, 40, 46))


def _roof(c: Canvas, side: int) -> None:
    """The end of the platform's roof, over one side of the picture, and the pillars that carry it."""
    edge, outer = (c.w * 0.60, -0.02) if side < 0 else (c.w * 0.40, c.w + 0.02)
    iron = (66, 92, 88)
    end = edge + side * 0.06
    c.poly(((outer, 0), (edge, 0), (end, 0.085), (outer, 0.085)), (104, 116, 118))
    c.rect(min(outer, end), 0.085, max(outer, end), 0.105, c.light.dust((226, 222, 210), 0.5))
    teeth = 22
    for tooth in range(teeth):
        a, b = outer + (end - outer) * tooth / teeth, outer + (end - outer) * (tooth + 1) / teeth
        c.poly(((a, 0.103), (b, 0.103), ((a + b) / 2, 0.128)), (226, 222, 210))
    for share in (0.10, 0.46):
        x = outer + (edge - outer) * share
        c.rect(x - 0.011, 0.085, x + 0.011, 0.735, iron)
        c.rect(x - 0.020, 0.70, x + 0.020, 0.738, shade(iron, -0.2))
        for arm in (-1, 1):
            c.line(((x, 0.20), (x + arm * 0.075, 0.10)), 0.010, iron)
        if c.light.dim:
            c.glow(x, 0.15, 0.22, _LAMP, 0.7 if c.light.dark else 0.4)
