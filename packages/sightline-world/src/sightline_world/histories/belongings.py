"""What an owner has: things and animals that turn up again and again, some of them from the middle of the years on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from sightline_world.draw import KINDS
from sightline_world.scene import SCENE_SIZES
from sightline_world.truth import Belonging

_ALWAYS = ("bicycle", "tent", "suitcase", "umbrella")
_ONE_OF = (("dog", "dog", "cat"), ("car", "car", "motorbike"), ("mug", "teapot"), ("ball", "kite"), ("sled", "flag"))
_MAYBE = ("guitar", "camera", "boat", "clock")
_BOUGHT = ("mug", "teapot", "lamp", "clock", "guitar", "camera", "kite", "umbrella", "bicycle")
PURCHASES = 3


@dataclass(frozen=True, slots=True)
class Wants:
    """A belonging that is still to be bought."""

    kind: str
    colour: str
    size: str


def first_belongings(owner: str, team_colour: str, first: date, last: date, rng: Random) -> list[Belonging]:
    """What the owner has from the first day; a car is now and then replaced by one of another colour."""
    kinds = [*_ALWAYS, *(rng.choice(pair) for pair in _ONE_OF), *(kind for kind in _MAYBE if rng.random() < 0.5)]
    had: list[Belonging] = []
    for kind in kinds:
        colour = team_colour if kind == "flag" else rng.choice(KINDS[kind].colours)
        had.append(belonging(owner, kind, colour, rng.choice(SCENE_SIZES), first))
    for number, old in enumerate(had):
        if old.kind in ("car", "motorbike") and rng.random() < 0.5:
            day = first + timedelta(days=round((last - first).days * rng.uniform(0.35, 0.65)))
            colour = rng.choice([colour for colour in KINDS[old.kind].colours if colour != old.colour])
            had[number] = Belonging(old.name, old.kind, old.colour, old.size, old.since, day)
            had.append(belonging(owner, old.kind, colour, old.size, day + timedelta(days=1)))
            break
    return had


def belonging(owner: str, kind: str, colour: str, size: str, since: date, bought: str | None = None) -> Belonging:
    """One with its lasting name: "mara-quin's red bicycle"."""
    return Belonging(f"{owner}'s {colour} {kind}", kind, colour, size, since, None, bought)


def wants(had: list[Belonging], rng: Random) -> list[Wants]:
    """What will be bought one day: never what is there already in kind and colour."""
    found = []
    for kind in rng.sample(_BOUGHT, PURCHASES):
        taken = {each.colour for each in had if each.kind == kind}
        colour = rng.choice([colour for colour in KINDS[kind].colours if colour not in taken])
        found.append(Wants(kind, colour, rng.choice(SCENE_SIZES)))
    return found


def owned(had: list[Belonging], day: date) -> list[Belonging]:
    """What the owner has on a day."""
    return [each for each in had if each.since <= day and (each.until is None or day <= each.until)]
