"""A run as a log of inspect_ai."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from sightline import __version__
from sightline.bench.formats.base import Content, Options
from sightline.bench.formats.inspect_sample import sample_document, summary_of, usage
from sightline.bench.formats.inspect_zip import HEADER, START, write_eval
from sightline.bench.formats.retrieval import check_options
from sightline.bench.formats.scored_run import ScoredRun, made_at, scored
from sightline.errors import UserError
from sightline.io import write_json
from sightline.types import Estimate, LedgerEntry, Run

_VERSION = 2


def write(content: Content, path: Path, options: Options) -> None:
    """Write a run with its scores: `.eval`, or `.json` if the name says so."""
    check_options(options, "created")
    assert isinstance(content, Run)
    if path.suffix not in (".eval", ".json"):
        raise UserError(f'inspect_ai would not open "{path.name}".', "end the name in .eval or .json")
    log = _Log(scored(content, options, "a log of inspect_ai"), options)
    if path.suffix == ".json":
        write_json(path, {**log.header, "samples": list(log.samples()), "reductions": log.reductions()})
    else:
        write_eval(path, log.documents())


class _Log:
    """The documents of a log."""

    def __init__(self, made: ScoredRun, options: Options) -> None:
        self._run = made.run
        self._benchmark = made.benchmark
        self._scores = made.scores
        self._options = options
        self._created = made_at(options).isoformat()

    def documents(self) -> Iterator[tuple[str, Any]]:
        """The documents of an `.eval` file in the order in which inspect_ai writes them."""
        yield START, {name: self.header[name] for name in ("version", "eval", "plan")}
        summaries = []
        for sample in self.samples():
            yield f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample
            summaries.append(summary_of(sample))
        yield "summaries.json", summaries
        yield "reductions.json", self.reductions()
        yield HEADER, self.header

    def samples(self) -> Iterator[dict[str, Any]]:
        """A sample for each attempt; a task's usage stands where it was tried once, as the ledger knows tasks only."""
        rows = {(row.task_id, row.attempt): row for row in self._scores.tasks}
        times = Counter(attempt.task_id for attempt in self._run.attempts)
        ledger: defaultdict[str | None, list[LedgerEntry]] = defaultdict(list)
        for entry in self._run.ledger:
            ledger[entry.task_id].append(entry)
        for attempt in self._run.attempts:
            calls = ledger[attempt.task_id] if times[attempt.task_id] == 1 else []
            row = rows[attempt.task_id, attempt.number]
            sample = sample_document(self._benchmark, self._run.system, attempt, row, self._options)
            seconds = [entry.seconds for entry in calls if entry.seconds is not None]
            yield {**sample, "model_usage": usage(calls), **({"total_time": sum(seconds)} if seconds else {})}

    def reductions(self) -> list[dict[str, Any]]:
        """The mean of each task's attempts, by metric."""
        found = []
        for metric in self._scores.metrics:
            values: defaultdict[str, list[float]] = defaultdict(list)
            for row in self._scores.tasks:
                value = row.values.get(metric)
                if value is not None and row.status != "missing":
                    values[row.task_id].append(value)
            means = [{"sample_id": task, "value": sum(of_task) / len(of_task)} for task, of_task in values.items()]
            found.append({"scorer": metric, "reducer": "mean", "samples": means})
        return found

    @cached_property
    def header(self) -> dict[str, Any]:
        """What is true of the whole run."""
        names = [self._run.system, self._benchmark.name, self._benchmark.checksum or "", self._created]
        digest = hashlib.sha256("\0".join(names).encode()).hexdigest()
        tasks = list(self._benchmark.tasks)
        answered = sum(row.status == "answered" for row in self._scores.tasks)
        epochs = max((attempt.number for attempt in self._run.attempts), default=0) + 1
        return {
            "version": _VERSION,
            "status": "success",
            "eval": {
                "eval_id": digest[:22],
                "run_id": digest[22:44],
                "task_id": digest[42:64],
                "created": self._created,
                "task": self._benchmark.name,
                "task_version": self._benchmark.version,
                "dataset": {
                    "name": self._benchmark.name,
                    "samples": len(tasks),
                    "sample_ids": tasks,
                    "shuffled": False,
                },
                "model": self._run.system,
                "model_generate_config": {} if self._run.seed is None else {"seed": self._run.seed},
                "config": {"epochs": epochs, "epochs_reducer": ["mean"]},
                "packages": {"sightline": __version__, **self._run.versions},
                "metadata": {
                    "benchmark_checksum": self._benchmark.checksum,
                    "parameters": dict(self._run.parameters),
                    "limits": dict(self._run.limits),
                    "notes": list(self._scores.notes),
                },
                "scorers": [{"name": metric} for metric in self._scores.metrics],
            },
            "plan": {"name": "plan", "steps": [{"solver": self._run.system}]},
            "results": {
                "total_samples": len(tasks) * epochs,
                "completed_samples": answered,
                "scores": [_score(metric, estimate) for metric, estimate in self._scores.overall.items()],
            },
            "stats": {
                "started_at": self._created,
                "completed_at": self._created,
                "model_usage": usage(self._run.ledger),
            },
        }


def _score(metric: str, estimate: Estimate) -> dict[str, Any]:
    """A metric's estimate: mean and interval as inspect_ai's metrics, the rest as metadata."""
    facts = asdict(estimate)
    shown = {name: {"name": name, "value": facts.pop(name)} for name in ("mean", "low", "high")}
    return {"name": metric, "scorer": metric, "scored_samples": estimate.n, "metrics": shown, "metadata": facts}
