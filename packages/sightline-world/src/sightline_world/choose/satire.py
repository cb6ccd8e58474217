"""Analytical: two panels, of which the second contradicts what the first promises; which statement tells the point?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import TypeAlias

from sightline.english import number_word
from sightline_world.choose.question import ChoiceQuestion, DrawnShot, QuestionBrief, Region, Remark, require, shown_in
from sightline_world.choose.setting import Prop, Setting, ground_kinds, setting, shoot
from sightline_world.draw.kinds import HOLDS, KINDS
from sightline_world.draw.plan import PersonWish, Pose, ScenePlan, Spot
from sightline_world.scene import HAIR, HEADGEAR, SCENE_COLOURS, Relation
from sightline_world.vocabulary import noun_of

_PLACES = ("beach", "forest", "garden", "street", "desert", "stadium", "playground", "station")
# What people own, want or look after, and what may be in any colour or number.
_KINDS = ("ball", "suitcase", "umbrella", "bucket", "guitar", "flag", "dog", "sheep", "bench", "mailbox", "tent",
          "bicycle", "rabbit", "duck", "motorbike", "camera")  # fmt: skip
# Of one among many more may be hidden: they are not told apart.
_HIDDEN = 0.65
# Colours that can fade.
_VIVID = ("red", "orange", "yellow", "blue", "purple", "pink")


@dataclass(frozen=True, slots=True)
class _Scenes:
    """What the panels are made of: where, what, and who owns it."""

    rng: Random
    here: Setting
    thing: Prop
    owner: PersonWish

    def plan(self, things: Sequence[tuple[float, float, str]], people: Sequence[PersonWish] = ()) -> ScenePlan:
        """The thing at these spots in these sizes, and these people."""
        look = self.rng.getrandbits(6)
        return self.here.plan([self.thing.at(u, v, look, size) for u, v, size in things], people)

    def crowd(self, count: int, pose: Pose, around: float = 0.5) -> list[PersonWish]:
        """People to both sides of a spot."""
        left = [around - 0.22 - 0.14 * place for place in range(count // 2)]
        right = [around + 0.22 + 0.14 * place for place in range(count - count // 2)]
        return [_person(self.rng, u, self.rng.uniform(0.15, 0.5), pose) for u in left + right]


@dataclass(frozen=True, slots=True)
class Panels:
    """Two panels, and in words what the first promises and what the second shows instead."""

    yes: ScenePlan
    but: ScenePlan
    promise: str
    instead: str


_Theme: TypeAlias = Callable[[_Scenes], Panels]


def _person(rng: Random, u: float, v: float, pose: Pose) -> PersonWish:
    headgear = rng.choice(HEADGEAR)
    colour = rng.choice(SCENE_COLOURS) if headgear != "none" else None
    spot = Spot(round(min(0.96, max(0.04, u)), 4), round(v, 4), rng.getrandbits(9))
    return PersonWish(rng.choice(SCENE_COLOURS), rng.choice(HAIR), headgear, colour, pose, spot=spot)


def _crowded(s: _Scenes) -> Panels:
    one, more = (0.5, 0.6, "medium"), s.rng.randint(4, 5)
    many = [(0.04 + 0.92 * (n + 0.5) / more, 0.1 + 0.75 * (n % 2), "medium") for n in range(more)]
    return Panels(
        s.plan([one]),
        s.plan(many),
        f"one {s.thing.name} by itself",
        f"{number_word(more)} {noun_of(s.thing.kind, more)}",
    )


def _shrunken(s: _Scenes) -> Panels:
    u, v = s.rng.uniform(0.35, 0.65), 0.6
    return Panels(
        s.plan([(u, v, "large")]), s.plan([(u, v, "small")]), f"a large {s.thing.name}", f"a small {s.thing.name}"
    )


def _faded(s: _Scenes) -> Panels:
    plan = s.plan([(s.rng.uniform(0.3, 0.7), 0.6, "medium")])
    grey = replace(plan, things=tuple(replace(thing, colour="grey") for thing in plan.things))
    return Panels(plan, grey, f"the {s.thing.colour} of {s.thing.the}", f"the same {s.thing.kind} in grey")


def _forsaken(s: _Scenes) -> Panels:
    spot = (0.5, 0.65, "medium")
    return Panels(
        s.plan([spot], s.crowd(4, "cheering")),
        s.plan([spot]),
        f"people who cheer round {s.thing.the}",
        f"{s.thing.the} with nobody about",
    )


def _overrun(s: _Scenes) -> Panels:
    spot = (0.5, 0.65, "medium")
    owner = replace(s.owner, spot=Spot(0.28, 0.55, s.rng.getrandbits(9)), pose="standing")
    others = s.crowd(4, "walking")
    return Panels(
        s.plan([spot], [owner]),
        s.plan([spot], others),
        f"one person alone with {s.thing.the}",
        f"{s.thing.the} in a crowd",
    )


def _washed_out(s: _Scenes) -> Panels:
    owner = replace(s.owner, spot=Spot(0.70, 0.5, s.rng.getrandbits(9)), pose="waving")
    plan = s.plan([(0.36, 0.6, "medium")], [owner])
    sunny = replace(plan, light="day")
    return Panels(sunny, replace(plan, light="rain"), f"{s.thing.the} in the sun", f"{s.thing.the} in the rain")


def _lost(s: _Scenes) -> Panels:
    owner = replace(s.owner, spot=Spot(0.62, 0.6, 0), pose="holding")
    plan = s.here.plan([s.thing.at(0.5, 0.5)], [owner])
    held = replace(plan, relations=(Relation("p0", "holding", "t0"),))
    waving = replace(s.owner, spot=Spot(0.62, 0.6, 0), pose="waving")
    return Panels(
        held,
        s.here.plan([], [waving]),
        f"a person who holds {s.thing.the}",
        "the same person with empty hands",
    )


def _moved_away(s: _Scenes) -> Panels:
    near = replace(s.owner, spot=Spot(0.62, 0.65, 0), pose="standing")
    far = replace(s.owner, spot=Spot(0.94, 0.05, 0), pose="running")
    spot = (0.36, 0.75, "medium")
    return Panels(
        s.plan([spot], [near]),
        s.plan([spot], [far]),
        f"a person beside {s.thing.the}",
        f"the same person running far away from {s.thing.the}",
    )


@dataclass(frozen=True, slots=True)
class _Point:
    """A contradiction: how its panels are drawn, and ways to say its point about a thing (`{kind}`)."""

    draw: _Theme
    said: tuple[str, ...]
    held: bool = False


POINTS: Mapping[str, _Point] = MappingProxyType(
    {
        "crowded": _Point(
            _crowded,
            (
                "One {kind} is a delight, but too many of them are a burden.",
                "What was special as one {kind} is plain as a heap.",
            ),
        ),
        "shrunken": _Point(
            _shrunken,
            (
                "The {kind} was promised large, but what arrives is tiny.",
                "Announced as big, the {kind} turns out small.",
            ),
        ),
        "faded": _Point(
            _faded,
            (
                "The {kind} looked bright at first, but its colour soon fades.",
                "What shone in colour ends as a dull {kind}.",
            ),
        ),
        "forsaken": _Point(
            _forsaken,
            (
                "Everybody cheers for the {kind}, but soon nobody cares.",
                "The fuss about the {kind} ends, and it is left alone.",
            ),
        ),
        "overrun": _Point(
            _overrun,
            (
                "One seeks peace with the {kind}, but the whole crowd turns up.",
                "A quiet hour by the {kind} is over when all come.",
            ),
        ),
        "washed out": _Point(
            _washed_out,
            (
                "The day with the {kind} was planned in sunshine, but it pours.",
                "It was to be fun with the {kind}, until it rains.",
            ),
        ),
        "lost": _Point(
            _lost,
            (
                "The {kind} was held dear, but now the hands are empty.",
                "Someone carried the {kind} proudly, and then lost it.",
            ),
            held=True,
        ),
        "moved away": _Point(
            _moved_away,
            (
                "A friend of the {kind} stands by it, but then runs away from it.",
                "First close to the {kind}, then off as fast as can be.",
            ),
        ),
    }
)


def satire(wanted: QuestionBrief) -> ChoiceQuestion:
    """Four points about the same thing are drawn by lot, then the one that the panels make."""
    rng, here = wanted.rng, setting(wanted, _PLACES)
    here = replace(here, light="day" if here.light == "rain" else here.light)
    names = rng.sample(list(POINTS), 4)
    right = rng.randrange(4)
    thing = _thing(rng, here, names)
    owner = _person(rng, 0.5, 0.5, "standing")
    panels = POINTS[names[right]].draw(_Scenes(wanted.lot, here, thing, owner))
    yes, but = (shoot(plan, hidden=_HIDDEN) for plan in (panels.yes, panels.but))
    options = [rng.choice(POINTS[name].said).format(kind=thing.kind) for name in names]
    return ChoiceQuestion(
        prompt=("Yes: ", yes, "\nBut: ", but, "\nWhich statement tells the point of these two panels?"),
        options=tuple(options),
        right=right,
        summary="Two panels contradict each other, and the statement is to be found that says how.",
        regions=Remark(f"The first panel shows {panels.promise}.", _parts(yes)),
        compared=Remark(
            f"Against it, the second panel shows {panels.instead}.", (*_parts(yes), *(_parts(but) or ((but, None),)))
        ),
        conclusion=f"The point of the panels: {options[right]}",
    )


def _thing(rng: Random, here: Setting, points: Sequence[str]) -> Prop:
    """A thing of which each of these points could be made."""
    held, faded = any(POINTS[name].held for name in points), "faded" in points
    able = [
        kind
        for kind in ground_kinds(here, 0.34)
        if kind in _KINDS and (kind in HOLDS or not held) and ("red" in KINDS[kind].colours or not faded)
    ]
    require(bool(able))
    kind = rng.choice(able)
    return Prop(kind, rng.choice(_VIVID if faded else KINDS[kind].colours))


def _parts(shot: DrawnShot) -> tuple[Region, ...]:
    return tuple((shot, item.box) for item in shown_in(shot.graph))
