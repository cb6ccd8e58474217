"""Festivals, museums, paintings, dishes, companies with their products, and breeds of animals."""

from __future__ import annotations

from calendar import month_name
from collections.abc import Sequence
from dataclasses import dataclass

from sightline_world.vocabulary import KIND_NOUNS
from sightline_world.web.facts import Entity
from sightline_world.web.geography import Land
from sightline_world.web.maker import FactMaker
from sightline_world.web.pictures import painting_picture, shape_colours, thing_picture

_FESTIVALS, _MUSEUMS, _PAINTERS, _PAINTINGS, _OWN_COMPANIES = 90, 40, 60, 170, 36
_EMBLEMS = ("kite", "balloon", "hot-air balloon", "boat", "horse", "umbrella", "bicycle", "cake", "guitar")
_MOTIFS = (
    *("Morning", "Evening", "Rain", "Silence", "The Crossing", "A Visit", "The Letter", "The Long Road", "Low Tide"),
    *("After the Market", "The Return", "Waiting", "The Signpost", "First Snow", "Old Friends", "The Corner"),
)
_GOODS = ("camera", "boat", "bicycle", "guitar", "tent", "sled", "teapot", "lamp", "clock", "suitcase", "motorbike")
_DEVICE_MAKERS = {"Kestrel": "phone", "Nimbus": "phone", "Orbis": "phone"}
_CAMERAS = {"Lumen": "Lumen G2", "Heron": "Heron 40", "Tarn": "Tarn X100"}
_PHONE_MODELS = range(3, 17)
_PHONE_YEARS = 2002
_ANIMALS = ("dog", "cat", "horse", "cow", "sheep", "rabbit", "duck")
_DISHES = ("soup", "pie", "stew", "gratin", "bread", "cake", "salad", "pudding")
_INGREDIENTS = (
    *("barley", "pears", "smoked fish", "chestnuts", "leeks", "goat's cheese", "plums", "beans", "mushrooms"),
    *("walnuts", "pumpkin", "rye", "honey", "lentils", "beetroot", "mussels", "potatoes", "apples"),
)


@dataclass(frozen=True, slots=True)
class Culture:
    """What people keep, what they eat and what hangs on their walls."""

    dishes: tuple[Entity, ...]
    breeds: tuple[Entity, ...]
    paintings: tuple[Entity, ...]


def make_culture(make: FactMaker, land: Land) -> Culture:
    """All of it, with the people behind it."""
    _festivals(make, land)
    museums = _museums(make, land)
    paintings = _paintings(make, land, museums)
    _companies(make, land)
    return Culture(_dishes(make, land), _breeds(make, land), paintings)


def _festivals(make: FactMaker, land: Land) -> None:
    for town in make.rng.sample(land.towns, _FESTIVALS):
        shape = make.rng.choice(_EMBLEMS)
        word = make.names.word()
        festival = make.add("festival", f"the {word} Fair", short=f"the {word} Fair", note="festival", shape=shape)
        make.tell(festival, "town", town)
        make.tell(festival, "month", month_name[make.rng.randint(1, 12)])
        make.tell(festival, "founder", make.add_person("musician"))
        make.tell(festival, "first_held", make.year(1866, 1899))
        _coloured(make, festival, "emblem")


def _coloured(make: FactMaker, entity: Entity, property_: str) -> None:
    """A colour that only the entity's picture tells."""
    colour = make.rng.choice(shape_colours(entity.shape))
    make.show(entity, property_, colour)
    make.pictures[entity.id] = thing_picture(entity, colour)


def _museums(make: FactMaker, land: Land) -> list[Entity]:
    museums = []
    for town in make.rng.sample(land.towns, _MUSEUMS):
        museum = make.add("museum", f"the {make.names.word()} Museum", note="museum")
        make.tell(museum, "town", town)
        make.change(museum, "director", make.add_forgotten("historian"), make.add_person("historian"))
        make.tell(museum, "opened", make.year(1820, 1995))
        museums.append(museum)
    return museums


def _paintings(make: FactMaker, land: Land, museums: Sequence[Entity]) -> tuple[Entity, ...]:
    """Two painters out of three have one painting only, so that it can be asked for."""
    painters = [make.add_person("painter") for _ in range(_PAINTERS)]
    single = len(painters) * 2 // 3
    paintings: list[Entity] = []
    hands = [*painters[:single], *make.rng.choices(painters[single:], k=_PAINTINGS - single)]
    for number, painter in enumerate(hands):
        painting = make.add("painting", f"“{make.rng.choice(_MOTIFS)}, {make.names.word()}”", note="painting")
        town = make.rng.choice(land.towns)
        make.tell(painting, "painter", painter)
        make.tell(painting, "painted", make.year(1946, 1980))
        museum = museums[number % len(museums)]
        make.tell(painting, "museum", museum)
        if number < len(museums):
            make.tell(museum, "masterpiece", painting)
        make.show(painting, "depicts", town)
        make.pictures[painting.id] = painting_picture(painting, town)
        paintings.append(painting)
    return tuple(paintings)


def _companies(make: FactMaker, land: Land) -> None:
    """Makers of what the lives take pictures with, then others; each in a town of its own."""
    names = [*_DEVICE_MAKERS, *_CAMERAS]
    for number, town in enumerate(make.rng.sample(land.towns, len(names) + _OWN_COMPANIES)):
        name = names[number] if number < len(names) else make.names.word()
        company = make.add("company", f"{name} Works", short=name, note="company")
        make.tell(company, "town", town)
        make.tell(company, "founder", make.add_person("inventor"))
        make.tell(company, "founded", make.year(1866, 1899))
        if name in _DEVICE_MAKERS:
            for model in _PHONE_MODELS:
                phone = make.add("product", f"{name} Phone {model}", note="phone")
                _product(make, phone, company, str(_PHONE_YEARS + model))
        elif name in _CAMERAS:
            camera = make.add("product", _CAMERAS[name], note="camera", shape="camera")
            _product(make, camera, company, make.year(2006, 2011))
            _coloured(make, camera, "colour")
        else:
            _goods(make, company, land)


def _goods(make: FactMaker, company: Entity, land: Land) -> None:
    """Two to four models of one kind; now and then one is the namesake of a town."""
    shape = make.rng.choice(_GOODS)
    for _ in range(make.rng.choice((2, 3, 4))):
        name = make.rng.choice(land.towns).name if make.rng.random() < 0.25 else make.names.word()
        while f"product/{name.lower()}-{shape}" in make.entities:
            name = make.names.word()
        product = make.add("product", name, note=shape, shape=shape)
        _product(make, product, company, make.year(1980, 2024))
        _coloured(make, product, "colour")


def _product(make: FactMaker, product: Entity, company: Entity, released: str) -> None:
    make.tell(product, "maker", company)
    make.tell(product, "designer", make.add_person("designer"))
    make.tell(product, "released", released)


def _dishes(make: FactMaker, land: Land) -> tuple[Entity, ...]:
    """One for every region, and a second for every other one."""
    dishes = []
    for number, region in enumerate((*land.regions, *land.regions[::2])):
        dish = make.add("dish", f"{make.names.word()} {make.rng.choice(_DISHES)}", note="dish")
        make.tell(dish, "town", make.rng.choice(land.towns))
        make.tell(dish, "cook", make.add_person("cook"))
        make.tell(dish, "ingredient", make.rng.choice(_INGREDIENTS))
        if number < len(land.regions):
            make.tell(region, "dish", dish)
        dishes.append(dish)
    return tuple(dishes)


def _breeds(make: FactMaker, land: Land) -> tuple[Entity, ...]:
    breeds = []
    for region in land.regions:
        shape = make.rng.choice(_ANIMALS)
        word = make.names.word()
        breed = make.add("breed", f"{word} {KIND_NOUNS[shape].plural}", note="breed", shape=shape)
        make.tell(breed, "region", region)
        make.tell(breed, "breeder", make.add_person("farmer"))
        make.tell(breed, "recognised", make.year(1866, 1899))
        _coloured(make, breed, "coat")
        breeds.append(breed)
    return tuple(breeds)
