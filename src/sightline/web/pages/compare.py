"""Two runs side by side: by how much they differ, and what each said to one task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from sightline.metrics.comparison import PairedComparison
from sightline.metrics.tables import warning_text
from sightline.plain_text import signed
from sightline.reports.blocks import Cell, Row, TableBlock, numeric
from sightline.reports.html import to_fragment
from sightline.reports.parts.differences import by_task, mean_score
from sightline.reports.scored_run import ReportedRun, compare_runs, read_scored, trust_of, with_own_names
from sightline.reports.text import p_value
from sightline.web.app_state import AppState, missing
from sightline.web.library import LoadedBenchmark
from sightline.web.pages.bench import parts_of
from sightline.web.shown_answers import attempts_of, replay_address, shown_answer, shown_truth

_TASKS = 200


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
    return TableBlock("Difference (second − first), over all tasks; failures count as zero", head, rows, numeric(1, 6))


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
        [
            (shown_answer(state.library, loaded, attempt), replay_address(name, run.folder, task, attempt.number))
            for attempt in attempts_of(run.folder).get(task, ())
        ]
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
        truth=shown_truth(state.library, loaded, task),
    )
