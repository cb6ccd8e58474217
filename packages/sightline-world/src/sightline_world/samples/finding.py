"""Tasks that look for pictures: `rank` and `select`, made from the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any, TypeAlias, TypeVar

from sightline.english import article
from sightline.types import PictureSet, Relevance, Scope, Task
from sightline_world.draw import KINDS, PLACES
from sightline_world.samples.looking import Posed, Test, has
from sightline_world.samples.scenes import Samples, Scene
from sightline_world.vocabulary import LIGHT_PHRASES, phrase

_T = TypeVar("_T", bound="tuple[Any, ...] | str")
# How many pictures of each rank task are judged not relevant.
_JUDGED_ZERO = 12
# Kinds whose colour is one only, or that are scenery as often as not: no query is made of their colour.
_PLAIN = ("person", "snowman", "tree", "house")


@dataclass(frozen=True, slots=True)
class _Query:
    """Words to look for, what answers them in full (grade 2) and in part (grade 1), and the skill it takes."""

    text: str
    full: Test
    part: Test
    skill: str


def rank_tasks(samples: Samples) -> Iterator[Posed]:
    """Queries of several skills, each with every match graded and a lot of the others judged 0."""
    for number, query in enumerate(_queries(samples.scenes), 1):
        grades = _grades(samples.scenes, query)
        found = "few" if sum(grade == 2 for grade in grades.values()) < 4 else "many"
        labels = {"skill": (query.skill,), "found": (found,)}
        yield Task(f"rank-{number:02}", "rank", (query.text,), labels=labels), Relevance(grades)


def _grades(scenes: Sequence[Scene], query: _Query) -> dict[str, int]:
    """All that match, and a lot of those that don't; the rest stay unjudged."""
    grades = {scene.id: 1 for scene in scenes if query.part(scene)}
    grades |= {scene.id: 2 for scene in scenes if query.full(scene)}
    others = [scene.id for scene in scenes if scene.id not in grades]
    lot = Random(f"judged/{query.text}")
    grades |= dict.fromkeys(lot.sample(others, min(_JUDGED_ZERO, len(others))), 0)
    return dict(sorted(grades.items()))


def _queries(scenes: Sequence[Scene]) -> Iterator[_Query]:
    things = [(thing, scene) for scene in scenes for thing in scene.objects]
    for kind, colour in _common(((t.kind, t.colour) for t, _ in things if t.kind not in _PLAIN), 8):
        yield _Query(phrase(kind, colour), has(kind, colour), has(kind), "colour")
    for colour, place in _common(((t.colour, s.place) for t, s in things if t.kind == "person"), 6):
        dressed, there = has("person", colour), _at(place)
        yield _Query(
            f"{phrase('person', colour)} {PLACES[place].phrase}", _both(dressed, there), dressed, "composition"
        )
    for place, light in _common(((s.place, s.light) for s in scenes if s.light in ("sunset", "night")), 5):
        there, then = _at(place), _in(light)
        yield _Query(
            f"a scene {PLACES[place].phrase} {LIGHT_PHRASES[light][0]}", _both(there, then), there, "place and light"
        )
    for place in _common((s.place for t, s in things if t.kind == "dog"), 2):
        dog = has("dog")
        yield _Query(f"a dog {PLACES[place].phrase}", _both(dog, _at(place)), dog, "composition")
    for kind in _common((t.kind for t, _ in things if t.count >= 3 and t.kind not in _PLAIN), 3):
        yield _Query(f"three {KINDS[kind].plural} or more", has(kind, at_least=3), has(kind), "counting")


def select_tasks(samples: Samples) -> Iterator[Posed]:
    """Pictures of one owner that belong together by what happened, and one task with nothing to find."""
    posed = [*_intra_event(samples), *_inter_event(samples), *_nothing(samples)]
    for number, (owner, text, pictures, query_type) in enumerate(posed, 1):
        labels = {"query_type": (query_type,), "owner": (owner,)}
        task = Task(f"select-{number:02}", "select", (text,), scope=Scope(owner=owner), labels=labels)
        yield task, PictureSet(pictures)


_Wanted: TypeAlias = tuple[str, str, tuple[str, ...], str]


def _intra_event(samples: Samples) -> Iterator[_Wanted]:
    """For each owner an event that one thing tells apart from all others, and another thing to look for in it."""
    for owner, mine in _by_owner(samples):
        found = next(_anchored(mine), None)
        if found is not None:
            anchor, kind, pictures = found
            seen = f"{article(anchor)} {anchor}"
            text = f"From the event at which {owner.title()} saw {seen}: every picture with {KINDS[kind].plural}."
            yield owner, text, pictures, "intra-event"


def _anchored(mine: Sequence[Scene]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for anchor in ("hot-air balloon", "snowman", "cake", "kite", "umbrella", "tent", "cat"):
        events = {scene.event for scene in mine if has(anchor)(scene)}
        if len(events) != 1 or None in events:
            continue
        there = [scene for scene in mine if scene.event in events]
        for kind in ("boat", "balloon", "dog", "person"):
            found = _ids(there, has(kind))
            if 2 <= len(found) < len(there):
                yield anchor, kind, found


def _inter_event(samples: Samples) -> Iterator[_Wanted]:
    """What the first owner's history shows at several events."""
    for owner, mine in _by_owner(samples)[:1]:
        found = _ids(mine, has("dog"))
        if len({scene.event for scene in mine if scene.id in found}) > 1:
            yield owner, f"Every picture in {owner.title()}'s collection that shows a dog.", found, "inter-event"


def _nothing(samples: Samples) -> Iterator[_Wanted]:
    """A thing in a colour that the last owner has no picture of."""
    for owner, mine in _by_owner(samples)[-1:]:
        absent = (
            phrase(kind, colour)
            for kind in ("car", "boat", "umbrella", "bicycle")
            for colour in KINDS[kind].colours
            if not any(has(kind, colour)(scene) for scene in mine)
        )
        for words in islice(absent, 1):
            yield owner, f"Every picture in {owner.title()}'s collection that shows {words}.", (), "nothing to find"


def _at(place: str) -> Test:
    return lambda scene: scene.place == place


def _in(light: str) -> Test:
    return lambda scene: scene.light == light


def _both(first: Test, second: Test) -> Test:
    return lambda scene: first(scene) and second(scene)


def _by_owner(samples: Samples) -> list[tuple[str, list[Scene]]]:
    owners = sorted({scene.owner for scene in samples.scenes})
    return [(owner, [scene for scene in samples.scenes if scene.owner == owner]) for owner in owners]


def _ids(scenes: Iterable[Scene], test: Test) -> tuple[str, ...]:
    return tuple(scene.id for scene in scenes if test(scene))


def _common(items: Iterable[_T], count: int) -> list[_T]:
    """The most frequent items; of equally frequent ones, the first in order."""
    tally = Counter(items)
    return sorted(tally, key=lambda item: (-tally[item], item))[:count]
