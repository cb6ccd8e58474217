"""Parts of a life in which something is to be found: an event, a day or a part of it, or all times but one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from sightline.english import article
from sightline.types import Json
from sightline_world.data import read_data
from sightline_world.tasks.album import ANY, Trait, as_json, fits, is_noticed, looks
from sightline_world.tasks.mentions import (
    Mention,
    first_or_last,
    is_telling,
    next_with,
    scene,
    some_traits,
    trip_beside,
)
from sightline_world.tasks.phrases import FAMILIES, PLACE_WORDS, Templates, pick, said
from sightline_world.tasks.task import Lot

EventType: TypeAlias = Literal["intra-event", "inter-event"]
TEMPLATES: Mapping[str, Templates] = read_data("tasks/templates.toml")["scopes"]
_TRIES = 30
ONE_HOP = frozenset({"same event", "same day", "first or last time", "before or after moving"})


@dataclass(frozen=True, slots=True)
class Base:
    """Pictures among which to look, and the words for them; `subject` is someone or something that is to be seen too.

    `identity` is what the subject turns out to look like, which the words don't say.
    """

    template: str
    event_type: EventType
    pictures: int
    words: str
    evidence: int
    logic: dict[str, Json]
    hops: int
    about: tuple[Trait, ...] = ()
    identity: tuple[Trait, ...] = ()
    subject: str = ""


def _of(template: str, mention: Mention) -> Base:
    kind: EventType = "inter-event" if mention.across else "intra-event"
    logic: dict[str, Json] = {"in": "event", "of": mention.logic}
    return Base(
        template, kind, mention.occasion.pictures, mention.words, mention.evidence, logic, mention.hops, mention.about
    )


def same_event(lot: Lot) -> Base | None:
    mention = scene(lot)
    return None if mention is None else _of("same event", mention)


def same_day(lot: Lot) -> Base | None:
    """One day of a trip of several days."""
    album = lot.album
    trips = [each for each in album.occasions if len(each.days) > 1]
    for _ in range(_TRIES if trips else 0):
        day = lot.rng.choice(lot.rng.choice(trips).days)
        traits = some_traits(lot, lot.rng.choice(tuple(album.numbers(day))), 2)
        words = said(traits, lot.family, album.belongings)
        if traits and words.subject and is_telling(album, traits, day):
            told = pick(TEMPLATES["day"], lot.family, lot.rng).format(plain=words.plain)
            logic: dict[str, Json] = {"in": "day", "traits": as_json(traits)}
            return Base("same day", "intra-event", day, told, album.sight(traits).sure & day, logic, 1, traits)
    return None


def within_event(lot: Lot) -> Base | None:
    """What was taken before or after something else was seen at the same event."""
    mention = scene(lot)
    if mention is None:
        return None
    album, whole = lot.album, mention.occasion.pictures
    for _ in range(_TRIES):
        traits = some_traits(lot, lot.rng.choice(tuple(album.numbers(whole))), 1 + lot.chance(0.3, 0.8))
        words = said(traits, lot.family, album.belongings)
        sight = album.sight(traits)
        if not traits or not words.subject or sight.perhaps & whole or as_json(traits) == mention.logic.get("traits"):
            continue
        side = lot.rng.choice(("before", "after"))
        seen = tuple(album.numbers(sight.sure & whole))
        part = whole & (album.before(seen[0]) if side == "before" else album.after(seen[-1]))
        if part.bit_count() >= 4:
            told = pick(TEMPLATES[side], lot.family, lot.rng).format(mention=mention.words, plain=words.plain)
            logic: dict[str, Json] = {"in": side, "traits": as_json(traits), "of": mention.logic}
            evidence = mention.evidence | sight.sure & whole
            return Base("within event", "intra-event", part, told, evidence, logic, 2, (*mention.about, *traits))
    return None


def first_last(lot: Lot) -> Base | None:
    mention = first_or_last(lot)
    return None if mention is None else _of("first or last time", mention)


def neighbour_trip(lot: Lot) -> Base | None:
    mention = scene(lot)
    beside = None if mention is None else trip_beside(lot, mention, lot.rng.choice((-1, 1)))
    return None if beside is None else _of("next trip", beside)


def next_time_with(lot: Lot) -> Base | None:
    mention = _some_mention(lot)
    found = None if mention is None else next_with(lot, mention)
    return None if found is None else _of("next time with", found)


def same_town(lot: Lot) -> Base | None:
    """All other trips to the town of a trip; never a town where the owner lived."""
    album = lot.album
    homes = {home.town for home in album.life.homes}
    towns = [each.event.town for each in album.occasions if each.trip and each.event.town not in homes]
    repeated = [each for each in album.occasions if towns.count(each.event.town) > 1]
    mention = scene(lot, repeated) if repeated else None
    if mention is None:
        return None
    others = [each for each in repeated if each.event.town == mention.occasion.event.town]
    pictures = sum(each.pictures for each in others) & ~mention.occasion.pictures
    told = pick(TEMPLATES["town"], lot.family, lot.rng).format(mention=mention.words)
    logic: dict[str, Json] = {"in": "town", "of": mention.logic}
    return Base("same town", "inter-event", pictures, told, mention.evidence, logic, 2, mention.about)


def around_move(lot: Lot) -> Base | None:
    """All that was taken before the move to another home, or after it; the move itself is left out."""
    album = lot.album
    moves = [each for each in album.occasions if each.event.kind == "move"]
    if len(moves) != 1 or len(album.life.homes) != 2:
        return None
    side = lot.rng.choice(("old home", "new home"))
    numbers = tuple(album.numbers(moves[0].pictures))
    pictures = album.before(numbers[0]) if side == "old home" else album.after(numbers[-1])
    old, new = (home.town for home in album.life.homes)
    told = pick(TEMPLATES[side], lot.family, lot.rng).format(old=old, new=new)
    logic: dict[str, Json] = {"in": side}
    return Base("before or after moving", "inter-event", pictures, told, moves[0].pictures, logic, 1)


def same_thing(lot: Lot) -> Base | None:
    """A belonging that is known only from having been at another event."""
    mention = _some_mention(lot)
    if mention is None:
        return None
    album, there = lot.album, mention.occasion.pictures
    for kind, colour in lot.rng.sample(sorted(album.belongings), len(album.belongings)):
        trait = Trait("thing", (kind, colour))
        colours = [
            each
            for each, sight in album.sights.items()
            if each.kind == "thing" and len(each.values) == 2 and each.values[0] == kind and sight.at_all & there
        ]
        if colours == [trait] and album.sights[trait].sure & there:
            subject = pick(TEMPLATES["thing"], lot.family, lot.rng).format(kind=kind, mention=mention.words)
            return _elsewhere(lot, mention, "same belonging", trait, subject, {"thing": kind})
    return None


def same_person(lot: Lot) -> Base | None:
    """A friend who is known only by the coat worn at a place on another day."""
    mention = _some_mention(lot)
    if mention is None:
        return None
    album, there = lot.album, mention.occasion.pictures
    numbers = list(album.numbers(there))
    lot.rng.shuffle(numbers)
    for number in numbers:
        graph = album.shots[number].graph
        for figure in (figure for figure in graph.figures if is_noticed(figure) and looks(figure) in album.friends):
            coat, place = Trait("person", (ANY, ANY, ANY, figure.coat)), Trait("place", (graph.place,))
            alike = _looks_there(lot, album.sight((coat, place)).at_all & there, coat)
            if alike == {looks(figure)} and album.friends[looks(figure)].name != album.life.owner:
                place_words = PLACE_WORDS[graph.place][FAMILIES.index(lot.family)]
                subject = pick(TEMPLATES["person"], lot.family, lot.rng).format(
                    coat=f"{article(figure.coat)} {figure.coat} coat", place=place_words, mention=mention.words
                )
                logic: dict[str, Json] = {"coat": figure.coat, "place": graph.place}
                return _elsewhere(lot, mention, "same person", looks(figure), subject, logic)
    return None


def _looks_there(lot: Lot, pictures: int, coat: Trait) -> set[Trait]:
    """The looks of everyone in these pictures who wears that coat."""
    shots = (lot.album.shots[number] for number in lot.album.numbers(pictures))
    return {looks(figure) for shot in shots for figure in shot.graph.figures if fits(figure, coat)}


def _elsewhere(
    lot: Lot, mention: Mention, template: str, identity: Trait, subject: str, known: dict[str, Json]
) -> Base:
    """Pictures of it from later, earlier or all other times."""
    album, numbers = lot.album, tuple(lot.album.numbers(mention.occasion.pictures))
    side = lot.rng.choice(("later", "earlier", "other"))
    pictures = {
        "later": album.after(numbers[-1]),
        "earlier": album.before(numbers[0]),
        "other": album.dated & ~mention.occasion.pictures,
    }[side]
    logic: dict[str, Json] = {"in": side, "of": mention.logic, "same": known}
    words = pick(TEMPLATES[side], lot.family, lot.rng)
    evidence = mention.evidence | album.sights[identity].sure & mention.occasion.pictures
    return Base(
        template, "inter-event", pictures, words, evidence, logic, mention.hops + 1, mention.about, (identity,), subject
    )


def _some_mention(lot: Lot) -> Mention | None:
    """An event by what was seen there; when it is hard, now and then only by its neighbour."""
    mention = scene(lot)
    if mention is not None and lot.chance(0.0, 0.6):
        return trip_beside(lot, mention, lot.rng.choice((-1, 1)))
    return mention


BASES: Mapping[str, Callable[[Lot], Base | None]] = MappingProxyType(
    {
        "same event": same_event,
        "same day": same_day,
        "within event": within_event,
        "first or last time": first_last,
        "next trip": neighbour_trip,
        "next time with": next_time_with,
        "same town": same_town,
        "same belonging": same_thing,
        "same person": same_person,
        "before or after moving": around_move,
    }
)
"""Every template of `select`, intra-event ones first."""
INTRA: Sequence[str] = tuple(BASES)[:3]
