"""What baselines that see no pixel score on a benchmark, kept beside it in `baselines.json`.

They need no key and little time, so they are computed when a benchmark is written, and on first need for older ones.
The file holds the checksum of what they were computed on, and is no part of it: it may be deleted at any time.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from pydantic import TypeAdapter, ValidationError

from sightline.errors import UserError
from sightline.io.jsonl import read_json, write_json
from sightline.metrics.evaluation import headline_metrics, metric_names
from sightline.metrics.scores import without_empty_reasons
from sightline.metrics.task_table import task_table
from sightline.types import Benchmark, Estimate
from sightline.types.task import FINDING
from sightline.types.task_table import Tasks

if TYPE_CHECKING:
    from sightline.runs.blind_baselines import BlindScore

BASELINES_FILE = "baselines.json"
_SCHEMA = 1
_MOST_FILES = 2_000
"""Of larger corpora no file is opened: the learned baseline goes by what the tables say."""
_MOST_TASKS, _FEWEST_TASKS, _MOST_PAIRS = 1_000, 100, 10_000_000
"""Of larger benchmarks the baselines do some of the tasks, drawn by lot; systems are compared with them on those."""
_log = logging.getLogger(__name__)

BaselineValues: TypeAlias = Mapping[str, Mapping[str, tuple[Estimate, Mapping[str, float]]]]
"""By baseline and metric: the estimate over all tasks, and the value of each."""


@dataclass(frozen=True, slots=True)
class KeptBaselines:
    """The content of `baselines.json`; `checksum` is that of the benchmark."""

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    checksum: str | None
    baselines: BaselineValues = field(default_factory=dict)


def baselines_of(benchmark: Benchmark) -> BaselineValues:
    """What is kept beside a benchmark, or computed now; kept then, where its folder can be written."""
    folder = benchmark.folder
    if folder is None or benchmark.checksum is None:
        return compute_baselines(benchmark)
    kept = _read(folder / BASELINES_FILE)
    if kept is not None and kept.checksum == benchmark.checksum:
        return kept.baselines
    return keep_baselines(benchmark, folder)


def keep_baselines(benchmark: Benchmark, folder: Path) -> BaselineValues:
    """Compute them for a benchmark that was just written, and write `baselines.json` beside it."""
    try:
        found = KeptBaselines(benchmark.checksum, compute_baselines(benchmark, folder))
    except UserError as error:  # A metric of the benchmark that is not installed here: `score` says so.
        _log.warning("the blind baselines of %s are not known: %s", folder, error.message)
        return {}
    try:
        write_json(folder / BASELINES_FILE, {"schema": _SCHEMA, **without_empty_reasons(asdict(found))})
    except OSError as error:
        _log.info("%s is not kept: %s", folder / BASELINES_FILE, error)
    return found.baselines


def compute_baselines(benchmark: Benchmark, base: Path | None = None) -> BaselineValues:
    """Every baseline in the metrics of a benchmark that asks for pictures; else in the first of each kind of task."""
    if not benchmark.truth:
        return {}
    from sightline.runs.blind_baselines import score_blind_baselines  # Most benchmarks have theirs already.

    files_in = base if are_files_read(benchmark) else None
    found = score_blind_baselines(_some_tasks(benchmark), files_in, metrics=_metrics(benchmark))
    return {by: values for by, one in found.items() if (values := _values(one))}


def are_files_read(benchmark: Benchmark) -> bool:
    """Does the learned baseline know more of the pictures than the tables say?"""
    return len(benchmark.corpus.pictures) <= _MOST_FILES


def _some_tasks(benchmark: Benchmark) -> Benchmark:
    most = max(_FEWEST_TASKS, min(_MOST_TASKS, _MOST_PAIRS // max(1, len(benchmark.corpus.pictures))))
    if len(benchmark.tasks) <= most:
        return benchmark
    drawn = set(Random(0).sample(list(benchmark.tasks), most))
    tasks = {id_: task for id_, task in benchmark.tasks.items() if id_ in drawn}
    truth = {id_: truth for id_, truth in benchmark.truth.items() if id_ in drawn}
    return replace(benchmark, tasks=Tasks(tasks), truth=truth)


def _metrics(benchmark: Benchmark) -> tuple[str, ...]:
    finds = any(task.kind in FINDING for task in benchmark.tasks.values())
    own = metric_names(benchmark) if finds and len({task.kind for task in benchmark.tasks.values()}) == 1 else ()
    return tuple(dict.fromkeys((*headline_metrics(benchmark), *own)))


def _values(one: BlindScore) -> dict[str, tuple[Estimate, dict[str, float]]]:
    if one.scores is None:
        return {}
    table = task_table(one.scores.tasks, one.scores.metrics)
    return {
        metric: (
            one.scores.overall[metric],
            {
                id_: value
                for id_, value in zip(table.ids, table.columns[metric].values.tolist(), strict=True)
                if value == value  # Not NaN: the metric is defined for the task.
            },
        )
        for metric in one.scores.overall
    }


def _read(path: Path) -> KeptBaselines | None:
    """What is kept; None where there is nothing, or nothing that this version reads."""
    if not path.is_file():
        return None
    try:
        content: Any = read_json(path)
        if not isinstance(content, dict) or content.pop("schema", None) != _SCHEMA:
            return None
        return TypeAdapter(KeptBaselines).validate_python(content)
    except (UserError, ValidationError, OSError):
        return None
