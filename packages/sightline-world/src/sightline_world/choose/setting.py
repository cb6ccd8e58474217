"""Where a question's scenes are: a place, a light and a camera by lot, and things that can be told apart in it.

For questions about the picture as a whole there is a scene with something everywhere.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from sightline_world.captions import caption
from sightline_world.choose.question import DrawnShot, QuestionBrief, Size, require, shown_in
from sightline_world.draw.camera import Camera
from sightline_world.draw.compose import draw
from sightline_world.draw.kinds import KINDS, habitat_in
from sightline_world.draw.places import PLACES
from sightline_world.draw.plan import PersonWish, ScenePlan, Spot, ThingWish
from sightline_world.scene import SCENE_KINDS, SCENE_LIGHTS
from sightline_world.scene_plans import suits
from sightline_world.vocabulary import phrase

OPEN_PLACES = ("beach", "forest", "snow", "garden", "street", "market", "stadium", "station", "desert", "playground")
"""Places with ground from one side to the other."""
DEEP_PLACES = ("forest", "snow", "garden", "street", "desert", "stadium")
"""Those in which the same thing looks twice as large at the front as at the back."""

MOST_HIDDEN = 0.4
"""Of what a question speaks of, usually no more than this share is hidden."""
# Colours that can't be said of them, or kinds that could be taken for a part of the place.
_UNNAMED = ("snowman", "tree", "house")
# Colours that show in any sky; all that flies may have them.
_BRIGHT = ("red", "orange", "yellow", "pink", "purple")


@dataclass(frozen=True, slots=True)
class Setting:
    """A place in a light, seen through one camera."""

    place: str
    light: str
    variant: int
    camera: Camera
    seed: str
    size: Size

    def plan(self, things: Iterable[ThingWish], people: Iterable[PersonWish] = ()) -> ScenePlan:
        """A plan of these things here; each has its spot."""
        return ScenePlan(
            place=self.place,
            light=self.light,
            variant=self.variant,
            things=tuple(things),
            people=tuple(people),
            size=self.size,
            camera=self.camera,
            seed=self.seed,
        )


@dataclass(frozen=True, slots=True)
class Prop:
    """A thing by its kind and colour: what it is called in words."""

    kind: str
    colour: str

    @property
    def name(self) -> str:
        """ "red ball"."""
        return self.a.split(" ", 1)[1]

    @property
    def the(self) -> str:
        return f"the {self.name}"

    @property
    def a(self) -> str:
        """ "a red ball"."""
        return phrase(self.kind, self.colour)

    def at(self, u: float, v: float, look: int = 0, size: str = "medium") -> ThingWish:
        """The wish for it at a spot."""
        return ThingWish(self.kind, self.colour, size, spot=Spot(round(u, 4), round(v, 4), look))


def setting(wanted: QuestionBrief, places: Sequence[str] = OPEN_PLACES) -> Setting:
    """A place by lot; the harder, the worse light and camera may be."""
    rng, level = wanted.rng, wanted.difficulty
    place = rng.choice(places)
    light = rng.choice(SCENE_LIGHTS if rng.random() < level else ("day", "day", "sunset"))
    return Setting(
        place, light, rng.randrange(PLACES[place].variants), camera(rng, level), str(rng.getrandbits(48)), wanted.size
    )


def camera(rng: Random, level: float) -> Camera:
    """A camera that is held straight, so that places in the picture can be compared; it may be a poor one."""
    return Camera(
        noise=round(0.04 + 0.30 * level * rng.random() ** 2, 3),
        exposure=round(max(-0.6, min(0.5, rng.gauss(0, 0.25 * level))), 2),
        warmth=round(max(-0.8, min(0.8, rng.gauss(0, 0.35 * level))), 2),
        blur=round(rng.uniform(0.5, 2.5) * level, 2) if rng.random() < 0.3 * level else 0.0,
        vignette=rng.random() < 0.5,
    )


def props(
    rng: Random, here: Setting, count: int, *, widest: float, alike: bool = False, without: Collection[str] = ()
) -> list[Prop]:
    """Things for the ground of a place, of different kinds or (`alike`) of one kind in different colours.

    None is wider there than `widest` picture heights, or too small to be named at a glance.
    """
    kinds = [kind for kind in ground_kinds(here, widest) if kind not in without]
    if alike:
        kinds = [kind for kind in kinds if len(_colours(kind, here)) >= count]
        require(bool(kinds))
        kind = rng.choice(kinds)
        return [Prop(kind, colour) for colour in rng.sample(_colours(kind, here), count)]
    require(len(kinds) >= count)
    return [Prop(kind, rng.choice(_colours(kind, here))) for kind in rng.sample(kinds, count)]


def ground_kinds(here: Setting, widest: float) -> list[str]:
    """Kinds that stand on the ground of a place, wide enough to be seen, and no wider than that many heights."""
    place = PLACES[here.place]
    zone = place.zones["ground"]
    found = []
    for kind in SCENE_KINDS:
        if kind in _UNNAMED or not suits(kind, here.place, here.light) or habitat_in(kind, place) != "ground":
            continue
        high = zone.height(KINDS[kind].metres_in("ground"), (zone.top + zone.bottom) / 2)
        wide = high * KINDS[kind].aspect
        if 0.06 <= wide <= widest and wide * high >= 0.007 and _colours(kind, here):
            found.append(kind)
    return found


def _colours(kind: str, here: Setting) -> list[str]:
    """The colours of a kind that stand out in a place and its light."""
    hidden: set[str] = set()
    if here.place == "snow" or here.light in ("fog", "snowfall"):
        hidden |= {"white", "grey"}
    if here.light in ("night", "rain"):
        hidden |= {"black", "brown", "grey"}
    if here.place in ("garden", "stadium", "playground", "forest"):
        hidden |= {"green"}
    if here.place in ("desert", "beach"):
        hidden |= {"yellow", "orange", "brown"}
    return [colour for colour in KINDS[kind].colours if colour not in hidden]


def shoot(plan: ScenePlan, said: str = "", *, hidden: float = MOST_HIDDEN) -> DrawnShot:
    """The picture of a plan of which nothing is hidden more than that; its caption ends in what is `said` of it."""
    drawing = draw(plan)
    graph = drawing.graph
    seen = [item.hidden for item in shown_in(graph)]
    require(len(seen) == len(plan.things) + len(plan.people) and max(seen, default=0.0) <= hidden)
    words = f"{caption(graph)} {said}" if said else caption(graph)
    # The seed only chooses grain and drops, which are no part of what a picture is about.
    return DrawnShot(drawing.image, replace(plan, seed=""), words, graph)


def passers_by(rng: Random, here: Setting, count: int, widest: float, without: Collection[str]) -> list[ThingWish]:
    """Things that have nothing to do with the question, at the back."""
    kinds = [kind for kind in ground_kinds(here, widest) if kind not in without]
    if not kinds:
        return []
    found = []
    for kind in rng.sample(kinds, min(count, len(kinds))):
        prop = Prop(kind, rng.choice(_colours(kind, here)))
        found.append(prop.at(rng.uniform(0.05, 0.95), rng.uniform(0, 0.15), rng.getrandbits(8)))
    return found


@dataclass(frozen=True, slots=True)
class Altered:
    """A part of a scene, enlarged or softened: `part` in shares of the picture, `blur` in thousandths of its height."""

    plan: ScenePlan
    part: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    blur: float = 0.0


def busy_plan(wanted: QuestionBrief, count: int) -> ScenePlan:
    """Things side by side on the ground and one in the sky, each at its spot, in a place by lot."""
    rng, here = wanted.rng, setting(wanted)
    count = min(count, len(ground_kinds(here, 0.42)))
    step = 1 / count
    wishes = [
        prop.at((place + 0.5) * step + rng.uniform(-0.1, 0.1) * step, rng.uniform(0.1, 0.9), rng.getrandbits(6))
        for place, prop in enumerate(props(rng, here, count, widest=0.42))
    ]
    return here.plan((*wishes, *_in_the_sky(wanted, here)))


def _in_the_sky(wanted: QuestionBrief, here: Setting) -> list[ThingWish]:
    """Something that flies, where the place has a sky."""
    rng, place = wanted.rng, PLACES[here.place]
    kinds = [k for k in SCENE_KINDS if habitat_in(k, place) == "sky" and suits(k, here.place, here.light)]
    if not kinds:
        return []
    prop = Prop(rng.choice(kinds), rng.choice(_BRIGHT))
    return [prop.at(rng.uniform(0.1, 0.9), rng.random(), rng.getrandbits(6))]
