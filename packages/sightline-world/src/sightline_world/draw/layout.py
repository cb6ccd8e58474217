"""Where everything stands: from a plan's wishes to spots in the scene."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from sightline.errors import UserError
from sightline_world.draw.camera import view
from sightline_world.draw.figures import HAND, LOW_HAND
from sightline_world.draw.kinds import HOLDS, PERSON_METRES, SUPPORTS, Item, carried_metres, items_of
from sightline_world.draw.places import Habitat, Zone
from sightline_world.draw.plan import ScenePlan, Spot
from sightline_world.scene import Relation

MARGIN = 0.08
"""The centre of what is left of something else is farther to the left by this share of the width."""
BAND = 1.4
"""Things are in one depth band when neither is farther away than the other by more than this factor."""

Corners: TypeAlias = tuple[float, float, float, float]
CARRYING = ("on", "holding")

# A random spot is the best of this many.
_TRIES = 9
# A spot this good is taken at once.
_GOOD = 0.04


@dataclass(frozen=True, slots=True)
class Placed:
    """Something at its spot: the middle of its foot and its height, in heights of the picture.

    `carrier` is what it lies on, or who holds it (`held`); `base` is where on the ground it or its carrier stands.
    """

    id: str
    kind: str
    habitat: Habitat
    zone: Zone
    x: float
    y: float
    height: float
    half: float
    spot: Spot
    base: float
    carrier: str | None = None
    held: bool = False

    @property
    def flip(self) -> bool:
        return self.spot.look % 2 == 1

    @property
    def distance(self) -> float:
        """How far away it stands; all on a wall, a shelf or in the sky is equally far."""
        return self.zone.eye / max(1e-6, self.base - self.zone.horizon) if self.zone.eye else 1.0

    def box(self) -> Corners:
        return (self.x - self.half, self.y - self.height, self.x + self.half, self.y)


class Layout:
    """Spots for everything in a plan, found anew in each turn as far as something has to move."""

    def __init__(self, plan: ScenePlan) -> None:
        self._plan = plan
        self._wide = plan.size[0] / plan.size[1]
        self._links = carried_in(plan)
        self._items = items_of(plan, self._links)
        free = (item for item in self._items.values() if item.id not in self._links)
        self._free = sorted(free, key=lambda item: -_bulk(item))
        self._frame = _frame(plan)
        self._spots: dict[str, Placed] = {}

    def turn(self, number: int = 0, moved: frozenset[str] = frozenset()) -> list[Placed]:
        """A spot for everything, in the order of painting: the farthest first.

        Pinned wishes keep their spots. Those in `moved` get others than in an earlier turn, where they were hidden.
        """
        plan, wide, links = self._plan, self._wide, self._links
        self._spots = self._placed(number, moved)
        done = dict(self._spots)
        busy = {link.subject for link in links.values() if link.predicate == "holding"}
        for name, placed in done.items():
            done[name] = _moved(_turned(placed, wide) if name in busy else placed, plan, wide)
        for name, link in links.items():
            done[name] = _carried(self._items[name], link, done, plan)
        carriers = {name: done[placed.carrier] if placed.carrier else placed for name, placed in done.items()}
        return sorted(
            done.values(), key=lambda it: (it.habitat == "table", carriers[it.id].base, it.carrier is not None)
        )

    def _placed(self, turn: int, moved: frozenset[str]) -> dict[str, Placed]:
        """The spots of all that is not carried, the bulkiest first; each is chosen by those before it."""
        done: dict[str, Placed] = {}
        boxes: list[Corners] = []
        around = _Surroundings(self._plan.relations, done, boxes, self._frame, self._wide)
        same = True  # nobody before has moved since the last turn
        for item in self._free:
            same = same and item.id not in moved and item.id in self._spots
            if same:
                done[item.id] = self._spots[item.id]
            elif item.spot is not None:
                done[item.id] = _at(item, item.spot, self._wide)
            else:
                rng = Random(f"{self._plan.seed}/{item.id}/{turn if item.id in moved else 0}")
                done[item.id] = _best(item, around, rng)
            boxes.append(done[item.id].box())
        return done


def carried_in(plan: ScenePlan) -> dict[str, Relation]:
    """What is on something or held, with the relation that says so; a wish that can't be drawn is refused."""
    links = {r.subject if r.predicate == "on" else r.object: r for r in plan.relations if r.predicate in CARRYING}
    for name, link in links.items():
        carrier = link.subject if link.predicate == "holding" else link.object
        if link.predicate == "holding":
            able = carrier[0] == "p" and _kind(plan, name) in HOLDS
        else:
            able = name[0] == "t" and _kind(plan, carrier) in SUPPORTS
        if not able or carrier in links:
            raise UserError(
                f"a plan wishes {link.subject} {link.predicate} {link.object}, which can't be drawn.",
                f"people hold {', '.join(sorted(HOLDS))}; things lie on {', '.join(sorted(SUPPORTS))}",
            )
    return links


def _kind(plan: ScenePlan, name: str) -> str | None:
    return plan.things[int(name[1:])].kind if name[0] == "t" else None


def _bulk(item: Item) -> float:
    return item.metres * item.metres * item.aspect * (10.0 if item.zone.eye == 0 else 1.0)


def _at(item: Item, spot: Spot, wide: float) -> Placed:
    """The item at a spot."""
    x, y, height, half = _measures(item, spot, wide)
    return Placed(item.id, item.kind, item.habitat, item.zone, x, y, height, half, spot, y)


def _measures(item: Item, spot: Spot, wide: float) -> tuple[float, float, float, float]:
    """Foot, height and half width at a spot: no larger than the picture bears, and inside it."""
    zone = item.zone
    y = item.top + spot.v * (item.bottom - item.top)
    height = min(zone.height(item.metres, y), item.limit)
    half = item.aspect * height / 2
    left, right = max(zone.left * wide, half), min(zone.right * wide, wide - half)
    u = spot.u
    if item.sides:  # hung from the houses at either side
        u = 0.25 * u if u < 0.5 else 1 - 0.25 * (1 - u)
    x = min(right, max(left, wide * (zone.left + u * (zone.right - zone.left)))) if left < right else wide / 2
    return x, y, height, half


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What a spot is judged by: wishes, what has its spot already, and what the camera shows."""

    relations: Sequence[Relation]
    done: Mapping[str, Placed]
    boxes: Sequence[Corners]
    frame: Corners
    wide: float


def _best(item: Item, around: _Surroundings, rng: Random) -> Placed:
    """The item at the best of some spots by lot."""
    wishes = [r for r in around.relations if r.predicate not in CARRYING and item.id in (r.subject, r.object)]
    found, least = None, 1e9
    for spot in _spots(item, wishes, around.done, rng, around.wide):
        x, y, height, half = _measures(item, spot, around.wide)
        box = (x - half, y - height, x + half, y)
        cost = 1.5 * (1 - _share(box, around.frame))
        if cost >= least:
            continue
        cost += _crowding(box, around.boxes)
        if wishes and cost < least:
            cost += _wishes_broken(_at(item, spot, around.wide), wishes, around)
        if cost < least:
            found, least = spot, cost
            if cost < _GOOD:
                break
    assert found is not None  # there is always a spot to try
    return _at(item, found, around.wide)


def _crowding(box: Corners, others: Sequence[Corners]) -> float:
    """How much a box and others cover of each other."""
    left, top, right, bottom = box
    total = 0.0
    for other in others:
        if other[0] < right and other[2] > left and other[1] < bottom and other[3] > top:
            total += _overlap(box, other)
    return total


def _wishes_broken(placed: Placed, wishes: Sequence[Relation], around: _Surroundings) -> float:
    cost = 0.0
    for wish in wishes:
        first = placed.id == wish.subject
        other = around.done.get(wish.object if first else wish.subject)
        if other is not None:
            pair = (placed, other) if first else (other, placed)
            cost += _broken(wish, *pair, around.wide)
    return cost


def _spots(
    item: Item, relations: Sequence[Relation], done: Mapping[str, Placed], rng: Random, wide: float
) -> Iterator[Spot]:
    """Spots to try: where a wished relation to something placed before would hold, and at random."""
    look = rng.getrandbits(16)
    to_come = []
    for relation in relations:
        first = item.id == relation.subject
        other = done.get(relation.object if first else relation.subject)
        if other is None:
            to_come.append((relation, first))
        elif other.zone is item.zone:
            for _ in range(_TRIES):
                yield _guided(item, other, relation, first, rng, wide, look)
    for _ in range(_TRIES):
        spot = Spot(round(rng.random(), 4), round(rng.random(), 4), look)
        for relation, first in to_come:
            spot = _leaving_room(spot, relation, first)
        yield spot


def _leaving_room(spot: Spot, relation: Relation, first: bool) -> Spot:
    """A spot that leaves room beside or behind it for the other of two, who is still to come."""
    if relation.predicate == "behind":
        return replace(spot, v=round(spot.v * 0.5 + (0.0 if first else 0.5), 4))
    return replace(spot, u=round(spot.u * 0.6 + (0.0 if first else 0.4), 4))


def _guided(item: Item, other: Placed, relation: Relation, first: bool, rng: Random, wide: float, look: int) -> Spot:
    """A spot from which the relation to `other` should hold."""
    zone, half = item.zone, _at(item, Spot(0.5, other.spot.v, look), wide).half
    if relation.predicate == "behind":
        y = other.base + rng.uniform(0.012, 0.07) * (-1 if first else 1)
        x = other.x + rng.choice((-1, 1)) * (other.half + half) * rng.uniform(0.2, 0.7)
    else:
        y = other.base + rng.uniform(-0.03, 0.03)
        gap = rng.uniform(MARGIN + 0.05, 0.6) * wide
        x = other.x + (-gap if first else gap)
    u = (x / wide - zone.left) / (zone.right - zone.left)
    v = (y - item.top) / max(1e-6, item.bottom - item.top)
    return Spot(round(min(1.0, max(0.0, u)), 4), round(min(1.0, max(0.0, v)), 4), look)


def _frame(plan: ScenePlan) -> Corners:
    """The upright part of the scene that the camera surely shows."""
    seen = view(plan.camera, plan.size)
    if seen.plain:
        return (0.0, 0.0, plan.size[0] / plan.size[1], 1.0)
    a, _, _, _, e, _, _, _ = seen.coefficients
    high = plan.size[1]
    room = (1 - 1 / plan.camera.zoom) / 2
    middle = [0.5 + room * (2 * aim - 1) for aim in plan.camera.aim]
    x, y = middle[0] * plan.size[0] / high, middle[1]
    return (x - a * plan.size[0] / high / 2, y - e / 2, x + a * plan.size[0] / high / 2, y + e / 2)


def _broken(relation: Relation, subject: Placed, thing: Placed, wide: float) -> float:
    """Five where a wished relation does not hold between two spots; a wished hiding is no cost."""
    if relation.predicate == "left of":
        return 0.0 if thing.x - subject.x > (MARGIN + 0.04) * wide and same_band(subject, thing) else 5.0
    overlap = _overlap(subject.box(), thing.box())
    hidden = _share(subject.box(), thing.box())
    return -overlap if subject.base < thing.base - 0.004 and 0.12 < hidden < 0.65 else 5.0


def same_band(a: Placed, b: Placed) -> bool:
    """Both are in one zone, about equally far away."""
    if a.zone is not b.zone:
        return False
    return max(a.distance, b.distance) <= BAND * min(a.distance, b.distance)


def _share(box: Corners, inside: Corners) -> float:
    """How much of a box is inside another."""
    wide = min(box[2], inside[2]) - max(box[0], inside[0])
    high = min(box[3], inside[3]) - max(box[1], inside[1])
    return wide * high / ((box[2] - box[0]) * (box[3] - box[1])) if wide > 0 and high > 0 else 0.0


def _overlap(a: Corners, b: Corners) -> float:
    """How much of the smaller of two boxes the other one covers."""
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    if wide <= 0 or high <= 0:
        return 0.0
    return wide * high / min((a[2] - a[0]) * (a[3] - a[1]), (b[2] - b[0]) * (b[3] - b[1]))


def _turned(placed: Placed, wide: float) -> Placed:
    """Whoever holds something at the edge of the picture turns to its middle, so that it is seen."""
    side = placed.x / wide
    if 0.25 < side < 0.75 or placed.flip == (side > 0.5):
        return placed
    return replace(placed, spot=replace(placed.spot, look=placed.spot.look ^ 1))


def _moved(placed: Placed, plan: ScenePlan, wide: float) -> Placed:
    """The spot at this moment of a burst; nothing walks out of the picture."""
    if placed.kind != plan.moving or not plan.moment:
        return placed
    x = placed.x + plan.step * plan.moment
    return replace(placed, x=min(wide - placed.half, max(placed.half, x)))


def _carried(item: Item, link: Relation, done: Mapping[str, Placed], plan: ScenePlan) -> Placed:
    """The spot of what lies on something, or is held by someone."""
    look = item.spot.look if item.spot else Random(f"{plan.seed}/{item.id}/0").getrandbits(16)
    if link.predicate == "holding":
        carrier, hold = done[link.subject], HOLDS[item.kind]
        side = -1 if carrier.flip else 1
        hand = LOW_HAND if hold.hangs else HAND
        height = carrier.height / PERSON_METRES * hold.metres * item.metres
        x = carrier.x + side * hand[0] * carrier.height
        y = carrier.y - (1 - hand[1]) * carrier.height + (1 - hold.grip) * height
    else:
        carrier = done[link.object]
        support = SUPPORTS[carrier.kind]
        there = [r.subject for r in plan.relations if r.predicate == "on" and r.object == carrier.id]
        side = (-1 if look % 4 < 2 else 1) if len(there) == 1 else (-1, 1)[there.index(item.id) % 2]
        height = carrier.zone.height(carried_metres(item.kind, carrier.habitat) * item.metres, carrier.base)
        x = carrier.x + side * support.room * carrier.half * (0.3 if len(there) == 1 else 0.6)
        y = carrier.y - (1 - support.surface) * carrier.height
    height = min(height, y - 0.01)
    half = item.aspect * height / 2
    spot = item.spot or Spot(0.5, 0.5, look)
    held = link.predicate == "holding"
    # What is held or lies on something is no part of the choice of spots: it may reach over the edge of the picture.
    return Placed(
        item.id, item.kind, carrier.habitat, carrier.zone, x, y, height, half, spot, carrier.base, carrier.id, held
    )
