"""A run as a folder: `read_run` it, `write_run` it, and where its pictures lie.

`RunWriter` writes it as it goes: what was appended is kept, and only the rest is run after a stop.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path

from pydantic import ValidationError

from sightline.benchmark.problems import Problem, ProblemsError, Report, explain, stop
from sightline.benchmark.provenance import SHOW_ANNOTATIONS
from sightline.benchmark.table import OpenFolder, TableSource, plain_table, read_header, table
from sightline.engine.user_functions import function_name
from sightline.english import listed
from sightline.errors import UserError, explained
from sightline.io.append_only_file import AppendOnlyFile
from sightline.io.files import PathLike, whole_folder
from sightline.io.jsonl import read_json
from sightline.io.temporary_files import is_temporary, remove_temporary_files
from sightline.metrics.scores import PER_TASK_FILE, SCORES_FILE
from sightline.runs import integrity
from sightline.runs.integrity import changed_blobs, changes, seal, sum_of, write_run_header
from sightline.runs.records import FORMS, LedgerRecord, PredictionRecord, RunRecord, from_attempt, to_attempt
from sightline.types import Attempt, Json, LedgerEntry, Run

HEADER, TRAJECTORIES, BLOBS = integrity.HEADER, integrity.TRAJECTORIES, integrity.BLOBS
SCORES, PER_TASK = SCORES_FILE, PER_TASK_FILE
ATTRIBUTION = "attribution.json"
"""Beside `scores.json` in the folder of an agent's run."""

ATTEMPTS = table("predictions.jsonl", PredictionRecord, to_attempt, from_attempt, forms=FORMS, required=True)
LEDGER = plain_table("ledger.jsonl", LedgerRecord, LedgerEntry)

_SHA256 = re.compile("[0-9a-f]{64}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._=-]+")
_LONGEST_NAME = 60

_log = logging.getLogger(__name__)


def new_run_folder(workspace: Path, system: object) -> Path:
    """A new folder for a run that was given none: `runs/SYSTEM-1` in the workspace, then `-2`, and so on."""
    called = system if isinstance(system, str | Path) else getattr(system, "name", None) or function_name(system)
    name = _UNSAFE.sub("-", str(called))[:_LONGEST_NAME].strip("-.") or "run"
    places = (workspace / "runs" / f"{name}-{number}" for number in count(1))
    return next(folder for folder in places if not folder.exists())


def key_of(attempt: Attempt) -> tuple[str, int]:
    """What names an attempt within its run."""
    return attempt.task_id, attempt.number


def read_run(folder: PathLike, *, keep_going: bool = False) -> Run:
    """The run in a folder, finished or not; what has changed since it was written is warned of.

    The first wrong line is refused; with `keep_going` all of them are, in one `ProblemsError`.
    """
    problems: list[Problem] = []
    opened = open_run(folder, problems.extend if keep_going else stop)
    attempts = tuple(row for _, row in opened.source.unique(ATTEMPTS, key_of, "task_id"))
    ledger = tuple(row for _, row in opened.source.rows(LEDGER))
    if problems:
        raise ProblemsError(problems, "nothing was read; correct these lines first")
    if not keep_going:
        _warn_of_changes(folder, (HEADER, ATTEMPTS.name, LEDGER.name))
    return opened.header.to_run(attempts, ledger)


def validate(folder: PathLike) -> tuple[Problem, ...]:
    """Everything that is wrong with the lines of a RUN folder, and what has changed since it was written."""
    problems: tuple[Problem, ...] = ()
    try:
        read_run(folder, keep_going=True)
    except ProblemsError as error:
        problems = error.problems
    wrong = {problem.file for problem in problems}
    changed = () if HEADER in wrong else (one for one in changes(folder) if one.file not in wrong)
    return (*problems, *changed, *changed_blobs(folder))


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
        seal(fresh, {name: sum_of(fresh / name) for name in _SEALED[:2] if (fresh / name).is_file()})


def read_attribution(folder: PathLike) -> dict[str, Json] | None:
    """The summary that scoring wrote of what an agent missed; None where there is none."""
    path = Path(folder) / ATTRIBUTION
    if not path.is_file():
        return None
    told: dict[str, Json] = read_json(path)
    return {name: value for name, value in told.items() if name != "attributions"}


def blob_path(folder: PathLike, sha256: str) -> Path:
    """Where a run keeps the picture with that SHA-256."""
    if _SHA256.fullmatch(sha256) is None:
        raise UserError(f"{sha256!r} is not a SHA-256.", "expected 64 lower-case hexadecimal digits")
    return Path(folder) / BLOBS / sha256


def open_run(folder: PathLike, report: Report) -> OpenFolder[RunRecord]:
    """Read `run.json`; what is wrong with the tables later goes to `report`."""
    header = read_header(folder, HEADER, "run", RunRecord)
    return OpenFolder(header, TableSource(Path(folder), report, growing=True))


def write_header(run: Run, folder: Path, before: RunRecord | None = None) -> None:
    """Write `run.json`, with the checksums of `before`."""
    try:
        header = RunRecord.from_run(run)
    except ValidationError as error:
        raise ProblemsError(explain(error, HEADER)) from error
    kept = {} if before is None else {"checksums": before.checksums, "growing": before.growing}
    write_run_header(header.model_copy(update=kept), folder)


_SEALED = (ATTEMPTS.name, LEDGER.name, TRAJECTORIES)
_MUST_AGREE = ("benchmark", "benchmark_checksum", "system", "parameters", "seed")


class RunWriter:
    """A RUN folder that grows by attempts and ledger entries, new or begun before; for one process and one thread.

    Once `append` or `entry` has returned, what it was given survives a `kill -9`. `header` is a run without attempts.
    To go on, benchmark, system, parameters and seed must be the same; limits may change, and of several numbers of
    tasks the largest counts.
    """

    def __init__(self, folder: PathLike, header: Run) -> None:
        if header.attempts or header.ledger:
            raise ValueError("a header is a run without attempts and without a ledger")
        self.folder = Path(folder)
        self._is_closed = False
        _make_ready(self.folder)
        with ExitStack() as files:
            self._predictions = AppendOnlyFile(self.folder / ATTEMPTS.name)
            files.callback(self._predictions.close)
            self._ledger = AppendOnlyFile(self.folder / LEDGER.name)
            files.callback(self._ledger.close)
            remove_temporary_files(self.folder)
            _agree_on_header(self.folder, header)
            rows = open_run(self.folder, stop).source.unique(ATTEMPTS, key_of, "task_id")
            self._done = {key_of(attempt) for _, attempt in rows}
            self._is_changed = self._look_for_changes()
            self._files = files.pop_all()

    @property
    def done(self) -> frozenset[tuple[str, int]]:
        """The finished attempts: task id and number."""
        return frozenset(self._done)

    def append(self, attempt: Attempt) -> None:
        """Keep one finished attempt."""
        if key_of(attempt) in self._done:
            raise ValueError(f"attempt {attempt.number} at task {attempt.task_id!r} is there already")
        line = ATTEMPTS.line(attempt)
        _remove_scores(self.folder)  # They speak of what was there before.
        self._predictions.append(line)
        self._done.add(key_of(attempt))

    def entry(self, entry: LedgerEntry) -> None:
        """Keep one paid or timed call."""
        self._ledger.append(LEDGER.line(entry))

    def close(self) -> None:
        """Wait until everything is on the disk, note the checksums of it, and let others write; safe to call twice."""
        if self._is_closed:
            return
        self._is_closed = True
        self._files.close()
        if not self._is_changed:
            here = [name for name in _SEALED if (self.folder / name).exists()]
            seal(self.folder, {name: sum_of(self.folder / name) for name in here}, growing=False)

    def _look_for_changes(self) -> bool:
        """Was the run changed by others? Then its checksums stay as they are: scores are to go on warning of it."""
        changed = _warn_of_changes(self.folder)
        if not changed and open_run(self.folder, stop).header.checksums:
            seal(self.folder, {}, growing=True)
        return changed

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _warn_of_changes(folder: PathLike, among: Collection[str] | None = None) -> bool:
    changed = [problem.file for problem in changes(folder, among)]
    if changed:
        _log.warning("%s: %s changed after it was written; see sightline validate", folder, listed(changed))
    return bool(changed)


def _make_ready(folder: Path) -> None:
    with explained(f"{folder} can't be made", "choose another folder"):
        folder.mkdir(parents=True, exist_ok=True)
    if not (folder / HEADER).is_file() and not all(_is_left_by_a_stop(entry) for entry in folder.iterdir()):
        raise UserError(f"{folder} holds other things and no {HEADER}.", "choose a new or an empty folder")


def _is_left_by_a_stop(entry: Path) -> bool:
    """A writer that was killed before `run.json` was there leaves only empty tables."""
    is_table = entry.name in (ATTEMPTS.name, LEDGER.name)
    return is_temporary(entry.name) or (is_table and entry.stat().st_size == 0)


def _agree_on_header(folder: Path, header: Run) -> None:
    if not (folder / HEADER).is_file():
        write_header(header, folder)
        return
    record = open_run(folder, stop).header
    before = record.to_run()
    for name in _MUST_AGREE:
        old, new = getattr(before, name), getattr(header, name)
        if name == "parameters":  # An option that the run's version did not know counts where it is set.
            new = {option: value for option, value in new.items() if option in old or value}
        if old != new:
            raise UserError(f"{folder} was started with {name} {old!r}, not {new!r}.", "choose another folder")
    if bool(before.limits.get(SHOW_ANNOTATIONS)) != bool(header.limits.get(SHOW_ANNOTATIONS)):
        how = "with" if before.limits.get(SHOW_ANNOTATIONS) else "without"
        raise UserError(
            f"{folder} was started {how} --show-annotations.", "Choose another folder, or use the same settings."
        )
    limits = dict(header.limits)
    if "limit" in limits:
        limits["limit"] = _wider(before.limits.get("limit"), limits["limit"])
    now = replace(before, limits=limits, versions=_all_versions(before.versions, header.versions))
    if limits.get("limit") != before.limits.get("limit"):
        _remove_scores(folder)  # They were over other tasks.
    if now != before:
        write_header(now, folder, record)


def _remove_scores(folder: Path) -> None:
    for name in (SCORES, PER_TASK):
        (folder / name).unlink(missing_ok=True)


def _wider(before: Json, now: Json) -> Json:
    """A run is as long as it was ever meant to be: a smaller limit later takes nothing back. None is not a limit."""
    return max(before, now) if isinstance(before, int) and isinstance(now, int) else None


def _all_versions(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """A run that went on after an upgrade says so: `{"sightline": "0.1.0, 0.2.0"}`."""
    versions = {**now, **before}
    for name, version in now.items():
        if version not in versions[name].split(", "):
            versions[name] = f"{versions[name]}, {version}"
    return versions
