"""A question of a benchmark as it is taught: one text with its pictures, and the steps to its answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sightline.reason.curriculum.plan import STEPS, Stage, StepName
from sightline.reason.mentions import says_its_number
from sightline.score import parse_choice
from sightline.score.choices.right import right_option
from sightline.types import Choice, Option, Part, PictureRef, Step, Task

IMAGE = "<image>"
"""Where a picture stands in a text."""
TITLES: Mapping[StepName, str] = {
    "summary": "Summary",
    "caption": "Caption",
    "text-to-region": "Text-to-Region",
    "region-to-region": "Region-to-Region",
    "conclusion": "Conclusion",
}


@dataclass(frozen=True, slots=True)
class Said:
    """One step: its words, and the same with the number of its picture and the regions that it speaks of.

    `elsewhere` are the pictures that it refers to and that the question does not show.
    """

    words: str
    text: str
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Lesson:
    """A question with `<image>` where each of `images` (picture ids) stands, and the steps to its answer by kind.

    `stem` is the question without its options. `concludes` is the option that is read from the conclusion; it should be
    the answer.
    """

    task: str
    stem: str
    question: str
    images: tuple[str, ...]
    options: tuple[Option, ...]
    answer: str
    concludes: str | None
    steps: Mapping[StepName, tuple[Said, ...]]

    def written(self, kinds: Iterable[StepName]) -> str:
        """Steps as text: one line for each, begun by its title, as `score.steps` reads it."""
        return "\n".join(f"{TITLES[kind]}: {said.text}" for kind in kinds for said in self.steps[kind])


@dataclass(frozen=True, slots=True)
class Exercise:
    """A lesson at one stage: what is shown, and what is to be written."""

    lesson: Lesson
    stage: Stage

    @property
    def given(self) -> str:
        """The steps that are shown."""
        return self.lesson.written(self.stage.given)

    @property
    def prompt(self) -> str:
        """All that is shown: the question, the given steps, and which steps are asked for."""
        given = f"\n\nGiven:\n{self.given}" if self.stage.given else ""
        return f"{self.lesson.question}{given}\n\nWrite: {', '.join(TITLES[kind] for kind in self.stage.target)}."

    @property
    def target(self) -> str:
        """What is to be written; the loss is on it alone."""
        return self.lesson.written(self.stage.target)


def shows_part(task: Task) -> bool:
    """Does it show a part of a picture? A lesson has whole ones only."""
    parts = (*task.prompt, *(part for option in task.options for part in option.content))
    return any(isinstance(part, PictureRef) and part.region is not None for part in parts)


def lesson_of(task: Task, truth: Choice, *, regions: bool) -> Lesson:
    """A choose task and its truth as a lesson; several steps of a kind (one caption for each picture) stay apart.

    Captions of several pictures say which they are of, or that would have to be counted. A conclusion from which no
    option can be read has the answer put behind it.
    """
    assert truth.option is not None
    right = right_option(task, truth) or truth.option  # What is none of them is for the proof to find.
    parts = [*task.prompt, *(part for option in task.options for part in option.content)]
    images = tuple(part.id for part in parts if isinstance(part, PictureRef))
    options = "\n".join(f"{option.key}. {_marked(option.content)}" for option in task.options)
    by_kind = {kind: [step for step in truth.steps if step.kind == kind] for kind in STEPS}
    steps = {kind: tuple(_said(step, images, regions) for step in by_kind[kind]) for kind in STEPS[:-1]}
    if len({*images}) > 1:
        steps["caption"] = tuple(_numbered(steps["caption"], by_kind["caption"], images))
    last = by_kind["conclusion"]
    said = " ".join(word for step in last for word in step.text.split())
    concludes = parse_choice(said, task.options).option if said else None
    if concludes is None:
        concludes, said = right, f"{said} The answer is {right}.".strip()
    stem = _marked(task.prompt).strip()
    return Lesson(
        task=task.id,
        stem=stem,
        question=f"{stem}\nOptions:\n{options}",
        images=images,
        options=task.options,
        answer=right,
        concludes=concludes,
        steps={**steps, "conclusion": (Said(said, said, _elsewhere(last, images)),)},
    )


def _marked(parts: tuple[Part, ...]) -> str:
    return "".join(part if isinstance(part, str) else IMAGE for part in parts)


def _said(step: Step, images: tuple[str, ...], regions: bool) -> Said:
    words = " ".join(step.text.split())
    boxes = [_box(ref, images) for ref in step.pictures if ref.region is not None and ref.id in images]
    text = f"{words} [{'; '.join(boxes)}]" if boxes and regions else words
    return Said(words, text, _elsewhere([step], images))


def _elsewhere(steps: Sequence[Step], images: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ref.id for step in steps for ref in step.pictures if ref.id not in images))


def _numbered(captions: Sequence[Said], steps: Sequence[Step], images: tuple[str, ...]) -> Iterator[Said]:
    """Captions that begin with the number of their picture, unless it is not known or they say it already."""
    for place, (said, step) in enumerate(zip(captions, steps, strict=True)):
        number = _number(step, images, place if len(steps) == len(images) else None)
        is_said = number is None or says_its_number(said.words, number)
        yield said if is_said else replace(said, text=f"Picture {number}: {said.text}")


def _number(caption: Step, images: tuple[str, ...], place: int | None) -> int | None:
    """The picture that a caption is of: that at its place, if it refers to no other, else the only one it refers to."""
    about = list(dict.fromkeys(ref.id for ref in caption.pictures))
    if place is not None and about in ([], [images[place]]):
        return place + 1
    return images.index(about[0]) + 1 if len(about) == 1 and about[0] in images else None


def _box(ref: PictureRef, images: tuple[str, ...]) -> str:
    """`picture 2: 20 70 28 82`: left, top, right and bottom in percent."""
    assert ref.region is not None
    box = ref.region
    sides = " ".join(str(round(100 * side)) for side in (box.left, box.top, box.right, box.bottom))
    return f"picture {images.index(ref.id) + 1}: {sides}"
