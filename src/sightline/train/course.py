"""`sightline train`: a curriculum and a model → the trained model, its log and its curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from accelerate import Accelerator
from torch import nn

from sightline.errors import UserError
from sightline.score.statistics.intervals import wilson
from sightline.train.answering import letter, said
from sightline.train.checkpoint import Keeper
from sightline.train.encoding import RecordExamples, prompts
from sightline.train.log import Log, draw_curves
from sightline.train.loop import Settings, Stage, Totals, train
from sightline.train.models import open_model, save, with_lora
from sightline.train.records import Record, digest, read_records, read_stages

_LEVEL = 0.95
_ASKED_TOGETHER = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What is trained on what: `evals` are questions with known answers, by name, asked after each stage."""

    folder: Path
    model: str
    out: Path
    lora: int | None = None
    stages: tuple[str, ...] = ()
    evals: Mapping[str, Sequence[Record]]
    most: int = 512
    """Tokens that an answer may have."""
    mixed: bool = False
    """Put like lengths together within a stage, rather than keep the curriculum's order."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of it."""

    model: Path
    totals: Totals
    curves: Path
    evaluations: tuple[Mapping[str, Any], ...]


def train_course(
    course: Course, settings: Settings, *, resume: bool = False, tell: Callable[[Mapping[str, Any]], None] | None = None
) -> Trained:
    """Train by stages; with `resume`, from the checkpoint in `out` to the same losses as without a stop."""
    files = read_stages(course.folder, course.stages)
    records = {stage.name: read_records(stage.file) for stage in files}
    keeper = Keeper(
        course.out / "checkpoint.pt",
        {
            **asdict(settings),
            "curriculum": digest(files),
            "model": course.model,
            "lora": course.lora,
            "mixed": course.mixed,
        },
    )
    _check_out(keeper.file, resume)
    texts = (message["content"] for some in records.values() for one in some for message in one.messages)
    model, processor = open_model(course.model, texts, seed=settings.seed)
    if course.lora is not None:
        model = with_lora(model, course.lora)
    course.out.mkdir(parents=True, exist_ok=True)
    log = Log(course.out / "log.jsonl")
    writes = Accelerator().is_main_process
    if writes:
        log.begin(keeper.steps())

    def note(entry: Mapping[str, Any]) -> None:
        log(entry)
        if tell is not None:
            tell(entry)

    stages = [Stage(name, RecordExamples(some, processor), mixed=course.mixed) for name, some in records.items()]
    asks = Asks(course.evals, processor, course.most, half=settings.half)
    totals = train(model, stages, settings, note, evaluate=asks if course.evals else None, keeper=keeper)
    if writes:
        save(model, processor, course.out / "model")
    entries = log.read()
    return Trained(
        course.out / "model",
        totals,
        draw_curves(entries, course.out) if writes else course.out,
        tuple(entry for entry in entries if "evaluation" in entry),
    )


def _check_out(checkpoint: Path, resume: bool) -> None:
    if checkpoint.exists() and not resume:
        raise UserError(
            f"{checkpoint.parent}: a training was begun here before.", "go on with --resume, or choose another --out"
        )
    if resume and not checkpoint.exists():
        raise UserError(f"{checkpoint.parent}: there is no checkpoint to go on from.", "leave out --resume")


@dataclass(frozen=True, slots=True)
class Asks:
    """Asks a model the questions of each set, and counts the right options: mean and interval (Wilson, 95 %)."""

    sets: Mapping[str, Sequence[Record]]
    processor: Any
    most: int
    half: bool

    def __call__(self, stage: str, model: nn.Module) -> Mapping[str, Any]:
        return {name: self.scored(model, records) for name, records in self.sets.items()}

    def scored(self, model: nn.Module, records: Sequence[Record]) -> dict[str, Any]:
        """An answer from which no option can be read counts as wrong, and is counted apart too."""
        chosen = []
        for at in range(0, len(records), _ASKED_TOGETHER):
            some = records[at : at + _ASKED_TOGETHER]
            inputs = prompts(some, self.processor)
            chosen += [
                letter(text) for text in said(model, self.processor.tokenizer, inputs, self.most, half=self.half)
            ]
        right = sum(a == record.answer for a, record in zip(chosen, records, strict=True))
        mean = right / len(records)
        low, high = wilson(mean, len(records), _LEVEL)
        unread = sum(a == "-" for a in chosen)
        return {"accuracy": mean, "low": low, "high": high, "n": len(records), "unread": unread}


def read_questions(path: Path) -> list[Record]:
    """Questions to ask after each stage: a file of records with "answer", or a curriculum, of which the last stage."""
    file = read_stages(path)[-1].file if path.is_dir() else path
    records = read_records(file)
    if not records or any(record.answer is None for record in records):
        raise UserError(f'{file}: not every record has an "answer".', "give records with the key of the right option")
    return records
