"""A benchmark that grows: what a new system found and nobody judged is to be judged, in a new version.

Tasks, pictures and labels stay, so runs of the version before are scored on the new one as they were; only labels that
are given later can move them. How far the labels can be used again is measured: without the labels of pictures that
only one system found, does that system's rank change?
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median_low
from typing import Any

import numpy as np

from sightline.authoring.pool_from_systems import DEPTH, RUNS, Pool, fitted, read_runs
from sightline.authoring.queries_from_life import CLICKS, QUERIES_REPORT
from sightline.authoring.review_changes import raised
from sightline.benchmark.folder import SAME_TASKS, read_benchmark, write_benchmark_elsewhere
from sightline.benchmark.review_decisions import grade_of, standing
from sightline.display import Table
from sightline.english import counted, listed, some
from sightline.errors import UserError, require_at_least
from sightline.io.files import PathLike, as_path, link_or_copy
from sightline.metrics.attempt_scores import has_something
from sightline.metrics.diagnostics import condensed
from sightline.metrics.ranked_batch import Floats, batch_of
from sightline.metrics.ranked_formula import formula
from sightline.plain_text import text_table
from sightline.runs.folder import HEADER, read_run, write_run
from sightline.types import Benchmark, Json, PictureSet, Prediction, Ranking, Relevance, Run, fewest_units

_FEWEST, _FEWEST_TASKS = 3, fewest_units(0.95)


@dataclass(frozen=True, slots=True)
class ExtendedSystem:
    """One system on the labels that are there; scores are None where no task has a relevant picture.

    `judged` is the share of its first results that are judged, `condensed` its score without the others, `without_own`
    its score without the labels of pictures that it alone found.
    """

    name: str
    is_new: bool
    to_judge: int
    judged: float | None
    score: float | None
    condensed: float | None
    without_own: float | None
    rank: int | None
    rank_without_own: int | None


@dataclass(frozen=True, slots=True, repr=False)
class Extension(Table[ExtendedSystem]):
    """The new version and its systems, which are its rows; `reusable` is None where too little is judged to say."""

    out: Path
    benchmark: Benchmark
    metric: str
    depth: int
    systems: tuple[ExtendedSystem, ...]
    scored: int
    "Tasks that have a relevant picture."
    warnings: tuple[str, ...] = ()

    @property
    def to_judge(self) -> int:
        """How many pictures are to be judged, each once for each task."""
        judged = {(task, name) for task, truth in _labels(self.benchmark).items() for name in truth.grades}
        return len({(one.task, one.picture) for one in self.benchmark.candidates} - judged)

    @property
    def reusable(self) -> bool | None:
        """Whether each system would have its rank without what it alone brought."""
        ranked = [one for one in self.systems if one.rank is not None]
        if len(ranked) < _FEWEST or self.scored < _FEWEST_TASKS:
            return None
        return all(one.rank == one.rank_without_own for one in ranked)

    def to_json(self) -> dict[str, Any]:
        """What `extend --json` prints."""
        plain = {
            name: getattr(self, name) for name in ("to_judge", "metric", "depth", "scored", "reusable", "warnings")
        }
        return {"out": str(self.out), "version": self.benchmark.version, **plain, "systems": self.records()}

    def __str__(self) -> str:
        head = ("system", "to judge", "judged", self.metric, "condensed", "without own", "rank", "rank without own")
        rows = [
            (f"{one.name}{' (new)' if one.is_new else ''}", f"{one.to_judge:,}", _cell(one.judged, ".1%"),
             *(_cell(value, ".3f") for value in (one.score, one.condensed, one.without_own)),
             _cell(one.rank), _cell(one.rank_without_own))
            for one in self.systems
        ]  # fmt: skip
        table = text_table(head, rows, right=range(1, len(head)))
        return f"  {self._line()}\n{table}\n  {self._reuse()}\n  Next step: sightline assess {self.out}"

    def _rows(self) -> Sequence[ExtendedSystem]:
        return self.systems

    def _line(self) -> str:
        return f"{self.out}, version {self.benchmark.version}: {counted(self.to_judge, 'picture')} to judge"

    def _reuse(self) -> str:
        if self.reusable is None:
            least = f"{_FEWEST} systems, and {_FEWEST_TASKS} tasks with a relevant picture"
            return f"Reusability: not known; it takes {least}."
        moved = [one for one in self.systems if one.rank != one.rank_without_own]
        if not moved:
            return "Reusability: no system's rank changes without the labels of pictures that it alone found."
        named = listed(f"{one.name} ({one.rank} → {one.rank_without_own})" for one in moved)
        return f"Reusability: without the labels of pictures that it alone found, the rank changes of {named}."


def _cell(value: float | None, form: str = "") -> str:
    return "–" if value is None else format(value, form)


def extend(
    benchmark: PathLike, runs: PathLike | Sequence[PathLike | Run], out: PathLike, *, depth: int = DEPTH
) -> Extension:
    """Make the next version of a benchmark, in which what new runs found and nobody judged is to be judged.

    Labels and tasks stay as they are, so old runs keep their scores; `sightline assess` asks for the new judgments.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark.
    runs:
        New runs: their folders, files (TREC, ranx, CSV), folders of these, or the runs themselves.
    out:
        The folder of the new version; runs are kept under runs/ there, with those of the version before.
    depth:
        How many results of each run are to be judged.

    Returns
    -------
    Extension
        The systems with their scores as far as they are judged, and whether the labels can be used again.

    Examples
    --------
    >>> grown = sightline.extend("bench", ["other_run"], "bench2")
    >>> grown.benchmark.version
    '2'
    """
    require_at_least(1, depth=depth)
    source, place = as_path(benchmark, "a benchmark"), as_path(out, "the folder of the new version")
    before = read_benchmark(source)
    if place.resolve() == source.resolve():
        raise UserError(f"{place} is the version before, which runs may belong to.", "Choose another folder.")
    old = dict(_kept_runs(source))
    new, warnings = _new_runs(runs, before, old)
    pool = Pool(before, depth)
    for name, run in new.items():
        if unknown := pool.add(run):
            warnings.append(f"{name}: {counted(unknown.total(), 'result')} not among the pictures: {some(unknown, 5)}")
    labels, metric = _labels(before), _metric(before)
    known = {task: {*truth.grades} for task, truth in labels.items()}
    for one in before.candidates:
        known.setdefault(one.task, set()).add(one.picture)
    card: dict[str, Json] = {
        **before.card,
        SAME_TASKS: [*sorted({*before.former_checksums, before.checksum or ""} - {""})],
        "extended_by": [*sorted(new)],
    }
    candidates = (*before.candidates, *pool.candidates(but=known))
    after = replace(before, version=raised(before.version), candidates=candidates, card=card)
    measured = _measured(before, labels, {**old, **new}, frozenset(new), depth)
    scored = sum(map(has_something, labels.values()))
    found = Extension(place, after, metric, depth, measured, scored, tuple(warnings))
    card["reusable"] = found.reusable
    found = replace(found, benchmark=write_benchmark_elsewhere(after, source, place))
    for name in (QUERIES_REPORT, CLICKS):
        if (source / name).is_file() and not (place / name).exists():
            link_or_copy(source / name, place / name)
    for name, run in {**old, **new}.items():
        write_run(run, place / RUNS / name)
    return found


def _labels(benchmark: Benchmark) -> dict[str, Relevance]:
    """What is judged: labels, and for other pictures the grade in the middle of those that people gave."""
    given: dict[str, dict[str, list[int]]] = {}
    for one in standing(benchmark.reviews):
        if one.picture is not None and (grade := grade_of(one.decision)) is not None:
            given.setdefault(one.task, {}).setdefault(one.picture, []).append(grade)
    people = {task: {name: median_low(votes) for name, votes in of.items()} for task, of in given.items()}
    found = {task: truth.grades for task, truth in benchmark.truth.items() if isinstance(truth, Relevance)}
    return {task: Relevance({**people.get(task, {}), **grades}) for task, grades in found.items()}


def _metric(benchmark: Benchmark) -> str:
    return next((name for name in benchmark.metrics if name.startswith("ndcg")), "ndcg@10")


def _kept_runs(folder: Path) -> Iterator[tuple[str, Run]]:
    for entry in sorted((folder / RUNS).iterdir()) if (folder / RUNS).is_dir() else ():
        if (entry / HEADER).is_file():
            yield entry.name, read_run(entry)


def _new_runs(
    given: PathLike | Sequence[PathLike | Run], benchmark: Benchmark, old: Mapping[str, Run]
) -> tuple[dict[str, Run], list[str]]:
    """The new runs by name, with their attempts at tasks of the benchmark."""
    found: dict[str, Run] = {}
    warnings: list[str] = []
    several = [given] if isinstance(given, str | Path) or not isinstance(given, Sequence) else given
    for one in several:
        named = [(one.system, one)] if isinstance(one, Run) else read_runs(*_place(one))
        for name, run in named:
            called = next(
                n for n in (name, *(f"{name}-{at}" for at in range(2, 1000))) if n not in found and n not in old
            )
            fitting, unknown = fitted(run, benchmark)
            found[called] = replace(fitting, system=called)
            if unknown:
                warnings.append(f"{called}: {counted(len(unknown), 'query', 'queries')} not in the benchmark, left out")
    if not found:
        raise UserError("No run was given.", "sightline extend BENCH RUN… --out BENCH2")
    return found, warnings


def _place(given: PathLike) -> tuple[Path, str]:
    path = as_path(given, "a run")
    if not path.exists():
        raise UserError(f"There is no run {path}.", "Give a run's folder, a file of results, or a folder of these.")
    return path, path.name if path.is_dir() else path.name.removesuffix(".gz").partition(".")[0]


def _measured(
    benchmark: Benchmark, labels: Mapping[str, Relevance], runs: Mapping[str, Run], new: frozenset[str], depth: int
) -> tuple[ExtendedSystem, ...]:
    """Every system on the labels that are there: score, holes, and score and rank without what it alone brought."""
    tasks = [task for task in benchmark.tasks if task in labels]
    said = {name: _rankings(run, tasks) for name, run in runs.items()}
    truths = [labels[task] for task in tasks]
    kept = np.array([has_something(truth) for truth in truths], np.bool_)
    weights = np.array([benchmark.tasks[task].weight for task in tasks])
    metric = _metric(benchmark)

    def mean(name: str, system: str, truth: Sequence[Relevance], over: Any = kept) -> float | None:
        values: Floats = formula(name)(batch_of(zip(truth, said[system], strict=True)))
        over = over & np.isfinite(values)
        return float(np.average(values[over], weights=weights[over])) if over.any() else None

    scores = {name: mean(metric, name, truths) for name in runs}
    found = []
    for name in runs:
        own = _without_own(name, said, truths, depth)
        less = {other: mean(metric, other, own) for other in runs}
        holes = [
            sum(picture not in truth.grades for picture in dict.fromkeys(one.pictures[:depth]))
            for truth, one in zip(truths, said[name], strict=True)
        ]
        found.append(
            ExtendedSystem(
                name,
                name in new,
                sum(holes),
                mean(f"judged@{depth}", name, truths, np.ones(len(tasks), np.bool_)),
                scores[name],
                mean(condensed(metric), name, truths),
                less[name],
                _rank(scores, name),
                _rank(less, name),
            )
        )
    return tuple(found)


def _rankings(run: Run, tasks: Iterable[str]) -> list[Ranking]:
    """What a run said to each task; nothing for a failure."""
    answers: dict[str, Prediction] = {one.task_id: one.prediction for one in run.attempts if one.number == 0}
    return [
        one if isinstance(one, Ranking) else Ranking(one.pictures if isinstance(one, PictureSet) else ())
        for one in map(answers.get, tasks)
    ]


def _without_own(
    name: str, said: Mapping[str, list[Ranking]], truths: Sequence[Relevance], depth: int
) -> list[Relevance]:
    """The labels without those of pictures that this system alone has among its first results."""
    found = []
    for at, truth in enumerate(truths):
        others = {picture for other in said if other != name for picture in said[other][at].pictures[:depth]}
        own = {*said[name][at].pictures[:depth]} - others
        found.append(Relevance({picture: grade for picture, grade in truth.grades.items() if picture not in own}))
    return found


def _rank(scores: Mapping[str, float | None], name: str) -> int | None:
    own = scores[name]
    return None if own is None else 1 + sum(other is not None and other > own for other in scores.values())
