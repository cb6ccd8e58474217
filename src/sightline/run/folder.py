"""A run as a folder: `read_run` it, `write_run` it, and where its pictures lie."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from sightline.bench.problems import Problem, ProblemsError, Report, explain, stop
from sightline.bench.schema import upgrade_of, version_of
from sightline.bench.table import Source, table
from sightline.errors import UserError
from sightline.io import PathLike, dump, read_json, whole_folder, write_json
from sightline.run.records import FORMS, LedgerRecord, PredictionRecord, RunRecord, from_attempt, to_attempt
from sightline.types import Attempt, Run

HEADER = "run.json"
SCORES = "scores.json"
PER_TASK = "per_task.csv"
TRAJECTORIES = "trajectories"
BLOBS = "blobs"

ATTEMPTS = table("predictions.jsonl", PredictionRecord, to_attempt, from_attempt, forms=FORMS, required=True)
LEDGER = table("ledger.jsonl", LedgerRecord, LedgerRecord.to_entry, LedgerRecord.from_entry)

_SHA256 = re.compile("[0-9a-f]{64}")


def key_of(attempt: Attempt) -> tuple[str, int]:
    """What names an attempt within its run."""
    return attempt.task_id, attempt.number


def read_run(folder: PathLike, *, keep_going: bool = False) -> Run:
    """The run in a folder, finished or not.

    The first wrong line is refused; with `keep_going` all of them are, in one `ProblemsError`.
    """
    problems: list[Problem] = []
    opened = open_run(folder, problems.extend if keep_going else stop)
    attempts = tuple(row for _, row in opened.source.unique(ATTEMPTS, key_of, "task_id"))
    ledger = tuple(row for _, row in opened.source.rows(LEDGER))
    if problems:
        raise ProblemsError(problems, "nothing was read; correct these lines first")
    return opened.header.to_run(attempts, ledger)


def validate(folder: PathLike) -> tuple[Problem, ...]:
    """Everything that is wrong with the lines of a RUN folder."""
    try:
        read_run(folder, keep_going=True)
    except ProblemsError as error:
        return error.problems
    return ()


def write_run(run: Run, folder: PathLike, *, force: bool = False) -> None:
    """Write a run, whole or not at all.

    A run that is there already is replaced with its scores; its trajectories and blobs stay.
    A folder of another kind is only replaced with `force`.
    """
    owned = {HEADER, ATTEMPTS.name, LEDGER.name, SCORES, PER_TASK}
    with whole_folder(folder, marker=HEADER, owned=owned, force=force) as fresh:
        ATTEMPTS.write(run.attempts, fresh)
        if run.ledger:
            LEDGER.write(run.ledger, fresh)
        write_header(run, fresh)


def blob_path(folder: PathLike, sha256: str) -> Path:
    """Where a run keeps the picture with that SHA-256."""
    if _SHA256.fullmatch(sha256) is None:
        raise UserError(f"{sha256!r} is not a SHA-256.", "expected 64 lower-case hexadecimal digits")
    return Path(folder) / BLOBS / sha256


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A RUN folder whose `run.json` has been read, and the tables beside it."""

    header: RunRecord
    source: Source


def open_run(folder: PathLike, report: Report) -> OpenRun:
    """Read `run.json`; what is wrong with the tables later goes to `report`."""
    path = Path(folder) / HEADER
    if not path.is_file():
        raise UserError(f"{folder} is not a run: it has no {HEADER}.", "give the folder that holds it")
    raw = read_json(path)
    version = version_of(raw, path)
    upgrade = upgrade_of(HEADER, version)
    try:
        header = RunRecord.model_validate_json(dump(raw if upgrade is None else upgrade(raw)))
    except ValidationError as error:
        raise ProblemsError(explain(error, HEADER, None, RunRecord.model_fields)) from error
    return OpenRun(header, Source(path.parent, version, report, growing=True))


def write_header(run: Run, folder: Path) -> None:
    """Write `run.json`."""
    try:
        header = RunRecord.from_run(run)
    except ValidationError as error:
        raise ProblemsError(explain(error, HEADER)) from error
    write_json(folder / HEADER, header.model_dump(mode="json", by_alias=True))
