"""A railway station: the platform, the tracks, and the train."""

from __future__ import annotations

from random import Random

from sightline_world.draw.nature import hills, sky
from sightline_world.draw.palette import COLOURS, RGB, mix, shade
from sightline_world.draw.pen import Canvas
from sightline_world.draw.weather import gloss, settle

_LAMP: RGB = (255, 216, 140)


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
