"""The formats in which a curriculum is written: Sightline's own, LLaVA, ms-swift, ShareGPT, LLaMA-Factory and TRL.

To add one, write the function that writes its files, say how to use them in `usage/NAME.md`, and list it in `FORMATS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sightline.io.files import write_whole
from sightline.io.jsonl import dump, write_json, write_jsonl
from sightline.reason.curriculum.checks import CurriculumProof
from sightline.reason.curriculum.lessons import IMAGE, TITLES, Exercise, Lesson
from sightline.reason.curriculum.pictures import CurriculumPictures
from sightline.reason.curriculum.plan import STEPS, CurriculumPlan
from sightline.reason.curriculum.pool import QuestionPool, draws_of, redrawn
from sightline.reason.curriculum.schedule import StageLayout
from sightline.reason.curriculum.tokens import TokenCounter, TokenCounts

DIGITS = 7


@dataclass(frozen=True, slots=True)
class CurriculumRecord:
    """One record of the training; `order` counts from 1 over all stages.

    `images` are paths from the curriculum's folder, in the order of the prompt's `<image>`.
    """

    order: int
    phase: str
    stage: str
    exercise: Exercise
    images: tuple[str, ...]
    tokens: TokenCounts

    @property
    def id(self) -> str:
        return f"{self.order:0{DIGITS}}-{self.exercise.lesson.task}"

    @property
    def messages(self) -> list[dict[str, str]]:
        """The user's and the assistant's message; the loss belongs on the second alone."""
        return [
            {"role": "user", "content": self.exercise.prompt},
            {"role": "assistant", "content": self.exercise.target},
        ]


@dataclass(frozen=True, slots=True)
class CompiledCurriculum:
    """Everything that a format needs: the plan, the stages as laid out, their records, the proof."""

    plan: CurriculumPlan
    seed: int
    stages: list[StageLayout]
    proof: CurriculumProof
    pool: QuestionPool
    counter: TokenCounter
    pictures: CurriculumPictures

    @property
    def count(self) -> int:
        return sum(len(stage.entries) for stage in self.stages)

    @property
    def tokens(self) -> int:
        return sum(stage.tokens for stage in self.stages)

    @property
    def trained(self) -> str:
        """Where the commands of a README put what is trained: beside the curriculum, which may be written again."""
        return f"../{re.sub(r'[^A-Za-z0-9._-]+', '-', self.plan.name)}-{self.seed}-trained"

    def records(self, only: StageLayout | None = None) -> Iterator[CurriculumRecord]:
        """The records of one stage, or of all; each time again."""
        order = 0
        for stage in self.stages:
            for form, row in zip(stage.entries.forms.tolist(), stage.entries.rows.tolist(), strict=True):
                order += 1
                if only is None or stage is only:
                    yield self._record(order, stage, form, row)

    def rows(self) -> list[int]:
        """The rows of all questions that are taught, in the order of the benchmark."""
        return sorted({row for stage in self.stages for row in stage.entries.rows.tolist()})

    def lessons(self) -> Iterator[Lesson]:
        """Every question that is taught, once."""
        return (self.pool.lesson(row) for row in self.rows())

    def _record(self, order: int, stage: StageLayout, form: int, row: int) -> CurriculumRecord:
        exercise = Exercise(self.pool.lesson(row), self.plan.stages[form])
        names = exercise.lesson.images
        sizes = [self.pool.picture(name).size for name in names]
        tokens = self.counter.count(exercise.prompt, exercise.target, sizes)
        return CurriculumRecord(order, stage.phase, stage.name, exercise, tuple(map(self.pictures.path, names)), tokens)


TRAIN = "train.jsonl"
STAGES = "stages.json"
MODEL = "Qwen/Qwen2.5-VL-7B-Instruct"
"""In the ready commands; MIR's own choice."""
_INFO = {
    "file_name": TRAIN,
    "formatting": "sharegpt",
    "columns": {"messages": "messages", "images": "images"},
    "tags": {"role_tag": "role", "content_tag": "content", "user_tag": "user", "assistant_tag": "assistant"},
}
MESSAGES, STEPWISE = "messages.jsonl", "stepwise.jsonl"


FormatName: TypeAlias = Literal["sightline", "ms-swift", "llama-factory", "trl", "llava", "sharegpt"]


@dataclass(frozen=True, slots=True)
class CurriculumFormat:
    """A way to write a curriculum."""

    name: FormatName
    write: Callable[[CompiledCurriculum, Path], None]

    def usage(self, curriculum: CompiledCurriculum) -> str:
        """The part of its README that says how to train with it."""
        return _filled(f"{self.name}.md", curriculum)


def _filled(name: str, curriculum: CompiledCurriculum) -> str:
    """A text of the folder `usage` with what depends on the curriculum."""
    values = {
        "model": MODEL,
        "trained": curriculum.trained,
        "longest": str(longest(curriculum)),
        "stages": " ".join(stage_names(curriculum)),
    }
    texts = Path(__file__).with_name("usage")
    swift = (texts / "swift-command.md").read_text("utf-8").format(**values)
    return (texts / name).read_text("utf-8").format(**values, swift=swift)


def write_in_order(curriculum: CompiledCurriculum, folder: Path, line: Callable[[CurriculumRecord], Any]) -> None:
    """All records in one file in the order of the training, and where each stage begins in it."""
    write_jsonl(folder / TRAIN, map(line, curriculum.records()))
    first, stages = 1, []
    for stage in curriculum.stages:
        row = {"name": stage.name, "phase": stage.phase, "file": TRAIN, "first_line": first}
        stages.append({**row, "records": len(stage.entries), "tokens": stage.tokens})
        first += len(stage.entries)
    write_json(folder / STAGES, stages)


def write_by_stage(
    curriculum: CompiledCurriculum, folder: Path, suffix: str, write: Callable[[Path, Iterator[CurriculumRecord]], None]
) -> None:
    """A file for each stage, and their list in the order of the training."""
    stages = []
    for name, stage in zip(stage_names(curriculum), curriculum.stages, strict=True):
        file = f"{name}{suffix}"
        write(folder / file, curriculum.records(stage))
        row = {"name": stage.name, "phase": stage.phase, "file": file}
        stages.append({**row, "records": len(stage.entries), "tokens": stage.tokens})
    write_json(folder / STAGES, stages)


def stage_names(curriculum: CompiledCurriculum) -> list[str]:
    """`01-easy`, `02-stage-1`, …: names of files that sort in the order of the training."""
    return [f"{number:02}-{stage.name}" for number, stage in enumerate(curriculum.stages, 1)]


def write_list(path: Path, rows: Iterable[Any]) -> None:
    """One JSON list, a row on each line, written as a stream."""
    write_whole(path, _listed(rows))


def turns(record: CurriculumRecord) -> list[dict[str, str]]:
    """The messages in ShareGPT's words."""
    return [
        {"from": "human", "value": record.exercise.prompt},
        {"from": "gpt", "value": record.exercise.target},
    ]


def longest(curriculum: CompiledCurriculum) -> int:
    """The length to train at: the limit that was proved, else the longest record and, if estimated, half as much."""
    wanted = curriculum.proof.longest if curriculum.counter.exact else curriculum.proof.longest * 3 // 2
    return curriculum.proof.against.limit_tokens or -(-wanted // 1024) * 1024


def _listed(rows: Iterable[Any]) -> Iterator[bytes]:
    before = b"[\n"
    for row in rows:
        yield before + dump(row).rstrip()
        before = b",\n"
    yield b"\n]\n" if before != b"[\n" else b"[]\n"


def _write_own(curriculum: CompiledCurriculum, folder: Path) -> None:
    write_by_stage(curriculum, folder, ".jsonl", lambda path, records: write_jsonl(path, map(own_record, records)))


def own_record(record: CurriculumRecord) -> dict[str, Any]:
    """A record with all that is known of it."""
    exercise = record.exercise
    return {
        "id": record.id,
        "task": exercise.lesson.task,
        "phase": record.phase,
        "stage": record.stage,
        "form": exercise.stage.name,
        "order": record.order,
        "messages": record.messages,
        "images": list(record.images),
        "given": list(exercise.stage.given),
        "target": list(exercise.stage.target),
        "options": {option.key: option.text for option in exercise.lesson.options},
        "answer": exercise.lesson.answer,
        "target_chars": len(exercise.target),
        "tokens": asdict(record.tokens),
    }


def _write_llava(curriculum: CompiledCurriculum, folder: Path) -> None:
    write_by_stage(curriculum, folder, ".json", lambda path, records: write_list(path, map(_llava_record, records)))


def _llava_record(record: CurriculumRecord) -> dict[str, Any]:
    return {"id": record.id, "image": list(record.images), "conversations": turns(record)}


def _write_messages(curriculum: CompiledCurriculum, folder: Path) -> None:
    write_in_order(curriculum, folder, lambda record: {"messages": record.messages, "images": list(record.images)})


def _write_sharegpt(curriculum: CompiledCurriculum, folder: Path) -> None:
    write_in_order(curriculum, folder, _sharegpt_record)


def _sharegpt_record(record: CurriculumRecord) -> dict[str, Any]:
    return {"id": record.id, "conversations": turns(record), "images": list(record.images)}


def _write_llama_factory(curriculum: CompiledCurriculum, folder: Path) -> None:
    _write_messages(curriculum, folder)
    write_json(folder / "dataset_info.json", {"sightline_curriculum": _INFO})
    write_whole(folder / "train.yaml", _filled("llama-factory.yaml", curriculum).encode())


def _write_trl(curriculum: CompiledCurriculum, folder: Path) -> None:
    write_in_order(curriculum, folder, _trl_record)
    write_jsonl(folder / MESSAGES, map(_whole, curriculum.records()))
    write_jsonl(folder / STEPWISE, (row for lesson in curriculum.lessons() for row in _stepwise(lesson, curriculum)))


def _trl_record(record: CurriculumRecord) -> dict[str, Any]:
    user, assistant = _messages(record)
    return {"prompt": [user], "completion": [assistant], "images": list(record.images)}


def _whole(record: CurriculumRecord) -> dict[str, Any]:
    return {"messages": _messages(record), "images": list(record.images)}


def _messages(record: CurriculumRecord) -> list[dict[str, Any]]:
    return [{"role": one["role"], "content": list(_parts(one["content"]))} for one in record.messages]


def _parts(text: str) -> Iterator[dict[str, str]]:
    for place, words in enumerate(text.split(IMAGE)):
        if place:
            yield {"type": "image"}
        if words:
            yield {"type": "text", "text": words}


def _stepwise(lesson: Lesson, curriculum: CompiledCurriculum) -> Iterator[dict[str, Any]]:
    """The steps with the right answer behind them, and with a wrong one by lot; both short, so that they read alike."""
    steps = [f"{TITLES[kind]}: {said.text}" for kind in STEPS[:-1] for said in lesson.steps[kind]]
    wrong = [option.key for option in lesson.options if option.key != lesson.answer]
    if not steps or not wrong:
        return
    lot = int(redrawn(draws_of([lesson.task]), f"{curriculum.seed}/stepwise")[0])
    images = [curriculum.pictures.path(name) for name in lesson.images]
    for key, right in ((lesson.answer, True), (wrong[lot % len(wrong)], False)):
        yield {
            "prompt": lesson.question,
            "completions": [*steps, f"{TITLES['conclusion']}: The answer is {key}."],
            "labels": [True] * len(steps) + [right],
            "images": images,
        }


FORMATS: Mapping[FormatName, CurriculumFormat] = {
    one.name: one
    for one in (
        CurriculumFormat("sightline", _write_own),
        CurriculumFormat("ms-swift", _write_messages),
        CurriculumFormat("llama-factory", _write_llama_factory),
        CurriculumFormat("trl", _write_trl),
        CurriculumFormat("llava", _write_llava),
        CurriculumFormat("sharegpt", _write_sharegpt),
    )
}
"""By name."""
