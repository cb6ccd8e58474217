"""Score a run: every metric on every attempt at every task, then estimates over all and over every slice.

Nothing is run again: what a system said is in the run. A run that was limited on purpose (`run --limit N`) is scored on
the tasks that it was to do, and no others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from sightline.errors import UserError
from sightline.metrics import registry
from sightline.metrics.attempt_scores import (
    Attempted,
    Contexts,
    Values,
    has_something,
    kinds_scored,
    leaves_out,
    measure,
)
from sightline.metrics.clusters import AUTO, Clusters, cluster_tasks
from sightline.metrics.context import Context
from sightline.metrics.diagnostics import (
    abstentions,
    best_of,
    chance_similarities,
    condensed,
    condensed_name,
    recall_curves,
    text_notes,
    unjudged_shares,
)
from sightline.metrics.scope import returned
from sightline.metrics.scores import Scores, TaskScore, missing_note
from sightline.metrics.statistics.distributions import check_fraction
from sightline.metrics.statistics.estimates import Column, estimate_columns
from sightline.metrics.statistics.intervals import RESAMPLES, effective_count
from sightline.metrics.statistics.repeats import Repeated, repeated
from sightline.metrics.task_table import Floats, TaskTable, attempts_table, by_slice, task_table
from sightline.types import Attempt, Benchmark, Estimate, PictureSet, Ranking, Run, TaskKind

DEFAULT_METRICS: Mapping[TaskKind, tuple[str, ...]] = {
    "rank": ("ndcg@10", "map", "rr@10", "p@10", "recall@100"),
    "select": ("em", "f1"),
    "answer": ("answer",),
    "choose": ("accuracy",),
    "describe": ("rouge-1", "rouge-l", "jaccard", "overlap", "tfidf"),
}
DIRECT_RETRIEVAL = tuple(f"{metric}@{k}" for metric in ("map_min", "recall", "ndcg") for k in (1, 3, 5, 10))
"""How DISBench reports retrievers, beside the metrics of sets."""
_USUAL_DEPTH = 10
_SHOWN = 3


def limit_of(run: Run) -> int | None:
    """How many tasks the run was meant to do, from the first on; None for all."""
    given = run.limits.get("limit")
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else None


def within_limit(benchmark: Benchmark, run: Run, limit: int | None = None) -> Benchmark:
    """The benchmark with only the tasks that the run was meant to do, and at most the first `limit` of all.

    A task beyond the run's own limit that it has an attempt at was meant, too.
    """
    meant = limit_of(run)
    names = list(islice(benchmark.tasks, limit))
    if meant is not None:
        attempted = {attempt.task_id for attempt in run.attempts}
        first = set(islice(benchmark.tasks, meant))
        names = [name for name in names if name in first or name in attempted]
    if len(names) == len(benchmark.tasks):
        return benchmark
    return replace(benchmark, tasks={name: benchmark.tasks[name] for name in names})


def about_limit(whole: Benchmark, scored: Benchmark, run: Run) -> tuple[str, ...]:
    """What a reader must know of scores over some of the tasks."""
    if len(scored.tasks) == len(whole.tasks):
        return ()
    meant = limit_of(run)
    why = "" if meant is None else f"; the run was limited to {meant:,}"
    return (f"scored on {len(scored.tasks):,} of {len(whole.tasks):,} tasks{why}",)


class OtherVersionError(UserError):
    """A run of another version of the benchmark; `evaluate` takes it with `allow_other_version`."""


def evaluate(
    benchmark: Benchmark,
    run: Run,
    metrics: Sequence[str] | None = None,
    *,
    level: float = 0.95,
    seed: int = 0,
    cluster_by: str | None = AUTO,
    context: Context | None = None,
    resamples: int = RESAMPLES,
    allow_other_version: bool = False,
    limit: int | None = None,
) -> Scores:
    """Score a run; `metrics` are the benchmark's own, or the usual ones of its kinds of task, unless given.

    A failed attempt and a missing prediction count as zero. Attempts at a task are averaged first: the task is the
    unit. `cluster_by` as in `cluster_tasks`; `context` gives vectors or an embedder to the metrics that need one.
    Where all tasks ask for sets and the run gives rankings, `DIRECT_RETRIEVAL` is added to the usual metrics.
    A run of another benchmark, or of another version of it, is refused unless `allow_other_version`; one that has no
    task of the benchmark always is. A run that was limited to some tasks is scored on those alone, and on the first
    `limit` of them where that is given.
    """
    check_fraction("level", level)
    if not allow_other_version:
        _refuse_other_version(benchmark, run)
    _refuse_other_tasks(benchmark, run)
    whole, benchmark = benchmark, within_limit(benchmark, run, limit)
    names = _fitting(metric_names(whole, metrics), whole, benchmark)
    if metrics is None and _is_direct_retrieval(benchmark, run):
        names = tuple(dict.fromkeys((*names, *DIRECT_RETRIEVAL)))
    attempts, unscored = _attempts(benchmark, run)
    unknown = tuple(task for task in unscored if task not in whole.tasks)
    clusters = cluster_tasks(benchmark, cluster_by)
    depth = _depth(names)
    contexts = Contexts(benchmark, context or Context(), names)
    rows = _rows(attempts, measure(attempts, names, contexts), contexts, clusters, depth)

    def estimate_all(
        columns: Mapping[str, Column], of: Sequence[Hashable | None] | None, weights: Floats | None
    ) -> dict[str, Estimate]:
        return estimate_columns(columns, clusters=of, weights=weights, level=level, seed=seed, resamples=resamples)

    def estimates(table: TaskTable) -> dict[str, Estimate]:
        return estimate_all(table.columns, table.clusters, table.weights)

    def without_unjudged(name: str) -> Estimate:
        other = measure(attempts, (condensed(name),), contexts)
        kept = tuple(replace(row, values=values) for row, values in zip(rows, other, strict=True))
        return estimates(task_table(kept, (condensed(name),)))[condensed(name)]

    table = task_table(rows, names)
    made = [row for row in rows if row.status != "missing"]
    unjudged = _unjudged(rows)
    first = condensed_name(names) if unjudged else None
    return Scores(
        benchmark=benchmark.name,
        system=run.system,
        metrics=names,
        level=level,
        seed=seed,
        tasks=rows,
        overall=estimates(table),
        by_label=by_slice(table, lambda kept: estimates(table.where(kept))),
        checksum=benchmark.checksum,
        clustered_by=None if clusters is None else clusters.by,
        repeated=_repeated(made, names),
        best_of=best_of(made, names),
        recall=recall_curves(attempts, {} if clusters is None else clusters.of, estimate_all),
        chance=chance_similarities(attempts, names, contexts, seed),
        abstention=abstentions(attempts),
        failures=dict(sorted(Counter(row.failure for row in rows if row.failure is not None).items())),
        undefined=_undefined(rows),
        unjudged=unjudged,
        unjudged_depth=None if unjudged is None else depth,
        condensed={} if first is None else {first: without_unjudged(first)},
        outside_scope=sum(row.outside_scope for row in rows),
        unknown_tasks=unknown,
        of_tasks=len(whole.tasks),
        notes=(
            *about_limit(whole, benchmark, run),
            *_notes(benchmark, rows, unknown, clusters),
            *_about_weights(table),
            *_unknown_pictures(benchmark, run),
            *_about_nothing(benchmark, names),
            *text_notes(names, contexts),
        ),
    )


def _is_direct_retrieval(benchmark: Benchmark, run: Run) -> bool:
    """Are exact sets asked for, and rankings given?"""
    kinds = {task.kind for task in benchmark.tasks.values()}
    return kinds == {"select"} and any(isinstance(attempt.prediction, Ranking) for attempt in run.attempts)


def metric_names(benchmark: Benchmark, given: Sequence[str] | None = None) -> tuple[str, ...]:
    """The metrics to compute: those given, else the benchmark's, else the usual ones; each must fit some task."""
    kinds = {task.kind for task in benchmark.tasks.values()}
    usual = [name for kind, names in DEFAULT_METRICS.items() if kind in kinds for name in names]
    names = tuple(dict.fromkeys(given or benchmark.metrics or usual))
    for name in names:
        if kinds and not kinds_scored(name, kinds):
            wanted = _listed(registry.kinds_of(name))
            raise UserError(
                f'metric "{name}" is for {wanted} tasks; this benchmark has only {_listed(sorted(kinds))}.',
                f"leave it out, or use {_listed(usual)}",
            )
    return names


def headline_metrics(benchmark: Benchmark) -> tuple[str, ...]:
    """The metric by which each kind of task is reported: the first of the benchmark's own that fits, else the usual."""
    kinds = dict.fromkeys(task.kind for task in benchmark.tasks.values())
    own = {kind: [name for name in benchmark.metrics if kinds_scored(name, {kind})] for kind in kinds}
    return tuple(dict.fromkeys((own[kind] or DEFAULT_METRICS[kind])[0] for kind in kinds))


def _fitting(names: tuple[str, ...], whole: Benchmark, part: Benchmark) -> tuple[str, ...]:
    """Those of the benchmark's metrics that some of these tasks have; where none does, the usual ones."""
    if len(part.tasks) == len(whole.tasks):
        return names
    all_kinds, kinds = ({task.kind for task in each.tasks.values()} for each in (whole, part))
    kept = tuple(name for name in names if kinds.intersection(kinds_scored(name, all_kinds)))
    return kept or metric_names(replace(part, metrics=()))


def _refuse_other_version(benchmark: Benchmark, run: Run) -> None:
    if run.benchmark_checksum is None or benchmark.checksum is None:
        return
    if benchmark.is_version(run.benchmark_checksum):
        return
    if run.benchmark != benchmark.name:
        raise UserError(
            f'this run of "{run.system}" was made on the benchmark "{run.benchmark}", not on "{benchmark.name}".',
            "give the benchmark that it was run on, or a run on this one",
        )
    raise OtherVersionError(
        f'this run of "{run.system}" was made on another version of "{run.benchmark}" '
        f"(checksum {run.benchmark_checksum[:12]}) than the one given ({benchmark.checksum[:12]}).",
        "run it again on this version, or give the version that it was run on",
    )


def _refuse_other_tasks(benchmark: Benchmark, run: Run) -> None:
    """Benchmarks in memory have no checksum, and many have the same name: their tasks tell them apart."""
    if run.attempts and all(attempt.task_id not in benchmark.tasks for attempt in run.attempts):
        raise UserError(
            f'This run of "{run.system}" has no task of the benchmark "{benchmark.name}": its tasks are like '
            f'"{run.attempts[0].task_id}", those of the benchmark like "{next(iter(benchmark.tasks), "")}".',
            "Give the benchmark that it was run on, or a run on this one.",
        )


def _attempts(benchmark: Benchmark, run: Run) -> tuple[list[Attempted], tuple[str, ...]]:
    """Every task's attempts in the benchmark's order (one that is missing, where there is none), and other tasks."""
    made: dict[str, dict[int, Attempt]] = defaultdict(dict)
    for attempt in run.attempts:
        if attempt.number in made[attempt.task_id]:
            raise UserError(
                f'the run has two predictions for attempt {attempt.number} at task "{attempt.task_id}".',
                "keep one of them, or number repeated runs with attempt 0, 1, …",
            )
        made[attempt.task_id][attempt.number] = attempt
    found: list[Attempted] = []
    for task in benchmark.tasks.values():
        truth = benchmark.truth.get(task.id)
        of_task = sorted(made.pop(task.id, {}).items())
        found += [Attempted(task, truth, attempt.prediction, number) for number, attempt in of_task]
        if not of_task:
            found.append(Attempted(task, truth, None))
    return found, tuple(sorted(made))


def _rows(
    attempts: Sequence[Attempted],
    values: Sequence[Values],
    contexts: Contexts,
    clusters: Clusters | None,
    depth: int,
) -> tuple[TaskScore, ...]:
    unjudged = unjudged_shares(attempts, depth)
    cluster_of = {} if clusters is None else clusters.of
    return tuple(
        TaskScore(
            task_id=attempt.task.id,
            attempt=attempt.number,
            kind=attempt.task.kind,
            status=attempt.status,
            values=row,
            labels=attempt.task.labels,
            cluster=cluster_of.get(attempt.task.id),
            failure=attempt.failure,
            outside_scope=_outside(attempt, contexts.scope(attempt.task)),
            unjudged=unjudged.get(place),
            weight=attempt.task.weight,
        )
        for place, (attempt, row) in enumerate(zip(attempts, values, strict=True))
    )


def _outside(attempt: Attempted, allowed: frozenset[str] | None) -> int:
    if allowed is None or attempt.prediction is None or attempt.failure is not None:
        return 0
    return sum(picture not in allowed for picture in returned(attempt.prediction))


def _depth(names: Iterable[str]) -> int:
    """How far down a ranking to look for unjudged results: the first cut-off among the metrics."""
    cutoffs = (registry.parse_name(name).cutoff for name in names if "rank" in registry.kinds_of(name))
    return next((cutoff for cutoff in cutoffs if cutoff is not None), _USUAL_DEPTH)


def _repeated(rows: Sequence[TaskScore], names: Iterable[str]) -> dict[str, Repeated]:
    if len({row.attempt for row in rows}) < 2:
        return {}
    return {name: repeated(attempts_table(rows, name)) for name in names}


def _unjudged(rows: Iterable[TaskScore]) -> float | None:
    """The mean share of unjudged results, by weight."""
    shares = [(row.weight, row.unjudged) for row in rows if row.unjudged is not None]
    return sum(weight * share for weight, share in shares) / sum(weight for weight, _ in shares) if shares else None


def _about_weights(table: TaskTable) -> Iterator[str]:
    if table.weights is not None:
        worth = effective_count(table.weights)
        yield f"weighted by traffic: {len(table.ids):,} tasks, worth {worth:,.0f} of equal weight"


def _undefined(rows: Iterable[TaskScore]) -> dict[str, int]:
    """By metric, the tasks of its kind that it is not defined for in any attempt."""
    defined: dict[str, dict[str, bool]] = defaultdict(dict)
    for row in rows:
        for name, value in row.values.items():
            defined[name][row.task_id] = defined[name].get(row.task_id, False) or value is not None
    counts = {name: sum(not known for known in tasks.values()) for name, tasks in defined.items()}
    return {name: count for name, count in counts.items() if count}


def _unknown_pictures(benchmark: Benchmark, run: Run) -> tuple[str, ...]:
    """That ids are not those of the benchmark, as far as the first predictions show."""
    known = benchmark.corpus.pictures
    said = (one.prediction for one in islice(run.attempts, 50))
    named = [id_ for one in said if isinstance(one, Ranking | PictureSet) for id_ in one.pictures]
    strange = [id_ for id_ in named if id_ not in known]
    if not known or not strange:
        return ()
    first = f'{len(strange):,} of {len(named):,} in the first predictions, such as "{strange[0]}"'
    return (f'pictures that the benchmark doesn\'t have: {first}; its ids are like "{next(iter(known))}"',)


def _notes(
    benchmark: Benchmark, rows: Sequence[TaskScore], unknown: Sequence[str], clusters: Clusters | None
) -> tuple[str, ...]:
    """What a reader of the numbers should know."""
    missing = missing_note(rows, len(benchmark.tasks))
    notes = [] if missing is None else [missing]
    if unknown:
        notes.append(f"predictions for tasks that the benchmark doesn't have: {len(unknown)} ({_listed(unknown)})")
    outside = sum(row.outside_scope for row in rows)
    if outside:
        notes.append(f"returned pictures that are not among those of their task, counted as wrong: {outside:,}")
    untold = [task for task in benchmark.tasks if task not in benchmark.truth]
    if untold:
        notes.append(f"left out because the truth is not known: {len(untold)} tasks ({_listed(untold)})")
    per_task = Counter(row.task_id for row in rows if row.status != "missing")
    if len(set(per_task.values())) > 1:
        fewest, most = min(per_task.values()), max(per_task.values())
        notes.append(f"tasks have {fewest} to {most} attempts; each is averaged over its own")
    if clusters is not None and clusters.few:
        notes.append(
            f"clusters by {clusters.by} are so few that there is no interval and no difference can be significant; "
            "cluster by something finer if no others matter"
        )
    return tuple(notes)


def _about_nothing(benchmark: Benchmark, names: Sequence[str]) -> tuple[str, ...]:
    """How many tasks have nothing to find, and which of the metrics leave them out."""
    finding = [task for task in benchmark.tasks.values() if task.kind in ("rank", "select")]
    truths = [(task.kind, benchmark.truth.get(task.id)) for task in finding]
    empty = [(kind, truth) for kind, truth in truths if truth is not None and not has_something(truth)]
    if not empty:
        return ()
    present = {task.kind for task in benchmark.tasks.values()}
    metrics = {name: registry.metric(name) for name in names}
    without = [
        name
        for name, metric in metrics.items()
        if any(kind in kinds_scored(name, present) and leaves_out(metric, truth) for kind, truth in empty)
    ]
    means = f"left out of {', '.join(without)}" if without else "a set is right about them when it is empty"
    hint = ""
    if len(empty) == len(finding) and without:
        how = "score by people's decisions: sightline make review BENCH --people 1"
        hint = f"; to {how if benchmark.reviews else 'have them judged: sightline assess BENCH RUN RUN'}"
    return (f"tasks with nothing to find: {len(empty)} of {len(finding)}; {means}{hint}",)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
