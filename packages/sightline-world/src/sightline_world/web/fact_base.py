"""The whole fact base of a seed."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from sightline.errors import UserError
from sightline_world.histories.towns import town_map
from sightline_world.truth import SyntheticHistory
from sightline_world.web.culture import Culture, make_culture
from sightline_world.web.facts import Entity, FactBase
from sightline_world.web.geography import Land, make_land
from sightline_world.web.maker import FactMaker
from sightline_world.web.pictures import portrait
from sightline_world.web.sport import make_sport

_NAMESAKES = 40
_PORTRAYED = 0.6
MOST_HISTORIES = 120
"""More teams would share their looks, or their town."""
# Whoever stands behind something was born a lifetime before the last of it and was grown up at the first.
_BORN = {
    "climber": (1860, 1870),
    "player": (1985, 1993),
    "painter": (1905, 1925),
    "architect": (1880, 1895),
    "musician": (1825, 1845),
    "inventor": (1825, 1845),
    "farmer": (1825, 1845),
    "designer": (1948, 1956),
}
_BORN_LATELY = (1948, 1972)
_LIVING = frozenset({"politician", "player", "coach", "historian", "designer", "cook"})


def make_facts(seed: int, lives: Sequence[SyntheticHistory] = ()) -> FactBase:
    """Everything about the world of a seed: its map's towns and the teams of the lives are part of it."""
    if len(lives) > MOST_HISTORIES:
        raise UserError(
            f"a web knows the teams of at most {MOST_HISTORIES} photo histories; {len(lives)} were given.", "give fewer"
        )
    map_ = town_map(seed)
    make = FactMaker(seed, [*(town.name for town in map_), *(life.team.name for life in lives)])
    land = make_land(make, map_)
    make_sport(make, land, lives)
    culture = make_culture(make, land)
    _namesakes(make)
    people = [each for each in make.entities.values() if each.kind == "person"]
    coaches = [each for each in people if each.note == "coach"]
    for person in people:
        _biography(make, person, land, culture)
        if person.note == "player":
            make.tell(person, "first_coach", make.rng.choice(coaches))
    return make.done()


def _namesakes(make: FactMaker) -> None:
    """People of another profession who share the name of someone else."""
    people = [each for each in make.entities.values() if each.kind == "person" and each.note != "historian"]
    for person in make.rng.sample(people, _NAMESAKES):
        make.add_person("historian", (person.name, person.short))


def _biography(make: FactMaker, person: Entity, land: Land, culture: Culture) -> None:
    rng = make.rng
    make.tell(person, "born_in", rng.choice(land.towns))
    make.tell(person, "born", make.year(*_BORN.get(person.note, _BORN_LATELY)))
    if person.note in _LIVING:
        make.tell(person, "lives_in", rng.choice(land.towns))
    likes = (("keeps", culture.breeds), ("favourite", culture.dishes), ("painting", culture.paintings))
    for property_, among in rng.sample(likes, rng.choice((1, 2))):
        make.tell(person, property_, rng.choice(among))
    if person.looks is not None and Random(f"{make.seed}/portrait/{person.id}").random() < _PORTRAYED:
        make.pictures[person.id] = portrait(person)
