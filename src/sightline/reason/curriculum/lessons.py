"""A question of a benchmark as a lesson: one text with its pictures, and the steps to its answer.

Also which pictures a text mentions by number, and the questions with which a trained model is evaluated.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sightline.benchmark.folder import read_benchmark
from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.metrics.choices.options import right_option
from sightline.metrics.choices.parse import parse_choice
from sightline.reason.curriculum.plan import STEPS, CurriculumStage, StepName
from sightline.types import Benchmark, Choice, Option, Part, PictureRef, Step, Task

_FLAGS = re.IGNORECASE | re.VERBOSE
_PICTURE = r"(?:picture|image|photograph|photo)"
# A measure, a share, the name of a file or the 5th of something is not a picture's number.
_NUMBER = r"\d{1,3}(?!\w|[.,]\w|\s*(?:%|°|[x×]\s*\d)|\s+(?:by\s+\d|percent|pixels|degrees|times)\b)"
# What stands in quotation marks is written in a picture.
_NAMED = re.compile(
    rf"""(?<!["“'‘«「])\b(?:
      {_PICTURE}\s*(?:number\s+|no\.?\s*)?\#?(?P<one>{_NUMBER})
      | {_PICTURE}s\s+(?P<several>\#?\d{{1,3}}(?:\s*(?:,\s*and|,|and|or|to|through|&|-|–)\s*\#?{_NUMBER})+)
    )""",
    _FLAGS,
)
# "In picture 3 patches …" speaks of the third; "in the blurred picture 3 patches …" counts patches.
_BEFORE = re.compile(
    r"""(?:^|[^\w\s]\s*|\b(?:about|after|against|and|as|at|because|before|between|but|by|compare|for|from|if|in|inside
    |into|is|like|nor|not|of|on|only|or|see|so|than|that|then|through|to|unlike|versus|vs|when|where|whereas|while|with
    |within)\s+)$""",
    _FLAGS,
)
_REACH = 20
"""Characters that the word before may have."""
_BEHIND = re.compile(r"\s*(?:$|[^\w\s]|(?:contains|depicts|displays|presents|shows)\b)", _FLAGS)
_ORDINAL = r"(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)"
_BEGINS = re.compile(
    rf"\W*(?:(?:in|on)\s+)?(?:the\s+)?(?:{_PICTURE}\s*(?:number\s+|no\.?\s*)?\#?{_NUMBER}|{_ORDINAL}\s+{_PICTURE}\b)",
    _FLAGS,
)
# "Frame 2: …" and "2. …", where that is its number.
_HEADED = re.compile(r"\W*(?:[^\W\d]+\s+)?\#?(?P<number>\d{1,3})(?:\s*[.:：)\]](?!\d)|\s+[–-]\s)", _FLAGS)
IMAGE = "<image>"
"""Where a picture stands in a text."""
TITLES: Mapping[StepName, str] = {
    "summary": "Summary",
    "caption": "Caption",
    "text-to-region": "Text-to-Region",
    "region-to-region": "Region-to-Region",
    "conclusion": "Conclusion",
}
_STAGE = CurriculumStage("asked", "", STEPS)


def pictures_named(text: str) -> set[int]:
    """The numbers of the pictures that an English text speaks of: "picture 2", "(image 3)", "pictures 1 and 4"."""
    found: set[int] = set()
    for match in _NAMED.finditer(text):
        before = _BEFORE.search(text, max(0, match.start() - _REACH), match.start())
        if before is not None or _BEHIND.match(text, match.end()) is not None:
            found.update(map(int, re.findall(r"\d+", match["one"] or match["several"])))
    return found


def says_its_number(caption: str, number: int) -> bool:
    """Does a caption begin by saying which picture it is of, whatever follows?"""
    headed = _HEADED.match(caption)
    return _BEGINS.match(caption) is not None or (headed is not None and int(headed["number"]) == number)


@dataclass(frozen=True, slots=True)
class LessonStep:
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
    steps: Mapping[StepName, tuple[LessonStep, ...]]

    def written(self, kinds: Iterable[StepName]) -> str:
        """Steps as text: one line for each, begun by its title, as `metrics.steps` reads it."""
        return "\n".join(f"{TITLES[kind]}: {said.text}" for kind in kinds for said in self.steps[kind])


@dataclass(frozen=True, slots=True)
class Exercise:
    """A lesson at one stage: what is shown, and what is to be written."""

    lesson: Lesson
    stage: CurriculumStage

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
    return any(ref.region is not None for ref in task.shown)


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
        steps={**steps, "conclusion": (LessonStep(said, said, _elsewhere(last, images)),)},
    )


def _marked(parts: tuple[Part, ...]) -> str:
    return "".join(part if isinstance(part, str) else IMAGE for part in parts)


def _said(step: Step, images: tuple[str, ...], regions: bool) -> LessonStep:
    words = " ".join(step.text.split())
    boxes = [_box(ref, images) for ref in step.pictures if ref.region is not None and ref.id in images]
    text = f"{words} [{'; '.join(boxes)}]" if boxes and regions else words
    return LessonStep(words, text, _elsewhere([step], images))


def _elsewhere(steps: Sequence[Step], images: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ref.id for step in steps for ref in step.pictures if ref.id not in images))


def _numbered(captions: Sequence[LessonStep], steps: Sequence[Step], images: tuple[str, ...]) -> Iterator[LessonStep]:
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


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question for all steps: its words with `<image>` in them, its pictures, the right option and all options."""

    task: str
    prompt: str
    images: tuple[Path, ...]
    answer: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EvalQuestions:
    """Those that can be asked, and how many can't, by reason."""

    asked: tuple[EvalQuestion, ...]
    left_out: Mapping[str, int]


def eval_questions(folder: Path) -> EvalQuestions:
    """The choose tasks of a benchmark whose right option is known, with whole pictures."""
    benchmark = read_benchmark(folder)
    found = [_asked(task, benchmark, folder) for task in benchmark.tasks.values()]
    left_out = Counter(one for one in found if isinstance(one, str))
    return EvalQuestions(tuple(one for one in found if isinstance(one, EvalQuestion)), left_out)


def _asked(task: Task, benchmark: Benchmark, folder: Path) -> EvalQuestion | str:
    """A task as it is asked, or why it is not."""
    truth = benchmark.truth.get(task.id)
    if task.kind != "choose" or not isinstance(truth, Choice) or right_option(task, truth) is None:
        return "no choice with a known option"
    if shows_part(task):
        return "shows a part of a picture"
    exercise = Exercise(lesson_of(task, truth, regions=False), _STAGE)
    images = []
    for name in exercise.lesson.images:
        file = picture_path(benchmark.corpus.pictures[name].uri, folder)
        if file is None:
            raise UserError(f"{folder}: the picture {name} is not on this machine.", "fetch the pictures first")
        images.append(file)
    options = {option.key: option.text for option in task.options}
    return EvalQuestion(task.id, exercise.prompt, tuple(images), exercise.lesson.answer, options)
