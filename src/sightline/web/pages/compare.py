"""Two runs side by side: by how much they differ, and what each said to one task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from sightline.agent.trajectory import trajectory_path
from sightline.metrics.comparison import PairedComparison
from sightline.metrics.tables import warning_text
from sightline.reports.blocks import Cell, Row, TableBlock, numeric
from sightline.reports.html import to_fragment
from sightline.reports.parts.differences import by_task, mean_score
from sightline.reports.scored_run import ReportedRun, compare_runs, read_scored, trust_of, with_own_names
from sightline.reports.text import p_value, signed
from sightline.runs.folder import PER_TASK, read_run
from sightline.types import Attempt, Choice, Failure, PictureSet, Prediction, Ranking, Relevance, Run, Text, Trace
from sightline.web.app_state import AppState, address, missing
from sightline.web.cache import StampedCache
from sightline.web.corpus_view import Tile
from sightline.web.library import LoadedBenchmark
from sightline.web.pages.bench import parts_of

_TASKS = 200
_TILES = 20
_RUNS: StampedCache[Run] = StampedCache()


@dataclass(frozen=True, slots=True)
class ComparedTask:
    """A task with what each of two runs made of it."""

    task: str
    kind: str
    metric: str
    values: tuple[float | None, ...]
    failures: tuple[str, ...]

    @property
    def difference(self) -> float:
        first, second = (value or 0.0 for value in self.values)
        return second - first


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """What a run said to one task, as it is shown: pictures with their grades, or words."""

    name: str
    tiles: tuple[tuple[Tile, int | None], ...] = ()
    more: int = 0
    text: str = ""
    thinking: str = ""
    failure: str = ""
    replay: str | None = None


def compare(request: Request) -> Response:
    """Two runs side by side: by how much they differ, and task by task."""
    state = AppState.of(request)
    names = [request.query_params.get(side, "") for side in ("a", "b")]
    folders = [state.library.run(name) for name in names]
    first, second = folders
    if first is None or second is None or first == second:
        raise missing("such pair of runs")
    runs = with_own_names([read_scored(first), read_scored(second)])
    loaded = state.library.benchmark_of(runs[0].run.benchmark, runs[0].run.benchmark_checksum)
    task = request.query_params.get("task")
    if task is not None:
        return _one_task(state, request, names, runs, loaded, task)
    lines = sorted(_lines(runs), key=lambda line: -abs(line.difference))
    compared = compare_runs(runs)
    return state.show(
        request,
        "compare.html",
        names=names,
        runs=runs,
        loaded=loaded,
        lines=lines[:_TASKS],
        count=len(lines),
        table=None if compared.comparison is None else to_fragment([_differences(runs, compared.comparison.pairs)]),
        warnings=(*map(warning_text, trust_of(runs, compared.comparison)), *compared.warnings),
    )


def _lines(runs: Sequence[ReportedRun]) -> Iterator[ComparedTask]:
    tables = [by_task(run) for run in runs]
    for task in dict.fromkeys(task for table in tables for task in table):
        rows = [table.get(task, []) for table in tables]
        first = next(row for held in rows for row in held)
        metric = next(iter(first.values), "")
        failures = tuple(", ".join(row.failure for row in held if row.failure) for held in rows)
        yield ComparedTask(task, first.kind, metric, tuple(mean_score(held, metric) for held in rows), failures)


def _differences(runs: Sequence[ReportedRun], pairs: Sequence[PairedComparison]) -> TableBlock:
    """Without metrics of tasks that neither run did."""
    done = {metric for run in runs for row in run.scores.tasks if row.status != "missing" for metric in row.values}
    rows: list[Row] = [
        (
            Cell(pair.metric, pair.basis),
            Cell(signed(pair.difference.mean), _spread(pair)),
            p_value(pair.p_adjusted)
            if pair.no_win is None
            else Cell(p_value(pair.p_adjusted), f"no win: {pair.no_win}"),
            f"{pair.difference.wins:,}",
            f"{pair.difference.ties:,}",
            f"{pair.difference.losses:,}",
        )
        for pair in pairs
        if pair.metric in done
    ]
    head = ("metric", "difference", "p, adjusted", "won", "tied", "lost")
    return TableBlock("The second less the first, over all tasks; failures count as zero", head, rows, numeric(1, 6))


def _spread(pair: PairedComparison) -> str:
    found = pair.difference
    return found.no_interval or f"[{signed(found.low)}, {signed(found.high)}]"


def _one_task(
    state: AppState,
    request: Request,
    names: Sequence[str],
    runs: Sequence[ReportedRun],
    loaded: LoadedBenchmark | None,
    task: str,
) -> Response:
    asked = None if loaded is None else loaded.benchmark.tasks.get(task)
    if loaded is None or asked is None:
        raise missing("such task: its benchmark was not among the folders")
    said = [
        [_said(state, loaded, name, run, attempt) for attempt in _attempts(run.folder, task)]
        for name, run in zip(names, runs, strict=True)
    ]
    line = next((line for line in _lines(runs) if line.task == task), None)
    return state.show(
        request,
        "compare-task.html",
        names=names,
        runs=runs,
        loaded=loaded,
        task=asked,
        prompt=parts_of(state, loaded, asked),
        said=said,
        line=line,
        truth=_truth(state, loaded, task),
    )


def _attempts(folder: Path, task: str) -> list[Attempt]:
    path = folder / PER_TASK
    stamp = path.stat().st_mtime_ns if path.is_file() else None
    run = _RUNS.get(str(folder), stamp, lambda: read_run(folder))
    return [attempt for attempt in run.attempts if attempt.task_id == task]


def _truth(state: AppState, loaded: LoadedBenchmark, task: str) -> ShownAnswer:
    truth = loaded.benchmark.truth.get(task)
    if isinstance(truth, Relevance):
        relevant = sorted((id_ for id_, grade in truth.grades.items() if grade > 0), key=lambda id_: -truth.grades[id_])
        return _pictures(state, loaded, "truth", relevant, truth.grades)
    if isinstance(truth, PictureSet):
        return _pictures(state, loaded, "truth", truth.pictures, dict.fromkeys(truth.pictures, 1))
    return ShownAnswer("truth", text=getattr(truth, "text", None) or getattr(truth, "option", None) or "")


def _said(state: AppState, loaded: LoadedBenchmark, name: str, run: ReportedRun, attempt: Attempt) -> ShownAnswer:
    truth = loaded.benchmark.truth.get(attempt.task_id)
    grades: Mapping[str, int] = truth.grades if isinstance(truth, Relevance) else {}
    if isinstance(truth, PictureSet):
        grades = dict.fromkeys(truth.pictures, 1)
    path = trajectory_path(run.folder, attempt.task_id, attempt.number)
    way = address(f"/runs/{name}/replay", task=attempt.task_id, attempt=attempt.number or None)
    replayed = way if path.is_file() else None
    return _prediction(state, loaded, run.name, attempt.prediction, grades, replayed)


def _prediction(
    state: AppState, loaded: LoadedBenchmark, name: str, said: Prediction, grades: Mapping[str, int], way: str | None
) -> ShownAnswer:
    match said:
        case Ranking(pictures) | PictureSet(pictures):
            return _pictures(state, loaded, name, pictures, grades, way)
        case Text(text):
            return ShownAnswer(name, text=text, replay=way)
        case Choice(option, status):
            return ShownAnswer(name, text=option or f"no option ({status})", replay=way)
        case Trace(thinking, answer):
            return ShownAnswer(name, text=answer, thinking=thinking, replay=way)
        case Failure(kind, message):
            return ShownAnswer(name, failure=f"{kind}: {message}", replay=way)


def _pictures(
    state: AppState,
    loaded: LoadedBenchmark,
    name: str,
    ids: Sequence[str],
    grades: Mapping[str, int],
    way: str | None = None,
) -> ShownAnswer:
    tiles = tuple((tile, grades.get(tile.id)) for tile in state.library.tiles(ids[:_TILES], loaded))
    return ShownAnswer(name, tiles, max(0, len(ids) - _TILES), replay=way, text="" if ids else "no picture")
