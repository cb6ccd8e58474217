"""Who is in a photo history, and what they have: names, looks that last, belongings and devices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import NamedTuple

from sightline_world.data import read_data
from sightline_world.draw import KINDS
from sightline_world.scene import HAIR, SCENE_COLOURS, SCENE_SIZES
from sightline_world.sign_words import invented
from sightline_world.truth import Belonging, Device, Friend

FIRST_NAMES: tuple[str, ...] = read_data("histories/first_names.toml")["names"]
_HEADGEAR = ("none", "cap", "cap", "hat", "hat", "beanie", "beanie")
_COATS = tuple(colour for colour in SCENE_COLOURS if colour != "grey")
_ALWAYS = ("bicycle", "tent", "suitcase", "umbrella")
_ONE_OF = (("dog", "dog", "cat"), ("car", "car", "motorbike"), ("mug", "teapot"), ("ball", "kite"), ("sled", "flag"))
_MAYBE = ("guitar", "camera", "boat", "clock")
_BOUGHT = ("mug", "teapot", "lamp", "clock", "guitar", "camera", "kite", "umbrella", "bicycle")
PURCHASES = 3
_PHONES = ("Kestrel", "Nimbus", "Orbis")
_CAMERAS = (
    Device("Lumen", "Lumen G2", "Lumen 24-70mm F4", 4.0, 35.0, has_gps=False),
    Device("Heron", "Heron 40", "Heron 35mm F2", 2.0, 35.0, writes_offset=False, has_gps=False),
    Device("Tarn", "Tarn X100", "Tarn 23mm F2", 2.0, 23.0, writes_offset=False),
)


def owner_names(seed: int, count: int) -> list[str]:
    """So many owners, each with a name that can be a folder's and that nobody else has."""
    rng = Random(f"{seed}/owners")
    names: dict[str, None] = {}
    while len(names) < count:
        names[f"{rng.choice(FIRST_NAMES)}-{invented(rng)}".lower()] = None
    return list(names)


def circle(owner: str, rng: Random, count: int) -> Iterator[Friend]:
    """The owner, then friends: no two of them share a first name, or hair with headgear and its colour."""
    taken_names, taken_looks = {owner.partition("-")[0]}, set()
    for number in range(count + 1):
        name = owner
        while number and name.partition("-")[0] in taken_names:
            name = f"{rng.choice(FIRST_NAMES)}-{invented(rng)}".lower()
        taken_names.add(name.partition("-")[0])
        while True:
            headgear = rng.choice(_HEADGEAR)
            looks = (rng.choice(HAIR), headgear, rng.choice(SCENE_COLOURS) if headgear != "none" else None)
            if looks not in taken_looks:
                break
        taken_looks.add(looks)
        yield Friend(name, *looks, coats=tuple(rng.sample(_COATS, 3)))


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


class Kit(NamedTuple):
    """An owner's devices: phones with the day since when, and a camera or none."""

    phones: tuple[tuple[date, Device], ...]
    camera: Device | None

    @property
    def devices(self) -> tuple[Device, ...]:
        return (*(phone for _, phone in self.phones), *((self.camera,) if self.camera else ()))

    def phone_on(self, day: date) -> Device:
        return [phone for since, phone in self.phones if since <= day][-1]


def kit(rng: Random, first: date, last: date) -> Kit:
    """A phone that is replaced every two or three years, and for most owners a camera."""
    brand, model, since = rng.choice(_PHONES), rng.randint(3, 7), first
    phones = []
    while since <= last:
        name = f"{brand} Phone {model}"
        phones.append((since, Device(brand, name, f"{name} back camera", rng.choice((1.6, 1.8, 2.2)), 5.4)))
        brand, model = (rng.choice(_PHONES) if rng.random() < 0.3 else brand), model + rng.randint(1, 2)
        since += timedelta(days=rng.randint(600, 1100))
    return Kit(tuple(phones), rng.choice((*_CAMERAS, None)))


def file_stem(device: Device, number: int, stamp: str) -> str:
    """As the device names its files; phones by the time, cameras by a running number."""
    if "Phone" in device.model:
        return f"IMG_{stamp}" if device.make != "Nimbus" else f"{stamp}"
    prefix = {"Lumen": "LUM_", "Heron": "DSC0", "Tarn": "TRN_"}[device.make]
    return f"{prefix}{number + 1:04}"


def folder_of(style: int, when: date, device: Device) -> str:
    """Where the owner keeps it: by year and month, by year, or as the devices leave it."""
    if style == 0:
        return f"{when:%Y}/{when:%m}"
    if style == 1:
        return f"{when:%Y}"
    return "Camera Roll" if "Phone" in device.model else f"100{device.make.upper()}"
