"""Countries, regions, rivers, mountains and towns: the map of the lives, and more around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sightline_world.scene import SCENE_COLOURS
from sightline_world.truth import Town
from sightline_world.web.facts import Entity
from sightline_world.web.maker import FactMaker, number
from sightline_world.web.pictures import region_picture, town_picture

_SMALLER_TOWNS = 3
_WITH_ARTICLE = {"United Kingdom": "the United Kingdom", "Netherlands": "the Netherlands"}


@dataclass(frozen=True, slots=True)
class Land:
    """The geography: every region has its capital, a town of the map, and smaller towns around it."""

    regions: tuple[Entity, ...]
    capitals: tuple[Entity, ...]
    towns: tuple[Entity, ...]
    mountains: tuple[Entity, ...]


def make_land(make: FactMaker, map_: Sequence[Town]) -> Land:
    """A region around each town of the map."""
    countries: dict[str, Entity] = {}
    capitals = [make.add("town", town.name, note="town", shape=town.setting) for town in map_]
    regions, towns, mountains = [], [], []
    for town, capital in zip(map_, capitals, strict=True):
        country = countries.get(town.country) or make.add(
            "country", _WITH_ARTICLE.get(town.country, town.country), note="country"
        )
        countries[town.country] = country
        region = make.add("region", make.names.word(), note="region")
        make.tell(region, "country", country)
        regions.append(region)
        around = [make.add("town", make.names.word(), note="town", shape=town.setting) for _ in range(_SMALLER_TOWNS)]
        peaks = _mountains(make, region)
        _region(make, region, capital, peaks)
        river = _river(make, region, peaks)
        for number_, each in enumerate((capital, *around)):
            height = (
                round(town.altitude) if each is capital else max(3, round(town.altitude) + make.rng.randint(-2, 90))
            )
            _town(make, each, region, river, height, number_ == 0)
        towns += [capital, *around]
        mountains += peaks
    _twins(make, towns)
    return Land(tuple(regions), tuple(capitals), tuple(towns), tuple(mountains))


def _mountains(make: FactMaker, region: Entity) -> list[Entity]:
    """One or two, the highest first."""
    peaks = []
    top = make.rng.randint(900, 4200)
    for _ in range(make.rng.choice((1, 2))):
        word = make.names.word()
        peak = make.add("mountain", f"Mount {word}", short=word, note="mountain")
        make.tell(peak, "region", region)
        make.tell(peak, "height", f"{number(top)} m")
        make.tell(peak, "first_climber", make.add_person("climber"))
        make.tell(peak, "first_climbed", make.year(1891, 1920))
        peaks.append(peak)
        top -= make.rng.randint(40, 400)
    return peaks


def _region(make: FactMaker, region: Entity, capital: Entity, peaks: Sequence[Entity]) -> None:
    make.tell(region, "capital", capital)
    make.change(region, "governor", make.add_forgotten("politician"), make.add_person("politician"))
    make.tell(region, "highest_mountain", peaks[0])
    make.tell(region, "area", f"{number(make.rng.randrange(800, 9000, 10))} km²")
    colour = make.rng.choice(SCENE_COLOURS)
    make.show(region, "flag", colour)
    make.pictures[region.id] = region_picture(region, colour)


def _river(make: FactMaker, region: Entity, peaks: Sequence[Entity]) -> Entity:
    word = make.names.word()
    river = make.add("river", f"the River {word}", short=f"the {word}", note="river")
    make.tell(river, "region", region)
    make.tell(river, "source", make.rng.choice(peaks))
    make.tell(river, "length", f"{make.rng.randint(38, 640)} km")
    make.tell(region, "main_river", river)
    return river


def _town(make: FactMaker, town: Entity, region: Entity, river: Entity, height: int, large: bool) -> None:
    rng = make.rng
    make.tell(town, "region", region)
    make.change(town, "mayor", make.add_forgotten("politician"), make.add_person("politician"))
    people = rng.randrange(18_000, 240_000, 10) if large else rng.randrange(900, 16_000, 10)
    make.tell(town, "population", number(round(people * rng.uniform(0.72, 0.93))), 2011, 2021)
    make.tell(town, "population", number(people), 2021)
    make.tell(town, "founded", make.year(980, 1790))
    make.tell(town, "altitude", f"{number(height)} m")
    make.tell(town, "river", river)
    make.tell(town, "station", make.year(1851, 1932))
    colour = rng.choice(SCENE_COLOURS)
    make.show(town, "mailbox", colour)
    make.pictures[town.id] = town_picture(town, colour)


def _twins(make: FactMaker, towns: Sequence[Entity]) -> None:
    """In pairs, so that the twin of a twin is the town itself."""
    order = make.rng.sample(towns, len(towns))
    for one, other in zip(order[::2], order[1::2], strict=True):
        make.tell(one, "twin", other)
        make.tell(other, "twin", one)
