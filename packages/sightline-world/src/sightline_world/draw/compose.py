"""A picture from a plan: the place in its light, everything at its spot, the camera, and the truth about it all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

import numpy as np
from PIL import Image, ImageDraw

from sightline.types import Box
from sightline_world.draw import sprites
from sightline_world.draw.backdrop import backdrop, front_layer, light_in
from sightline_world.draw.camera import Camera, View, expose, view
from sightline_world.draw.figures import Looks
from sightline_world.draw.kinds import HOLDS
from sightline_world.draw.layout import CARRYING, MARGIN, Layout, Placed, same_band
from sightline_world.draw.palette import COLOURS, Light
from sightline_world.draw.pen import Note, falloff
from sightline_world.draw.places import PLACES
from sightline_world.draw.plan import ScenePlan
from sightline_world.draw.signs import letter_metres
from sightline_world.draw.sprites import Stamp
from sightline_world.draw.visibility import COVERED, DepthMap, Outline, Visible, covered, relations
from sightline_world.draw.weather import fall
from sightline_world.scene import Figure, Relation, SceneGraph, Sign, Thing

MOST_HIDDEN = 0.7
"""What others would hide by more than this gets another spot."""
SIGN_HIDDEN = 0.15
"""So does a sign of which they would hide more than this, since words must be whole to be read."""
_TURNS = 5
_FAINT = [round(value * 0.32) for value in range(256)]
_OPAQUE = 127


@dataclass(frozen=True, slots=True)
class Drawing:
    """Upright pixels and all that they show.

    `scenery` are things that belong to the place itself; `unmet` are wished relations that do not hold.
    """

    image: Image.Image
    graph: SceneGraph
    scenery: tuple[Note, ...]
    unmet: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Staged:
    """Everything at its spot, the farthest first, before it is painted."""

    items: list[Placed]
    stamps: list[Stamp]
    outlines: list[Outline]
    scene: DepthMap
    table_from: int


def draw(plan: ScenePlan) -> Drawing:
    """Draw the plan."""
    place = backdrop(plan.place, plan.light, plan.variant, plan.size, plan.score)
    staged = stage(plan)
    camera = shaken(plan)
    frame = view(camera, plan.size)
    canvas = place.image.copy()
    paint(canvas, staged, plan, place.light)
    if not PLACES[plan.place].indoor:
        fall(canvas, place.light, Random(f"{plan.seed}/fall/{plan.moment}").getrandbits(20))
    image = expose(frame.through(canvas, Image.Resampling.BILINEAR), camera, _grain_at(plan))
    graph = truth(plan, staged, frame)
    unmet = tuple(wish for wish in plan.relations if wish not in graph.relations)
    return Drawing(image, graph, _through(place.scenery, frame), unmet)


def pin(plan: ScenePlan) -> ScenePlan:
    """The same plan with each spot written down: it draws the same picture, and a change to it moves nothing else."""
    return plan.pinned({item.id: item.spot for item in stage(plan).items})


def stage(plan: ScenePlan) -> Staged:
    """Everything at a spot where it can be seen and wished relations hold: the best of some turns."""
    moved: frozenset[str] = frozenset()
    known: dict[tuple[str, float, int], Stamp] = {}
    layout = Layout(plan)
    best, least = None, 1 << 30
    for turn in range(_TURNS):
        staged = _staged(plan, layout.turn(turn, moved), known)
        wrong = {name for name in _misplaced(plan, staged) if plan.spot(name) is None}
        if len(wrong) < least:
            best, least = staged, len(wrong)
        if not wrong:
            break
        moved |= wrong
    assert best is not None  # there is at least one turn
    return best


def _misplaced(plan: ScenePlan, staged: Staged) -> set[str]:
    """Who is hidden too much, or stands where a wished relation does not hold."""
    hidden = zip(staged.items, staged.scene.hidden(), strict=True)
    wrong = {
        item.carrier or item.id
        for item, share in hidden
        if share > (SIGN_HIDDEN if item.kind == "sign" else MOST_HIDDEN)
    }
    number = {item.id: place for place, item in enumerate(staged.items)}
    for wish in plan.relations:
        if wish.predicate not in CARRYING and not _holds(wish, staged, number[wish.subject], number[wish.object]):
            wrong |= {wish.subject, wish.object}
    return wrong


def _holds(wish: Relation, staged: Staged, subject: int, thing: int) -> bool:
    """Whether a wished relation holds before the camera has cut anything off."""
    far, near = staged.items[subject], staged.items[thing]
    if wish.predicate == "behind":
        return far.base < near.base and covered(staged.outlines[subject], staged.outlines[thing]) >= COVERED
    gap = sum(staged.outlines[thing].box[::2]) - sum(staged.outlines[subject].box[::2])
    return gap / 2 > MARGIN * staged.scene.size[0] and same_band(far, near)


def _staged(plan: ScenePlan, items: list[Placed], known: dict[tuple[str, float, int], Stamp]) -> Staged:
    light = light_in(plan.place, plan.light)
    stamps = []
    for item in items:
        key = (item.id, item.height, item.spot.look)
        if key not in known:
            known[key] = _stamp(plan, item, light)
        stamps.append(known[key])
    outlines = [_outline(item, stamp, plan.size[1]) for item, stamp in zip(items, stamps, strict=True)]
    table_from = next((number for number, item in enumerate(items) if item.habitat == "table"), len(items))
    front = front_layer(plan.place, plan.light, plan.variant, plan.size) if table_from < len(items) else None
    cover = np.asarray(front.getchannel("A")) > _OPAQUE if front else None
    return Staged(items, stamps, outlines, DepthMap(plan.size, outlines, cover, table_from), table_from)


def _stamp(plan: ScenePlan, item: Placed, light: Light) -> Stamp:
    number, height = int(item.id[1:]), item.height * plan.size[1]
    if item.id[0] == "t":
        wish = plan.things[number]
        return sprites.thing(wish.kind, wish.colour, item.spot.look, height, light.dark, plan.candles)
    if item.id[0] == "s":
        return sprites.sign(plan.signs[number], item.spot.look, height)
    return sprites.person(_looks(plan, item), item.flip, height)


def _looks(plan: ScenePlan, item: Placed) -> Looks:
    wish = plan.people[int(item.id[1:])]
    held = [
        plan.things[int(r.object[1:])].kind for r in plan.relations if r.subject == item.id and r.predicate == "holding"
    ]
    pose: str = wish.pose
    if held:
        pose = "carrying" if HOLDS[held[0]].hangs else "holding"
    # Whoever has a name has the same skin and build in every picture.
    build = Random(wish.name).getrandbits(8) if wish.name else item.spot.look // 2 % 256
    colour = COLOURS[wish.headgear_colour] if wish.headgear_colour else None
    return Looks(COLOURS[wish.coat], wish.hair, wish.headgear, colour, pose, build)


def _outline(item: Placed, stamp: Stamp, unit: int) -> Outline:
    # A person is hung up at the middle line, so that the hand is where the layout thinks; a thing at its middle.
    axis = stamp.axis if item.kind == "person" else stamp.image.width / 2
    left, top = round(item.x * unit - axis), round(item.y * unit) - stamp.image.height
    return Outline(stamp.solid, (left, top, left + stamp.image.width, top + stamp.image.height), stamp.area)


def paint(canvas: Image.Image, staged: Staged, plan: ScenePlan, light: Light) -> None:
    """Paint everything at its spot, with shadows, reflections and lights."""
    light_on_things = light.on_things()
    for number, item in enumerate(staged.items):
        if number == staged.table_from:
            _paint_front(canvas, plan)
        stamp, each = staged.stamps[number], staged.outlines[number]
        image = sprites.lit(stamp.image, light_on_things, min(1.0, item.zone.depth(item.base)))
        if item.carrier is None and item.habitat == "water":
            _reflect(canvas, image, stamp.image, each)
        elif item.carrier is None and _stands(item):
            _shadow(canvas, item, light)
        canvas.paste(image, each.box[:2], stamp.image)
    for stamp, each, item in zip(staged.stamps, staged.outlines, staged.items, strict=True):
        if light.dark or item.kind == "cake":
            _shine(canvas, stamp, each)


def _stands(item: Placed) -> bool:
    return item.habitat in ("ground", "table") or (item.habitat == "far" and item.kind != "sign")


def _paint_front(canvas: Image.Image, plan: ScenePlan) -> None:
    front = front_layer(plan.place, plan.light, plan.variant, plan.size)
    if front is not None:
        canvas.paste(front, (0, 0), front)


def _shadow(canvas: Image.Image, item: Placed, light: Light) -> None:
    """A soft dark oval under a foot."""
    unit = canvas.height
    share = 0.15 if item.kind == "sign" else 0.95  # only what a sign stands on throws one
    half, low = max(1, round(item.half * share * unit)), max(1, round(0.045 * item.height * unit))
    mask = _oval_sized(light.name == "day", half, low)
    canvas.paste((30, 34, 40), (round(item.x * unit) - half, round((item.y - 0.004) * unit) - low), mask)


@lru_cache(maxsize=2048)
def _oval_sized(strong: bool, half: int, low: int) -> Image.Image:
    return _oval(strong).resize((2 * half, 2 * low), Image.Resampling.BILINEAR)


@lru_cache(maxsize=2)
def _oval(strong: bool) -> Image.Image:
    mask = Image.new("L", (96, 32))
    ImageDraw.Draw(mask).ellipse((0, 0, 95, 31), fill=round(255 * (0.34 if strong else 0.24)))
    return mask


def _reflect(canvas: Image.Image, image: Image.Image, opacity: Image.Image, each: Outline) -> None:
    """A faint, flattened mirror image below the water line."""
    size = (image.width, max(1, image.height // 2))
    flat, mask = (
        layer.transpose(Image.Transpose.FLIP_TOP_BOTTOM).resize(size) for layer in (image, opacity.getchannel("A"))
    )
    canvas.paste(flat, (each.box[0], each.box[3] - 1), mask.point(_FAINT))


def _shine(canvas: Image.Image, stamp: Stamp, each: Outline) -> None:
    for glow in stamp.glows:
        radius = max(1, round(glow.radius))
        mask = falloff(glow.strength).resize((2 * radius, 2 * radius), Image.Resampling.BILINEAR)
        canvas.paste(glow.rgb, (round(each.box[0] + glow.x) - radius, round(each.box[1] + glow.y) - radius), mask)


def shaken(plan: ScenePlan) -> Camera:
    """The camera at this moment: in later frames of a burst it is held a little differently."""
    if plan.moment == 0:
        return plan.camera
    rng = Random(f"{plan.seed}/shake/{plan.moment}")
    zoom = plan.camera.zoom / 0.98
    # A hundredth of the scene to either side, however much room a zoom leaves to aim in.
    x, y = (min(1.0, max(0.0, aim + rng.uniform(-0.01, 0.01) / (1 - 1 / zoom))) for aim in plan.camera.aim)
    return replace(plan.camera, zoom=zoom, aim=(x, y))


def _grain_at(plan: ScenePlan) -> int:
    return Random(f"{plan.seed}/grain/{plan.moment}").getrandbits(20)


def truth(plan: ScenePlan, staged: Staged, frame: View) -> SceneGraph:
    """All that the frame shows, in the order of the plan."""
    seen = staged.scene.through(frame)
    things: list[Thing] = []
    figures: list[Figure] = []
    signs: list[Sign] = []
    for item, look in sorted(zip(staged.items, seen, strict=True), key=lambda pair: _rank(pair[0].id)):
        if look is None:
            continue
        number = int(item.id[1:])
        if item.id[0] == "t":
            wish = plan.things[number]
            things.append(Thing(item.id, wish.kind, wish.colour, wish.size, look.box, look.hidden, wish.name))
        elif item.id[0] == "p":
            figures.append(_figure(plan, item.id, look))
        else:
            signs.append(_sign(plan, item, look))
    found = relations(staged.items, staged.outlines, seen)
    order = tuple(sorted(found, key=lambda r: (r.predicate, _rank(r.subject), _rank(r.object))))
    return SceneGraph(plan.place, plan.light, tuple(things), tuple(figures), tuple(signs), order)


def _rank(name: str) -> tuple[str, int]:
    return (name[0], int(name[1:]))


def _figure(plan: ScenePlan, name: str, look: Visible) -> Figure:
    wish = plan.people[int(name[1:])]
    colour = wish.headgear_colour if wish.headgear != "none" else None
    return Figure(name, wish.hair, wish.headgear, colour, wish.coat, look.box, look.hidden, wish.name)


def _sign(plan: ScenePlan, item: Placed, look: Visible) -> Sign:
    wish = plan.signs[int(item.id[1:])]
    metre = item.zone.height(1.0, item.y) * plan.size[1]
    letter = round(letter_metres(wish.size) * metre * look.scale, 1)
    return Sign(item.id, wish.words, look.box, look.hidden, letter)


def _through(notes: tuple[Note, ...], frame: View) -> tuple[Note, ...]:
    """Scenery as the frame shows it; things of one kind and colour become one note."""
    merged: dict[tuple[str, str], Note] = {}
    for note in notes:
        seen = replace(note, box=_framed(note.box, frame))
        if seen.box.right <= seen.box.left or seen.box.bottom <= seen.box.top:
            continue
        before = merged.get((note.kind, note.colour))
        if before is not None:
            seen = replace(seen, count=before.count + seen.count, box=_union(before.box, seen.box))
        merged[note.kind, note.colour] = seen
    return tuple(merged.values())


def _framed(box: Box, frame: View) -> Box:
    wide, high = frame.size
    corners = [frame.to_frame(x * wide, y * high) for x in (box.left, box.right) for y in (box.top, box.bottom)]
    xs, ys = [x / wide for x, _ in corners], [y / high for _, y in corners]
    edges = [round(min(1.0, max(0.0, value)), 4) for value in (min(xs), min(ys), max(xs), max(ys))]
    return Box(*edges)


def _union(a: Box, b: Box) -> Box:
    return Box(min(a.left, b.left), min(a.top, b.top), max(a.right, b.right), max(a.bottom, b.bottom))
