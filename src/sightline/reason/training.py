"""The verb `train`: a curriculum and a model become a trained model. torch is loaded when it is called."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sightline.benchmark.files import HEADER
from sightline.calls.session import Session
from sightline.english import counted
from sightline.errors import MissingExtraError, UserError, require_at_least
from sightline.io.files import PathLike, as_path
from sightline.reason.curriculum.lessons import eval_questions
from sightline.reason.train.records import TrainRecord, by_name, read_questions
from sightline.reason.train.result import TrainResult

_log = logging.getLogger(__name__)
_NEEDED = ("torch", "transformers", "accelerate")


def train(
    folder: PathLike,
    out: PathLike,
    *,
    model: str,
    lora: int | None = None,
    stages: str | Sequence[str] = (),
    resume: bool = False,
    evals: PathLike | Sequence[PathLike] = (),
    rate: float = 2e-5,
    tokens: int = 8_192,
    together: int = 1,
    answer_tokens: int = 512,
    mix: bool = False,
    keep_every: int = 200,
    log_every: int = 10,
    full_precision: bool = False,
    compile: bool = False,  # noqa: A002
    limit: int | None = None,
    seed: int | None = None,
    progress: Callable[[Mapping[str, Any]], None] | None = None,
    session: Session | None = None,
) -> TrainResult:
    """Train a vision-language model by the stages of a curriculum; what it says is learnt, what it reads is not.

    Needs the extra `train`. Several GPUs: `accelerate launch -m sightline.reason.train …`.

    Parameters
    ----------
    folder:
        A curriculum, as `curriculum` writes it.
    out:
        The folder for the model, its log, its curves and the checkpoint.
    model:
        A folder with a model of transformers, its name on the hub, or a new small one of the package sightline-world:
        glimpse, glimpse-tiny.
    lora:
        Train low-rank weights of this rank beside the model's own, rather than all of them.
    stages:
        Only these stages, in the curriculum's order.
    resume:
        Resume from the checkpoint in `out`, to the same losses as without a stop.
    evals:
        Questions to ask after each stage: benchmarks, curricula (the last stage that gives no steps), or files of
        records with answers.
    rate:
        The highest learning rate.
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
    limit:
        Take only so many records of each stage, from its beginning.
    seed:
        Makes the training repeatable.
    progress:
        Called with each entry of the log, when it is written.
    session:
        With `local_only`, no model is fetched; see `Session`.

    Returns
    -------
    TrainResult
        The model, and how it answered after each stage; `print` shows what the command prints.

    Examples
    --------
    >>> import sightline
    >>> made = sightline.curriculum("reasoned", "full-chain", "course")
    >>> done = sightline.train(made.out, "trained", model="glimpse-tiny", rate=1e-3)
    >>> done.totals.steps
    1
    """
    session = Session.of(session)
    require_at_least(1, lora=lora, tokens=tokens, together=together, answer_tokens=answer_tokens, limit=limit)
    require_at_least(1, keep_every=keep_every, log_every=log_every)
    require_at_least(0, rate=rate, seed=seed)
    if any(find_spec(name) is None for name in _NEEDED):
        raise MissingExtraError("training", "train")
    from sightline.reason.train.loop import TrainSettings
    from sightline.reason.train.trainer import TrainJob, run_training

    settings = TrainSettings(
        rate=rate,
        tokens=tokens,
        together=together,
        keep_every=keep_every,
        log_every=log_every,
        seed=(session.seed or 0) if seed is None else seed,
        half=not full_precision,
        compiled=compile,
    )
    asked = [evals] if isinstance(evals, str) or not isinstance(evals, Sequence) else evals
    job = TrainJob(
        folder=as_path(folder, "a curriculum"),
        model=model,
        out=as_path(out, "the folder to write"),
        lora=lora,
        stages=(stages,) if isinstance(stages, str) else tuple(stages),
        evals={name: _questions(path) for name, path in by_name(Path(one).expanduser() for one in asked).items()},
        most=answer_tokens,
        mixed=mix,
        limit=limit,
        local_only=session.calls.local_only,
    )
    return run_training(job, settings, resume=resume, tell=progress)


def _questions(path: Path) -> list[TrainRecord]:
    return benchmark_questions(path) if (path / HEADER).is_file() else read_questions(path)


def benchmark_questions(path: Path, tell: Callable[[str], None] = _log.warning) -> list[TrainRecord]:
    """The questions of a benchmark; `tell` hears of those that are left out."""
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
