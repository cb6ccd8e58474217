"""`select`: find exactly the pictures of a part of a photo history that no look at single pictures can tell.

The proof that the set can't be found by looking at one picture at a time:
A *filter* is a conjunction of up to `DEPTH` conditions on a single picture. Of all filters this finds the one that
comes nearest to the wanted set, by F1: exactly, since a filter that has lost too much of the set can't get better by a
further condition, so that whole branches fall away. Three families are looked at:

- content: every trait of a picture, once with only what is surely there and once with what is perhaps there too, and
  "not" for places, lights, people and signs;
- metadata: two of town, year, month, weekday, part of the day and device, together with any span of time whatsoever;
- both: content with town, year, month and part of the day. This is reported, not forbidden: whoever knows the month of
  an event has found the event, which is what a task asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

from sightline.types import Json, PictureSet, Task
from sightline_world.data import read_data
from sightline_world.tasks.album import Sight, TaskAlbum, Trait, as_json
from sightline_world.tasks.mentions import some_traits
from sightline_world.tasks.phrases import Family, Templates, Wording, family_of, pick, said, sentence
from sightline_world.tasks.scopes import BASES, INTRA, ONE_HOP, Base
from sightline_world.tasks.task import Lot, MadeTask, labels
from sightline_world.truth import ShotTruth

DEPTH = 3
_PARTS = ((6, "night"), (12, "morning"), (18, "afternoon"), (24, "evening"))
TEMPLATES: Mapping[str, Templates] = read_data("tasks/templates.toml")["select"]
_NOTHING = 0.1
"""Share of tasks with nothing to find."""
MOST = 15
_TARGETS, _CHANCES, _DRAFTS = 12, 50, 500


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that holds of single pictures, and of which."""

    name: str
    pictures: int


@dataclass(frozen=True, slots=True)
class Best:
    """How near a filter comes to a set, and what it says."""

    f1: float = 0.0
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """The best filter of each family."""

    content: Best
    metadata: Best
    both: Best


class Filters:
    """All conditions on the pictures of one album."""

    def __init__(self, album: TaskAlbum) -> None:
        self.content = _distinct(_content(album))
        self.metadata = _distinct(_metadata(album))
        coarse = [each for each in self.metadata if each.name.split(":")[0] in ("town", "year", "month", "part")]
        self.both = _distinct([*self.content, *coarse])
        self._dated = album.dated

    def proof(self, wanted: int, limit: float = 1.0) -> Proof | None:
        """The best filters for a set that is not empty; None where content or metadata alone comes up to the limit."""
        metadata = self._in_time(wanted)
        if metadata.f1 >= limit:
            return None
        content = best_filter(wanted, self.content, DEPTH, limit)
        if content.f1 >= limit:
            return None
        return Proof(content, metadata, best_filter(wanted, self.both, DEPTH))

    def _in_time(self, wanted: int) -> Best:
        """The best filter on metadata: up to two conditions and any span of time."""
        ends = [number for number in range(wanted.bit_length()) if wanted >> number & 1]
        useful = [each for each in self.metadata if each.pictures & wanted]
        best = Best()
        for size in (0, 1, 2):
            for chosen in combinations(useful, size):
                pictures = self._dated
                for each in chosen:
                    pictures &= each.pictures
                if _ceiling(pictures, wanted) > best.f1:
                    best = _better(best, _best_span(pictures, wanted, ends), (*(each.name for each in chosen), "span"))
        return best


def best_filter(wanted: int, conditions: Sequence[Condition], depth: int, enough: float = 1.0) -> Best:
    """The conjunction of up to `depth` conditions with the highest F1; the search ends once `enough` is reached."""
    useful = sorted(
        (each for each in conditions if each.pictures & wanted),
        key=lambda each: (-(each.pictures & wanted).bit_count(), each.pictures.bit_count(), each.name),
    )
    best = Best()

    def extend(start: int, pictures: int, names: tuple[str, ...]) -> None:
        nonlocal best
        for place in range(start, len(useful)):
            each = useful[place]
            joint = pictures & each.pictures if names else each.pictures
            if best.f1 >= enough or _ceiling(joint, wanted) <= best.f1:
                continue
            said = (*names, each.name)
            best = _better(best, f1(joint, wanted), said)
            if len(said) < depth:
                extend(place + 1, joint, said)

    extend(0, 0, ())
    return best


def f1(found: int, wanted: int) -> float:
    """2·|both| / (|found| + |wanted|); two empty sets agree."""
    total = found.bit_count() + wanted.bit_count()
    return 2 * (found & wanted).bit_count() / total if total else 1.0


def _ceiling(found: int, wanted: int) -> float:
    """What F1 can become when further conditions take away everything wrong."""
    hits = (found & wanted).bit_count()
    return 2 * hits / (hits + wanted.bit_count())


def _better(best: Best, value: float, names: tuple[str, ...]) -> Best:
    return replace(best, f1=value, names=names) if value > best.f1 else best


def _best_span(pictures: int, wanted: int, ends: Sequence[int]) -> float:
    """The best of all spans from one wanted picture to another."""
    return max(
        f1(pictures & ((2 << last) - (1 << first)), wanted) for place, first in enumerate(ends) for last in ends[place:]
    )


def _content(album: TaskAlbum) -> Iterator[Condition]:
    signs, people = Sight(), Sight()
    for trait, sight in album.sights.items():
        name = ":".join((trait.kind, *trait.values))
        yield Condition(name, sight.sure)
        yield Condition(f"{name}?", sight.at_all)
        if trait.kind in ("place", "light"):
            yield Condition(f"not {name}", album.all & ~sight.at_all)
        if trait.kind == "words":
            signs = Sight(signs.sure | sight.sure, signs.perhaps | sight.perhaps)
        if trait == Trait("people", ("1",)):
            people = sight
    yield Condition("sign", signs.sure)
    yield Condition("not sign", album.all & ~signs.at_all)
    yield Condition("not people", album.all & ~people.sure)


def _metadata(album: TaskAlbum) -> Iterator[Condition]:
    readers: dict[str, Callable[[ShotTruth], str | None]] = {
        "town": lambda shot: shot.town if shot.lat is not None else None,
        "year": lambda shot: str(shot.when.year),
        "month": lambda shot: str(shot.when.month),
        "weekday": lambda shot: str(shot.when.weekday()),
        "part": lambda shot: next(name for hour, name in _PARTS if shot.when.hour < hour),
        "device": lambda shot: shot.device,
    }
    for name, read in readers.items():
        values = [read(shot) for shot in album.shots]
        for value in sorted({value for value in values if value is not None}):
            yield Condition(f"{name}:{value}", album.where(each == value for each in values) & album.dated)


def _distinct(conditions: Iterator[Condition] | Sequence[Condition]) -> tuple[Condition, ...]:
    """Each set of pictures once, under the first name that it has."""
    first: dict[int, Condition] = {}
    for each in conditions:
        if each.pictures:
            first.setdefault(each.pictures, each)
    return tuple(first.values())


@dataclass(frozen=True, slots=True)
class _Found:
    """What is asked for within a base, which pictures that is, and what no filter can do."""

    traits: tuple[Trait, ...]
    pictures: int
    proof: Proof | None


def limit_of(difficulty: float) -> float:
    """The F1 that no filter on single pictures may reach."""
    return round(0.9 - 0.09 * difficulty, 3)


class SelectMaker:
    """Makes tasks from one album."""

    def __init__(self, album: TaskAlbum) -> None:
        self._album, self._filters = album, Filters(album)

    def make(self, name: str, rng: Random, difficulty: float, family: Family | None = None) -> MadeTask | None:
        """A task by lot; None where many drafts came to nothing, as in a life with few events."""
        nothing = rng.random() < _NOTHING
        intra = rng.random() < 0.6 - 0.25 * difficulty
        template = ""
        for number in range(_DRAFTS):
            lot = Lot(self._album, rng, family_of(rng, family), difficulty)
            # A template gets many chances, lest the ones that are easily filled crowd out the others.
            if number % _CHANCES == 0:
                template = _template(rng, intra, difficulty)
            base = BASES[template](lot)
            found = None if base is None else self._target(lot, base, nothing)
            if base is not None and found is not None:
                return self._task(name, lot, base, found)
        return None

    def _target(self, lot: Lot, base: Base, nothing: bool) -> _Found | None:
        for _ in range(_TARGETS):
            found = self._nothing(lot, base) if nothing else self._something(lot, base)
            if found is not None:
                return found
        return None

    def _something(self, lot: Lot, base: Base) -> _Found | None:
        """Traits of some of the pictures; others have them too, elsewhere."""
        album = self._album
        possible = album.sight(base.identity).sure & base.pictures
        if not possible:
            return None
        number = lot.rng.choice(tuple(album.numbers(possible)))
        count = lot.rng.choice((0, 1, 1) if base.identity else (1, 1, 2)) + lot.chance(0.0, 0.4)
        traits = some_traits(lot, number, count)
        if len(traits) != count or not _speakable(traits, base):
            return None
        sight = album.sight((*base.identity, *traits))
        wanted = sight.sure & base.pictures
        fewest = lot.rng.choice((2, 3, 3, 4))
        if not fewest <= wanted.bit_count() <= MOST or sight.perhaps & base.pictures:
            return None
        elsewhere = sight.sure & ~base.pictures & album.dated
        if not elsewhere or not base.evidence & ~wanted or album.undated_copies(wanted):
            return None
        proof = self._filters.proof(wanted, limit_of(lot.difficulty))
        return None if proof is None else _Found(traits, wanted, proof)

    def _nothing(self, lot: Lot, base: Base) -> _Found | None:
        """A combination that happened at other times only; a part of it did happen here."""
        album = self._album
        number = lot.rng.choice(tuple(album.numbers(album.dated & ~base.pictures)) or (0,))
        traits = some_traits(lot, number, 1 if base.identity else 2)
        if not traits or not _speakable(traits, base):
            return None
        sight = album.sight((*base.identity, *traits))
        partly = any(album.sights[trait].sure & base.pictures for trait in (*base.identity, *traits))
        if sight.at_all & base.pictures or (sight.sure & album.dated).bit_count() < 2 or not partly:
            return None
        return _Found(traits, 0, None)

    def _task(self, name: str, lot: Lot, base: Base, found: _Found) -> MadeTask:
        style = lot.rng.choice(("request", "request", "question", "keyword") if lot.chance(1, 0.6) else ("vague",))
        prompt = worded(lot, base, found.traits, style)
        task = Task(
            id=name,
            kind="select",
            prompt=(prompt,),
            scope=lot.scope(),
            labels=labels(
                lot.difficulty,
                event_type=base.event_type,
                template=base.template,
                hops=base.hops,
                targets="some" if found.pictures else "none",
                phrasing=lot.family,
                style=style,
                needs_search=True,
                needs_zoom=False,
                needs_web=False,
            ),
            extra={
                "logic": {"base": base.logic, "target": as_json(found.traits)},
                "evidence": list(lot.album.ids(base.evidence)),
                "proof": None if found.proof is None else _told(found.proof, limit_of(lot.difficulty)),
            },
        )
        return MadeTask(task, PictureSet(lot.album.ids(found.pictures)))


def _template(rng: Random, intra: bool, difficulty: float) -> str:
    """The harder, the fewer with a single hop."""
    names = [each for each in BASES if (each in INTRA) == intra]
    return rng.choices(names, [1.5 - difficulty if each in ONE_HOP else 0.5 + difficulty for each in names])[0]


def worded(lot: Lot, base: Base, traits: tuple[Trait, ...], style: str) -> str:
    """The query in the words of a family and a style."""
    words = said(traits, lot.family, lot.album.belongings)
    someone = style == "vague" and base.subject
    template = pick(TEMPLATES["vague about someone" if someone else style], lot.family, lot.rng)
    that, shows, plain = _forms(words, base.subject)
    return sentence(template.format(that=that, shows=shows, plain=plain, base=base.words))


def _forms(words: Wording, subject: str) -> tuple[str, str, str]:
    """What is to be seen, as an attribute, as a predicate and alone; a long subject comes last."""
    if not subject:
        return words.that, words.shows, words.plain
    seen = f"{words.subject} and {subject}" if words.subject else subject
    taken = f"taken {words.where} " if words.where else ""
    return (
        f"{taken}with {seen}",
        f"were {taken}and show {seen}" if taken else f"show {seen}",
        f"{seen}, {words.where}" if words.where else seen,
    )


def _speakable(traits: tuple[Trait, ...], base: Base) -> bool:
    """Nothing is asked twice: what the base is known by, a second person beside a person, a second of the kind."""
    if any(trait in base.about for trait in traits):
        return False
    for one in base.identity:
        for other in traits:
            if one.kind == "person" and other.kind in ("person", "people", "nobody"):
                return False
            if one.kind == "thing" and other.kind in ("thing", "several") and other.values[0] == one.values[0]:
                return False
    return True


def _told(proof: Proof, limit: float) -> dict[str, Json]:
    """The limit, and for each family the best F1 with the filter that reaches it."""
    families = {"content": proof.content, "metadata": proof.metadata, "both": proof.both}
    told: dict[str, Json] = {
        name: {"f1": round(best.f1, 4), "filter": list(best.names)} for name, best in families.items()
    }
    return {"limit": limit, **told}
