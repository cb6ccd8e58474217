"""Where chains start: an entity that a picture shows, and that it shows well enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from sightline.types import Box
from sightline_world.draw import ScenePlan, draw
from sightline_world.web.facts import Entity, FactBase
from sightline_world.web.pictures import portrait, sign_picture, team_picture

StartKind: TypeAlias = Literal["sign", "colours", "looks"]
START_KINDS: tuple[StartKind, ...] = ("sign", "looks", "colours")
MOST_HIDDEN, SMALLEST_LETTERS = 0.1, 9.0
"""A sign that is hidden by more, or has smaller letters in pixels, does not start a chain."""
MOST_HIDDEN_THING, SMALLEST = 0.3, 0.01
"""The same for people and things, and the smallest share of the picture that a person may have."""
_TRIES = 8
_PICTURES: Mapping[StartKind, Callable[[Entity, str], ScenePlan]] = MappingProxyType(
    {"sign": sign_picture, "colours": team_picture, "looks": portrait}
)


def can_start(base: FactBase, entity: Entity, kind: StartKind) -> bool:
    """Whether a picture can show which entity it is: its name on a sign, its colours, its looks."""
    if kind == "looks":
        return entity.looks is not None
    if kind == "colours":
        return entity.colours is not None
    if entity.kind not in ("town", "team"):
        return False
    return sum(each.kind in ("town", "team") for each in base.named(entity.short)) == 1


def picture_of(entity: Entity, kind: StartKind, seed: str) -> ScenePlan | None:
    """A picture from which one can tell the entity; None in the rare case that none was found."""
    make = _PICTURES[kind]
    for turn in range(_TRIES):
        plan = make(entity, f"/{seed}/{turn}")
        if is_clear(plan):
            return plan
    return None


def is_clear(plan: ScenePlan) -> bool:
    """Whether all that the plan wishes for is there, hardly hidden, and large enough to be read or known."""
    graph = draw(plan).graph
    found = (len(graph.signs), len(graph.figures), len(graph.things))
    if found != (len(plan.signs), len(plan.people), len(plan.things)):
        return False
    readable = all(sign.hidden <= MOST_HIDDEN and sign.letter_px >= SMALLEST_LETTERS for sign in graph.signs)
    known = all(one.hidden <= MOST_HIDDEN_THING and _area(one.box) >= SMALLEST for one in graph.figures)
    return readable and known and all(one.hidden <= MOST_HIDDEN_THING for one in graph.things)


def _area(box: Box) -> float:
    return (box.right - box.left) * (box.bottom - box.top)
