"""Plans by lot, balanced over the world's words: what models learn from."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from sightline_world.draw.camera import Camera
from sightline_world.draw.kinds import HOLDS, KINDS, PERSON_METRES, RIDERS, SUPPORTS, habitat_in
from sightline_world.draw.places import PLACES, Habitat
from sightline_world.draw.plan import POSES, SIZE_FACTORS, PersonWish, ScenePlan, SignStyle, SignWish, ThingWish
from sightline_world.scene import (
    HAIR,
    HEADGEAR,
    SCENE_COLOURS,
    SCENE_KINDS,
    SCENE_LIGHTS,
    SCENE_PLACES,
    SCENE_SIZES,
    Predicate,
    Relation,
)
from sightline_world.sign_words import sign_words

MOST = 6
"""The largest count of one kind and colour."""

_INDOORS = frozenset({"dog", "cat", "rabbit", "ball", "bucket", "suitcase", "guitar", "bottle", "camera", "bench"})
_IN_SNOW = frozenset({"snowman", "sled"})
# Of these a few fill a picture.
_LARGE = {"house": 2, "tree": 3, "bus": 2, "truck": 2, "car": 3, "boat": 4, "hot-air balloon": 4, "horse": 4, "cow": 4}
_WITH_SHOPS = ("street", "market", "harbour", "station")


def suits(kind: str, place: str, light: str) -> bool:
    """Whether one would look for that kind of thing there, and not take it for a part of the place."""
    where = PLACES[place]
    habitat = habitat_in(kind, where)
    if habitat is None or kind in where.scenery_kinds:
        return False
    if where.indoor and habitat != "table":
        return kind == "balloon" if habitat == "sky" else kind in _INDOORS
    return kind not in _IN_SNOW or place == "snow" or light == "snowfall"


def random_plan(seed: int | str, difficulty: float = 0.5, size: tuple[int, int] = (320, 240)) -> ScenePlan:
    """A plan by lot; `difficulty` from 0 to 1 adds things, look-alikes, relations and a worse camera."""
    rng = Random(f"plan/{seed}")
    light = rng.choice(SCENE_LIGHTS)
    place, kinds = _place(rng, light)
    room = 3 + round(5 * difficulty)
    things = _groups(rng, kinds, difficulty, room)
    people: list[PersonWish] = []
    if "ground" in PLACES[place].zones:
        people = [_person(rng) for _ in range(rng.randint(0, 2 + round(2 * difficulty)))]
    plan = ScenePlan(
        place=place,
        light=light,
        variant=rng.randrange(PLACES[place].variants),
        things=tuple(things),
        people=tuple(people),
        signs=_signs(rng, place, difficulty),
        size=size,
        camera=random_camera(rng, difficulty),
        seed=str(seed),
    )
    for _ in range(rng.choice((0, 1, 1 + (rng.random() < difficulty)))):
        plan = _related(plan, rng)
    return plan


def random_camera(rng: Random, difficulty: float) -> Camera:
    """A camera whose faults grow with the difficulty."""
    return Camera(
        tilt=_now_and_then(rng, 0.3, round(max(-9.0, min(9.0, rng.gauss(0, 4 * difficulty))), 2)),
        zoom=1 + _now_and_then(rng, 0.4, round(rng.uniform(0, 0.25 * difficulty), 3)),
        aim=(round(rng.random(), 3), round(rng.random(), 3)),
        keystone=_now_and_then(rng, 0.1, round(rng.uniform(-0.07, 0.07) * difficulty, 3)),
        blur=_now_and_then(rng, 0.25, round(rng.uniform(0.5, 5.0) * difficulty, 2)),
        motion=_now_and_then(rng, 0.1, round(rng.uniform(2.0, 9.0) * difficulty, 2)),
        noise=_now_and_then(rng, 0.6, round(0.06 + 0.35 * difficulty * rng.random() ** 2, 3)),
        exposure=round(max(-1.0, min(0.8, rng.gauss(0, 0.4 * difficulty))), 2),
        warmth=round(max(-1.0, min(1.0, rng.gauss(0, 0.4 * difficulty))), 2),
        vignette=rng.random() < 0.5,
        quality=rng.randint(round(90 - 45 * difficulty), 95),
    )


def _now_and_then(rng: Random, chance: float, value: float) -> float:
    return value if rng.random() < chance else 0.0


def _place(rng: Random, light: str) -> tuple[str, list[str]]:
    """A place and the kinds that suit it: by turns any place, or one for a kind that fits in few of them."""
    place = rng.choice(SCENE_PLACES)
    kinds = [kind for kind in SCENE_KINDS if suits(kind, place, light)]
    lead = rng.choice(SCENE_KINDS)
    homes = [home for home in SCENE_PLACES if suits(lead, home, light)]
    if rng.random() < 0.5 or not homes:
        return place, rng.sample(kinds, len(kinds))
    place = rng.choice(homes)
    others = [kind for kind in SCENE_KINDS if kind != lead and suits(kind, place, light)]
    return place, [lead, *rng.sample(others, len(others))]


def _groups(rng: Random, kinds: list[str], difficulty: float, room: int) -> list[ThingWish]:
    """Things in groups of one kind and colour; later groups often look like an earlier one."""
    things: list[ThingWish] = []
    taken: set[tuple[str, str]] = set()
    for number in range(rng.randint(1, 2 + round(2 * difficulty))):
        kind = kinds[number % len(kinds)]
        colour = rng.choice(KINDS[kind].colours)
        if things and rng.random() < 0.4 * difficulty:
            kind = rng.choice(things).kind
            colour = rng.choice(KINDS[kind].colours)
        elif things and rng.random() < 0.3 * difficulty and things[0].colour in KINDS[kind].colours:
            colour = things[0].colour
        if (kind, colour) in taken:
            continue
        taken.add((kind, colour))
        most = min(MOST, _LARGE.get(kind, MOST), max(1, room + 1 - len(things)))
        count = rng.randint(1, most) if number == 0 else min(most, rng.choice((1, 1, 1, 2, 3)))
        size = rng.choice(SCENE_SIZES)
        things += [ThingWish(kind, colour, size)] * count
    return things


def _person(rng: Random) -> PersonWish:
    headgear = rng.choice(HEADGEAR)
    colour = rng.choice(SCENE_COLOURS) if headgear != "none" else None
    return PersonWish(rng.choice(SCENE_COLOURS), rng.choice(HAIR), headgear, colour, rng.choice(POSES[:5]))


def _signs(rng: Random, place: str, difficulty: float) -> tuple[SignWish, ...]:
    signs = []
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        size = rng.choice(SCENE_SIZES if rng.random() < difficulty else ("medium", "large"))
        signs.append(SignWish(sign_words(rng), rng.choice(sign_styles(place)), size, rng.random() < 0.5))
    return tuple(signs)


def sign_styles(place: str) -> tuple[SignStyle, ...]:
    """The signs that a place may have."""
    if PLACES[place].indoor:
        return ("frame",)
    return ("post", "shop", "banner") if place in _WITH_SHOPS else ("post", "banner")


def _related(plan: ScenePlan, rng: Random) -> ScenePlan:
    """The plan with one more wished relation, where one can be had."""
    wish = rng.choice((_hold, _rest, _left_of, _behind))
    return wish(plan, rng)


def _hold(plan: ScenePlan, rng: Random) -> ScenePlan:
    busy = {r.subject for r in plan.relations if r.predicate == "holding"}
    free = [f"p{number}" for number in range(len(plan.people)) if f"p{number}" not in busy]
    if not free:
        return plan
    kind = rng.choice([kind for kind in HOLDS if kind not in PLACES[plan.place].scenery_kinds])
    thing = ThingWish(kind, rng.choice(KINDS[kind].colours), rng.choice(SCENE_SIZES))
    relation = Relation(rng.choice(free), "holding", f"t{len(plan.things)}")
    return replace(plan, things=(*plan.things, thing), relations=(*plan.relations, relation))


def _rest(plan: ScenePlan, rng: Random) -> ScenePlan:
    supports = [kind for kind in SUPPORTS if suits(kind, plan.place, plan.light)]
    riders = [kind for kind in RIDERS if kind not in PLACES[plan.place].scenery_kinds]
    if not supports:
        return plan
    below, above = rng.choice(supports), rng.choice(riders)
    carried = {
        r.subject if r.predicate == "on" else r.object for r in plan.relations if r.predicate in ("on", "holding")
    }
    here = [
        number for number, thing in enumerate(plan.things) if thing.kind in supports and f"t{number}" not in carried
    ]
    things = list(plan.things)
    if here:
        number = rng.choice(here)
        if any(r.object == f"t{number}" and r.predicate == "on" for r in plan.relations):
            return plan
    else:
        number = len(things)
        things.append(ThingWish(below, rng.choice(KINDS[below].colours), "medium"))
    relation = Relation(f"t{len(things)}", "on", f"t{number}")
    things.append(ThingWish(above, rng.choice(KINDS[above].colours), rng.choice(SCENE_SIZES)))
    return replace(plan, things=tuple(things), relations=(*plan.relations, relation))


def _standing(plan: ScenePlan) -> list[tuple[str, Habitat, float]]:
    """Who and what stands by itself on the ground or on a table, where that is, and how high it is."""
    place, busy = PLACES[plan.place], {name for r in plan.relations for name in (r.subject, r.object)}
    found: list[tuple[str, Habitat, float]] = [
        (f"p{number}", "ground", PERSON_METRES) for number in range(len(plan.people))
    ]
    for number, thing in enumerate(plan.things):
        habitat = habitat_in(thing.kind, place)
        if habitat in ("ground", "table"):
            found.append((f"t{number}", habitat, KINDS[thing.kind].metres_in(habitat) * SIZE_FACTORS[thing.size]))
    return [one for one in found if one[0] not in busy]


def told_apart(plan: ScenePlan, first: str, second: str) -> bool:
    """Whether two do not look alike, so that it matters which of them is where."""
    if (first[0], second[0]) != ("t", "t"):
        return True
    a, b = plan.things[int(first[1:])], plan.things[int(second[1:])]
    return (a.kind, a.colour) != (b.kind, b.colour)


def _left_of(plan: ScenePlan, rng: Random) -> ScenePlan:
    standing = _standing(plan)
    pairs = [(a, b) for a, here, _ in standing for b, there, _ in standing if a != b and here == there]
    return _wished(plan, "left of", pairs, rng)


def _behind(plan: ScenePlan, rng: Random) -> ScenePlan:
    """Something behind something that hides a part of it and not all."""
    standing = [one for one in _standing(plan) if one[1] == "ground" or PLACES[plan.place].indoor]
    pairs = [
        (far, near)
        for far, here, high in standing
        for near, there, low in standing
        if far != near and here == there and 0.45 < low / high < 1.4
    ]
    return _wished(plan, "behind", pairs, rng)


def _wished(plan: ScenePlan, predicate: Predicate, pairs: list[tuple[str, str]], rng: Random) -> ScenePlan:
    pairs = [pair for pair in pairs if told_apart(plan, *pair)]
    if not pairs:
        return plan
    subject, thing = rng.choice(pairs)
    return replace(plan, relations=(*plan.relations, Relation(subject, predicate, thing)))
