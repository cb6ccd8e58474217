"""`python -m sightline.reason.train DIR --model M --out OUT`: `sightline train` without the core's dependencies."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sightline.errors import SightlineError
from sightline.reason.train.log import scores_told


def main(arguments: Sequence[str] | None = None) -> int:
    """Train; a user's mistake ends with its fix and exit code 2."""
    try:
        _train(_parser().parse_args(arguments))
    except SightlineError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    except KeyboardInterrupt as stopped:
        sys.stderr.write(f"{stopped or 'stopped before the training began.'}\n")
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m sightline.reason.train", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--lora", type=int)
    parser.add_argument("--stages", nargs="+", default=[])
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--eval", type=Path, nargs="+", default=[], help="records with answers, or a curriculum")
    parser.add_argument("--rate", type=float, default=2e-5)
    parser.add_argument("--optimiser", choices=["adamw", "muon"], default="adamw")
    parser.add_argument("--tokens", type=int, default=8_192, help="of a batch, padding included")
    parser.add_argument("--together", type=int, default=1, help="batches of a step")
    parser.add_argument("--answer-tokens", type=int, default=512)
    parser.add_argument("--mix", action="store_true", help="like lengths together, not the curriculum's order")
    parser.add_argument("--keep-every", type=int, default=200, help="steps between checkpoints")
    parser.add_argument("--log-every", type=int, default=10, help="steps between lines of the log")
    parser.add_argument("--limit", type=int, help="of each stage, only so many records from its beginning")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--full-precision", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--local-only", action="store_true", help="fetch no model")
    return parser


def _train(chosen: argparse.Namespace) -> None:
    from accelerate import PartialState

    from sightline.reason.train.loop import TrainSettings
    from sightline.reason.train.records import by_name, read_questions
    from sightline.reason.train.trainer import TrainJob, run_training

    settings = TrainSettings(
        rate=chosen.rate,
        optimiser=chosen.optimiser,
        tokens=chosen.tokens,
        together=chosen.together,
        keep_every=chosen.keep_every,
        log_every=chosen.log_every,
        seed=chosen.seed,
        half=not chosen.full_precision,
        compiled=chosen.compile,
    )
    course = TrainJob(
        folder=chosen.folder,
        model=chosen.model,
        out=chosen.out,
        lora=chosen.lora,
        stages=tuple(chosen.stages),
        evals={name: read_questions(path) for name, path in by_name(chosen.eval).items()},
        most=chosen.answer_tokens,
        mixed=chosen.mix,
        limit=chosen.limit,
        local_only=chosen.local_only,
    )
    done = run_training(course, settings, resume=chosen.resume, tell=tell)
    if PartialState().is_main_process:
        sys.stdout.write(f"{done.model}\n")


def tell(entry: Mapping[str, Any]) -> None:
    """One line on stderr for a person who watches."""
    if "loss" in entry:
        speed = entry["tokens"] / max(1e-9, entry["seconds"])
        lines = [f"{entry['stage']} step {entry['step']}: loss {entry['loss']:.4f}, {speed:,.0f} tokens/s"]
    else:
        lines = scores_told(entry)
    sys.stderr.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    raise SystemExit(main())
