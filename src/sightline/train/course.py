"""`sightline train`: a curriculum and a model → the trained model, its log and its curves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from accelerate import Accelerator
from torch import nn

from sightline.errors import UserError
from sightline.score.statistics.intervals import wilson
from sightline.train.answering import letter, said
from sightline.train.checkpoint import Keeper
from sightline.train.curves import draw_curves
from sightline.train.encoding import RecordExamples, prompts
from sightline.train.log import Log, evaluations
from sightline.train.loop import Settings, Stage, Totals, train
from sightline.train.models import BASE, NEW, is_adapter, offline, open_model, save, with_lora
from sightline.train.peak import utilisation
from sightline.train.place import held
from sightline.train.questions import as_taught, digest_of, endings
from sightline.train.records import Record, check_pictures, digest, read_stage, read_stages

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
    limit: int | None = None
    """Of each stage, only so many records from its beginning."""
    local_only: bool = False
    """Take models that are on this machine alone."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of it."""

    model: Path
    totals: Totals
    curves: Path
    evaluations: tuple[Mapping[str, Any], ...]
    utilisation: float | None
    """The share of the GPUs' peak arithmetic that was used, where it is known."""


def train_course(
    course: Course, settings: Settings, *, resume: bool = False, tell: Callable[[Mapping[str, Any]], None] | None = None
) -> Trained:
    """Train by stages; with `resume`, from the checkpoint in `out` to the same losses as without a stop."""
    files = read_stages(course.folder, course.stages)
    records = {stage.name: read_stage(stage)[: course.limit] for stage in files}
    keeper = Keeper(
        course.out / "checkpoint.pt",
        {
            **asdict(settings),
            "curriculum": digest(files),
            "model": course.model,
            "lora": course.lora,
            "mixed": course.mixed,
            "limit": course.limit,
        },
    )
    _check_out(keeper, resume)
    writes = Accelerator().is_main_process
    with held(course.out) if writes else nullcontext(), offline() if course.local_only else nullcontext():
        if writes:
            check_pictures(one for some in (*records.values(), *course.evals.values()) for one in some)
        return _trained(course, settings, records, keeper, writes, tell)


def _trained(
    course: Course,
    settings: Settings,
    records: Mapping[str, Sequence[Record]],
    keeper: Keeper,
    writes: bool,
    tell: Callable[[Mapping[str, Any]], None] | None,
) -> Trained:
    texts = (message["content"] for some in records.values() for one in some for message in one.messages)
    model, processor = open_model(course.model, texts, seed=settings.seed)
    if course.lora is not None:
        base = course.out / BASE if course.model in NEW or is_adapter(course.model) else None
        # Low-rank weights are worth nothing without the weights that they stand beside.
        if base is not None and writes:
            save(model, processor, base)
        model = with_lora(model, course.lora, base)
    log = Log(course.out / "log.jsonl")
    if writes:
        log.begin(keeper.steps())
    asks = Asks(
        course.evals,
        processor,
        course.most,
        half=settings.half,
        endings=endings(records),
        asked=_asked(course, evaluations(log.read())),
    )

    def note(entry: Mapping[str, Any]) -> None:
        log(entry)
        if tell is not None:
            tell(entry)

    stages = [Stage(name, RecordExamples(some, processor), mixed=course.mixed) for name, some in records.items()]
    try:
        evaluate = asks if course.evals else None
        totals = train(model, stages, settings, note, evaluate=evaluate, keeper=keeper)
    except KeyboardInterrupt:
        raise Interrupted(course.out, keeper.steps()) from None
    if writes:
        save(model, processor, course.out / "model")
    entries = log.read()
    speed = totals.tokens / max(totals.seconds, 1e-9)
    return Trained(
        course.out / "model",
        totals,
        draw_curves(entries, course.out) if writes else course.out,
        tuple(evaluations(entries)),
        utilisation(model, speed, Accelerator().num_processes),
    )


class Interrupted(KeyboardInterrupt):
    """Stopped from the keyboard; says what is kept, and how to go on."""

    def __init__(self, out: Path, steps: int) -> None:
        kept = f"{steps:,} steps are kept in {out}; the same command with --resume goes on from there"
        super().__init__(f"stopped: {kept if steps else f'nothing was kept in {out} yet, begin anew'}.")


def _check_out(keeper: Keeper, resume: bool) -> None:
    out = keeper.file.parent
    if keeper.is_begun and not resume:
        raise UserError(f"{out}: a training was begun here before.", "go on with --resume, or choose another --out")
    if resume and not keeper.is_begun:
        raise UserError(f"{out}: there is no checkpoint to go on from.", "leave out --resume")


def _asked(course: Course, before: Sequence[Mapping[str, Any]]) -> frozenset[tuple[str, str]]:
    """The stages and sets that a log has scores of; a name must stand for the same questions throughout."""
    for entry in before:
        for name, scores in entry["evaluation"].items():
            if name in course.evals and scores.get("questions", "") not in ("", digest_of(course.evals[name])):
                raise UserError(
                    f'{course.out}: other questions were asked as "{name}" before.',
                    "go on with those, rename the new ones, or choose another --out",
                )
    return frozenset((entry["stage"], name) for entry in before for name in entry["evaluation"])


@dataclass(frozen=True, slots=True)
class Asks:
    """Asks a model the questions of each set, and counts the right options: mean and interval (Wilson, 95 %).

    `endings` say for which steps after which stage; a stage and set that were `asked` already are left out.
    """

    sets: Mapping[str, Sequence[Record]]
    processor: Any
    most: int
    half: bool
    endings: Mapping[str, str]
    asked: frozenset[tuple[str, str]] = frozenset()

    def __call__(self, stage: str, model: nn.Module) -> Mapping[str, Any]:
        found = {}
        for name, records in self.sets.items():
            if (stage, name) not in self.asked:
                questions = [as_taught(record, self.endings[stage]) for record in records]
                found[name] = {**self.scored(model, questions), "questions": digest_of(records)}
        return found

    def scored(self, model: nn.Module, records: Sequence[Record]) -> dict[str, Any]:
        """An answer from which no option can be read counts as wrong, and is counted apart too."""
        chosen = []
        for at in range(0, len(records), _ASKED_TOGETHER):
            some = records[at : at + _ASKED_TOGETHER]
            inputs = prompts(some, self.processor)
            texts = said(model, self.processor.tokenizer, inputs, self.most, half=self.half)
            chosen += [letter(text, record.options) for text, record in zip(texts, some, strict=True)]
        right = sum(a == record.answer for a, record in zip(chosen, records, strict=True))
        mean = right / len(records)
        low, high = wilson(mean, len(records), _LEVEL)
        unread = sum(a == "-" for a in chosen)
        return {"accuracy": mean, "low": low, "high": high, "n": len(records), "unread": unread}
