"""A run as lm-eval leaves it: `results_{date}.json` and `samples_{task}_{date}.jsonl`."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Any

from sightline import __version__
from sightline.bench.formats.base import Content, Options
from sightline.bench.formats.replies import reply_text, right_replies, to_exact
from sightline.bench.formats.retrieval import check_options
from sightline.bench.formats.scored_run import OURS, ScoredRun, made_at, picture_place, scored
from sightline.bench.formats.seeds import new_folder
from sightline.io import dump, write_json, write_jsonl
from sightline.types import Attempt, Benchmark, Run, Task

_FILTER = "none"


def write(content: Content, path: Path, options: Options) -> None:
    """Write a folder with the samples and the results of a run."""
    check_options(options, "created")
    assert isinstance(content, Run)
    made = scored(content, options, "a file of lm-eval's samples")
    moment = made_at(options)
    date = moment.replace(tzinfo=None).isoformat(timespec="microseconds").replace(":", "-")
    task = re.sub(r"\W", "_", made.benchmark.name)
    with new_folder(path, f"results_{date}.json") as folder:
        write_jsonl(folder / f"samples_{task}_{date}.jsonl", _samples(made, options))
        write_json(folder / f"results_{date}.json", _results(made, task, moment))


def _samples(made: ScoredRun, options: Options) -> Iterator[dict[str, Any]]:
    """A line for each task that was tried; several attempts are repeats, and its metrics are their means."""
    tried: defaultdict[str, list[Attempt]] = defaultdict(list)
    for attempt in made.run.attempts:
        tried[attempt.task_id].append(attempt)
    values: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in made.scores.tasks:
        for metric, value in row.values.items():
            if value is not None:
                values[row.task_id][metric].append(value)
    for place, task in enumerate(made.benchmark.tasks.values()):
        if task.id in tried:
            means = {metric: fmean(found) for metric, found in values[task.id].items()}
            attempts = sorted(tried[task.id], key=lambda attempt: attempt.number)
            sample = _sample(made.benchmark, task, attempts, options)
            yield {"doc_id": place, **sample, "metrics": list(means), **means}


def _sample(benchmark: Benchmark, task: Task, attempts: list[Attempt], options: Options) -> dict[str, Any]:
    doc = {
        "id": task.id,
        "kind": task.kind,
        "question": task.text,
        "images": [picture_place(benchmark, ref.id, options) for ref in task.pictures],
        "choices": [option.text for option in task.options],
        "labels": {name: list(values) for name, values in task.labels.items()},
    }
    prompt = "".join(part if isinstance(part, str) else "<image>" for part in task.prompt)
    right = right_replies(benchmark.truth.get(task.id))
    target = right[0] if len(right) == 1 else dump(right).decode().strip()
    replies = [reply_text(attempt.prediction) for attempt in attempts]
    return {
        "doc": doc,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {"until": []}}},
        "resps": [replies],
        "filtered_resps": replies[:1],
        "filter": _FILTER,
        "doc_hash": _hash(dump(doc)),
        "prompt_hash": _hash(prompt.encode()),
        "target_hash": _hash(target.encode()),
        OURS: {"attempts": [to_exact(attempt.prediction) for attempt in attempts]},
    }


def _results(made: ScoredRun, task: str, moment: datetime) -> dict[str, Any]:
    """The results over all tasks; the standard error is the interval's half width in standard deviations."""
    run, benchmark, scores = made.run, made.benchmark, made.scores
    found: dict[str, Any] = {"alias": benchmark.name}
    for metric, estimate in scores.overall.items():
        found[f"{metric},{_FILTER}"] = estimate.mean
        deviations = 2 * NormalDist().inv_cdf((1 + estimate.level) / 2)
        found[f"{metric}_stderr,{_FILTER}"] = (estimate.high - estimate.low) / deviations
    count = len(benchmark.tasks)
    seconds = sum(entry.seconds or 0.0 for entry in run.ledger)
    return {
        "results": {task: found},
        "group_subtasks": {task: []},
        "configs": {task: {"task": task, "metric_list": [{"metric": metric} for metric in scores.metrics]}},
        "versions": {task: benchmark.version},
        "n-shot": {task: 0},
        "higher_is_better": {task: {}},
        "n-samples": {task: {"original": count, "effective": count}},
        "config": {"model": run.system, "model_args": dict(run.parameters), "random_seed": run.seed},
        "date": moment.timestamp(),
        "model_source": f"sightline {__version__}",
        "model_name": run.system,
        "model_name_sanitized": re.sub(r"[\"<>:/|\\?*\[\]]+", "__", run.system),
        "total_evaluation_time_seconds": str(seconds),
    }


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
