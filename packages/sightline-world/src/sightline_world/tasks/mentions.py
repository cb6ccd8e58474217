"""Ways to speak of one event of a life without its name: by what was seen there, by its order, by who was there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from sightline.types import Json
from sightline_world.data import read_data
from sightline_world.tasks.album import AlbumEvent, TaskAlbum, Trait, as_json
from sightline_world.tasks.phrases import Templates, person, pick, said
from sightline_world.tasks.task import Lot

TEMPLATES: Mapping[str, Templates] = read_data("tasks/templates.toml")["mentions"]
_TRIES = 40
# A lower weight comes first more often.
_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "thing": 1.0,
        "person": 1.2,
        "place": 1.0,
        "light": 1.0,
        "several": 2.0,
        "people": 3.0,
        "nobody": 1.5,
        "words": 1.5,
    }
)


@dataclass(frozen=True, slots=True)
class Mention:
    """One event and the words for it; `evidence` are pictures that have to be found to know which one is meant.

    `logic` says the same for a machine, `about` is what the words speak of, and `across` means that other events have
    to be looked at too.
    """

    occasion: AlbumEvent
    words: str
    evidence: int
    logic: dict[str, Json]
    about: tuple[Trait, ...] = ()
    hops: int = 1
    across: bool = False


def scene(lot: Lot, among: Sequence[AlbumEvent] | None = None) -> Mention | None:
    """An event by something that can be seen in its pictures, and in those of no other."""
    album = lot.album
    for _ in range(_TRIES):
        occasion = lot.rng.choice(album.occasions if among is None else among)
        number = lot.rng.choice(tuple(album.numbers(occasion.pictures)))
        traits = some_traits(lot, number, 1 + lot.chance(0.9, 0.5) + lot.chance(0.3, 0.0), vague=lot.chance(0.0, 0.5))
        if traits and _points_out(traits) and is_telling(album, traits, occasion.pictures):
            return seen_at(lot, occasion, traits)
    return None


def _points_out(traits: Sequence[Trait]) -> bool:
    """Whether it is something that one would remember a day by."""
    kinds = {trait.kind for trait in traits}
    return not kinds <= {"nobody", "light"} and Trait("people", ("1",)) not in traits


def seen_at(lot: Lot, occasion: AlbumEvent, traits: Sequence[Trait]) -> Mention:
    words = said(traits, lot.family, lot.album.belongings)
    template = pick(TEMPLATES["saw" if words.subject else "were"], lot.family, lot.rng)
    return Mention(
        occasion,
        template.format(noun=occasion.noun, plain=words.plain),
        lot.album.sight(traits).sure & occasion.pictures,
        {"event": "seen", "traits": as_json(traits)},
        tuple(traits),
    )


def is_telling(album: TaskAlbum, traits: Iterable[Trait], pictures: int) -> bool:
    """Whether something is surely to be seen in these pictures, and not even perhaps in any other."""
    sight = album.sight(traits)
    return bool(sight.sure & pictures) and not sight.at_all & album.dated & ~pictures


def some_traits(lot: Lot, number: int, count: int, *, vague: bool = False) -> tuple[Trait, ...]:
    """So many traits of one picture that go well together in a sentence; vague ones leave out colours and looks."""
    album = lot.album
    here = [trait for trait, sight in album.sights.items() if sight.sure >> number & 1 and _sayable(trait, album)]
    if vague:
        here = [trait for trait in here if trait.kind != "thing" or len(trait.values) == 1]
    else:
        here = [trait for trait in here if trait.kind != "thing" or len(trait.values) == 2 or lot.rng.random() < 0.3]
    lot.rng.shuffle(here)
    here.sort(key=lambda trait: lot.rng.random() * _WEIGHTS[trait.kind])
    chosen: list[Trait] = []
    for trait in here:
        if len(chosen) == count:
            break
        if not any(_clash(trait, other) for other in chosen):
            chosen.append(trait)
    return tuple(sorted(chosen)) if len(chosen) == count else ()


def _sayable(trait: Trait, album: TaskAlbum) -> bool:
    """Whether the words for it leave nothing open: looks are said in full, or of one part only."""
    if trait.kind == "person":
        hair, headgear, _, coat = trait.values
        return trait in album.friends or (not hair and bool(headgear) != bool(coat) and headgear != "none")
    return True


def _clash(one: Trait, other: Trait) -> bool:
    """Two traits of one sort, or two that speak of the same things."""
    people = ("person", "people", "nobody")
    if one.kind in people and other.kind in people:
        return True
    things = ("thing", "several")
    if one.kind in things and other.kind in things:
        return one.values[0] == other.values[0]
    return one.kind == other.kind


def trip_beside(lot: Lot, mention: Mention, step: int) -> Mention | None:
    """The trip after the event (step 1), or the one before it (step -1)."""
    trips = [each for each in lot.album.occasions if each.trip]
    later = [each for each in trips if (each.number - mention.occasion.number) * step > 0]
    if not later:
        return None
    found = later[0] if step == 1 else later[-1]
    template = pick(TEMPLATES["next" if step == 1 else "previous"], lot.family, lot.rng)
    logic: dict[str, Json] = {"event": "trip", "step": step, "from": mention.logic}
    return replace(
        mention,
        occasion=found,
        words=template.format(mention=mention.words),
        logic=logic,
        hops=mention.hops + 1,
        across=True,
    )


def first_or_last(lot: Lot) -> Mention | None:
    """The event at which a belonging or a friend is seen for the first or the last time."""
    for _ in range(_TRIES):
        trait = lot.rng.choice(lasting(lot.album))
        end = lot.rng.choice(("first", "last"))
        mention = _end(lot, trait, end)
        if mention is not None:
            return mention
    return None


def _end(lot: Lot, trait: Trait, end: str) -> Mention | None:
    album = lot.album
    sight = album.sights.get(trait)
    seen = album.occasions_in(sight.sure) if sight else []
    if sight is None or len(seen) < 2:
        return None
    found = seen[0 if end == "first" else -1]
    ends = tuple(album.numbers(found.pictures))
    beyond = album.before(ends[0]) if end == "first" else album.after(ends[-1])
    if sight.at_all & beyond:
        return None
    words = pick(TEMPLATES[end], lot.family, lot.rng).format(who=who(trait))
    logic: dict[str, Json] = {"event": end, "trait": as_json([trait])[0]}
    return Mention(found, words, sight.sure & found.pictures, logic, (trait,), 1, True)


def next_with(lot: Lot, mention: Mention) -> Mention | None:
    """The next event at which a belonging or a friend is seen."""
    album = lot.album
    last = max(album.numbers(mention.occasion.pictures))
    later = album.after(last)
    for trait in lot.rng.sample(lasting(album), len(lasting(album))):
        sight = album.sights.get(trait)
        seen = album.occasions_in(sight.sure & later) if sight else []
        if sight is None or not seen:
            continue
        between = later & album.before(min(album.numbers(seen[0].pictures)))
        if sight.at_all & between or seen[0].number <= mention.occasion.number + 1:
            continue
        words = pick(TEMPLATES["next with"], lot.family, lot.rng).format(mention=mention.words, who=who(trait))
        logic: dict[str, Json] = {"event": "next with", "trait": as_json([trait])[0], "from": mention.logic}
        evidence = mention.evidence | sight.sure & seen[0].pictures
        return Mention(seen[0], words, evidence, logic, (trait,), mention.hops + 1, True)
    return None


def lasting(album: TaskAlbum) -> list[Trait]:
    """Traits that stand for one thing or one person all through the life; the owner is not among them."""
    things = [Trait("thing", key) for key in sorted(album.belongings)]
    return [*things, *sorted(trait for trait, friend in album.friends.items() if friend.name != album.life.owner)]


def who(trait: Trait) -> str:
    """ "my red bicycle", "the grey-haired person in a blue cap"."""
    if trait.kind == "thing":
        return f"my {trait.values[1]} {trait.values[0]}"
    return person(trait, "the")
