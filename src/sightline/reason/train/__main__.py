"""`python -m sightline.reason.train DIR --model M --out OUT`: `sightline train` without the core's dependencies."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
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
    """Each option goes by the name of the field of `TrainSettings` or `TrainJob` that it sets."""
    parser = argparse.ArgumentParser(prog="python -m sightline.reason.train", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--lora", type=int)
    parser.add_argument("--stages", nargs="+", default=[])
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--eval", type=Path, nargs="+", default=[], help="records with answers, or a curriculum")
    parser.add_argument("--rate", type=float, default=2e-5)
    parser.add_argument("--tokens", type=int, default=8_192, help="of a batch, padding included")
    parser.add_argument("--together", type=int, default=1, help="batches of a step")
    parser.add_argument("--answer-tokens", dest="most", metavar="ANSWER_TOKENS", type=int, default=512)
    parser.add_argument(
        "--mix", dest="mixed", action="store_true", help="like lengths together, not the curriculum's order"
    )
    parser.add_argument("--keep-every", type=int, default=200, help="steps between checkpoints")
    parser.add_argument("--log-every", type=int, default=10, help="steps between lines of the log")
    parser.add_argument("--limit", type=int, help="of each stage, only so many records from its beginning")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--full-precision", dest="half", action="store_false")
    parser.add_argument("--compile", dest="compiled", action="store_true")
    parser.add_argument("--local-only", action="store_true", help="fetch no model")
    return parser


def _train(chosen: argparse.Namespace) -> None:
    from accelerate import PartialState

    from sightline.reason.train.loop import TrainSettings
    from sightline.reason.train.records import by_name, read_questions
    from sightline.reason.train.trainer import TrainJob, run_training

    given = vars(chosen)
    evals = {name: read_questions(path) for name, path in by_name(given.pop("eval")).items()}
    settings = TrainSettings(**{one.name: given[one.name] for one in fields(TrainSettings) if one.name in given})
    named = {one.name: given[one.name] for one in fields(TrainJob) if one.name in given}
    job = TrainJob(**{**named, "stages": tuple(given["stages"]), "evals": evals})
    done = run_training(job, settings, resume=given["resume"], tell=tell)
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
