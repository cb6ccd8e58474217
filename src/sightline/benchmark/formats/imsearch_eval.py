"""imsearch_eval's three tables of a run, with metrics that mean what they say (docs/from-imsearch-eval.md).

| file | a row for each |
|---|---|
| `image_search_results.csv` | picture returned for a query: its rank, score and relevance (empty: not judged) |
| `query_eval_metrics.csv` | query: counts, precision, recall, hit, NDCG, reciprocal rank, diversity, failure |
| `config_values.csv` | setting: what `run.json` says of system and parameters |

`--option k=25` is how many results count; `--option vectors=F.npz`, as `sightline embed pictures` writes it, gives
diversity; `--option attempt=N` is the attempt of repeated runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sightline.benchmark.formats.base import Content, Format, FormatOptions
from sightline.benchmark.formats.dataset_folder import limited
from sightline.benchmark.formats.retrieval import check_options, whole_option
from sightline.errors import UserError
from sightline.io.files import csv_bytes, whole_folder
from sightline.io.unpacked import check_zip
from sightline.metrics.context import Context
from sightline.metrics.evaluation import evaluate, within_limit
from sightline.metrics.ranked_batch import order_of
from sightline.metrics.scores import TaskScore
from sightline.types import Benchmark, Failure, Json, PictureSet, Prediction, Ranking, Run, Task, Truth
from sightline.types.truth import grades_of

RESULTS, METRICS, CONFIG = "image_search_results.csv", "query_eval_metrics.csv", "config_values.csv"
_FILES = (RESULTS, METRICS, CONFIG)
_K = 25
_RESULT_COLUMNS = ("query_id", "query_text", "rank", "image_id", "score", "relevance_label")
# Column → our metric; each is cut at k.
_MEASURED = {
    "precision_at_k": "p",
    "recall": "recall",
    "hit": "success",
    "NDCG": "ndcg",
    "reciprocal_rank": "rr",
    "judged_share": "judged",
    "diversity": "diversity",
}
_COUNTED = ("total_images", "judged_images", "relevant_images", "precision")


def write(content: Content, path: Path, options: FormatOptions) -> None:
    """Write the three tables of a run into a folder."""
    check_options(options, "k", "vectors", "attempt")
    assert isinstance(content, Run)
    k, number = whole_option(options, "k", _K, 1), whole_option(options, "attempt", 0)
    benchmark = _searching(options, content)
    attempts = tuple(one for one in content.attempts if one.number == number and one.task_id in benchmark.tasks)
    run = replace(content, attempts=tuple(replace(one, number=0) for one in attempts))
    said = {one.task_id: one.prediction for one in run.attempts}
    names = {column: f"{metric}@{k}" for column, metric in _MEASURED.items()}
    rows = _scored(benchmark, run, tuple(names.values()), Context(vectors=_vectors(options)))
    with whole_folder(path, marker=METRICS, owned=_FILES) as folder:
        (folder / RESULTS).write_bytes(csv_bytes(_results(benchmark, said, k), _RESULT_COLUMNS))
        columns = ("query_id", "query_text", *_COUNTED, *names, "failure")
        (folder / METRICS).write_bytes(csv_bytes((_metrics(row, benchmark, said, names, k) for row in rows), columns))
        (folder / CONFIG).write_bytes(csv_bytes(_config(content, k), ("name", "value")))


def _searching(options: FormatOptions, run: Run) -> Benchmark:
    """The rank and select tasks of the benchmark that the run was meant to do."""
    if options.benchmark is None:
        raise UserError("these tables hold the queries and judgments too.", "add --benchmark BENCH, that of the run")
    whole = within_limit(options.benchmark, run)
    tasks = {name: task for name, task in whole.tasks.items() if task.kind in ("rank", "select")}
    if not tasks:
        raise UserError(f'the benchmark "{whole.name}" has no task that looks for pictures.', "use another format")
    return limited(replace(whole, tasks=tasks), options)


def _scored(benchmark: Benchmark, run: Run, metrics: tuple[str, ...], context: Context) -> list[TaskScore]:
    """A row for each task; kind by kind, because scoring both at once leaves sets out of metrics over rankings."""
    rows: dict[str, TaskScore] = {}
    for kind in ("rank", "select"):
        of_kind = replace(benchmark, tasks={name: task for name, task in benchmark.tasks.items() if task.kind == kind})
        if of_kind.tasks:
            of_run = replace(run, attempts=tuple(one for one in run.attempts if one.task_id in of_kind.tasks))
            scores = evaluate(of_kind, of_run, metrics, context=context, resamples=1)
            rows |= {row.task_id: row for row in scores.tasks}
    return [rows[name] for name in benchmark.tasks]


def _results(benchmark: Benchmark, said: Mapping[str, Prediction], k: int) -> Iterator[dict[str, Any]]:
    for task in benchmark.tasks.values():
        prediction, grades = said.get(task.id), grades_of(benchmark.truth.get(task.id))
        if not isinstance(prediction, Ranking | PictureSet):
            continue
        given = prediction.scores if isinstance(prediction, Ranking) else None
        scores = {} if given is None else dict(zip(reversed(prediction.pictures), reversed(given), strict=True))
        for rank, picture in enumerate(_first(prediction, k), 1):
            yield {
                **_asked(task),
                "rank": rank,
                "image_id": picture,
                "score": scores.get(picture),
                "relevance_label": _label(picture, grades, benchmark.truth.get(task.id)),
            }


def _metrics(
    row: TaskScore, benchmark: Benchmark, said: Mapping[str, Prediction], names: Mapping[str, str], k: int
) -> dict[str, Any]:
    task, truth = benchmark.tasks[row.task_id], benchmark.truth.get(row.task_id)
    first, grades = _first(said.get(task.id), k), grades_of(truth)
    judged = len(first) if isinstance(truth, PictureSet) else sum(picture in grades for picture in first)
    relevant = sum(grades.get(picture, 0) > 0 for picture in first)
    return {
        **_asked(task),
        "total_images": len(first),
        "judged_images": judged,
        "relevant_images": relevant,
        "precision": relevant / len(first) if first else 0.0,
        **{column: row.values.get(metric) for column, metric in names.items()},
        "failure": row.failure,
    }


def _asked(task: Task) -> dict[str, str]:
    return {"query_id": task.id, "query_text": task.text}


def _first(prediction: Prediction | None, k: int) -> list[str]:
    """The first k pictures, each once, in the order in which they are scored."""
    if prediction is None or isinstance(prediction, Failure) or not isinstance(prediction, Ranking | PictureSet):
        return []
    return list(dict.fromkeys(order_of(prediction)))[:k]


def _label(picture: str, grades: Mapping[str, int], truth: Truth | None) -> int | None:
    """The grade; an exact set leaves nothing unjudged."""
    return grades.get(picture, 0 if isinstance(truth, PictureSet) else None)


def _config(run: Run, k: int) -> Iterator[dict[str, Any]]:
    facts: dict[str, Json] = {
        "benchmark": run.benchmark,
        "benchmark_checksum": run.benchmark_checksum,
        "system": run.system,
        "seed": run.seed,
        "limit": k,
        **{f"parameters.{name}": value for name, value in run.parameters.items()},
        **{f"versions.{name}": version for name, version in run.versions.items()},
    }
    yield from ({"name": name, "value": value} for name, value in facts.items())


def _vectors(options: FormatOptions) -> Mapping[str, Any] | None:
    given = options.extra.get("vectors")
    if given is None:
        return None
    import numpy as np

    try:
        check_zip(Path(given).expanduser())
        with np.load(Path(given).expanduser(), allow_pickle=False) as file:
            return dict(zip(file["ids"].tolist(), file["vectors"], strict=True))
    except (OSError, KeyError, ValueError) as error:
        made = "sightline embed pictures DIR --embedder E --out F.npz"
        raise UserError(f"{given} holds no vectors of pictures: {error}.", f"make them: {made}") from error


FORMATS = {
    "imsearch-eval": Format("imsearch-eval", "imsearch_eval's three CSV files of a run", write=write, writes=(Run,)),
}
