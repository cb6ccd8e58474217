"""Places where people meet: a stadium and a playground."""

from __future__ import annotations

from random import Random

import numpy as np
from PIL import Image

from sightline_world.draw.nature import grass, hills, sky
from sightline_world.draw.palette import COLOURS, RGB, shade
from sightline_world.draw.pen import Canvas
from sightline_world.draw.weather import settle


def stadium(c: Canvas, rng: Random) -> None:
    """A full stand, a striped pitch with a goal, and floodlights."""
    sky(c, rng, 0.30, clouds=2)
    for x in (0.06, 0.94):
        _floodlight(c, c.w * x)
    roof: RGB = rng.choice(((222, 224, 228), (176, 84, 78), (92, 122, 168), (196, 188, 168)))
    c.poly(((0, 0.17), (c.w * 0.5, 0.145), (c.w, 0.17), (c.w, 0.43), (0, 0.43)), (78, 84, 98))
    _crowd(c, rng, 0.19, 0.425)
    upper, lower = ((0, 0.135), (c.w * 0.5, 0.115), (c.w, 0.135)), ((c.w, 0.195), (c.w * 0.5, 0.165), (0, 0.195))
    c.poly((*upper, *lower), c.light.dust(roof, 0.7))
    c.line(((0, 0.305), (c.w, 0.305)), 0.010, roof)
    boards = [COLOURS[name] for name in ("blue", "yellow", "red", "white", "green", "purple")]
    first = rng.randrange(len(boards))
    c.rect(0, 0.42, c.w, 0.47, (70, 74, 84))
    for board in range(8):
        tone = shade(boards[(board * 5 + first) % len(boards)], -0.08)
        c.rect(c.w * board / 8, 0.425, c.w * (board + 1) / 8 - 0.004, 0.462, tone)
    _pitch(c)
    settle(c, rng, 0.60)
    _goal(c, c.w / 2, 0.497)


def _floodlight(c: Canvas, x: float) -> None:
    """Eight lamps on a mast."""
    c.line(((x, 0.02), (x, 0.40)), 0.012, (110, 114, 122))
    c.rect(x - 0.055, 0.015, x + 0.055, 0.07, (90, 94, 104), round_by=0.006)
    for lamp in range(8):
        c.oval(x - 0.042 + 0.028 * (lamp % 4), 0.03 + 0.025 * (lamp // 4), 0.009, rgb=(255, 252, 236), lit=True)
    if c.light.dim:
        c.glow(x, 0.045, 0.30, (236, 242, 255), 0.75)


def _pitch(c: Canvas) -> None:
    """Mown stripes, and the lines before the goal."""
    dust, middle, white = c.light.dust, c.w / 2, (242, 246, 240)
    c.gradient(0.46, 1.0, dust((76, 150, 66), 0.55), dust((56, 134, 54), 0.55))
    for stripe in range(-9, 10, 2):
        a, b = stripe, stripe + 1
        far, near = (
            ((middle + a * 0.15, 0.46), (middle + b * 0.15, 0.46)),
            ((middle + b * 0.34, 1), (middle + a * 0.34, 1)),
        )
        c.poly((*far, *near), dust((88, 164, 74), 0.60))
    c.line(((0, 0.495), (c.w, 0.495)), 0.005, white)
    for wide, spread, y in ((0.46, 0.58, 0.62), (0.24, 0.27, 0.545)):
        box = ((middle - wide, 0.495), (middle - spread, y), (middle + spread, y), (middle + wide, 0.495))
        c.line(box, 0.0055, white)


def _crowd(c: Canvas, rng: Random, top: float, bottom: float) -> None:
    """A stand full of people: coloured specks, denser than anyone can count."""
    rows, columns = round((bottom - top) * 150), round(c.w * 150)
    seats = np.random.Generator(np.random.PCG64(rng.getrandbits(32)))
    fans = rng.sample(("red", "blue", "yellow", "green", "orange"), 2)
    shirts = [
        *(COLOURS[name] for name in ("red", "blue", "white", "yellow", "black", *fans, *fans)),
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


def playground(c: Canvas, rng: Random) -> None:
    """A lawn with swings and a slide on a bed of sand, a seesaw, and a low fence."""
    sky(c, rng, 0.46)
    hills(c, rng, 0.47, 0.11, (100, 146, 104), 0.65)
    dust = c.light.dust
    c.gradient(0.475, 1.0, dust((128, 178, 92), 0.72), dust((98, 160, 72), 0.72))
    rail: RGB = rng.choice(((196, 150, 98), (230, 226, 216), (120, 150, 172)))
    for y in (0.485, 0.510):
        c.rect(0, y, c.w, y + 0.009, dust(rail, 0.4), 0.25)
    for post in range(round(c.w / 0.16) + 1):
        c.rect(post * 0.16, 0.475, post * 0.16 + 0.014, 0.535, shade(dust(rail, 0.3), -0.1), 0.25)
    grass(c, 0.56, (92, 152, 66), 230)
    c.oval(c.w * 0.32, 0.675, c.w * 0.36, 0.058, rgb=dust((206, 174, 122), 0.5))
    c.oval(c.w * 0.32, 0.672, c.w * 0.35, 0.050, rgb=dust((232, 204, 152), 0.55))
    settle(c, rng, 0.74)
    paints = [COLOURS[name] for name in rng.sample(("red", "yellow", "blue", "green", "orange"), 4)]
    left, right = rng.choice(((0.16, 0.44), (0.44, 0.14)))
    _swings(c, c.w * left, 0.68, paints[0], paints[1], rng.uniform(-0.03, 0.03))
    _slide(c, c.w * right, 0.68, paints[2], paints[3], rng.choice((-1, 1)))
    _seesaw(c, c.w * rng.uniform(0.78, 0.86), 0.665, paints[1], paints[2], rng.choice((-1, 1)))


def _swings(c: Canvas, x: float, base: float, frame: RGB, seat: RGB, sway: float) -> None:
    """Two seats on chains, under a bar on two pairs of legs."""
    half, top = 0.15, base - 0.31
    c.oval(x, base, half * 1.25, 0.012, rgb=(50, 50, 40), alpha=0.25)
    for end in (-1, 1):
        for spread in (-0.035, 0.045):
            c.line(((x + end * half, top), (x + end * half + spread, base)), 0.014, shade(frame, -0.1))
    c.line(((x - half - 0.01, top), (x + half + 0.01, top)), 0.016, frame)
    for hang, swing in ((-0.07, sway), (0.07, -sway)):
        low = base - 0.085 - abs(swing) * 0.3
        for chain in (-0.03, 0.03):
            c.line(((x + hang + chain, top), (x + hang + chain + swing, low)), 0.005, (92, 96, 104))
        c.rect(x + hang + swing - 0.036, low - 0.004, x + hang + swing + 0.036, low + 0.012, seat, round_by=0.005)


def _slide(c: Canvas, x: float, base: float, chute: RGB, frame: RGB, side: int) -> None:
    """A ladder to a platform, and the chute down from it."""
    top, high = base - 0.235, x - side * 0.10
    c.oval(x, base, 0.19, 0.012, rgb=(50, 50, 40), alpha=0.25)
    for dx in (-0.028, 0.028):
        c.line(((high + dx - side * 0.03, base), (high + dx, top - 0.075)), 0.012, frame)
    for step in range(1, 6):
        y = base - 0.235 * step / 6
        lean = -side * 0.03 * (1 - step / 8)
        c.line(((high + lean - 0.028, y), (high + lean + 0.028, y)), 0.009, shade(frame, -0.2))
    c.poly(((high - 0.045, top - 0.07), (high, top - 0.115), (high + 0.045, top - 0.07)), shade(chute, -0.1))
    upper = ((high + side * 0.02, top), (high + side * 0.06, top + 0.02))
    lower = ((x + side * 0.08, base - 0.045), (x + side * 0.13, base - 0.025), (x + side * 0.17, base - 0.025))
    curve = (*upper, *lower)
    c.line([(px, py + 0.014) for px, py in curve], 0.034, shade(chute, -0.28))
    c.line(curve, 0.030, chute)
    c.line([(px, py - 0.012) for px, py in curve], 0.008, shade(chute, 0.35))
    c.line(((x + side * 0.10, base - 0.03), (x + side * 0.10, base)), 0.012, frame)


def _seesaw(c: Canvas, x: float, base: float, plank: RGB, foot: RGB, side: int) -> None:
    c.oval(x, base, 0.15, 0.010, rgb=(50, 50, 40), alpha=0.25)
    c.poly(((x - 0.03, base), (x, base - 0.055), (x + 0.03, base)), foot)
    ends = ((x - 0.15, base - 0.050 + side * 0.036), (x + 0.15, base - 0.050 - side * 0.036))
    c.line(ends, 0.016, plank)
    for (ex, ey), inward in zip(ends, (0.035, -0.035), strict=True):
        c.line(((ex + inward, ey), (ex + inward, ey - 0.035)), 0.007, (80, 84, 92))
