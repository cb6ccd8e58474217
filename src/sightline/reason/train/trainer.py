"""`sightline train`: a curriculum and a model become the trained model, its log and its curves.

After each stage the model is evaluated: its own words after a prompt, and the option that they choose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from sightline.errors import UserError
from sightline.metrics.choices.parse import parse_choice
from sightline.metrics.statistics.intervals import wilson
from sightline.reason.train.checkpoint import Checkpoints, held
from sightline.reason.train.examples import RecordExamples, prompts
from sightline.reason.train.log import TrainLog, draw_curves, evaluations
from sightline.reason.train.loop import TrainSettings, TrainStage, train
from sightline.reason.train.models import BASE, is_adapter, is_new, offline, open_model, save, with_lora
from sightline.reason.train.records import (
    TrainRecord,
    as_taught,
    check_pictures,
    digest,
    digest_of,
    endings,
    read_stage,
    read_stages,
)
from sightline.reason.train.result import TrainResult

NONE = "-"
"""Stands for an answer from which no option can be read."""
_PEAKS = {"H200": 989e12, "H100": 989e12, "A100": 312e12}
"""Dense bf16 operations a second, by the datasheets of those with SXM sockets."""
_LEVEL = 0.95
_ASKED_TOGETHER = 16


@contextmanager
def untracked() -> Iterator[None]:
    """No gradients, and nothing compiled: what grows by a token at a time would be compiled again and again."""
    with torch.no_grad(), torch.compiler.set_stance("force_eager"):
        yield


def generated_texts(
    model: Any, tokenizer: Any, inputs: dict[str, Tensor], most: int, *, half: bool = True
) -> list[str]:
    """What the model says after each prompt (padded on the left), the likeliest token each time."""
    device = next(model.parameters()).device
    moved = {name: value.to(device) for name, value in inputs.items()}
    with untracked(), torch.autocast(device.type, torch.bfloat16, enabled=half):
        found = model.generate(**moved, max_new_tokens=most, do_sample=False, pad_token_id=tokenizer.pad_token_id)
    new = found[:, moved["input_ids"].shape[1] :]
    texts: list[str] = tokenizer.batch_decode(new, skip_special_tokens=True)
    return texts


def chosen_option(text: str, options: Mapping[str, str] | Sequence[str] = "ABCD") -> str:
    """The option that a text concludes with, by its key or, where it is known, its text; or NONE.

    It is read from what follows the last "Conclusion:", or from all of it.
    """
    known = options if isinstance(options, Mapping) else dict.fromkeys(options, "")
    return parse_choice(text.rsplit("Conclusion:", 1)[-1], known).option or NONE


def utilisation(model: nn.Module, tokens_per_second: float, gpus: int = 1) -> float | None:
    """The share of the peak that the operations for so many tokens are; None where the peak is not known."""
    peak = peak_of_gpu()
    return None if peak is None else operations(model) * tokens_per_second / (peak * gpus)


def peak_of_gpu() -> float | None:
    """Operations a second that the first GPU could do; None where there is none, or its peak is not known."""
    if not torch.cuda.is_available():
        return None
    return next((peak for name, peak in _PEAKS.items() if name in torch.cuda.get_device_name()), None)


def operations(model: nn.Module) -> int:
    """Operations for a token: two for each weight forward, two back, two more where the weight itself is trained.

    Tables that are only looked up are left out, and so is attention, which adds little to short texts.
    """
    tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    weights = [weight for weight in model.parameters() if weight.ndim >= 2 and id(weight) not in tables]
    return sum((6 if weight.requires_grad else 4) * weight.numel() for weight in weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainJob:
    """What is trained on what: `evals` are questions with known answers, by name, asked after each stage."""

    folder: Path
    model: str
    out: Path
    lora: int | None = None
    stages: tuple[str, ...] = ()
    evals: Mapping[str, Sequence[TrainRecord]]
    most: int = 512
    """Tokens that an answer may have."""
    mixed: bool = False
    """Put like lengths together within a stage, rather than keep the curriculum's order."""
    limit: int | None = None
    """Of each stage, only so many records from its beginning."""
    local_only: bool = False
    """Take models that are on this machine alone."""


def run_training(
    job: TrainJob,
    settings: TrainSettings,
    *,
    resume: bool = False,
    tell: Callable[[Mapping[str, Any]], None] | None = None,
) -> TrainResult:
    """Train by stages; with `resume`, from the checkpoint in `out` to the same losses as without a stop."""
    files = read_stages(job.folder, job.stages)
    records = {stage.name: read_stage(stage)[: job.limit] for stage in files}
    keeper = Checkpoints(
        job.out / "checkpoint.pt",
        {
            **asdict(settings),
            "optimiser": "adamw",  # Checkpoints of earlier versions say so.
            "curriculum": digest(files),
            "model": job.model,
            "lora": job.lora,
            "mixed": job.mixed,
            "limit": job.limit,
        },
    )
    _check_out(keeper, resume)
    writes = Accelerator().is_main_process
    with held(job.out) if writes else nullcontext(), offline() if job.local_only else nullcontext():
        if writes:
            check_pictures(one for some in (*records.values(), *job.evals.values()) for one in some)
        return _trained(job, settings, records, keeper, writes, tell)


def _trained(
    job: TrainJob,
    settings: TrainSettings,
    records: Mapping[str, Sequence[TrainRecord]],
    keeper: Checkpoints,
    writes: bool,
    tell: Callable[[Mapping[str, Any]], None] | None,
) -> TrainResult:
    texts = (message["content"] for some in records.values() for one in some for message in one.messages)
    model, processor = open_model(job.model, texts, seed=settings.seed)
    if job.lora is not None:
        base = job.out / BASE if is_new(job.model) or is_adapter(job.model) else None
        # Low-rank weights are worth nothing without the weights that they stand beside.
        if base is not None and writes:
            save(model, processor, base)
        model = with_lora(model, job.lora, base)
    log = TrainLog(job.out / "log.jsonl")
    if writes:
        log.begin(keeper.steps())
    asks = Evaluator(
        job.evals,
        processor,
        job.most,
        half=settings.half,
        endings=endings(records),
        asked=_asked(job, evaluations(log.read())),
    )

    def note(entry: Mapping[str, Any]) -> None:
        log(entry)
        if tell is not None:
            tell(entry)

    stages = [TrainStage(name, RecordExamples(some, processor), mixed=job.mixed) for name, some in records.items()]
    try:
        evaluate = asks if job.evals else None
        totals = train(model, stages, settings, note, evaluate=evaluate, keeper=keeper)
    except KeyboardInterrupt:
        raise Interrupted(job.out, keeper.steps()) from None
    if writes:
        save(model, processor, job.out / "model")
    entries = log.read()
    speed = totals.tokens / max(totals.seconds, 1e-9)
    return TrainResult(
        job.out / "model",
        totals,
        draw_curves(entries, job.out) if writes else job.out,
        tuple(evaluations(entries)),
        utilisation(model, speed, Accelerator().num_processes),
    )


class Interrupted(KeyboardInterrupt):
    """Stopped from the keyboard; says what is kept, and how to go on."""

    def __init__(self, out: Path, steps: int) -> None:
        kept = f"{steps:,} steps are saved in {out}; the same command with --resume continues from there"
        super().__init__(f"stopped: {kept if steps else f'no checkpoint was saved in {out} yet, start again'}.")


def _check_out(keeper: Checkpoints, resume: bool) -> None:
    out = keeper.file.parent
    if keeper.is_begun and not resume:
        raise UserError(f"{out}: there is a training here already.", "continue with --resume, or choose another --out")
    if resume and not keeper.is_begun:
        raise UserError(f"{out}: there is no checkpoint to go on from.", "leave out --resume")


def _asked(job: TrainJob, before: Sequence[Mapping[str, Any]]) -> frozenset[tuple[str, str]]:
    """The stages and sets that a log has scores of; a name must stand for the same questions throughout."""
    for entry in before:
        for name, scores in entry["evaluation"].items():
            if name in job.evals and scores.get("questions", "") not in ("", digest_of(job.evals[name])):
                raise UserError(
                    f'{job.out}: other questions were asked as "{name}" before.',
                    "go on with those, rename the new ones, or choose another --out",
                )
    return frozenset((entry["stage"], name) for entry in before for name in entry["evaluation"])


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Asks a model the questions of each set, and counts the right options: mean and interval (Wilson, 95 %).

    `endings` say for which steps after which stage; a stage and set that were `asked` already are left out.
    """

    sets: Mapping[str, Sequence[TrainRecord]]
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

    def scored(self, model: nn.Module, records: Sequence[TrainRecord]) -> dict[str, Any]:
        """An answer from which no option can be read counts as wrong, and is counted apart too."""
        chosen = []
        for at in range(0, len(records), _ASKED_TOGETHER):
            some = records[at : at + _ASKED_TOGETHER]
            inputs = prompts(some, self.processor)
            texts = generated_texts(model, self.processor.tokenizer, inputs, self.most, half=self.half)
            chosen += [chosen_option(text, record.options) for text, record in zip(texts, some, strict=True)]
        right = sum(a == record.answer for a, record in zip(chosen, records, strict=True))
        mean = right / len(records)
        low, high = wilson(mean, len(records), _LEVEL)
        unread = sum(a == "-" for a in chosen)
        return {"accuracy": mean, "low": low, "high": high, "n": len(records), "unread": unread}
