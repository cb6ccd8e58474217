"""Tasks over the samples, made from the truth: `rank`, `select`, `answer` and `describe`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any, TypeAlias, TypeVar

from sightline.english import article, listed, number_word
from sightline.types import Answer, PictureRef, PictureSet, Relevance, Scope, Step, Task, Trace, Traces, Truth
from sightline_world.draw import KINDS, PLACES
from sightline_world.samples.histories import OCCASIONS
from sightline_world.samples.truth import Samples, SampleScene, SampleThing
from sightline_world.vocabulary import LIGHT_PHRASES, phrase

Posed: TypeAlias = tuple[Task, Truth]
"""A task with its truth."""
Test: TypeAlias = Callable[[SampleScene], bool]
_T = TypeVar("_T", bound="tuple[Any, ...] | str")
# How many pictures of each rank task are judged not relevant.
_JUDGED_ZERO = 12
# Kinds whose colour is one only, or that are scenery as often as not: no query is made of their colour.
_PLAIN = ("person", "snowman", "tree", "house")
_Wanted: TypeAlias = tuple[str, str, tuple[str, ...], str]
_COLOURS_ZH = {
    "red": "红色",
    "orange": "橙色",
    "yellow": "黄色",
    "green": "绿色",
    "blue": "蓝色",
    "purple": "紫色",
    "pink": "粉色",
    "white": "白色",
    "black": "黑色",
    "brown": "棕色",
}
_KINDS_ZH = {"boat": "船", "car": "汽车", "bicycle": "自行车", "dog": "狗", "mug": "杯子", "umbrella": "遮阳伞"}


def has(kind: str, colour: str | None = None, at_least: int = 1) -> Test:
    """Shows that many things of the kind, in the colour where one is given."""

    def test(scene: SampleScene) -> bool:
        things = (*scene.objects, *scene.scenery)
        return sum(t.count for t in things if t.kind == kind and colour in (None, t.colour)) >= at_least

    return test


def middle(thing: SampleThing) -> float:
    """How far to the right it is, 0 to 1."""
    return (thing.box.left + thing.box.right) / 2


def alone(scene: SampleScene, kind: str) -> bool:
    """All things of the kind have one colour."""
    return sum(thing.kind == kind for thing in (*scene.objects, *scene.scenery)) == 1


def originals(samples: Samples, lot: str) -> list[SampleScene]:
    """Pictures that are no copies and no later frames of a burst, in an order drawn by that lot."""
    scenes = [s for s in samples.scenes if s.duplicate_of is None and (not s.burst or s.id == s.burst[0])]
    Random(lot).shuffle(scenes)
    return scenes


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


def _grades(scenes: Sequence[SampleScene], query: _Query) -> dict[str, int]:
    """All that match, and a lot of those that don't; the rest stay unjudged."""
    grades = {scene.id: 1 for scene in scenes if query.part(scene)}
    grades |= {scene.id: 2 for scene in scenes if query.full(scene)}
    others = [scene.id for scene in scenes if scene.id not in grades]
    lot = Random(f"judged/{query.text}")
    grades |= dict.fromkeys(lot.sample(others, min(_JUDGED_ZERO, len(others))), 0)
    return dict(sorted(grades.items()))


def _queries(scenes: Sequence[SampleScene]) -> Iterator[_Query]:
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


def _intra_event(samples: Samples) -> Iterator[_Wanted]:
    """For each owner an event that one thing tells apart from all others, and another thing to look for in it."""
    for owner, mine in _by_owner(samples):
        found = next(_anchored(mine), None)
        if found is not None:
            anchor, kind, pictures = found
            seen = f"{article(anchor)} {anchor}"
            text = f"From the event at which {owner.title()} saw {seen}: every picture with {KINDS[kind].plural}."
            yield owner, text, pictures, "intra-event"


def _anchored(mine: Sequence[SampleScene]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
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


def _by_owner(samples: Samples) -> list[tuple[str, list[SampleScene]]]:
    owners = sorted({scene.owner for scene in samples.scenes})
    return [(owner, [scene for scene in samples.scenes if scene.owner == owner]) for owner in owners]


def _ids(scenes: Iterable[SampleScene], test: Test) -> tuple[str, ...]:
    return tuple(scene.id for scene in scenes if test(scene))


def _common(items: Iterable[_T], count: int) -> list[_T]:
    """The most frequent items; of equally frequent ones, the first in order."""
    tally = Counter(items)
    return sorted(tally, key=lambda item: (-tally[item], item))[:count]


def answer_tasks(samples: Samples) -> Iterator[Posed]:
    """A colour, a count, what a board says, and a town that takes more than looking."""
    asked = (_colour, _candles, _score, _town)
    for number, ask in enumerate(asked, 1):
        scenes = originals(samples, f"answer {number}")
        posed = next((found for scene in scenes if (found := ask(scene, f"answer-{number:02}"))), None)
        if posed is not None:
            yield posed


def _colour(scene: SampleScene, task_id: str) -> Posed | None:
    things = [thing for thing in scene.objects if thing.kind in _KINDS_ZH and alone(scene, thing.kind)]
    if not things:
        return None
    thing, shown = things[0], PictureRef(scene.id)
    task = Task(
        task_id,
        "answer",
        (shown, f"What colour is the {thing.kind}?"),
        labels={"category": ("attribute",), "needs": ("looking",)},
        translations={"zh": (shown, f"图中的{_KINDS_ZH[thing.kind]}是什么颜色？")},
    )
    step = Step("text-to-region", f"The {thing.kind} is here.", (PictureRef(scene.id, thing.box),))
    return task, Answer(thing.colour, translations={"zh": _COLOURS_ZH[thing.colour]}, steps=(step,))


def _candles(scene: SampleScene, task_id: str) -> Posed | None:
    if "candles" not in scene.details:
        return None
    shown, count = PictureRef(scene.id), scene.details["candles"]
    cake = next(thing for thing in scene.objects if thing.kind == "cake")
    task = Task(
        task_id,
        "answer",
        (shown, "How many candles are on the cake?"),
        labels={"category": ("counting",), "needs": ("looking",)},
        translations={"zh": (shown, "蛋糕上有几根蜡烛？")},
    )
    step = Step("text-to-region", "The candles stand on this cake.", (PictureRef(scene.id, cake.box),))
    return task, Answer(count, aliases=(number_word(int(count)),), tolerance=0.0, steps=(step,))


def _score(scene: SampleScene, task_id: str) -> Posed | None:
    if "score" not in scene.details:
        return None
    shown, score = PictureRef(scene.id), scene.details["score"]
    task = Task(
        task_id,
        "answer",
        (shown, "What score does the board show?"),
        labels={"category": ("reading",), "needs": ("looking",)},
        translations={"zh": (shown, "记分牌上的比分是多少？")},
    )
    return task, Answer(score, aliases=(score.replace(":", "-"), score.replace(":", " to ")))


def _town(scene: SampleScene, task_id: str) -> Posed | None:
    if scene.lat is None or scene.place not in ("lake", "harbour"):
        return None
    shown, town = PictureRef(scene.id), next(event.town for event in OCCASIONS if event.id == scene.event)
    task = Task(
        task_id,
        "answer",
        (shown, "Near which town was this picture taken?"),
        labels={"category": ("place",), "needs": ("metadata", "knowledge")},
        translations={"zh": (shown, "这张照片是在哪座城镇附近拍摄的？")},
    )
    steps = (
        Step("think", f"The picture was taken at {scene.lat:.3f}, {scene.lon:.3f}."),
        Step("search", f"The town nearest to that point is {town}."),
    )
    return task, Answer(town, steps=steps)


def describe_tasks(samples: Samples) -> Iterator[Posed]:
    """The two pictures with the most to tell, each with two reference traces."""
    rich = sorted(originals(samples, "describe"), key=lambda scene: -len(scene.objects))
    for number, scene in enumerate(rich[:2], 1):
        prompt = ("Think about what you see, then describe this picture: ", PictureRef(scene.id))
        labels = {"place": (scene.place,), "light": (scene.light,)}
        yield Task(f"describe-{number:02}", "describe", prompt, labels=labels), Traces(_traces(scene))


def _traces(scene: SampleScene) -> tuple[Trace, Trace]:
    things = [phrase(thing.kind, thing.colour, thing.count) for thing in scene.objects]
    where, when = PLACES[scene.place].phrase, LIGHT_PHRASES[scene.light][0]
    first = Trace(
        f"First the surroundings: we are {where}. The light says that it was taken {when}. "
        f"Then what stands out: {'; '.join(things)}. Nothing else needs to be named.",
        scene.caption,
        model="sample-reference-1",
    )
    spread = "; ".join(f"{words} {_side_of(thing)}" for words, thing in zip(things, scene.objects, strict=True))
    second = Trace(
        f"I go through the picture from side to side. I see {spread}. All of it is {where}, {when}.",
        f"The picture was taken {where} {when}. It shows {listed(things)}.",
        model="sample-reference-2",
    )
    return first, second


def _side_of(thing: SampleThing) -> str:
    at = middle(thing)
    return "on the left" if at < 1 / 3 else "on the right" if at > 2 / 3 else "in the middle"
