"""DISBench's evaluation of a run: one row for each query, a summary in percent, and a row of the leaderboard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sightline.benchmark.formats.dataset_folder import UNLABELLED, label
from sightline.benchmark.formats.disbench_photos import PhotoIds, owner_of
from sightline.benchmark.formats.disbench_runs import run_meta
from sightline.errors import UserError
from sightline.metrics.evaluation import evaluate, within_limit
from sightline.metrics.scores import Scores, TaskScore
from sightline.types import Attempt, Benchmark, Estimate, PictureSet, Ranking, Run

AGENT = {"EM": "em", "F1": "f1", "Precision": "set_precision", "Recall": "set_recall", "IoU": "iou"}
"""What `agent` mode reports, and the metrics behind it."""

RETRIEVER = {
    f"{name}@{k}": f"{metric}@{k}"
    for name, metric in (("MAP", "map_min"), ("Recall", "recall"), ("NDCG", "ndcg"))
    for k in (1, 3, 5, 10)
}
"""What `retriever` mode reports; MAP is normalised by min(k, R), as DISBench's published numbers are."""

EVENT_TYPE = "event_type"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A scored run, in DISBench's terms."""

    mode: str
    scores: Scores
    benchmark: Benchmark
    run: Run

    @property
    def names(self) -> Mapping[str, str]:
        return AGENT if self.mode == "agent" else RETRIEVER

    def samples(self) -> list[dict[str, Any]]:
        """The rows of `eval_samples.jsonl`: the prediction, the answer and the values, 0 to 1, of each attempt."""
        ids = PhotoIds(self.benchmark)
        said = {(attempt.task_id, attempt.number): attempt for attempt in self.run.attempts}
        return [self._sample(row, said.get((row.task_id, row.attempt)), ids) for row in self.scores.tasks]

    def _sample(self, row: TaskScore, attempt: Attempt | None, ids: PhotoIds) -> dict[str, Any]:
        task = self.benchmark.tasks[row.task_id]
        owner, truth = owner_of(task), self.benchmark.truth[task.id]
        answer = truth.pictures if isinstance(truth, PictureSet) else ()
        sample: dict[str, Any] = {
            "query_id": task.id,
            "user_id": owner,
            "event_type": label(task, EVENT_TYPE) or UNLABELLED,
            "prediction": [] if attempt is None else photos(attempt, owner, ids),
            "answer": [ids.photo(owner, picture) for picture in answer],
            **{name: row.values.get(metric) for name, metric in self.names.items()},
            "status": row.status,
        }
        if row.attempt:
            sample["attempt"] = row.attempt
        if row.failure is not None:
            sample["failure"] = row.failure
        if row.outside_scope:
            sample["unknown_ids"] = row.outside_scope
        return sample

    def summary(self) -> dict[str, Any]:
        """The content of `eval_summary.json`: percent, over all queries and by event type, with 95 % intervals."""
        by_type = self.scores.by_label.get(EVENT_TYPE, {})
        return {
            "mode": self.mode,
            "benchmark": self.scores.benchmark,
            "system": self.scores.system,
            "failures": dict(self.scores.failures),
            "unknown_ids": self.scores.outside_scope,
            "overall": self._slice(self.scores.overall),
            "by_event_type": {value: self._slice(estimates) for value, estimates in by_type.items()},
        }

    def _slice(self, estimates: Mapping[str, Estimate]) -> dict[str, Any]:
        found = {name: estimates[metric] for name, metric in self.names.items()}
        first = next(iter(found.values()))
        return {
            "n": first.n,
            "failures": first.failures,
            **{name: percent(estimate.mean, 4) for name, estimate in found.items()},
            "intervals": {name: [percent(one.low, 4), percent(one.high, 4)] for name, one in found.items()},
        }

    def percents(self, event_type: str | None = None) -> tuple[float | None, float | None]:
        """EM and F1 in percent with one decimal, over all queries or those of a type; None where there are none."""
        by_type = self.scores.by_label.get(EVENT_TYPE, {})
        estimates = self.scores.overall if event_type is None else by_type.get(event_type, {})
        if not estimates:
            return None, None
        return percent(estimates["em"].mean, 1), percent(estimates["f1"].mean, 1)


def evaluate_run(benchmark: Benchmark, run: Run, mode: str = "auto") -> Evaluation:
    """Score a run on the select tasks; `auto` is `retriever` when every answer is a ranking.

    A failure or a missing prediction counts as an empty one, and is reported.
    """
    benchmark = within_limit(benchmark, run)
    kept = {task.id: task for task in benchmark.tasks.values() if task.kind == "select" and task.id in benchmark.truth}
    if not kept:
        raise UserError(f'"{benchmark.name}" has no select task.', "DISBench holds select tasks only")
    part = replace(benchmark, tasks=kept, truth={name: benchmark.truth[name] for name in kept})
    attempts = tuple(attempt for attempt in run.attempts if attempt.task_id in kept)
    asked = replace(run, attempts=attempts)
    mode = _usual(asked) if mode == "auto" else mode
    metrics = AGENT if mode == "agent" else RETRIEVER
    return Evaluation(mode, evaluate(part, asked, tuple(metrics.values())), part, asked)


def leaderboard_row(benchmark: Benchmark, run: Run, meta: Mapping[str, str]) -> dict[str, str | float | None]:
    """A row of `leaderboard_data.json`: who, with what, and EM and F1 in percent with one decimal."""
    found, meta = evaluate_run(benchmark, run, "agent"), {**run_meta(run), **meta}
    row: dict[str, str | float | None] = {
        "method": meta["method_name"],
        "url": meta.get("url", ""),
        "org": meta.get("organization", ""),
        "agent": meta.get("agent_framework", ""),
        "backbone": meta.get("backbone_model", ""),
        "retriever": meta.get("retriever_model", ""),
        "track": meta.get("track", ""),
        "date": meta.get("date", ""),
    }
    for name, event_type in (("overall", None), ("intra", "intra-event"), ("inter", "inter-event")):
        row[f"{name}_em"], row[f"{name}_f1"] = found.percents(event_type)
    return row


def photos(attempt: Attempt, owner: str, ids: PhotoIds) -> list[str]:
    """The photo ids that an attempt returned; a failure returned none."""
    said = attempt.prediction
    return [ids.photo(owner, picture) for picture in said.pictures] if isinstance(said, PictureSet | Ranking) else []


def percent(value: float, digits: int) -> float:
    return round(100 * value, digits)


def _usual(run: Run) -> str:
    kinds = {
        type(attempt.prediction) for attempt in run.attempts if isinstance(attempt.prediction, PictureSet | Ranking)
    }
    return "retriever" if kinds == {Ranking} else "agent"
