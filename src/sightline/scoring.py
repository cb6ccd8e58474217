"""Score a run, compare runs, and estimate how many tasks that takes: on folders or on values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike as OsPath
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.benchmark.files import HEADER as BENCHMARK_FILE
from sightline.benchmark.folder import read_benchmark
from sightline.errors import UserError
from sightline.io.files import PathLike, as_path
from sightline.metrics.clusters import AUTO
from sightline.metrics.context import Context
from sightline.metrics.evaluation import OtherVersionError, evaluate, metric_names, within_limit
from sightline.metrics.registry import split_names
from sightline.metrics.sample_size import SamplePlan, given_spread, learnt_spread, sample_plan
from sightline.metrics.scores import SCORES_FILE, Scores
from sightline.runs.folder import HEADER as RUN_FILE
from sightline.runs.folder import TRAJECTORIES, read_attribution, read_run
from sightline.runs.integrity import keep_scores, with_changes
from sightline.runs.trust import (
    REHEARSAL,
    REHEARSAL_FIX,
    benchmarks_near,
    is_rehearsal,
    scores_now,
    with_place,
    with_trust,
)
from sightline.types import Benchmark, Run, ScoreWarning

if TYPE_CHECKING:
    from sightline.calls.session import Session
    from sightline.metrics.comparison import Comparison
    from sightline.runs.judged_run import JudgedRun

JUDGED = "answer_judged"
"""The metric that a judge's verdicts make."""


_ABOUT_LABELS = ("labels-unchecked", "judge-error")
_RUN_FIX = "Give the folder that holds run.json, or make a run of your results: sightline.Run.from_rankings(…)."


def score(
    benchmark: PathLike | Benchmark,
    run: PathLike | Run,
    metrics: str | Sequence[str] | None = None,
    *,
    level: float = 0.95,
    seed: int | None = None,
    cluster_by: str | None = AUTO,
    allow_other_version: bool = False,
    limit: int | None = None,
    judge: str | None = None,
    session: Session | None = None,
) -> Scores:
    """Score a run on its benchmark, without running anything again.

    A run given as a folder gets its `scores.json` and `per_task.csv`, which always hold the benchmark's own metrics
    too; an agent's run also gets `attribution.json`: why each picture was missed, and which error each attempt made.
    A run that was limited to some tasks is scored on those alone. `warnings` of the scores say what they are worth on
    these labels.

    Parameters
    ----------
    benchmark:
        The folder of the benchmark, or the benchmark itself.
    run:
        The folder of the run, or the run itself.
    metrics:
        Names such as "ndcg@10", in a list or separated by commas; the benchmark's own when not given.
    level:
        The level of the intervals.
    seed:
        Makes the intervals repeatable: the session's, else 0, when not given.
    cluster_by:
        What tasks are clustered by: "auto", None, "owner", "event", "duplicate", or a label.
    allow_other_version:
        Score although the run was made on another version of the benchmark.
    limit:
        Score only the first tasks; nothing is written then.
    judge:
        A chat model that judges the answers that rules do not find right: adds `answer_judged`, and keeps its reasons
        in the run's `judged_answers.csv`, where people can decide on them.
    session:
        Gives its seed, and how a judge is called.

    Returns
    -------
    Scores
        `scores["ndcg@10"]` is an estimate with its interval; `scores.to_pandas()` has a row for each attempt.

    Examples
    --------
    >>> scores = sightline.score("bench", "run")
    >>> scores["ndcg@10"].n
    3
    """
    made_of, attempts, folder = benchmark_of(benchmark), run_of(run), None if isinstance(run, Run) else Path(run)
    keep = folder is not None and limit is None
    asked = None if metrics is None else split_names(metrics)
    part = made_of if judge is None else within_limit(made_of, attempts, limit)
    judged = None if judge is None else _judged(judge, part, attempts, folder if keep else None, session)
    if judged is not None:
        asked = tuple(dict.fromkeys((*(asked or metric_names(made_of)), JUDGED)))
    own = metric_names(made_of) if keep and asked is not None else ()
    try:
        scores = evaluate(
            made_of,
            attempts,
            None if asked is None else tuple(dict.fromkeys((*asked, *own))),
            level=level,
            seed=_seed(seed, session),
            cluster_by=cluster_by,
            context=None if judged is None else Context(verdicts=judged.values()),
            allow_other_version=allow_other_version,
            limit=limit,
        )
    except OtherVersionError as error:  # Only scoring can insist.
        insist = "or insist with --other-version (allow_other_version=True)"
        raise OtherVersionError(error.message, f"{error.fix}, {insist}") from None
    scores = with_trust(scores, made_of, attempts)
    if judged is not None:
        scores = _with_judge(scores, judged)
    if folder is not None:
        scores = with_changes(scores, folder.expanduser())
    if keep and folder is not None:
        scores = replace(scores, attribution=_write(scores, folder.expanduser(), made_of))
    return replace(scores, asked=asked or ())


score.__dict__["priced"] = True  # As `calls.plan.priced` does, without loading it: a judge can be priced.


def _judged(judge: str, benchmark: Benchmark, run: Run, folder: Path | None, session: Session | None) -> JudgedRun:
    from sightline.calls.session import Session
    from sightline.runs.judged_run import judge_run

    return judge_run(benchmark, run, judge, Session.of(session), None if folder is None else folder.expanduser())


def _with_judge(scores: Scores, judged: JudgedRun) -> Scores:
    """With who decided how many answers, how the judge agrees with people, and what their decisions correct."""
    found = judged.corrected(level=scores.level, seed=scores.seed)
    corrected = scores.corrected if found is None else {**scores.corrected, JUDGED: found}
    return replace(scores, notes=(*scores.notes, *judged.notes()), corrected=corrected)


def _write(scores: Scores, folder: Path, benchmark: Benchmark) -> dict[str, object] | None:
    """Keep the scores with the run; for an agent, what was missed and why."""
    keep_scores(scores, folder)
    if (folder / TRAJECTORIES).is_dir():
        from sightline.agent.attribution import attribute_folder

        attribute_folder(folder, benchmark)
    found = read_attribution(folder)
    return None if found is None else {**found}


def _seed(given: int | None, session: Session | None) -> int:
    return given if given is not None else (session.seed if session is not None else None) or 0


def benchmark_of(given: PathLike | Benchmark) -> Benchmark:
    """A benchmark, read if a folder was given; what is none is refused."""
    if isinstance(given, Benchmark):
        return given
    if isinstance(given, Run | Scores):
        raise UserError(f"A benchmark is expected here, not {given!r}.", "Give the benchmark first, then the run.")
    folder = as_path(given, "a benchmark")
    if (folder / RUN_FILE).is_file() and not (folder / BENCHMARK_FILE).is_file():
        raise UserError(f"{folder} is a run, not a benchmark.", "Give the benchmark first, then the run.")
    return read_benchmark(folder)


def run_of(given: PathLike | Run) -> Run:
    """A run, read if a folder was given; what is none is refused."""
    if isinstance(given, Run):
        return given
    if isinstance(given, Benchmark | Scores):
        raise UserError(f"A run is expected here, not {given!r}.", _RUN_FIX)
    folder = as_path(given, "a run", _RUN_FIX)
    _refuse_benchmark(folder)
    return read_run(folder)


def _refuse_benchmark(folder: Path) -> None:
    if (folder / BENCHMARK_FILE).is_file() and not (folder / RUN_FILE).is_file():
        raise UserError(
            f"{folder} is a benchmark, not a run.",
            f'Run a system on it first: sightline run {folder} --system SPEC, or sightline.run("{folder}", SYSTEM).',
        )


def compare(
    runs: Sequence[PathLike | Run | Scores],
    metrics: str | Sequence[str] | None = None,
    *,
    benchmark: PathLike | Benchmark | None = None,
    allow_failures_differ: bool = False,
    rehearsal: bool = False,
    level: float = 0.95,
    seed: int | None = None,
    session: Session | None = None,
) -> Comparison:
    """Say which of several runs is better, by how much, and whether that can be trusted. The first is the baseline.

    Differences are paired over all tasks, with intervals and randomization tests, corrected for all pairs of a metric.
    A system that reads what the labels were made from, or that is not above a baseline that sees no pixel, is not
    called better.

    Parameters
    ----------
    runs:
        Two or more: folders of runs on the same benchmark, the runs themselves, or their scores.
    metrics:
        Names such as "ndcg@10", in a list or separated by commas; all that the runs share when not given.
    benchmark:
        The benchmark of runs that have no scores yet, where it is neither above them nor the one that another run
        was scored on: they are scored now.
    allow_failures_differ:
        Compare although the runs failed on different tasks; each failure then counts as zero.
    rehearsal:
        Compare although the labels are by built-in models and nobody checked them.
    level:
        The level of the intervals and tests.
    seed:
        Makes intervals and tests repeatable: the session's, else 0, when not given.
    session:
        Gives its seed.

    Returns
    -------
    Comparison
        Its rows are the pairs of systems in each metric; `standings` say who is in which tie group.

    Examples
    --------
    >>> found = sightline.compare(["run", "other_run"], "ndcg@10", benchmark="bench")
    >>> [(pair.metric, pair.difference.n) for pair in found]
    [('ndcg@10', 3)]
    """
    from sightline.metrics.comparison import compare as compare_scores

    if isinstance(runs, str | OsPath | Scores | Mapping) or not isinstance(runs, Iterable):
        raise UserError("A comparison needs two runs or more.", 'Give a list of them: compare(["run_a", "run_b"]).')
    given, asked = list(runs), None if metrics is None else split_names(metrics)
    scores = [run if isinstance(run, Scores) else _scores_of(run, benchmark, asked, given) for run in given]
    if not rehearsal and (found := next(filter(is_rehearsal, scores), None)) is not None:
        place = None if found.benchmark_folder is None else Path(found.benchmark_folder)
        fix = with_place(REHEARSAL_FIX, place)
        raise UserError(f'No comparison is drawn on "{found.benchmark}": {REHEARSAL}.', fix)
    systems = [found.system for found in scores]
    names = systems if len(set(systems)) == len(systems) else [_name(run) for run in given]
    return compare_scores(
        scores,
        asked,
        names=names,
        allow_failures_differ=allow_failures_differ,
        level=level,
        seed=_seed(seed, session),
    )


def _scores_of(
    run: PathLike | Run,
    benchmark: PathLike | Benchmark | None,
    metrics: tuple[str, ...] | None,
    others: Sequence[PathLike | Run | Scores],
) -> Scores:
    if isinstance(run, Run):
        if benchmark is None:
            raise UserError(f"{run!r} has no scores yet.", "Give its benchmark too: compare(runs, benchmark=BENCH).")
        return score(benchmark, run, metrics)
    folder = as_path(run, "a run")
    _refuse_benchmark(folder)
    if not (folder / SCORES_FILE).is_file() and (found := benchmark or _benchmark_near(folder, others)) is not None:
        return score(found, folder, metrics)
    return scores_now(folder, () if benchmark is None else (benchmark_of(benchmark),))


def _benchmark_near(folder: Path, others: Sequence[PathLike | Run | Scores]) -> Benchmark | None:
    """The benchmark of a run that has no scores: above one of the runs, or the one that another was scored on."""
    if not (folder / RUN_FILE).is_file():
        return None
    run = read_run(folder)
    near = benchmarks_near(Path(each) for each in others if not isinstance(each, Run | Scores))
    return next((one for one in near if one.name == run.benchmark and one.is_version(run.benchmark_checksum)), None)


def _name(run: PathLike | Run | Scores) -> str:
    return run.system if isinstance(run, Scores | Run) else Path(run).expanduser().resolve().name


def power(
    runs: Sequence[PathLike | Scores] = (),
    *,
    difference: float | None = None,
    tasks: int | None = None,
    metric: str | None = None,
    sd: float | None = None,
    disagreement: float | None = None,
    alpha: float = 0.05,
    chance: float = 0.8,
    design_effect: float = 1.0,
) -> SamplePlan:
    """Estimate how many tasks are needed to detect a difference, or what difference so many tasks can detect.

    Parameters
    ----------
    runs:
        Two scored runs to learn the spread of differences from; otherwise give `sd` or `disagreement`.
    difference:
        The true difference that should be found.
    tasks:
        Instead: the number of tasks that there are.
    metric:
        Which metric of the runs; the first that they share when not given.
    sd:
        Standard deviation of the per-task differences.
    disagreement:
        For right/wrong tasks: the share that only one of the two systems gets right.
    alpha:
        The accepted chance of a false alarm.
    chance:
        The chance of finding the difference (the power of the test).
    design_effect:
        How much clusters (owners, events) inflate the variance.

    Returns
    -------
    SamplePlan
        The tasks and the difference; `print` shows what the command prints.

    Examples
    --------
    >>> import sightline
    >>> sightline.power(difference=0.05, sd=0.3).tasks
    285
    >>> print(sightline.power(tasks=200, disagreement=0.2))
      200 tasks can show a difference of 0.089 with a chance of 80% (paired, two-sided, α = 0.05, design effect 1.00)
    """
    if not isinstance(runs, Sequence) or isinstance(runs, str) or len(runs) not in (0, 2):
        given = len(runs) if isinstance(runs, Sequence) and not isinstance(runs, str) else 1
        raise UserError(f"{given} runs were given.", "Give two scored runs, or none and --sd (sd=).")
    warnings: tuple[ScoreWarning, ...] = ()
    if runs:
        first, second = (run if isinstance(run, Scores) else scores_now(as_path(run, "a scored run")) for run in runs)
        expected = learnt_spread(first, second, metric)
        warnings = tuple(
            dict.fromkeys(one for scores in (first, second) for one in scores.warnings if one.code in _ABOUT_LABELS)
        )
    else:
        expected = given_spread(sd, disagreement, design_effect)
    found = sample_plan(
        expected, binary=disagreement is not None, difference=difference, tasks=tasks, alpha=alpha, power=chance
    )
    return replace(found, warnings=warnings)
