"""Who is in a life: names, and looks that last."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from sightline_world.scene import HAIR, SCENE_COLOURS
from sightline_world.truth import Friend
from sightline_world.words import invented

_NAMES = (
    "Ada Alba Amir Anouk Arlo Asta Bea Bela Bram Cora Dara Davi Edda Elio Emil Enzo Esme Faye Femi Finn Gita Greta "
    "Hana Hugo Ida Ilse Ines Ivo Jana Joel Jonas Juna Kaya Kofi Lale Lena Leon Lior Luca Lucy Maja Malik Mara Milo "
    "Mina Nadia Nils Noor Nora Olav Omar Otto Pia Rafi Remi Rosa Ruth Sami Sara Sven Tara Theo Tomas Uma Vera Vito "
    "Wanda Yara Yuki Zeno Zora"
)
FIRST_NAMES = tuple(_NAMES.split())
_HEADGEAR = ("none", "cap", "cap", "hat", "hat", "beanie", "beanie")
_COATS = tuple(colour for colour in SCENE_COLOURS if colour != "grey")


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
