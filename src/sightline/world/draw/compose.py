"""A scene from a plan: the place in its light, things where they belong, and the truth about where they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from PIL import Image

from sightline.types import Box
from sightline.world.draw.catalogue import KINDS, PLACES, Front, Kind, Zone
from sightline.world.draw.objects import cake
from sightline.world.draw.palette import COLOURS, LIGHTS
from sightline.world.draw.pen import WHOLE, Canvas, Glow, Note, Pen
from sightline.world.draw.venues import scoreboard

# Things that are placed at random try this many spots and take the least crowded one.
_TRIES = 18


@dataclass(frozen=True, slots=True)
class Wish:
    """What should be in a picture."""

    kind: str
    colour: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """All that decides how a picture looks; equal plans give equal pixels.

    `moment` counts the frames of a burst: the camera shakes a little, and `moving` goes on by `step` each time.
    """

    place: str
    light: str
    wishes: tuple[Wish, ...]
    size: tuple[int, int]
    seed: str
    score: tuple[int, int] | None = None
    candles: int = 5
    moment: int = 0
    moving: str | None = None
    step: float = 0.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """Upright pixels, and what is to be seen in them."""

    image: Image.Image
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class _Spot:
    """Where one thing stands (the middle of its foot) and how high it is."""

    wish: Wish
    number: int
    zone: Zone
    x: float
    y: float
    height: float

    @property
    def on_table(self) -> bool:
        return KINDS[self.wish.kind].habitat == "table"

    @property
    def half(self) -> float:
        return KINDS[self.wish.kind].aspect * self.height / 2

    @property
    def box(self) -> Box:
        """The room that it takes, in the canvas's units."""
        return Box(self.x - self.half, self.y - self.height, self.x + self.half, self.y)


def draw(plan: Plan) -> Drawing:
    """Draw the plan."""
    place = PLACES[plan.place]
    light = LIGHTS[plan.light].under(place.lamps)
    canvas = Canvas(*plan.size, light)
    scenery = Random(f"{plan.seed}/place")
    place.paint(canvas, scenery)
    if plan.score is not None:
        scoreboard(canvas, plan.score)
    front = place.front if any(KINDS[wish.kind].habitat == "table" for wish in plan.wishes) else None
    spots = _layout(canvas, plan, front)
    for spot in spots:
        if not spot.on_table:
            _put(canvas, spot, plan)
    if front is not None:
        front.paint(canvas, scenery)
    for spot in spots:
        if spot.on_table:
            _put(canvas, spot, plan)
    canvas.shine()
    window = _shaken(plan)
    grain = Random(f"{plan.seed}/grain/{plan.moment}").getrandbits(20)
    return Drawing(canvas.finish(window, grain), _merged(canvas.notes, window))


def _layout(canvas: Canvas, plan: Plan, front: Front | None) -> list[_Spot]:
    """A spot for each wished thing, the farthest first."""
    rng = Random(f"{plan.seed}/layout")
    spots: list[_Spot] = []
    for wish in plan.wishes:
        taken = [spot.box for spot in spots]
        if front is not None and KINDS[wish.kind].habitat != "table":
            taken.append(replace(front.box, left=front.box.left * canvas.w, right=front.box.right * canvas.w))
        for number in range(wish.count):
            tries = [_spot(canvas, plan, wish, number, rng) for _ in range(_TRIES)]
            spots.append(min(tries, key=lambda spot: sum(_overlap(spot.box, box) for box in taken)))
            taken.append(spots[-1].box)
    moved = (_moved(spot, plan, canvas.w) for spot in spots)
    return sorted(moved, key=lambda spot: spot.y)


def _spot(canvas: Canvas, plan: Plan, wish: Wish, number: int, rng: Random) -> _Spot:
    kind = KINDS[wish.kind]
    zone = PLACES[plan.place].zones[kind.habitat]
    y = rng.uniform(zone.top, zone.bottom)
    height = min(zone.height(kind.metres, y), 0.92 * canvas.w / kind.aspect)
    half = kind.aspect * height / 2
    left, right = max(zone.left * canvas.w, half), min(zone.right * canvas.w, canvas.w - half)
    x = rng.uniform(left, right) if left < right else canvas.w / 2
    return _Spot(wish, number, zone, x, y, height)


def _moved(spot: _Spot, plan: Plan, width: float) -> _Spot:
    """The spot at this moment of a burst; nothing walks out of the picture."""
    if spot.wish.kind != plan.moving:
        return spot
    x = spot.x + plan.step * plan.moment
    return replace(spot, x=min(width - spot.half, max(spot.half, x)))


def _overlap(a: Box, b: Box) -> float:
    """How much of the smaller of two things the other one covers, 0 to 1."""
    wide = min(a.right, b.right) - max(a.left, b.left)
    high = min(a.bottom, b.bottom) - max(a.top, b.top)
    if wide <= 0 or high <= 0:
        return 0.0
    return wide * high / min((box.right - box.left) * (box.bottom - box.top) for box in (a, b))


def _put(canvas: Canvas, spot: _Spot, plan: Plan) -> None:
    """Draw one thing at its spot, with its shadow or its reflection."""
    kind, unit = KINDS[spot.wish.kind], canvas.scale
    rng = Random(f"{plan.seed}/{spot.wish.kind}/{spot.wish.colour}/{spot.number}")
    sprite, glows = _sprite(kind, spot, canvas, rng, plan)
    left = round(spot.x * unit - sprite.width / 2)
    top = round(spot.y * unit) - sprite.height
    if kind.habitat == "water":
        _reflect(canvas, sprite, left, top + sprite.height)
    elif kind.habitat != "sky":
        dark = 0.34 if canvas.light.name == "day" else 0.24
        canvas.oval(
            spot.x, spot.y - 0.004, spot.half * 0.95, 0.045 * spot.height, rgb=(30, 34, 40), alpha=dark, lit=True
        )
    canvas.image.paste(sprite, (left, top), sprite)
    if canvas.light.dark or spot.wish.kind == "cake":
        for glow in glows:
            canvas.glow((left + glow.x) / unit, (top + glow.y) / unit, glow.radius / unit, glow.rgb, glow.strength)
    canvas.note(
        spot.wish.kind,
        spot.wish.colour,
        left / unit,
        top / unit,
        (left + sprite.width) / unit,
        (top + sprite.height) / unit,
    )


def _sprite(kind: Kind, spot: _Spot, canvas: Canvas, rng: Random, plan: Plan) -> tuple[Image.Image, list[Glow]]:
    """The thing alone, cut to its outline's bounding box; its lights in pixels of that box."""
    scale = spot.height * canvas.scale
    depth = spot.zone.depth(spot.y)
    light = canvas.light.on_things()
    image = Image.new("RGBA", (round(scale * kind.aspect * 1.5), round(scale * 1.1)))
    pen = Pen(image, scale, (image.width / 2, scale * 0.05), lambda rgb, _: light.ink(rgb, depth), light.dark)
    rgb = COLOURS[spot.wish.colour]
    flip = rng.random() < 0.5
    if spot.wish.kind == "cake":
        cake(pen, rgb, rng, plan.candles)
    else:
        kind.draw(pen, rgb, rng)
    left, top, right, bottom = image.getbbox() or (0, 0, 1, 1)
    lights = []
    for glow in pen.glows:
        x, y = pen.at((glow.x, glow.y))
        lights.append(replace(glow, x=x - left, y=y - top, radius=glow.radius * scale))
    cut = image.crop((left, top, right, bottom))
    if flip:
        cut = cut.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        lights = [replace(g, x=cut.width - g.x) for g in lights]
    return cut, lights


def _reflect(canvas: Canvas, sprite: Image.Image, left: int, line: int) -> None:
    """A faint, flattened mirror image below the water line."""
    flat = sprite.transpose(Image.Transpose.FLIP_TOP_BOTTOM).resize((sprite.width, max(1, sprite.height // 2)))
    faint = flat.getchannel("A").point([round(v * 0.32) for v in range(256)])
    canvas.image.paste(flat, (left, line - 2), faint)


def _shaken(plan: Plan) -> Box:
    """The window of the canvas that this frame shows: all of it, or for later frames of a burst a little less."""
    if plan.moment == 0:
        return WHOLE
    rng = Random(f"{plan.seed}/shake/{plan.moment}")
    left, top = rng.uniform(0, 0.02), rng.uniform(0, 0.02)
    return Box(left, top, left + 0.98, top + 0.98)


def _merged(notes: list[Note], window: Box) -> tuple[Note, ...]:
    """Things of one kind and colour as one note with their count and common box, as seen through the window."""
    merged: dict[tuple[str, str], Note] = {}
    for note in notes:
        key = (note.kind, note.colour)
        seen = merged.get(key)
        if seen is None:
            merged[key] = note
        else:
            merged[key] = replace(seen, count=seen.count + note.count, box=_union(seen.box, note.box))
    return tuple(replace(note, box=_through(note.box, window)) for note in merged.values())


def _union(a: Box, b: Box) -> Box:
    return Box(min(a.left, b.left), min(a.top, b.top), max(a.right, b.right), max(a.bottom, b.bottom))


def _through(box: Box, window: Box) -> Box:
    wide, high = window.right - window.left, window.bottom - window.top

    def clip(value: float) -> float:
        return round(min(1.0, max(0.0, value)), 4)

    return Box(
        clip((box.left - window.left) / wide),
        clip((box.top - window.top) / high),
        clip((box.right - window.left) / wide),
        clip((box.bottom - window.top) / high),
    )
