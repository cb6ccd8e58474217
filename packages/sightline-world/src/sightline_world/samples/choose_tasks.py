"""Tasks that choose between options over several pictures, each with five reference steps, made from the truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

from sightline.english import listed
from sightline.types import Choice, Option, Part, PictureRef, Step, StepKind, Task
from sightline_world.samples.tasks import Posed, alone, middle, originals
from sightline_world.samples.truth import Samples, SampleScene, SampleThing
from sightline_world.vocabulary import LIGHT_PHRASES

_FIVE: tuple[StepKind, ...] = ("summary", "caption", "text-to-region", "region-to-region", "conclusion")
# How far apart (in picture widths) things must be to be told left from right, and how far a thing must move.
_APART, _MOVED = 0.25, 0.04
_HOURS = ("fog", "day", "sunset", "night")


@dataclass(frozen=True, slots=True)
class _Question:
    """A question with its options, the right one, and what to say in each of the five steps."""

    category: str
    subtask: str
    prompt: Sequence[Part]
    options: Mapping[str, tuple[Part, ...]]
    right: str
    steps: Sequence[tuple[str, Sequence[PictureRef]]]


def choose_tasks(samples: Samples) -> Iterator[Posed]:
    """Motion over frames, left and right, the most people, the latest hour."""
    sources = (_motion(samples), _side(samples), _crowd(samples), _latest(samples))
    for number, source in enumerate(sources, 1):
        question = next(source, None)
        if question is not None:
            yield _posed(f"choose-{number:02}", question)


def _posed(task_id: str, question: _Question) -> Posed:
    task = Task(
        task_id,
        "choose",
        tuple(question.prompt),
        options=tuple(Option(key, content) for key, content in question.options.items()),
        labels={"category": (question.category,), "subtask": (question.subtask,)},
    )
    said = zip(_FIVE, question.steps, strict=True)
    return task, Choice(question.right, steps=tuple(Step(kind, text, tuple(refs)) for kind, (text, refs) in said))


def _motion(samples: Samples) -> Iterator[_Question]:
    """Which way something goes in a burst."""
    for scene in originals(samples, "motion"):
        frames = [samples[picture] for picture in scene.burst]
        if not frames:
            continue
        tracks = [[frame.objects[place] for frame in frames] for place in range(len(scene.objects))]
        track = max(tracks, key=lambda things: abs(_moved(things)))
        if abs(_moved(track)) < _MOVED:
            continue
        kind, way = track[0].kind, "left" if _moved(track) < 0 else "right"
        seen = [PictureRef(frame.id, thing.box) for frame, thing in zip(frames, track, strict=True)]
        yield _Question(
            category="Sequential",
            subtask="Motion Detection",
            prompt=[*_numbered("Frame", frames), f"Which way does the {kind} move?"],
            options={"A": ("to the left",), "B": ("to the right",), "C": ("not at all",), "D": ("upwards",)},
            right="A" if way == "left" else "B",
            steps=(
                (f"Three frames of one burst are to be compared to see how the {kind} moves.", ()),
                (scene.caption, (PictureRef(scene.id),)),
                (f"The {kind} is here in the first frame.", seen[:1]),
                (f"From the first frame to the last it is farther to the {way}.", seen),
                (f"It moves to the {way}.", ()),
            ),
        )


def _moved(track: Sequence[SampleThing]) -> float:
    return middle(track[-1]) - middle(track[0])


def _side(samples: Samples) -> Iterator[_Question]:
    """On which side of one thing another is."""
    for scene in originals(samples, "side"):
        single = [thing for thing in scene.objects if thing.count == 1 and alone(scene, thing.kind)]
        for a, b in combinations(single, 2):
            if abs(middle(a) - middle(b)) < _APART:
                continue
            way = "left" if middle(a) < middle(b) else "right"
            seen = [PictureRef(scene.id, a.box), PictureRef(scene.id, b.box)]
            yield _Question(
                category="Spatial",
                subtask="Location Relationship",
                prompt=("Look at this picture: ", PictureRef(scene.id), f" Where is the {a.kind}?"),
                options={
                    "A": (f"left of the {b.kind}",),
                    "B": (f"right of the {b.kind}",),
                    "C": (f"straight above the {b.kind}",),
                },
                right="A" if way == "left" else "B",
                steps=(
                    (f"The sides of the {a.kind} and the {b.kind} are to be compared.", ()),
                    (scene.caption, (PictureRef(scene.id),)),
                    (f"Here are the {a.kind} and the {b.kind}.", seen),
                    (f"The first of these regions is to the {way} of the second.", seen),
                    (f"The {a.kind} is {way} of the {b.kind}.", ()),
                ),
            )


def _crowd(samples: Samples) -> Iterator[_Question]:
    """Which of three pictures shows the most people; not in a stadium, where nobody counts the spectators."""
    by_count: dict[int, SampleScene] = {}
    for scene in originals(samples, "crowd"):
        if scene.place != "stadium":
            by_count.setdefault(sum(thing.count for thing in scene.objects if thing.kind == "person"), scene)
    if len(by_count) < 3:
        return
    most = by_count[max(by_count)]
    order = _dealt(by_count[count] for count in sorted(by_count)[-3:])
    key, place = _place(order, most)
    shown = [PictureRef(scene.id) for scene in order]
    people = [PictureRef(most.id, thing.box) for thing in most.objects if thing.kind == "person"]
    yield _Question(
        category="Analytical",
        subtask="Count Comparison",
        prompt=("Which of these pictures shows the most people?",),
        options=dict(zip("ABC", ((picture,) for picture in shown), strict=True)),
        right=key,
        steps=(
            ("Three pictures are to be compared by the number of people in them.", ()),
            (" ".join(scene.caption for scene in order), shown),
            (f"The people in picture {place} are here.", people),
            ("Neither of the other two pictures shows as many.", shown),
            (f"Picture {place} shows the most people.", ()),
        ),
    )


def _latest(samples: Samples) -> Iterator[_Question]:
    """Which of three pictures of one event shows the latest hour of the day, by its light."""
    events: dict[str, dict[str, SampleScene]] = {}
    for scene in originals(samples, "latest"):
        if scene.event is not None:
            events.setdefault(scene.event, {}).setdefault(scene.light, scene)
    for lights in events.values():
        scenes = [lights[hour] for hour in _HOURS if hour in lights]
        if len(scenes) < 3:
            continue
        last, order = scenes[-1], _dealt(scenes[-3:])
        key, place = _place(order, last)
        shown = [PictureRef(scene.id) for scene in order]
        said = listed(f"picture {n} was taken {LIGHT_PHRASES[scene.light][0]}" for n, scene in enumerate(order, 1))
        yield _Question(
            category="Sequential",
            subtask="Time Order",
            prompt=[*_numbered("Picture", order), "Which of them shows the latest hour of the day?"],
            options={letter: (f"picture {number}",) for number, letter in enumerate("ABC", 1)},
            right=key,
            steps=(
                ("The light of three pictures is to be put in the order of the day.", ()),
                (" ".join(scene.caption for scene in order), shown),
                (f"The light tells the hour: {said}.", shown),
                (f"The light of picture {place} comes after that of the others.", shown),
                (f"Picture {place} shows the latest hour.", ()),
            ),
        )


def _dealt(scenes: Iterable[SampleScene]) -> list[SampleScene]:
    """The scenes in an order that doesn't give the answer away."""
    order = sorted(scenes, key=lambda scene: scene.id)
    Random(order[0].id).shuffle(order)
    return order


def _place(order: Sequence[SampleScene], right: SampleScene) -> tuple[str, int]:
    """The key and the number of the right one."""
    place = order.index(right)
    return "ABC"[place], place + 1


def _numbered(noun: str, scenes: Sequence[SampleScene]) -> list[Part]:
    """ "Frame 1: " and its picture, "Frame 2: " and so on."""
    parts: list[Part] = []
    for number, scene in enumerate(scenes, 1):
        parts += [f"{noun} {number}: ", PictureRef(scene.id), "\n"]
    return parts
