"""Runs: the leaderboard of each benchmark, one run with all that it was scored, and its attempts step by step.

And traces of several teachers beside each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sightline.agent.ask import FOLDER as ASKED
from sightline.agent.trajectory import read_trajectory
from sightline.benchmark.files import REVIEWS
from sightline.markup import Markup
from sightline.metrics.scores import TaskScore
from sightline.metrics.tables import trust_text, warning_text
from sightline.reason.traces.shards import read_traces
from sightline.reports.blocks import Cell, ChartsBlock, Row, TableBlock, numeric
from sightline.reports.charts import Band, PlotDot, Point, cost_plot, dot_plot
from sightline.reports.html import to_fragment
from sightline.reports.leaderboard import BenchmarkBoard, Leaderboard, UnrankedRun, build_leaderboard
from sightline.reports.scored_run import ReportedRun, read_scored
from sightline.reports.text import DASH, interval, score
from sightline.runs.folder import HEADER, SCORES, read_run
from sightline.web.agent_steps import Steps
from sightline.web.app_state import AppState, harmless, missing, number
from sightline.web.cache import StampedCache
from sightline.web.contradictions import side_by_side
from sightline.web.library import Library
from sightline.web.pages.home import object_of
from sightline.web.shown_answers import ShownAnswer, attempts_of, replay_address, shown_answer, shown_truth

_TASKS = 25
_SHOWN = 8
_TRACES = 20
_BOARDS: StampedCache[Leaderboard] = StampedCache()


@dataclass(frozen=True, slots=True)
class ShownAttempt:
    """One attempt at a task, with its words; what was said and what is right where the benchmark is at hand."""

    score: TaskScore
    text: str
    said: ShownAnswer | None
    truth: ShownAnswer | None
    replay: str | None


def boards(request: Request) -> Response:
    """All runs, ranked within each benchmark, with quality against cost."""
    state = AppState.of(request)
    state.library.refresh()
    places = state.library.places
    names = {path.resolve(): name for name, path in places.runs.items()}
    found = _ranked(state.library)
    shown = [] if found is None else [_shown(state.library, found, board, names) for board in found.boards]
    left_out = (
        []
        if found is None
        else [
            (
                names.get((found.folder / one.folder).resolve(), harmless(one.folder, places.roots)),
                _why(found, one, places.roots),
            )
            for one in found.left_out
        ]
    )
    return state.show(request, "runs.html", boards=shown, left_out=left_out, traces=list(places.traces))


def one_run(request: Request) -> Response:
    """One run: every estimate, slices, failures, and its tasks."""
    state, name, folder = named(request)
    run = read_scored(folder)
    loaded = state.library.benchmark_of(run.run.benchmark, run.run.benchmark_checksum)
    order = request.query_params.get("order", "")
    rows = sorted(run.scores.tasks, key=_least) if order == "worst" else run.scores.tasks
    offset = number(request, "offset")
    return state.show(
        request,
        "run.html",
        name=name,
        run=run,
        loaded=loaded,
        estimates=to_fragment([_estimates(run), *_baselines(run)]),
        grade="".join(trust_text(run.scores.grade, ())),
        warnings=tuple(map(warning_text, run.scores.warnings)),
        slices=to_fragment([_slices(run, label) for label in run.scores.by_label]),
        rows=list(_attempts(state.library, name, run, rows[offset : offset + _TASKS])),
        order=order,
        others=_rivals(state.library, name),
        count=len(rows),
        offset=offset,
        step=_TASKS,
    )


def named(request: Request) -> tuple[AppState, str, Path]:
    """The run that an address names."""
    state, name = AppState.of(request), request.path_params["name"]
    folder = state.library.run(name)
    if folder is None:
        raise missing("such run")
    return state, name, folder


# -- boards


def _ranked(library: Library) -> Leaderboard | None:
    """One board for each benchmark, of the runs below all roots; None where there are no runs."""
    places = library.places
    roots = [
        root
        for root in places.roots
        if not any(root.is_relative_to(up) for up in places.roots if up != root)
        and any(folder.is_relative_to(root) for folder in places.runs.values())
    ]
    files = [folder / name for folder in places.runs.values() for name in (HEADER, SCORES)]
    # Decisions change grades.
    files += [folder / REVIEWS.name for folder in places.benchmarks.values()]
    stamp = tuple((str(path), path.stat().st_mtime_ns) for path in files if path.is_file())
    return _BOARDS.get(tuple(roots), stamp, lambda: build_leaderboard(roots[0], also=roots[1:])) if roots else None


def _shown(library: Library, found: Leaderboard, board: BenchmarkBoard, names: Mapping[Path, str]) -> dict[str, Any]:
    """In drawings a run has the short name of its pages: those of systems are cut, and then look the same."""
    rows = [(place, names.get((found.folder / place.folder).resolve())) for place in board.places]
    drawn = [(at, place, name or place.name) for at, (place, name) in enumerate(rows)]
    bands = [Band(name, [PlotDot(at, name, place.estimate)]) for at, place, name in drawn]
    points = [
        Point(at, name, place.spending.usd_per_task, place.estimate)
        for at, place, name in drawn
        if place.spending.usd_per_task is not None
    ]
    ident = f"board-{(board.checksum or board.benchmark)[:8]}"
    drawings: list[Markup] = [dot_plot(board.metric, bands, ident)]
    costs = len(points) > 1 and any(point.usd for point in points)
    if costs:
        drawings.append(cost_plot(f"{board.metric} against cost", points, f"{ident}-cost"))
    loaded = library.benchmark_of(board.benchmark, board.checksum)
    return {
        "board": board,
        "rows": rows,
        "loaded": loaded,
        "costs": costs,
        "grade": "".join(trust_text(board.grade, ())),
        "warnings": tuple(map(warning_text, board.warnings)),
        "charts": to_fragment([ChartsBlock(drawings)]),
    }


def _why(found: Leaderboard, one: UnrankedRun, roots: tuple[Path, ...]) -> str:
    """Why a run is on no board; one that only lacks its scores is told how to get them."""
    folder = found.folder / one.folder
    if (folder / HEADER).is_file() and not (folder / SCORES).is_file():
        return harmless(f"not scored yet: sightline score BENCH {folder}", roots)
    return harmless(one.reason, roots)


def _rivals(library: Library, name: str) -> list[str]:
    """The other runs on the same benchmark: no others can be compared with it."""
    on = {other: object_of(folder / HEADER).get("benchmark") for other, folder in library.places.runs.items()}
    return [other for other in on if other != name and on[other] == on[name]]


# -- one run


def _estimates(run: ReportedRun) -> TableBlock:
    rows: list[Row] = [
        (
            metric,
            score(one.mean),
            interval(one),
            f"{one.n:,}",
            f"{one.failures:,}",
            DASH if one.answered is None else score(one.answered),
            one.method,
        )
        for metric, one in run.scores.overall.items()
    ]
    head = ("metric", "mean", f"{run.scores.level:.0%} interval", "n", "failures", "answered", "interval by")
    return TableBlock("Every estimate; failures count as zero in the mean", head, rows, numeric(1, 6))


def _baselines(run: ReportedRun) -> list[TableBlock]:
    """Systems that see no pixel beside the run, best first."""
    found = sorted(run.scores.baselines, key=lambda one: (one.metric, -one.estimate.mean))
    rows: list[Row] = [
        (one.name, one.metric, Cell(score(one.estimate.mean), interval(one.estimate)), "yes" if one.beaten else "no")
        for one in found
    ]
    head = ("baseline", "metric", "mean", "is the run above it")
    return [TableBlock("Baselines that see no pixel", head, rows, numeric(2, 3))] if rows else []


def _slices(run: ReportedRun, label: str) -> TableBlock:
    rows: list[Row] = [
        (value, metric, Cell(score(one.mean), interval(one)), f"{one.n:,}")
        for value, estimates in run.scores.by_label[label].items()
        for metric, one in list(estimates.items())[:1]
    ]
    return TableBlock(f"By {label}", (label, "metric", "mean", "n"), rows, numeric(2, 4))


def _attempts(library: Library, name: str, run: ReportedRun, rows: Sequence[TaskScore]) -> Iterator[ShownAttempt]:
    """Each with the query's words and, where its benchmark is at hand, with what was found and what was missed."""
    loaded = library.benchmark_of(run.run.benchmark, run.run.benchmark_checksum)
    said = attempts_of(run.folder)
    for row in rows:
        task = None if loaded is None else loaded.benchmark.tasks.get(row.task_id)
        attempt = next((one for one in said.get(row.task_id, ()) if one.number == row.attempt), None)
        answer = truth = None
        if loaded is not None and task is not None:
            answer = None if attempt is None else shown_answer(library, loaded, attempt, _SHOWN)
            truth = shown_truth(library, loaded, task.id, _SHOWN)
        way = replay_address(name, run.folder, row.task_id, row.attempt)
        yield ShownAttempt(row, "" if task is None else task.text, answer, truth, way)


def _least(row: TaskScore) -> float:
    return next((value for value in row.values.values() if value is not None), 0.0)


def replay(request: Request) -> Response:
    """An agent's way through one task, step by step, with what it saw."""
    state, name, folder = named(request)
    task = request.query_params.get("task", "")
    found = read_trajectory(folder, task, number(request, "attempt"))
    run = read_run(folder) if (folder / HEADER).is_file() else None
    loaded = None if run is None else state.library.benchmark_of(run.benchmark, run.benchmark_checksum)
    steps = Steps(state.library, loaded)
    shown = [step for record in (found.start, *found.steps) if (step := steps.step(record)) is not None]
    answer = None if found.end is None else steps.ended(found.end)
    return state.show(
        request,
        "replay.html",
        name="" if name == ASKED else name,
        start=found.start,
        prompt=steps.sights(found.start.pictures),
        steps=shown,
        answer=answer,
    )


def traces(request: Request) -> Response:
    """Traces of several teachers beside each other."""
    state = AppState.of(request)
    name = request.path_params["name"]
    folder = state.library.places.traces.get(name)
    if folder is None:
        raise missing("such folder of traces")
    offset = number(request, "offset")
    rows = [
        (row, side_by_side(row.traces.references), state.library.any_key(row.picture))
        for row in islice(read_traces(folder), offset, offset + _TRACES)
    ]
    return state.show(request, "traces.html", name=name, rows=rows, offset=offset, step=_TRACES)
