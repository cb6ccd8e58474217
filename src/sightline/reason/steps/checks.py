"""What is wrong with the steps of a question; the same for what a model wrote and for what a benchmark has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sightline.english import counted
from sightline.metrics.choices.options import right_option
from sightline.reason.curriculum.lessons import pictures_named
from sightline.reason.curriculum.plan import STEPS
from sightline.reason.questions import has_right_option
from sightline.types import Answer, Choice, Step, StepKind, Task, Truth

FaultKind: TypeAlias = Literal[
    "schema", "missing", "long", "options", "placeholder", "captions", "region", "early-answer", "conclusion"
]
LONGEST = 4_000
"""Characters of a step; more is no step, but a text run wild."""
_PLACEHOLDER = re.compile(r"<\|?/?(?:image|img|picture)(?:[_\s-]?\d+)?\|?>", re.IGNORECASE)
_LEAST_REGIONS: dict[StepKind, int] = {"text-to-region": 1, "region-to-region": 2}


@dataclass(frozen=True, slots=True)
class StepFault:
    """One thing that is wrong, in words that its author can mend it by."""

    kind: FaultKind
    message: str


def has_steps(truth: Truth) -> bool:
    """Are all five there, right or not?"""
    return isinstance(truth, Choice | Answer) and {*STEPS} <= {step.kind for step in truth.steps}


def question_faults(task: Task, truth: Truth) -> tuple[StepFault, ...]:
    """What is wrong with the question itself, so that no reply to it can be in order.

    Options that can't be told apart, a truth that is none of them, or marks that stand for something else: a
    placeholder in its words stands for a picture that is not there.
    """
    from sightline.benchmark.validation import odd_options
    from sightline.reason.curriculum.tokens import foreign_mark

    faults: list[StepFault] = []
    if task.kind == "choose" and (odd := odd_options(task)) is not None:
        faults.append(StepFault("options", f"the question has {odd}"))
    elif not has_right_option(task, truth):
        faults.append(StepFault("options", _no_right_option(task, truth)))
    words = [task.text, *(option.text for option in task.options)]
    if marks := sum(len(_PLACEHOLDER.findall(text)) for text in words):
        beside = counted(len(task.shown), "picture")
        said = f"the question has {counted(marks, 'placeholder')} in its words beside {beside}"
        faults.append(StepFault("placeholder", said))
    elif (mark := next(filter(None, map(foreign_mark, words)), None)) is not None:
        faults.append(
            StepFault("placeholder", f"the question has {mark} in its words, which a tokenizer may take for its own")
        )
    return tuple(faults)


def _no_right_option(task: Task, truth: Truth) -> str:
    if not isinstance(truth, Choice) or truth.option is None:
        return "it is not known which option is right"
    keys = ", ".join(option.key for option in task.options)
    return f'the right option is given as "{truth.option}", and the options are {keys}'


def step_faults(task: Task, truth: Truth, steps: Sequence[Step]) -> tuple[StepFault, ...]:
    """Everything that is wrong with the steps of a question; none for those that the world makes."""
    return (
        *_missing(steps),
        *_too_long(steps),
        *_placeholders(task, steps),
        *_captions(task, steps),
        *_regions(task, steps),
        *_early_answers(task, truth, steps),
        *_conclusion(task, truth, steps),
    )


def chosen_in(task: Task, text: str) -> str | None:
    """The key of the option that these words choose."""
    from sightline.metrics.choices.parse import parse_choice  # Its patterns take time to compile.

    return parse_choice(text, task.options).option


def _missing(steps: Sequence[Step]) -> Iterator[StepFault]:
    said = {step.kind for step in steps if step.text.strip()}
    for kind in STEPS:
        if kind not in said:
            yield StepFault("missing", f"there is no {kind}")


def _too_long(steps: Sequence[Step]) -> Iterator[StepFault]:
    for step in steps:
        if len(step.text) > LONGEST:
            yield StepFault("long", f"{step.kind}: {len(step.text):,} characters, and {LONGEST:,} at most may be")


def _placeholders(task: Task, steps: Sequence[Step]) -> Iterator[StepFault]:
    """Placeholders are counted against pictures, so that a step must have none; and it must not count past the last."""
    from sightline.reason.curriculum.tokens import foreign_mark

    pictures = len(task.shown)
    for step in steps:
        if marks := _PLACEHOLDER.findall(step.text):
            yield StepFault(
                "placeholder", f"{step.kind}: {marks[0]} stands for a picture; write the picture's number instead"
            )
        elif (mark := foreign_mark(step.text)) is not None:
            yield StepFault(
                "placeholder", f"{step.kind}: {mark} is what a tokenizer may take for its own; leave it out"
            )
        for number in sorted(pictures_named(step.text) - {*range(1, pictures + 1)}):
            yield StepFault("placeholder", f"{step.kind}: there is no picture {number}: the last is {pictures}")


def _captions(task: Task, steps: Sequence[Step]) -> Iterator[StepFault]:
    refs = task.shown
    told = Counter(ref for step in steps if step.kind == "caption" for ref in step.pictures)
    for number, ref in enumerate(refs, 1):
        if told[ref] != 1:
            yield StepFault("captions", f"picture {number} has {told[ref] or 'no'} captions, and needs one")
    for ref in told:
        if ref not in refs:
            yield StepFault("captions", f'a caption is about "{ref.id}", which the question does not show')


def _regions(task: Task, steps: Sequence[Step]) -> Iterator[StepFault]:
    shown = {ref.id for ref in task.shown}
    for step in steps:
        least = _LEAST_REGIONS.get(step.kind)
        if least is None:
            continue
        if (different := len({*step.pictures})) < least:
            yield StepFault("region", f"{step.kind}: {counted(different, 'region')}, and at least {least} are needed")
        for ref in step.pictures:
            if ref.id not in shown:
                yield StepFault("region", f'{step.kind}: "{ref.id}" is no picture of the question')
            elif ref.region is not None and not ref.region.is_valid:
                yield StepFault("region", f'{step.kind}: a region of "{ref.id}" is empty or not within the picture')


def _early_answers(task: Task, truth: Truth, steps: Sequence[Step]) -> Iterator[StepFault]:
    """The first four steps lead to the answer; one that gives it away can't be told to who is to find it."""
    key = right_option(task, truth)
    if key is None:
        return
    # Their patterns take time to compile.
    from sightline.reason.curriculum.leakage import leaking_sentence
    from sightline.reason.curriculum.lessons import Lesson

    lesson = Lesson(task.id, task.text, task.text, (), task.options, key, None, {})
    for step in steps:
        if step.kind != "conclusion" and (said := leaking_sentence(step.text, lesson)) is not None:
            yield StepFault("early-answer", f'{step.kind}: the answer is given before the conclusion: "{said}"')


def _conclusion(task: Task, truth: Truth, steps: Sequence[Step]) -> Iterator[StepFault]:
    texts = [step.text for step in steps if step.kind == "conclusion" and step.text.strip()]
    if not texts:
        return
    if isinstance(truth, Choice) and truth.option is not None:
        said, right = chosen_in(task, texts[-1]), right_option(task, truth) or truth.option
        if said is None:
            yield StepFault("conclusion", f"no option can be read from the conclusion; the right one is {right}")
        elif said != right:
            yield StepFault("conclusion", f"the conclusion is {said}, and the right option is {right}")
    elif isinstance(truth, Answer):
        from sightline.metrics.answers.match import match_answer

        if not match_answer(truth, texts[-1]).matched:
            yield StepFault("conclusion", f'the conclusion is not the right answer, which is "{truth.text}"')
