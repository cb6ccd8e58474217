"""Places where people meet: a stadium and a kitchen."""

from __future__ import annotations

import math
from random import Random

import numpy as np
from PIL import Image

from sightline.world.draw.nature import sky
from sightline.world.draw.palette import COLOURS, RGB, mix, shade
from sightline.world.draw.pen import Canvas


def stadium(c: Canvas, rng: Random) -> None:
    """A full stand, a striped pitch with a goal, and floodlights."""
    sky(c, rng, 0.30, clouds=2)
    for x in (0.06, 0.94):
        c.line(((c.w * x, 0.02), (c.w * x, 0.40)), 0.012, (110, 114, 122))
        c.rect(c.w * x - 0.055, 0.015, c.w * x + 0.055, 0.07, (90, 94, 104), round_by=0.006)
        for lamp in range(8):
            c.oval(
                c.w * x - 0.042 + 0.028 * (lamp % 4), 0.03 + 0.025 * (lamp // 4), 0.009, rgb=(255, 252, 236), lit=True
            )
        if c.light.name != "day":
            c.glow(c.w * x, 0.045, 0.30, (236, 242, 255), 0.75)
    c.poly(((0, 0.17), (c.w * 0.5, 0.145), (c.w, 0.17), (c.w, 0.43), (0, 0.43)), (78, 84, 98))
    _crowd(c, rng, 0.19, 0.425)
    c.poly(
        ((0, 0.135), (c.w * 0.5, 0.115), (c.w, 0.135), (c.w, 0.195), (c.w * 0.5, 0.165), (0, 0.195)), (222, 224, 228)
    )
    c.line(((0, 0.305), (c.w, 0.305)), 0.010, (222, 224, 228))
    boards = [COLOURS[name] for name in ("blue", "yellow", "red", "white", "green", "purple")]
    for board in range(8):
        c.rect(c.w * board / 8, 0.425, c.w * (board + 1) / 8 - 0.004, 0.462, shade(boards[(board * 5 + 1) % 6], -0.08))
    c.gradient(0.46, 1.0, (76, 150, 66), (56, 134, 54))
    middle = c.w / 2
    for stripe in range(-9, 10, 2):
        c.poly(
            [
                (middle + stripe * 0.15, 0.46),
                (middle + (stripe + 1) * 0.15, 0.46),
                (middle + (stripe + 1) * 0.34, 1.0),
                (middle + stripe * 0.34, 1.0),
            ],
            (104, 178, 84),
            alpha=0.6,
        )
    white: RGB = (242, 246, 240)
    c.line(((0, 0.495), (c.w, 0.495)), 0.005, white)
    c.line(((middle - 0.46, 0.495), (middle - 0.58, 0.62), (middle + 0.58, 0.62), (middle + 0.46, 0.495)), 0.006, white)
    c.line(
        ((middle - 0.24, 0.495), (middle - 0.27, 0.545), (middle + 0.27, 0.545), (middle + 0.24, 0.495)), 0.005, white
    )
    _goal(c, middle, 0.497)


def _crowd(c: Canvas, rng: Random, top: float, bottom: float) -> None:
    """A stand full of people: coloured specks, denser than anyone can count."""
    rows, columns = round((bottom - top) * 150), round(c.w * 150)
    seats = np.random.Generator(np.random.PCG64(rng.getrandbits(32)))
    shirts = [
        *(COLOURS[name] for name in ("red", "blue", "white", "yellow", "black", "red", "blue")),
        (224, 172, 132),
        (60, 66, 80),
    ]
    tones = np.array([c.light.ink(rgb, 0.25) for rgb in shirts], dtype=np.uint8)
    specks = Image.fromarray(tones[seats.integers(0, len(tones), size=(rows, columns))])
    size = (c.image.width, round((bottom - top) * c.scale))
    c.image.paste(specks.resize(size, Image.Resampling.BICUBIC), (0, round(top * c.scale)))


def _goal(c: Canvas, x: float, base: float) -> None:
    half, tall = 0.15, 0.105
    for step in range(13):
        place = x - half + 2 * half * step / 12
        c.line(((place, base - tall), (place, base)), 0.0018, (236, 238, 240), alpha=0.55)
    for step in range(6):
        y = base - tall * step / 6
        c.line(((x - half, y), (x + half, y)), 0.0018, (236, 238, 240), alpha=0.55)
    c.line(
        ((x - half, base), (x - half, base - tall), (x + half, base - tall), (x + half, base)), 0.009, (252, 252, 252)
    )


def scoreboard(c: Canvas, score: tuple[int, int]) -> None:
    """The score of the match, over the stand."""
    x, y = c.w / 2, 0.235
    c.rect(x - 0.15, y - 0.075, x + 0.15, y + 0.065, (28, 30, 38), lit=True, round_by=0.010)
    c.rect(x - 0.142, y - 0.067, x + 0.142, y + 0.057, (14, 15, 20), lit=True, round_by=0.008)
    for dx, goals in ((-0.085, score[0]), (0.085, score[1])):
        _digit(c, x + dx, y - 0.005, goals)
    for dy in (-0.022, 0.014):
        c.oval(x, y + dy, 0.008, rgb=(255, 190, 60), lit=True)


# The lit bars of each digit: top, top left, top right, middle, bottom left, bottom right, bottom.
_SEGMENTS = (
    "1110111",
    "0010010",
    "1011101",
    "1011011",
    "0111010",
    "1101011",
    "1101111",
    "1010010",
    "1111111",
    "1111011",
)


def _digit(c: Canvas, x: float, y: float, value: int) -> None:
    a, b = 0.025, 0.046
    bars = (
        ((-a, -b), (a, -b)),
        ((-a, -b), (-a, 0)),
        ((a, -b), (a, 0)),
        ((-a, 0), (a, 0)),
        ((-a, 0), (-a, b)),
        ((a, 0), (a, b)),
        ((-a, b), (a, b)),
    )
    for on, bar in zip(_SEGMENTS[value], bars, strict=True):
        if on == "1":
            (x0, y0), (x1, y1) = bar
            c.line(((x + x0, y + y0), (x + x1, y + y1)), 0.012, (255, 190, 60), lit=True)


def kitchen(c: Canvas, rng: Random) -> None:
    """A wall of tiles with a window, shelves and a worktop, behind a wooden table."""
    wall = mix(COLOURS[rng.choice(("yellow", "green", "blue", "pink"))], (250, 244, 232), 0.76)
    c.gradient(0.0, 0.62, shade(wall, 0.1), wall)
    for row in range(4):
        for column in range(round(c.w / 0.055) + 1):
            x, y = column * 0.055 - (0.027 if row % 2 else 0), 0.40 + row * 0.042
            c.rect(x + 0.002, y + 0.002, x + 0.053, y + 0.040, mix((246, 248, 248), wall, rng.uniform(0.0, 0.35)))
    _window(c, rng, c.w * 0.27, 0.06, c.w * 0.24 + 0.08, 0.31)
    _shelf(c, rng, c.w * 0.60, c.w * 0.97, 0.20)
    _shelf(c, rng, c.w * 0.60, c.w * 0.97, 0.345)
    cupboard = mix(wall, (120, 140, 140), 0.45)
    c.rect(0, 0.555, c.w, 0.585, (228, 220, 208))
    c.rect(0, 0.585, c.w, 0.80, cupboard)
    doors = max(3, round(c.w / 0.24))
    for door in range(doors):
        left, right = c.w * door / doors + 0.008, c.w * (door + 1) / doors - 0.008
        c.rect(left, 0.598, right, 0.80, shade(cupboard, 0.12), round_by=0.008)
        c.rect(right - 0.034, 0.62, right - 0.018, 0.66, (190, 160, 100), round_by=0.006)
    _table(c, rng)
    lamp = c.w * rng.uniform(0.50, 0.60)
    c.line(((lamp, 0), (lamp, 0.10)), 0.005, (60, 56, 54))
    c.poly(((lamp - 0.02, 0.10), (lamp + 0.02, 0.10), (lamp + 0.085, 0.17), (lamp - 0.085, 0.17)), (206, 92, 62))
    c.oval(lamp, 0.172, 0.03, 0.018, rgb=(255, 246, 214), lit=True)
    if c.light.name != "day":
        c.glow(lamp, 0.20, 0.42, (255, 226, 160), 0.55)


def _window(c: Canvas, rng: Random, x: float, top: float, wide: float, tall: float) -> None:
    left, right, low = x - wide / 2, x + wide / 2, top + tall
    c.rect(left - 0.018, top - 0.018, right + 0.018, low + 0.018, (250, 248, 244))
    steps = 24
    for step in range(steps):
        tone = mix(c.light.sky_top, c.light.sky_bottom, step / steps)
        c.rect(left, top + tall * step / steps, right, top + tall * (step + 1) / steps, tone, lit=True)
    green = mix((84, 140, 80), c.light.haze_rgb, 0.75 if c.light.dark else 0.3)
    bumps = [
        (left + wide * step / 12, low - tall * (0.20 + 0.08 * math.sin(step * 0.8 + rng.random())))
        for step in range(13)
    ]
    c.poly([(left, low), *bumps, (right, low)], green, lit=True)
    for bar in (left + wide / 2,):
        c.rect(bar - 0.006, top, bar + 0.006, low, (250, 248, 244))
    c.rect(left, top + tall * 0.48, right, top + tall * 0.48 + 0.010, (250, 248, 244))
    c.rect(left - 0.035, low + 0.012, right + 0.035, low + 0.032, (232, 226, 216))


def _shelf(c: Canvas, rng: Random, left: float, right: float, y: float) -> None:
    c.rect(left, y, right, y + 0.014, (150, 108, 70))
    x = left + 0.025
    while x < right - 0.05:
        wide, tall = rng.uniform(0.028, 0.048), rng.uniform(0.05, 0.095)
        tone = mix(rng.choice(tuple(COLOURS.values())), (236, 226, 206), 0.45)
        c.rect(x, y - tall, x + wide, y, tone, round_by=0.008)
        c.rect(x + 0.003, y - tall - 0.008, x + wide - 0.003, y - tall + 0.006, (140, 104, 72), round_by=0.003)
        x += wide + rng.uniform(0.010, 0.035)


def _table(c: Canvas, rng: Random) -> None:
    wood: RGB = (190, 136, 86)
    c.gradient(0.70, 1.0, shade(wood, 0.16), shade(wood, -0.05))
    c.rect(0, 0.695, c.w, 0.708, shade(wood, 0.35))
    for board in range(-6, 7):
        c.line(((c.w / 2 + board * 0.17, 0.708), (c.w / 2 + board * 0.30, 1.0)), 0.004, shade(wood, -0.28), alpha=0.7)
    for _ in range(46):
        x, y = rng.uniform(0, c.w), rng.uniform(0.72, 0.99)
        c.oval(x, y, rng.uniform(0.02, 0.07), 0.0016, rgb=shade(wood, -0.2), alpha=0.5)
