"""TRL: messages of text and picture parts with `images`, and steps with labels for a process reward model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sightline.io import write_jsonl
from sightline.reason.curriculum.course import Course, Record
from sightline.reason.curriculum.formats.base import MODEL, TRAIN, Format, longest, write_in_order
from sightline.reason.curriculum.lessons import IMAGE, TITLES, Lesson
from sightline.reason.curriculum.lots import drawn, lots_of
from sightline.reason.curriculum.plan import STEPS

MESSAGES, STEPWISE = "messages.jsonl", "stepwise.jsonl"


def _write(course: Course, folder: Path) -> None:
    write_in_order(course, folder, _line)
    write_jsonl(folder / MESSAGES, map(_whole, course.records()))
    write_jsonl(folder / STEPWISE, (row for lesson in course.lessons() for row in _stepwise(lesson, course)))


def _line(record: Record) -> dict[str, Any]:
    user, assistant = _messages(record)
    return {"prompt": [user], "completion": [assistant], "images": list(record.images)}


def _whole(record: Record) -> dict[str, Any]:
    return {"messages": _messages(record), "images": list(record.images)}


def _messages(record: Record) -> list[dict[str, Any]]:
    return [{"role": one["role"], "content": list(_parts(one["content"]))} for one in record.messages]


def _parts(text: str) -> Iterator[dict[str, str]]:
    for place, words in enumerate(text.split(IMAGE)):
        if place:
            yield {"type": "image"}
        if words:
            yield {"type": "text", "text": words}


def _stepwise(lesson: Lesson, course: Course) -> Iterator[dict[str, Any]]:
    """The steps with the right answer behind them, and with a wrong one by lot; both short, so that they read alike."""
    steps = [f"{TITLES[kind]}: {said.text}" for kind in STEPS[:-1] for said in lesson.steps[kind]]
    wrong = [option.key for option in lesson.options if option.key != lesson.answer]
    if not steps or not wrong:
        return
    lot = int(drawn(lots_of([lesson.task]), f"{course.seed}/stepwise")[0])
    images = [course.pictures.path(name) for name in lesson.images]
    for key, right in ((lesson.answer, True), (wrong[lot % len(wrong)], False)):
        yield {
            "prompt": lesson.question,
            "completions": [*steps, f"{TITLES['conclusion']}: The answer is {key}."],
            "labels": [True] * len(steps) + [right],
            "images": images,
        }


def _usage(course: Course) -> str:
    return f"""`{TRAIN}` has `prompt` and `completion`, so that the loss is on the target alone; `{MESSAGES}` has the
same as `messages`, for trainers that mask by themselves (TRL's collator for pictures takes the loss on the prompt too).
Run it in this folder, where the paths of the pictures start. Without `train_sampling_strategy` (transformers 5) the
stages are mixed.

```python
from datasets import Image, List, load_dataset
from trl import SFTConfig, SFTTrainer

data = load_dataset("json", data_files="{TRAIN}", split="train").cast_column("images", List(Image()))
settings = SFTConfig(
    output_dir="{course.trained}",
    train_sampling_strategy="sequential",
    num_train_epochs=1,
    per_device_train_batch_size=1,
    gradient_accumulation_steps=4,
    learning_rate=2e-5,
    warmup_steps=0.05,
    bf16=True,
    max_length={longest(course)},
)
SFTTrainer("{MODEL}", args=settings, train_dataset=data).train()
```

`{STEPWISE}` is for a process reward model (`prompt`, `completions`, `labels`): each question twice, with its right
answer and with a wrong one behind the same steps. Only answers are ever wrong in it: the other steps are the
reference's.
"""


TRL = Format("trl", _write, _usage)
