"""`sightline train DIR --model MODEL --out OUT [--lora RANK] [--stages …] [--resume] [--eval BENCH …]`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import Common, Positive, Switch
from sightline.english import counted
from sightline.errors import MissingExtraError, UserError

if TYPE_CHECKING:
    from sightline.reason.train.records import TrainRecord
    from sightline.reason.train.trainer import TrainResult

_NEEDED = ("torch", "transformers", "accelerate")
Above = Annotated[float, Parameter(validator=Number(gt=0))]


def train(
    folder: Path,
    /,
    *,
    model: str,
    out: Path,
    lora: Positive | None = None,
    stages: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    resume: Switch = False,
    eval: Annotated[list[Path] | None, Parameter(consume_multiple=True)] = None,  # noqa: A002
    rate: Above = 2e-5,
    optimiser: Literal["adamw", "muon"] = "adamw",
    tokens: Positive = 8_192,
    together: Positive = 1,
    answer_tokens: Positive = 512,
    mix: Switch = False,
    keep_every: Positive = 200,
    log_every: Positive = 10,
    full_precision: Switch = False,
    compile: Switch = False,  # noqa: A002
    common: Common = Common(),
) -> None:
    """Train a vision-language model by the stages of a curriculum; what it says is learnt, what it reads is not.

    `--limit` takes only so many records of each stage, from its beginning.

    Several GPUs: `accelerate launch -m sightline.reason.train …`, which takes the same options.

    Parameters
    ----------
    folder:
        A curriculum, as `sightline curriculum` writes it.
    model:
        A folder with a model of transformers, its name on the hub, or a new small one: glimpse, glimpse-tiny.
    out:
        The folder for the model, its log, its curves and the checkpoint.
    lora:
        Train low-rank weights of this rank beside the model's own, rather than all of them.
    stages:
        Only these stages, in the curriculum's order.
    resume:
        Go on from the checkpoint in `out`, to the same losses as without a stop.
    eval:
        Questions to ask after each stage: benchmarks, curricula (the last stage that gives no steps), or files of
        records with answers.
    rate:
        The highest learning rate.
    optimiser:
        How weights are moved; muon takes fewer steps for a small model that is trained whole (try --rate 1e-3).
    tokens:
        Tokens of a batch, padding included.
    together:
        Batches on each GPU whose gradients are added up for one step.
    answer_tokens:
        Tokens that an answer may have when questions are asked.
    mix:
        Within a stage, put examples of like length together: faster, but not in the curriculum's order.
    keep_every:
        Steps between checkpoints.
    log_every:
        Steps between lines of the log.
    full_precision:
        Compute in 32 bits rather than in bfloat16.
    compile:
        Compile the model's blocks first.
    """
    if any(find_spec(name) is None for name in _NEEDED):
        raise MissingExtraError("training", "train")
    from sightline.reason.train.__main__ import tell
    from sightline.reason.train.loop import TrainSettings
    from sightline.reason.train.records import by_name
    from sightline.reason.train.trainer import TrainJob, run_training

    settings = TrainSettings(
        rate=rate,
        optimiser=optimiser,
        tokens=tokens,
        together=together,
        keep_every=keep_every,
        log_every=log_every,
        seed=common.seed or 0,
        half=not full_precision,
        compiled=compile,
    )
    job = TrainJob(
        folder=folder,
        model=model,
        out=out,
        lora=lora,
        stages=tuple(stages or ()),
        evals={name: _questions(path, lambda said: common.warn([said])) for name, path in by_name(eval or ()).items()},
        most=answer_tokens,
        mixed=mix,
        limit=common.limit,
        local_only=common.local_only,
    )
    try:
        done = run_training(job, settings, resume=resume, tell=tell)
    except KeyboardInterrupt as stopped:
        sys.stderr.write(f"{stopped or 'stopped before the training began.'}\n")
        raise SystemExit(130) from None
    if common.json:
        common.print_json(to_json(done))
    else:
        common.console.print(to_text(done), markup=False, soft_wrap=True)


def _questions(path: Path, tell: Callable[[str], None]) -> list[TrainRecord]:
    from sightline.benchmark.files import HEADER
    from sightline.reason.train.records import read_questions

    return _of_benchmark(path, tell) if (path / HEADER).is_file() else read_questions(path)


def _of_benchmark(path: Path, tell: Callable[[str], None] = lambda _: None) -> list[TrainRecord]:
    """The questions of a benchmark; `tell` hears of those that are left out."""
    from sightline.reason.curriculum.lessons import eval_questions
    from sightline.reason.train.records import TrainRecord

    found = eval_questions(path)
    reasons = ", ".join(f"{why} {count:,}" for why, count in found.left_out.items())
    if not found.asked:
        raise UserError(f"{path}: there is no question to ask ({reasons}).", "give a benchmark with choose tasks")
    if found.left_out:
        tell(f"{path}: {counted(sum(found.left_out.values()), 'question')} left out ({reasons})")
    return [
        TrainRecord(
            one.task,
            ({"role": "user", "content": one.prompt}, {"role": "assistant", "content": ""}),
            one.images,
            one.answer,
            stated=one.options,
            follows=True,
        )
        for one in found.asked
    ]


def to_json(done: TrainResult) -> Mapping[str, Any]:
    """What came of it, for a program."""
    totals = done.totals
    return {
        "model": str(done.model),
        "curves": str(done.curves),
        "steps": totals.steps,
        "tokens": totals.tokens,
        "tokens_said": totals.said,
        "seconds": round(totals.seconds, 3),
        "utilisation": done.utilisation,
        "evaluations": [{"stage": entry["stage"], **entry["evaluation"]} for entry in done.evaluations],
    }


def to_text(done: TrainResult) -> str:
    """What came of it, for a person."""
    from sightline.reason.train.log import scores_told

    totals = done.totals
    speed = f"{totals.tokens / max(totals.seconds, 1e-9):,.0f} tokens/s"
    used = "" if done.utilisation is None else f", {done.utilisation:.1%} of the peak"
    lines = [
        f"  {totals.steps:,} steps, {totals.tokens:,} tokens, {totals.said:,} of them said → {done.model}",
        f"  {speed}{used}",
    ]
    lines += [f"  {line}" for entry in done.evaluations for line in scores_told(entry)]
    return "\n".join([*lines, f"  curves: {done.curves}"])
