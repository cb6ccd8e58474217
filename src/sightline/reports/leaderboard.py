"""All runs below a folder, ranked within each benchmark: by tie groups, not by bare means.

As files: Markdown to show, CSV to sort, JSON to read by machine.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from sightline.benchmark.folder import read_benchmark
from sightline.display import Table, html_table, interval_bar, quiet
from sightline.english import counted, some
from sightline.errors import UserError
from sightline.io.files import PathLike, as_path, csv_bytes, write_files
from sightline.io.jsonl import dump
from sightline.metrics.comparison import RunOrder, SystemStanding, blind_standings
from sightline.metrics.scores import Scores, lowest_grade
from sightline.metrics.tables import grade_blocks, trust_text, warning_blocks, warning_text
from sightline.plain_text import one_line, text_table
from sightline.reports.blocks import Row, TableBlock, numeric
from sightline.reports.markdown import plain, table_lines
from sightline.reports.scored_run import (
    ReportedRun,
    RunSpending,
    failures_differ,
    read_scored,
    runs_in_order,
    trust_of,
    with_own_names,
)
from sightline.reports.text import DASH, LETTERS, estimate, seconds
from sightline.runs.folder import HEADER
from sightline.runs.trust import REHEARSAL, REHEARSAL_FIX, benchmarks_near
from sightline.types import Benchmark, Estimate, Run, ScoreWarning


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One run on a board; its rank is from `best` to `worst`: as far as it can be told from the others.

    Both are 0, and the rank is a dash, where the labels carry no ranking.
    """

    best: int
    worst: int
    name: str
    folder: str
    estimate: Estimate
    letters: str
    estimates: Mapping[str, Estimate]
    spending: RunSpending
    date: datetime

    @property
    def rank(self) -> str:
        """`2`, or `1–3` when the run is tied."""
        if not self.best:
            return DASH
        return f"{self.best}" if self.best == self.worst else f"{self.best}–{self.worst}"


@dataclass(frozen=True, slots=True)
class BenchmarkBoard:
    """The runs on one version of a benchmark, best mean first."""

    benchmark: str
    checksum: str | None
    metric: str
    level: float
    places: tuple[LeaderboardRow, ...]
    notes: tuple[str, ...] = ()
    grade: str | None = None
    warnings: tuple[ScoreWarning, ...] = ()
    baselines: tuple[SystemStanding, ...] = ()
    "Systems that see no pixel, best first; they have no rank."


@dataclass(frozen=True, slots=True)
class UnrankedRun:
    """A run that is on no board, and why."""

    folder: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class Leaderboard(Table[LeaderboardRow]):
    """A board for each benchmark, the runs that are on none, and the files that say so; rows are the ranked runs."""

    folder: Path
    boards: tuple[BenchmarkBoard, ...]
    left_out: tuple[UnrankedRun, ...]
    files: tuple[Path, ...] = ()

    @property
    def warnings(self) -> tuple[ScoreWarning, ...]:
        """Of all boards, each once."""
        return tuple(dict.fromkeys(one for board in self.boards for one in board.warnings))

    @property
    def grade(self) -> str | None:
        """The lowest of all boards; None where one has none."""
        return lowest_grade(board.grade for board in self.boards)

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON; folders are relative to the one that was searched."""
        boards = [{**asdict(board), "places": [_to_dict(place) for place in board.places]} for board in self.boards]
        left_out = [asdict(run) for run in self.left_out]
        return {"boards": boards, "left_out": left_out, "warnings": [asdict(one) for one in self.warnings]}

    def records(self) -> list[dict[str, Any]]:
        """The places of all boards as flat records: the columns of `leaderboard.csv`."""
        return [_record(board, place) for board in self.boards for place in board.places]

    def to_json(self) -> dict[str, Any]:
        """What `leaderboard --json` prints: the boards, and the files that were written."""
        return {**self.to_dict(), "files": [str(path) for path in self.files]}

    def __str__(self) -> str:
        lines: list[str] = []
        for board in self.boards:
            made = board_table(board)
            rows = [[str(cell) for cell in row] for row in made.rows]
            lines += [one_line(board_title(board)), text_table(made.head, rows, right=made.numeric, flexible=1)]
            lines += [*trust_text(board.grade, board.warnings), *(one_line(f" note: {note}") for note in board.notes)]
        lines += [one_line(f" not ranked: {run.folder}: {run.reason}") for run in self.left_out]
        return "\n".join([*lines, *([f" {one_line(', '.join(map(str, self.files)))}"] if self.files else [])])

    def _rows(self) -> Sequence[LeaderboardRow]:
        return [place for board in self.boards for place in board.places]

    def _line(self) -> str:
        return f"{counted(len(self), 'run')} on {counted(len(self.boards), 'benchmark')} below {self.folder}"

    def _blocks(self) -> Iterable[str]:
        for board in self.boards:
            made = board_table(board)
            last = max([1.0, *(place.estimate.mean for place in board.places)])
            found = [*(one.estimate for one in board.places), *(one.estimate for one in board.baselines)]
            bars = [interval_bar(one.mean, one.interval, 0, last) for one in found]
            rows = [[*map(str, row[:3]), bar, *map(str, row[3:])] for row, bar in zip(made.rows, bars, strict=True)]
            head = [*made.head[:3], f"0 to {last:g}", *made.head[3:]]
            yield board_title(board)
            yield html_table(head, rows, numeric={at + 1 for at in made.numeric}, most=100)
            yield quiet(f"{made.caption}.")
            yield from grade_blocks(board.grade)
            yield from (quiet(f"Note: {note}") for note in board.notes)
            yield from warning_blocks(board.warnings)
        yield from (quiet(f"Not ranked: {run.folder}: {run.reason}") for run in self.left_out)


def _to_dict(place: LeaderboardRow) -> dict[str, Any]:
    spent = {**asdict(place.spending), "usd": place.spending.usd}
    return {**asdict(place), "rank": place.rank, "spending": spent, "date": place.date.isoformat()}


def _record(board: BenchmarkBoard, place: LeaderboardRow) -> dict[str, Any]:
    return {
        "benchmark": board.benchmark,
        "checksum": board.checksum,
        "metric": board.metric,
        "rank": place.rank,
        "system": place.name,
        "folder": place.folder,
        **asdict(place.estimate),
        **dict(zip(("low", "high"), place.estimate.interval or (None, None), strict=True)),
        "letters": place.letters,
        "usd": place.spending.usd,
        "p50_seconds": place.spending.p50,
        "p95_seconds": place.spending.p95,
        "date": place.date.date().isoformat(),
        "grade": board.grade,
        "warnings": ", ".join(dict.fromkeys(one.code for one in board.warnings)),
        **{f"mean:{metric}": found.mean for metric, found in place.estimates.items()},
    }


def build_leaderboard(
    folder: PathLike,
    metric: str | None = None,
    *,
    rehearsal: bool = False,
    also: Iterable[Path] = (),
    score: Callable[[Path, Run], Scores] | None = None,
) -> Leaderboard:
    """Read every run below a folder, and below others `also`; those that can't be ranked are listed with the reason.

    Runs without scores are scored by `score`, where it is given.

    On a benchmark of the grade `rehearsal` no run has a rank unless `rehearsal` is given.

    Each board is ranked by `metric`, or by what most of its runs have as their first metric.
    """
    root = as_path(folder, "a folder with runs")
    if not root.is_dir():
        raise UserError(f"there is no folder {root}.", "give the folder that holds the runs")
    runs, left_out = _read(root, (root, *also), score)
    if not runs and not left_out:
        raise UserError(f"there is no run below {root}.", f"give a folder that holds folders with {HEADER}")
    known = dict.fromkeys(name for run in runs for name in run.scores.metrics)
    if runs and metric is not None and metric not in known:
        raise UserError(f'no run below {root} was scored with "{metric}".', f"choose from {', '.join(known)}")
    boards = []
    for of_benchmark in _by_benchmark(runs):
        # What most runs have as their first metric: the benchmark's, unless they were scored by others.
        first = Counter(next(iter(run.scores.metrics), "") for run in of_benchmark)
        chosen = metric or first.most_common(1)[0][0]
        with_it = with_own_names([run for run in of_benchmark if chosen in run.scores.metrics])
        without = [run for run in of_benchmark if chosen not in run.scores.metrics]
        boards += [_board(root, with_it, chosen, rehearsal)] if with_it else []
        left_out += [UnrankedRun(_below(root, run.folder), _lacks(run, chosen)) for run in without]
    return Leaderboard(root, tuple(boards), tuple(sorted(left_out, key=lambda run: run.folder)))


def _read(
    root: Path, places: Iterable[Path], score: Callable[[Path, Run], Scores] | None
) -> tuple[list[ReportedRun], list[UnrankedRun]]:
    """The runs that can be read with their scores, and those that can't."""
    runs: list[ReportedRun] = []
    left_out: list[UnrankedRun] = []

    def unreadable(error: OSError) -> None:
        left_out.append(UnrankedRun(_below(root, Path(error.filename)), f"can't be read: {error.strerror}"))

    with _without_collection():
        for folder in dict.fromkeys(found for place in places for found in _run_folders(place, unreadable)):
            try:
                runs.append(read_scored(folder, score))
            except UserError as error:
                left_out.append(UnrankedRun(_below(root, folder), f"{error.message} {error.fix or ''}".strip()))
    return runs, left_out


@contextmanager
def _without_collection() -> Iterator[None]:
    """A quarter faster for a thousand runs: rows by the million, and no cycles among them to look for."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _run_folders(root: Path, unreadable: Callable[[OSError], None]) -> Iterator[Path]:
    """Folders with a `run.json`, in order. Links are followed; hidden folders hold what a stopped writer left."""
    seen: set[str] = set()
    for place, folders, files in os.walk(root, onerror=unreadable, followlinks=True):
        real = os.path.realpath(place)
        if HEADER in files and real not in seen:
            yield Path(place)
        is_end = HEADER in files or real in seen
        folders[:] = [] if is_end else sorted(name for name in folders if not name.startswith("."))
        seen.add(real)


def _below(root: Path, folder: Path) -> str:
    """A folder's path from the first that was searched; as it is where it lies elsewhere."""
    return (folder.relative_to(root) if folder.is_relative_to(root) else folder).as_posix()


def _lacks(run: ReportedRun, metric: str) -> str:
    if not run.scores.metrics:
        return "was scored with no metric: its benchmark has none and no tasks"
    return f'was not scored with "{metric}", only with {", ".join(run.scores.metrics)}'


def _by_benchmark(runs: Sequence[ReportedRun]) -> list[list[ReportedRun]]:
    groups: dict[tuple[str, str], list[ReportedRun]] = {}
    for run in runs:
        groups.setdefault((run.scores.benchmark, run.scores.checksum or ""), []).append(run)
    return [groups[key] for key in sorted(groups)]


def _board(root: Path, runs: Sequence[ReportedRun], metric: str, rehearsal: bool) -> BenchmarkBoard:
    compared = runs_in_order(runs, metric, rehearsal=rehearsal)
    order = compared.comparison
    grade = lowest_grade(run.scores.grade for run in runs)
    no_ranks = grade == "rehearsal" and not rehearsal
    ranks = _ranks(len(runs), order, no_ranks)
    ranked = sorted(enumerate(runs), key=lambda one: (-one[1].scores.overall[metric].mean, one[1].name))
    places = tuple(
        LeaderboardRow(
            *ranks[number],
            name=run.name,
            folder=_below(root, run.folder),
            estimate=run.scores.overall[metric],
            letters="" if order is None else order.letters.get(run.name, ""),
            estimates=run.scores.overall,
            spending=run.spending,
            date=run.ran_at,
        )
        for number, run in ranked
    )
    first = runs[0].scores
    return BenchmarkBoard(
        first.benchmark,
        first.checksum,
        metric,
        first.level,
        places,
        (*compared.warnings, *_notes([run for _, run in ranked]), *_basis(len(runs), order)),
        grade,
        trust_of([run for _, run in ranked], order),
        blind_standings((run.scores for run in runs), metric),
    )


def _notes(runs: Sequence[ReportedRun]) -> Iterator[str]:
    if failures_differ(runs):
        yield "the runs failed on different tasks; each failure counts as zero"
    lacking = [run.name for run in runs if any(row.status == "missing" for row in run.scores.tasks)]
    if lacking:
        yield f"tasks without a prediction count as zero, in comparisons too: {', '.join(lacking)}"


def _basis(runs: int, order: RunOrder | None) -> Iterator[str]:
    """What ranks go by where that is not what the means go by, and why there are no letters."""
    if order is not None and order.is_corrected:
        yield (
            "ranks and letters go by differences that are corrected by people's decisions; "
            "means and baselines go by the labels"
        )
    if order is not None and not order.letters:
        yield f"{runs:,} runs are too many for letters; a rank counts the runs that are better and worse for sure"


def _ranks(runs: int, order: RunOrder | None, no_ranks: bool) -> list[tuple[int, int]]:
    """After all that are better for sure, and before all that are worse for sure."""
    if order is None or no_ranks:
        return [(0, 0) if no_ranks else (1, runs)] * runs
    better, worse = order.ahead.sum(axis=0).tolist(), order.ahead.sum(axis=1).tolist()
    return [(ahead + 1, runs - behind) for ahead, behind in zip(better, worse, strict=True)]


def write_leaderboard(found: Leaderboard, out: PathLike | None = None) -> Leaderboard:
    """Write `leaderboard.md`, `.csv` and `.json` into a folder (the one that was searched, unless given)."""
    folder = found.folder if out is None else Path(out).expanduser()
    contents = {
        "md": to_markdown(found).encode(),
        "csv": csv_bytes(found.records()),
        "json": dump(found.to_dict(), indent=True),
    }
    files = {folder / f"leaderboard.{suffix}": data for suffix, data in contents.items()}
    write_files(files)
    return replace(found, files=tuple(files))


def to_markdown(found: Leaderboard) -> str:
    """The boards one below the other, and what is on none."""
    parts = ["# Leaderboard"]
    for board in found.boards:
        table = board_table(board)
        parts += [f"## {plain(board_title(board))}", table_lines(table), f"{plain(table.caption)}."]
        said = (*(line.strip() for line in trust_text(board.grade, ())), *board.notes)
        said = (*said, *map(warning_text, board.warnings))
        parts += ["\n".join(f"- {plain(note)}" for note in said)] if said else []
    if found.left_out:
        listed = (f"- **{plain(run.folder)}**: {plain(run.reason)}" for run in found.left_out)
        parts += ["## Not ranked", "\n".join(listed)]
    return "\n\n".join(parts) + "\n"


def board_title(board: BenchmarkBoard) -> str:
    """The benchmark, its version and how many tasks count."""
    tasks = counted(max(place.estimate.n for place in board.places), "task")
    return f"{board.benchmark} ({(board.checksum or 'no checksum')[:12]}), {board.metric} over {tasks}"


def board_table(board: BenchmarkBoard) -> TableBlock:
    """A row for each run, best first."""
    head = ("rank", "system", board.metric, "failures", "cost", "p50", "date")
    caption = f"Mean with its {board.level:.0%} interval; {LETTERS}"
    rows = [*map(_row, board.places), *map(_baseline_row, board.baselines)]
    return TableBlock(caption, head, rows, numeric(3, 6))


def _baseline_row(baseline: SystemStanding) -> Row:
    found = baseline.estimate
    return DASH, baseline.system, estimate(found), f"{found.failures:,}/{found.n:,}", DASH, DASH, DASH


def _row(place: LeaderboardRow) -> Row:
    found, spent = place.estimate, place.spending
    return (
        place.rank,
        place.name,
        f"{estimate(found)} {place.letters}".strip(),
        f"{found.failures:,}/{found.n:,}",
        spent.usd_text,
        seconds(spent.p50),
        place.date.date().isoformat(),
    )


def leaderboard(
    folder: PathLike,
    metric: str | None = None,
    *,
    benchmark: PathLike | None = None,
    out: PathLike | None = None,
    rehearsal: bool = False,
) -> Leaderboard:
    """Rank all runs below a folder, by benchmark; write `leaderboard.md`, `.csv` and `.json`.

    Runs without scores are scored, where their benchmark is found: above them, or where another run was scored.

    Parameters
    ----------
    folder:
        A folder that holds the folders of runs, at any depth.
    metric:
        What to rank by; the first metric of each benchmark when not given.
    benchmark:
        The benchmark of runs that have no scores yet, where it would not be found.
    out:
        Where to write the three files; the folder itself when not given.
    rehearsal:
        Rank also on benchmarks with unchecked labels by built-in models.

    Returns
    -------
    Leaderboard
        Runs that can't be told apart share a range of ranks; those without scores are listed with the reason.

    Examples
    --------
    >>> board = sightline.leaderboard(".", "ndcg@10", benchmark="bench", out="boards")
    >>> len(board)
    3
    """
    from sightline.reports.sections import score_on

    @cache
    def benchmarks() -> list[Benchmark]:
        given = None if benchmark is None else as_path(benchmark, "a benchmark")
        below = _run_folders(as_path(folder, "a folder with runs"), lambda _: None)
        return benchmarks_near(below) if given is None else [read_benchmark(given)]

    def score(run: Path, header: Run) -> Scores:
        return score_on(benchmarks(), run, header)

    found = build_leaderboard(folder, metric, rehearsal=rehearsal, score=score)
    if not found.boards:
        first = found.left_out[0]
        raise UserError(
            f"none of the {counted(len(found.left_out), 'run')} below {found.folder} can be ranked: {first.folder}: "
            f"{first.reason}",
            "Score them first: sightline score BENCH RUN; or name their benchmark: --benchmark BENCH (benchmark=).",
        )
    if not rehearsal and all(board.grade == "rehearsal" for board in found.boards):
        names = some(dict.fromkeys(board.benchmark for board in found.boards), 3)
        raise UserError(f"No ranking is drawn on {names}: {REHEARSAL}.", REHEARSAL_FIX)
    return write_leaderboard(found, out)
