"""The wishes of a plan with their measures, before anything has a spot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sightline.errors import UserError
from sightline_world.draw.kinds import KINDS
from sightline_world.draw.places import PLACES, Habitat, Place, Zone
from sightline_world.draw.plan import SIZE_FACTORS, ScenePlan, Spot
from sightline_world.draw.signs import board, letter_metres
from sightline_world.scene import Relation

PERSON_METRES, PERSON_ASPECT = 1.75, 0.50
TALLEST, WIDEST = 0.70, 0.52
"""Nothing is higher than this share of the picture's height, or wider than this share of its width."""
WALL = Zone(0.02, 0.98, 0.27, 0.40, scale=0.22)
"""Where signs hang that do not stand."""


@dataclass(frozen=True, slots=True)
class Item:
    """A wish before it has a spot; `metres` is its height where it lives.

    It may stand where it is not too large, from `top` to `bottom`, and be no higher than `limit`.
    """

    id: str
    kind: str
    habitat: Habitat
    zone: Zone
    metres: float
    aspect: float
    spot: Spot | None
    top: float
    bottom: float
    limit: float
    sides: bool = False


def habitat_in(kind: str, place: Place) -> Habitat | None:
    """Where a kind of thing lives in a place; None where it can't be there by itself."""
    return next((habitat for habitat in KINDS[kind].habitats if habitat in place.zones), None)


def items_of(plan: ScenePlan, links: Mapping[str, Relation]) -> dict[str, Item]:
    """All wishes of a plan by their ids; `links` are the relations of what is on something or held."""
    place, wide = PLACES[plan.place], plan.size[0] / plan.size[1]
    items = [_thing(number, plan, links) for number in range(len(plan.things))]
    for number, person in enumerate(plan.people):
        zone = place.zones.get("ground")
        if zone is None:
            raise UserError(f"a plan puts people {place.phrase}, where they can't stand.", "choose another place")
        items.append(_item(f"p{number}", "person", "ground", zone, PERSON_METRES, PERSON_ASPECT, person.spot, wide))
    for number, sign in enumerate(plan.signs):
        hung = sign.style in ("shop", "frame") or "ground" not in place.zones
        zone = WALL if hung else place.zones["ground"]
        size = board(sign.words, sign.style, sign.size)
        metres, aspect = size.total_high * letter_metres(sign.size), size.total_wide / size.total_high
        item = _item(f"s{number}", "sign", "far" if hung else "ground", zone, metres, aspect, sign.spot, wide)
        items.append(replace(item, sides=sign.style == "shop"))
    return {item.id: item for item in items}


def _thing(number: int, plan: ScenePlan, links: Mapping[str, Relation]) -> Item:
    thing, place, wide = plan.things[number], PLACES[plan.place], plan.size[0] / plan.size[1]
    kind, name, factor = KINDS[thing.kind], f"t{number}", SIZE_FACTORS[thing.size]
    if name in links:  # zone and height come from the carrier
        return _item(name, thing.kind, "ground", WALL, factor, kind.aspect, thing.spot, wide)
    habitat = habitat_in(thing.kind, place)
    if habitat is None:
        raise UserError(
            f"a plan puts a {thing.kind} {place.phrase}, where it has no place to be.",
            f"choose a place with {' or '.join(kind.habitats)}, or put it on something",
        )
    metres = kind.metres_in(habitat) * factor
    return _item(name, thing.kind, habitat, place.zones[habitat], metres, kind.aspect, thing.spot, wide)


def _item(
    name: str, kind: str, habitat: Habitat, zone: Zone, metres: float, aspect: float, spot: Spot | None, wide: float
) -> Item:
    limit, top, bottom = min(TALLEST, WIDEST * wide / aspect), zone.top, zone.bottom
    if zone.eye:
        bottom = max(top, min(bottom, zone.horizon + limit * zone.eye / metres))
    else:
        limit = min(limit, bottom - 0.02)
        top = min(bottom, max(top, zone.height(metres, 0.0) + 0.02))
    return Item(name, kind, habitat, zone, metres, aspect, spot, top, bottom, limit)
