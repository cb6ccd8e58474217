"""Questions that lead from one picture to others of the same photo history: to its day, to a person, to a belonging.

A sign in a picture also leads to the pages of the offline web, and from page to page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sightline.types import Json, Step
from sightline_world.data import read_data
from sightline_world.draw.kinds import KINDS
from sightline_world.scene import SCENE_COLOURS, SCENE_PLACES, Figure, Sign, Thing
from sightline_world.tasks.album import AlbumEvent, TaskAlbum, Trait, fits, is_noticed, is_readable, looks
from sightline_world.tasks.details import (
    Question,
    coat_of,
    colour_aliases,
    conclusion,
    needs_zoom,
    step,
    told_by_coat,
)
from sightline_world.tasks.phrases import FAMILIES, PLACE_WORDS, Templates, noun_phrase, pick
from sightline_world.tasks.task import Lot
from sightline_world.vocabulary import PLACE_PHRASES, phrase
from sightline_world.web.chains import Chain, Hop, chains_from
from sightline_world.web.facts import Entity, FactBase

TEMPLATES: Mapping[str, Templates] = read_data("tasks/templates.toml")["multi_hop"]
_REGIONS = 3
"""Of many pictures that tell the same, a step names so many."""
WEB_TEMPLATES: Mapping[str, Templates] = read_data("tasks/templates.toml")["web"]
_MOST_HOPS = 3


def on_the_same_occasion(lot: Lot, number: int) -> Question | None:
    """The colour of a kind that this picture lacks, and that others of its event show in one colour only."""
    album, occasion = lot.album, lot.album.occasion_of(number)
    found = [] if occasion is None else list(_single_coloured(album, occasion, number))
    if occasion is None or not found:
        return None
    kind, colour = lot.rng.choice(found)
    seen = tuple(album.numbers(album.sights[Trait("thing", (kind, colour))].sure & occasion.pictures))[:_REGIONS]
    boxes = [next(thing.box for thing in album.shots[each].graph.things if thing.kind == kind) for each in seen]
    told = f"Other pictures of the same {occasion.noun} show it."
    text = pick(TEMPLATES["on the same occasion"], lot.family, lot.rng)
    return Question(
        "on the same occasion",
        number,
        text.format(noun=occasion.noun, kind=noun_phrase(Trait("thing", (kind,)))),
        colour,
        colour_aliases(colour),
        (step(album, "search", told, *zip(seen, boxes, strict=True)), conclusion(colour)),
        1 / len(KINDS[kind].colours),
        {"kind": kind},
        hops=1,
        search=True,
    )


def _single_coloured(album: TaskAlbum, occasion: AlbumEvent, number: int) -> Iterator[tuple[str, str]]:
    """Kinds, with their colour, that are plain to see at the event in one colour, and not in the picture itself.

    Belongings are left out: they have the same colour on every occasion, so that any would do.
    """
    colours: dict[str, list[str]] = {}
    for trait, sight in album.sights.items():
        if trait.kind == "thing" and len(trait.values) == 2 and sight.at_all & occasion.pictures:
            colours.setdefault(trait.values[0], []).append(trait.values[1])
    for kind, found in colours.items():
        sight = album.sights[Trait("thing", (kind,))]
        doubtful = sight.perhaps & occasion.pictures or sight.at_all >> number & 1 or len(KINDS[kind].colours) == 1
        if len(found) == 1 and not doubtful and (kind, found[0]) not in album.belongings:
            yield kind, found[0]


def another_coat(lot: Lot, number: int) -> Question | None:
    """What a friend wore at a place on other occasions, where that was always the same."""
    album, occasion = lot.album, lot.album.occasion_of(number)
    friends = [one for one in told_by_coat(album.shots[number].graph) if looks(one) in album.friends]
    if occasion is None or not friends:
        return None
    figure = lot.rng.choice(friends)
    for place in lot.rng.sample(SCENE_PLACES, len(SCENE_PLACES)):
        found = _seen_elsewhere(album, occasion, figure, place)
        coats = {other.coat for _, other in found}
        if len(coats) == 1 and figure.coat not in coats:
            return _coat_question(lot, number, figure, place, found)
    return None


def _seen_elsewhere(album: TaskAlbum, occasion: AlbumEvent, figure: Figure, place: str) -> list[tuple[int, Figure]]:
    """The same person in pictures of a place from all other times; none where one of them leaves a doubt."""
    who = looks(figure)
    sight = album.sight((who, Trait("place", (place,))))
    elsewhere = album.dated & ~occasion.pictures
    if sight.perhaps & elsewhere:
        return []
    return [
        (number, other)
        for number in album.numbers(sight.sure & elsewhere)
        for other in album.shots[number].graph.figures
        if fits(other, who)
    ]


def _coat_question(lot: Lot, number: int, figure: Figure, place: str, found: list[tuple[int, Figure]]) -> Question:
    coat, words = found[0][1].coat, PLACE_WORDS[place][FAMILIES.index(lot.family)]
    regions = [(each, other.box) for each, other in found[:_REGIONS]]
    steps = (
        step(lot.album, "text-to-region", f"The person in {coat_of(figure)} is here.", (number, figure.box)),
        step(lot.album, "search", "The same hair and headgear, there.", *regions),
        conclusion(coat),
    )
    return Question(
        "another coat",
        number,
        pick(TEMPLATES["another coat"], lot.family, lot.rng).format(coat=coat_of(figure), place=words),
        coat,
        colour_aliases(coat),
        steps,
        1 / len(SCENE_COLOURS),
        {"coat": figure.coat, "place": place},
        hops=1,
        search=True,
    )


def first_time(lot: Lot, number: int) -> Question | None:
    """Where, or in which year, a belonging is seen for the first time; the words tell its colour only."""
    album, graph = lot.album, lot.album.shots[number].graph
    colours = [thing.colour for thing in graph.things]
    for thing in graph.things:
        if colours.count(thing.colour) > 1 or not is_noticed(thing):
            continue
        first = _first(album, number, thing) if (thing.kind, thing.colour) in album.belongings else None
        if first is not None:
            return _first_question(lot, number, thing, first)
    return None


def _first(album: TaskAlbum, number: int, thing: Thing) -> int | None:
    """The earliest picture of a belonging, if it is of another occasion and no earlier one leaves a doubt."""
    sight = album.sights[Trait("thing", (thing.kind, thing.colour))]
    first = next(album.numbers(sight.sure & album.dated), None)
    if first is None or first == number or sight.perhaps & album.before(first):
        return None
    occasion = album.occasion_of(number)
    return None if occasion is not None and occasion.pictures >> first & 1 else first


def _first_question(lot: Lot, number: int, thing: Thing, first: int) -> Question:
    album, shot = lot.album, lot.album.shots[first]
    years = {each.when.year for each in album.shots}
    # Most things are there from the first year on, which would be too good a guess.
    place = lot.rng.random() < 0.3 or shot.when.year == min(years)
    answer = shot.graph.place if place else str(shot.when.year)
    box = next(each.box for each in shot.graph.things if (each.kind, each.colour) == (thing.kind, thing.colour))
    steps = (
        step(album, "text-to-region", f"What is {thing.colour} here is {phrase(thing.kind)}.", (number, thing.box)),
        step(album, "search", "This is the earliest picture with it.", (first, box)),
        conclusion(answer),
    )
    template = "first place" if place else "first year"
    return Question(
        template,
        number,
        pick(TEMPLATES[template], lot.family, lot.rng).format(colour=thing.colour),
        answer,
        (*PLACE_PHRASES[answer], *PLACE_WORDS[answer][:2], f"a {answer}") if place else (),
        steps,
        1 / (len(SCENE_PLACES) if place else len(years) - 1),
        {"colour": thing.colour},
        hops=1,
        search=True,
    )


def a_sign_nearby(lot: Lot, number: int) -> Question | None:
    """The words of a sign beside something that another picture of the event shows."""
    album, occasion = lot.album, lot.album.occasion_of(number)
    found = [] if occasion is None else list(_signed(album, occasion, number))
    if occasion is None or not found:
        return None
    other, thing, sign = lot.rng.choice(found)
    trait = Trait("thing", (thing.kind, thing.colour))
    steps = (
        step(album, "search", f"The {thing.colour} {thing.kind} is in this picture.", (other, thing.box)),
        step(album, "text-to-region", "The sign is here.", (other, sign.box)),
        conclusion(sign.words),
    )
    text = pick(TEMPLATES["a sign nearby"], lot.family, lot.rng)
    return Question(
        "a sign nearby",
        number,
        text.format(noun=occasion.noun, scene=noun_phrase(trait, album.belongings)),
        sign.words,
        (),
        steps,
        0.0,
        {"kind": thing.kind, "colour": thing.colour},
        hops=1,
        zoom=needs_zoom(album.shots[other], sign),
        search=True,
    )


def _signed(album: TaskAlbum, occasion: AlbumEvent, number: int) -> Iterator[tuple[int, Thing, Sign]]:
    """Things of other pictures of the event with the sign beside them, where no other words are beside such a thing."""
    here = {sign.words for sign in album.shots[number].graph.signs}
    for other in album.numbers(occasion.pictures & ~(1 << number)):
        signs = album.shots[other].graph.signs
        if len(signs) != 1 or not is_readable(signs[0]) or signs[0].words in here:
            continue
        for thing in filter(is_noticed, album.shots[other].graph.things):
            alike = album.sights[Trait("thing", (thing.kind, thing.colour))].at_all & occasion.pictures
            words = {sign.words for each in album.numbers(alike) for sign in album.shots[each].graph.signs}
            if words == {signs[0].words} and not alike >> number & 1:
                yield other, thing, signs[0]


def from_sign(lot: Lot, number: int, base: FactBase) -> Question | None:
    """From the sign in the picture to what pages say of its town or team."""
    graph = lot.album.shots[number].graph
    if len(graph.signs) != 1 or not is_readable(graph.signs[0]):
        return None
    sign = graph.signs[0]
    entity = _entity(base, sign.words)
    chain = None if entity is None else _chain(lot, base, entity)
    if entity is None or chain is None:
        return None
    behind = _before(lot, number, sign)
    template = WEB_TEMPLATES["sign behind" if behind else "sign"]
    start = pick(template, lot.family, lot.rng).format(kind=entity.kind, thing=behind)
    steps = (
        step(lot.album, "text-to-region", f"The sign says {sign.words}.", (number, sign.box)),
        *_steps(base, chain),
    )
    return _question("sign, then web", number, chain, start, steps, 0, needs_zoom(lot.album.shots[number], sign))


def from_sign_elsewhere(lot: Lot, number: int, base: FactBase) -> Question | None:
    """From a picture with no sign to another of its event that has one, and on to the web."""
    album, occasion = lot.album, lot.album.occasion_of(number)
    if occasion is None or album.shots[number].graph.signs:
        return None
    found: dict[str, tuple[int, Sign]] = {}
    for each in album.numbers(occasion.pictures):
        for sign in album.shots[each].graph.signs:
            entity = _entity(base, sign.words)
            if entity is not None and (entity.id not in found or is_readable(sign)):
                found[entity.id] = each, sign
    # A name that is hardly to be read might be the one that is meant.
    if len(found) != 1 or not all(is_readable(sign) for _, sign in found.values()):
        return None
    (id_, (other, sign)), *_ = found.items()
    entity = base.entities[id_]
    chain = _chain(lot, base, entity)
    if chain is None:
        return None
    start = pick(WEB_TEMPLATES["sign elsewhere"], lot.family, lot.rng).format(kind=entity.kind, noun=occasion.noun)
    steps = (
        step(album, "search", f"Another picture of the {occasion.noun} has a sign.", (other, None)),
        step(album, "text-to-region", f"It says {sign.words}.", (other, sign.box)),
        *_steps(base, chain),
    )
    return _question("sign elsewhere, then web", number, chain, start, steps, 1, needs_zoom(album.shots[other], sign))


def _question(
    template: str, number: int, chain: Chain, start: str, steps: tuple[Step, ...], before: int, zoom: bool
) -> Question:
    hops = before + len(chain.hops)
    text = chain.ask(start)
    chance = 1 / len(SCENE_COLOURS) if chain.answer in SCENE_COLOURS else 0.0
    about: dict[str, Json] = {"hops": [_as_json(hop) for hop in chain.hops]}
    done = (*steps, conclusion(chain.answer))
    aliases, search = chain.aliases, before > 0
    return Question(
        template, number, text, chain.answer, aliases, done, chance, about, hops, zoom=zoom, search=search, web=True
    )


def _as_json(hop: Hop) -> Json:
    """Which way, from or to which kind of subject, along which property."""
    return [hop.direction, hop.fact.subject.partition("/")[0], hop.fact.property]


def _entity(base: FactBase, words: str) -> Entity | None:
    """The only town or team of that name."""
    found = [each for each in base.named(words) if each.kind in ("town", "team")]
    return found[0] if len(found) == 1 else None


def _chain(lot: Lot, base: FactBase, entity: Entity) -> Chain | None:
    hops = 1 + round(lot.rng.uniform(0, 1) * lot.difficulty * (_MOST_HOPS - 1))
    found = chains_from(base, entity, 1, hops, lot.rng.getrandbits(32))
    return found[0] if found else None


def _steps(base: FactBase, chain: Chain) -> tuple[Step, ...]:
    return tuple(Step("search", _told(base, hop)) for hop in chain.hops)


def _told(base: FactBase, hop: Hop) -> str:
    how = "shows in its picture" if hop.by_picture else "says"
    subject, name = base.entities[hop.fact.subject].name, hop.fact.property.replace("_", " ")
    return f"{hop.pages[0]} {how}: {subject}, {name}: {hop.fact.value}."


def _before(lot: Lot, number: int, sign: Sign) -> str:
    """What stands before the sign, if only one thing does."""
    graph = lot.album.shots[number].graph
    things = {thing.id: thing for thing in graph.things if is_noticed(thing)}
    near = [
        things[each.object]
        for each in graph.relations
        if each.predicate == "behind" and each.subject == sign.id and each.object in things
    ]
    return f"the {phrase(near[0].kind, near[0].colour).partition(' ')[2]}" if len(near) == 1 else ""
