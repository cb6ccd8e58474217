"""Places where people meet: a kitchen and a library, a stadium and a playground."""

from __future__ import annotations

import math
from random import Random

import numpy as np
from PIL import Image

from sightline_world.draw.landscape import grass, hills, sky, strew
from sightline_world.draw.palette import COLOURS, RGB, mix, shade
from sightline_world.draw.pen import Canvas
from sightline_world.draw.weather import fall, settle

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


def kitchen(c: Canvas, rng: Random) -> None:
    """A wall of tiles with a window, shelves and a worktop, behind a wooden table."""
    wall = mix(COLOURS[rng.choice(("yellow", "green", "blue", "pink", "orange"))], (250, 244, 232), 0.76)
    c.gradient(0.0, 0.62, shade(wall, 0.1), wall)
    for row in range(4):
        for column in range(round(c.w / 0.055) + 1):
            x, y = column * 0.055 - (0.027 if row % 2 else 0), 0.40 + row * 0.042
            c.rect(x + 0.002, y + 0.002, x + 0.053, y + 0.040, mix((246, 248, 248), wall, rng.uniform(0.0, 0.35)))
    left, right = rng.choice(((0.27, 0.785), (0.73, 0.215)))
    window(c, rng, c.w * left, 0.06, c.w * 0.24 + 0.08, 0.31)
    for y in (0.20, 0.345):
        _shelf(c, rng, c.w * (right - 0.185), c.w * (right + 0.185), y)
    cupboard = mix(wall, rng.choice(((120, 140, 140), (150, 120, 96), (104, 124, 150))), 0.45)
    c.rect(0, 0.555, c.w, 0.585, (228, 220, 208))
    c.rect(0, 0.585, c.w, 0.70, cupboard)
    doors = max(3, round(c.w / 0.24))
    for door in range(doors):
        a, b = c.w * door / doors + 0.008, c.w * (door + 1) / doors - 0.008
        c.rect(a, 0.598, b, 0.72, shade(cupboard, 0.12), round_by=0.008)
        c.rect(b - 0.034, 0.62, b - 0.018, 0.66, (190, 160, 100), round_by=0.006)
    _worktop(c, rng.choice(((190, 136, 86), (170, 116, 74), (206, 160, 112))))
    _ceiling_light(c, c.w * rng.uniform(0.42, 0.58))


def _worktop(c: Canvas, wood: RGB) -> None:
    """The table that the picture is taken from, as wide as the picture."""
    c.gradient(0.70, 1.0, shade(wood, 0.16), shade(wood, -0.05))
    c.rect(0, 0.695, c.w, 0.708, shade(wood, 0.35))
    for board in range(-6, 7):
        c.line(((c.w / 2 + board * 0.17, 0.708), (c.w / 2 + board * 0.30, 1.0)), 0.004, shade(wood, -0.28), alpha=0.7)
    strew(c, "wood", 125, 0.72, 1.0, (shade(wood, -0.2),))


def _ceiling_light(c: Canvas, x: float) -> None:
    """A flat bowl under the ceiling, at the picture's edge; it is on whenever it is dim outside."""
    c.oval(x, 0.0, 0.105, 0.034, rgb=(176, 168, 156))
    c.oval(x, 0.0, 0.095, 0.026, rgb=(255, 246, 214) if c.light.dim else (236, 230, 218), lit=True)
    if c.light.dim:
        c.glow(x, 0.02, 0.50 if c.light.dark else 0.34, (255, 226, 160), 0.60 if c.light.dark else 0.45)


def window(c: Canvas, rng: Random, x: float, top: float, wide: float, tall: float) -> None:
    """A window with the hour and the weather behind it."""
    left, right, low = x - wide / 2, x + wide / 2, top + tall
    frame: RGB = (250, 248, 244)
    c.rect(left - 0.018, top - 0.018, right + 0.018, low + 0.018, frame)
    steps = 12
    for step in range(steps):
        tone = mix(c.light.sky_top, c.light.sky_bottom, step / steps)
        c.rect(left, top + tall * step / steps, right, top + tall * (step + 1) / steps, tone, lit=True)
    if c.light.name in ("day", "sunset", "night"):
        high = 0.56 if c.light.name == "sunset" else 0.22
        c.oval(left + wide * 0.74, top + tall * high, 0.026, rgb=c.light.disc, lit=True)
    haze = {"day": 0.3, "sunset": 0.45, "night": 0.75, "fog": 0.85}.get(c.light.name, 0.5)
    phase = rng.uniform(0, 6)
    for height, green in ((0.32, (104, 140, 120)), (0.20, (84, 140, 80))):
        tone = mix(c.light.dust(green, 0.7), c.light.haze_rgb, min(1.0, haze + (height - 0.20)))
        bumps = [
            (left + wide * step / 12, low - tall * (height + 0.07 * math.sin(step * 0.7 + phase + height * 9)))
            for step in range(13)
        ]
        c.poly([(left, low), *bumps, (right, low)], tone, lit=True)
    pane = (round(left * c.scale), round(top * c.scale), round(right * c.scale), round(low * c.scale))
    fall(c.image, c.light, 0, pane)
    c.rect(x - 0.006, top, x + 0.006, low, frame)
    c.rect(left, top + tall * 0.48, right, top + tall * 0.48 + 0.010, frame)
    c.rect(left - 0.035, low + 0.012, right + 0.035, low + 0.032, (232, 226, 216))


def _shelf(c: Canvas, rng: Random, left: float, right: float, y: float) -> None:
    """A board with squat jars and piled plates, paler than what stands on the table."""
    c.rect(left, y, right, y + 0.014, (150, 108, 70))
    x = left + 0.025
    while x < right - 0.06:
        if rng.random() < 0.3:
            wide = 0.075
            for plate in range(rng.randint(3, 5)):
                low = y - 0.002 - plate * 0.009
                c.rect(x, low - 0.006, x + wide, low, (232, 234, 232), round_by=0.003)
        else:
            wide, tall = rng.uniform(0.040, 0.052), rng.uniform(0.040, 0.062)
            tone = mix(rng.choice(tuple(COLOURS.values())), (236, 226, 206), 0.6)
            c.rect(x, y - tall, x + wide, y, tone, round_by=0.008)
            c.rect(x + 0.003, y - tall - 0.008, x + wide - 0.003, y - tall + 0.006, (164, 132, 102), round_by=0.003)
        x += wide + rng.uniform(0.012, 0.035)


def library(c: Canvas, rng: Random) -> None:
    """Bookcases to the ceiling about a tall window, on a wooden floor with a rug."""
    wood: RGB = rng.choice(((122, 80, 50), (98, 66, 48), (146, 100, 62)))
    wall = mix(COLOURS[rng.choice(("green", "yellow", "red", "blue"))], (240, 232, 214), 0.80)
    c.rect(0, 0, c.w, 0.64, wall)
    _floor(c, rng)
    middle = rng.choice((0.20, 0.5, 0.80))
    spare = c.w * middle
    window(c, rng, spare, 0.09, 0.30, 0.40)
    gap = (spare - 0.215, spare + 0.215)
    for left, right in ((-0.03, gap[0]), (gap[1], c.w + 0.03)):
        if right - left > 0.12:
            _bookcases(c, rng, left, right, wood)
    if rng.random() < 0.6:
        _ladder(c, c.w * (middle + (0.30 if middle < 0.5 else -0.30)))
    for x in (0.25, 0.75):
        _ceiling_light(c, c.w * x)


def _bookcases(c: Canvas, rng: Random, left: float, right: float, wood: RGB) -> None:
    """Cases side by side from `left` to `right`, full of books in quiet colours."""
    top, foot, rows = 0.03, 0.64, 5
    c.rect(left, top - 0.025, right, foot, shade(wood, -0.35))
    cases = max(1, round((right - left) / 0.36))
    for row in range(rows):
        y = top + (foot - 0.03 - top) * (row + 1) / rows
        x = left + 0.016
        while x < right - 0.03:
            wide, tall = rng.uniform(0.013, 0.030), rng.uniform(0.068, 0.098)
            name = rng.choice(("red", "blue", "green", "brown", "brown", "orange", "purple", "white"))
            c.rect(x, y - tall, min(right, x + wide), y, mix(COLOURS[name], (112, 84, 62), 0.42))
            x += wide + (0.003 if rng.random() < 0.92 else 0.03)
        c.rect(left, y, right, y + 0.014, wood)
    for case in range(cases + 1):
        x = left + (right - left) * case / cases
        c.rect(x - 0.012, top - 0.025, x + 0.012, foot, shade(wood, 0.10))
    c.rect(left, top - 0.035, right, top - 0.008, shade(wood, 0.18))
    c.rect(left, foot - 0.03, right, foot + 0.004, shade(wood, -0.1))


def _floor(c: Canvas, rng: Random) -> None:
    wood: RGB = (196, 154, 110)
    c.gradient(0.64, 1.0, shade(wood, -0.12), shade(wood, 0.08))
    for board in range(-10, 11):
        c.line(((c.w / 2 + board * 0.12, 0.64), (c.w / 2 + board * 0.27, 1.0)), 0.003, shade(wood, -0.3), alpha=0.6)
    rug = mix(COLOURS[rng.choice(("red", "blue", "green", "purple"))], (150, 120, 104), 0.45)
    for grow, tone in ((1.0, rug), (0.90, shade(rug, 0.35)), (0.86, rug)):
        c.oval(c.w * 0.48, 0.83, 0.56 * grow, 0.115 * grow, rgb=tone)


def _ladder(c: Canvas, x: float) -> None:
    rail: RGB = (204, 164, 110)
    for dx in (-0.04, 0.04):
        c.line(((x + dx * 1.35, 0.66), (x + dx, 0.08)), 0.011, rail)
    for step in range(1, 9):
        y = 0.08 + 0.58 * step / 9
        half = 0.04 + 0.014 * step / 9
        c.line(((x - half, y), (x + half, y)), 0.009, shade(rail, -0.12))


def library_table(c: Canvas, rng: Random) -> None:
    """The reading table near the viewer, over which nobody can stand."""
    del rng
    left, wood = c.w * 0.42, (158, 104, 64)
    c.oval(c.w * 0.74, 0.985, c.w * 0.34, 0.03, rgb=(40, 30, 24), alpha=0.35)
    c.rect(left + 0.03, 0.93, left + 0.075, 1.0, shade(wood, -0.35))
    c.poly(((left, 0.91), (left + 0.09, 0.715), (c.w, 0.715), (c.w, 0.91)), wood)
    c.poly(((left + 0.03, 0.895), (left + 0.10, 0.73), (c.w, 0.73), (c.w, 0.895)), shade(wood, 0.13))
    c.rect(left, 0.91, c.w, 0.955, shade(wood, -0.22))


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
