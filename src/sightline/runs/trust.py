"""What a score is worth: the grade of its benchmark, the baselines beside it, and the warnings that follow."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from sightline.benchmark.files import HEADER as BENCHMARK_FILE
from sightline.benchmark.files import REVIEWS
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.grade import CHECK_LABELS, Grade, grade_of, label_warnings
from sightline.benchmark.provenance import same_source
from sightline.english import counted
from sightline.errors import SightlineError, UserError
from sightline.io.files import path_in_command
from sightline.metrics.blind_rows import NOT_BEATEN, SAME_SOURCE, BaselineScore, beside_baselines, unbeaten
from sightline.metrics.evaluation import headline_metrics
from sightline.metrics.scores import Scores, read_scores
from sightline.metrics.statistics.estimates import FEW_CLUSTERS
from sightline.metrics.task_table import task_table
from sightline.runs.corrected_scores import with_corrections
from sightline.runs.folder import read_run
from sightline.runs.integrity import with_changes
from sightline.runs.kept_baselines import baselines_of
from sightline.types import Benchmark, Run, ScoreWarning, fewest_units

_POOL = "pool"
"""What a card says of the systems whose results are judged."""
_MOST_UNJUDGED = 0.05
REHEARSAL = "the labels are by built-in models and too few were checked by people"
CHECK_FIX = f"Have people check{CHECK_LABELS.removeprefix('Check')}"
REHEARSAL_FIX = f"{CHECK_FIX} To try things out, compare anyway with --rehearsal (rehearsal=True)."


def with_trust(scores: Scores, benchmark: Benchmark, run: Run) -> Scores:
    """The scores with the grade of the benchmark, the baselines beside them, and every warning."""
    baselines = beside_baselines(
        task_table(scores.tasks, scores.metrics),
        baselines_of(benchmark),
        clustered=scores.clustered_by is not None,
        level=scores.level,
        seed=scores.seed,
    )
    headline = [row for row in baselines if row.metric in headline_metrics(benchmark)]
    grade = grade_of(benchmark, blind_beaten=all(row.beaten for row in headline) if headline else None)
    conflict = same_source(benchmark, run, grade.checked_part)
    scores = with_corrections(scores, benchmark, run)
    found = (
        *(one for one in _of_labels(benchmark, grade) if not (scores.corrected and one.code == "judge-error")),
        *(() if conflict is None else (conflict,)),
        *_holes(scores, benchmark),
        *_not_beaten(scores.system, headline),
        *_few_clusters(scores),
    )
    folder = None if benchmark.folder is None else str(benchmark.folder.resolve())
    return replace(scores, grade=grade.name, warnings=found, baselines=baselines, benchmark_folder=folder)


def _of_labels(benchmark: Benchmark, grade: Grade) -> Iterator[ScoreWarning]:
    """What to do about the labels, with the benchmark's own folder where a command can name it."""
    for one in label_warnings(benchmark, grade):
        yield replace(one, fix=with_place(one.fix, benchmark.folder))


def _holes(scores: Scores, benchmark: Benchmark) -> Iterator[ScoreWarning]:
    """Of a pool that people judge to compare systems, only what they were asked about has labels."""
    if _POOL in benchmark.card and (scores.unjudged or 0) > _MOST_UNJUDGED:
        yield ScoreWarning(
            "coverage-low",
            f"Nobody judged {scores.unjudged:.0%} of the first {scores.unjudged_depth} results of {scores.system}; "
            "they count as not relevant. By such labels differences can be far too large.",
            with_place("To compare systems on what was judged: sightline assess BENCH RUN RUN.", benchmark.folder),
        )


def with_place(fix: str, benchmark: Path | None) -> str:
    """Advice that names this benchmark instead of BENCH, for the shell and for Python."""
    place = path_in_command(benchmark)
    return fix.replace('"BENCH"', f'"{shlex.split(place)[0]}"').replace("BENCH", place)


def scores_now(folder: Path, benchmarks: Iterable[Benchmark] = ()) -> Scores:
    """The scores that are kept with a run; grade, warnings and corrections by what people have decided until now.

    The benchmark is the one among `benchmarks`, else where it was when the run was scored; where it is gone, has
    changed, or nobody has reviewed it, the scores are as they were written.
    """
    scores = read_scores(folder)
    same = (one for one in (*benchmarks, *_scored_on(scores)) if one.checksum == scores.checksum is not None)
    found = next(same, None)
    return with_changes(scores if found is None else with_trust(scores, found, read_run(folder)), folder)


def _scored_on(scores: Scores) -> list[Benchmark]:
    """The benchmark where it was, if people have reviewed it."""
    reviews = Path(scores.benchmark_folder or "") / REVIEWS.name
    try:
        return [] if scores.benchmark_folder is None else [_read(reviews.parent, reviews.stat().st_mtime_ns)]
    except (OSError, SightlineError):
        return []


@lru_cache(maxsize=2)
def _read(folder: Path, _: int) -> Benchmark:
    """Several runs are on one benchmark."""
    return read_benchmark(folder)


def benchmarks_near(runs: Iterable[Path]) -> list[Benchmark]:
    """The benchmarks that lie above runs, and those that runs were scored on."""
    places: dict[Path, None] = {}
    for folder in runs:
        places.update(dict.fromkeys(folder.expanduser().resolve().parents))
        with suppress(UserError):
            places[Path(read_scores(folder).benchmark_folder or folder)] = None
    return [read_benchmark(place) for place in places if (place / BENCHMARK_FILE).is_file()]


def is_circular(scores: Scores) -> bool:
    """Is the system, or was it shown, what the labels were made from?"""
    return any(one.code == SAME_SOURCE for one in scores.warnings)


def is_rehearsal(scores: Scores) -> bool:
    """Are the labels by built-in models that nobody checked?"""
    return scores.grade == "rehearsal"


def _not_beaten(system: str, rows: list[BaselineScore]) -> Iterator[ScoreWarning]:
    left = [row for row in unbeaten(rows) if row.name != system]
    if not left:
        return
    best = left[0]
    others = f", nor above {counted(len(left) - 1, 'other')}" if len(left) > 1 else ""
    yield ScoreWarning(
        NOT_BEATEN,
        f"{system} is not above {best.name}, which sees no pixel: {best.metric} {best.estimate.mean:.3f}, "
        f"difference {_difference(best)}{others}.",
        "Find what gives the answers away with the stage audit of make, or add tasks that need the pictures.",
    )


def _difference(row: BaselineScore) -> str:
    found = row.difference
    if found.reason is not None:
        return f"{found.mean:+.3f}, {found.reason}"
    return f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


def _few_clusters(scores: Scores) -> Iterator[ScoreWarning]:
    reasons = [found.reason for found in scores.overall.values() if (found.reason or "").startswith(FEW_CLUSTERS)]
    if reasons:
        yield ScoreWarning(
            "few-clusters",
            f"Tasks are clustered by {scores.clustered_by}, and there are {reasons[0]} for an interval; "
            f"{fewest_units(scores.level)} are needed.",
            "Add tasks on other clusters, or score with --cluster-by none (cluster_by=None) if tasks are independent.",
        )
