"""lm-eval and lmms-eval: the samples of a task as JSON lines (`--log_samples`), beside the results of a run.

| sample | here |
|---|---|
| `doc_id`; with a benchmark the first of `doc.id`, `doc.question_id`, `doc.index`, `doc_id` that it knows | `task_id` |
| `resps` (or, where lmms-eval leaves it out, `filtered_resps`): a text for each repeat | what it says to the task |
| `resps`: log-likelihoods of the choices | `Choice` of the likeliest |
| `results_{date}.json`: `model_name` | `Run.system` |

`--map id=KEY` names another key of the document; `--option filter=NAME` takes the replies as that filter left them,
`--option task=NAME` one task of a folder. A run is written with its benchmark (`--benchmark`): documents, targets,
replies, the metrics of each task, and the results over all. All of a prediction stands under `sightline`.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import NormalDist, fmean
from string import ascii_uppercase
from typing import Any

from sightline import __version__
from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.dataset_folder import new_folder
from sightline.benchmark.formats.replies import (
    AttemptReader,
    from_exact,
    read_reply,
    reply_text,
    right_replies,
    to_exact,
)
from sightline.benchmark.formats.retrieval import check_options, some
from sightline.benchmark.formats.rows import TableRow, WrongFieldError, checked, read_rows
from sightline.benchmark.formats.scored_run import OURS, RunWithScores, made_at, picture_place, scored
from sightline.errors import UserError
from sightline.io.jsonl import dump, read_json, write_json, write_jsonl
from sightline.types import Attempt, Benchmark, Choice, Failure, Prediction, Run, Task

_FILTER = "none"
_NAMES = (
    re.compile(r"samples_(?P<task>.+)_(?P<date>[^_]+)\.jsonl"),
    re.compile(r"(?P<date>.+?)_samples_(?P<task>.+)\.jsonl"),
)
_IDS = ("id", "question_id", "index")
_TRUE_FALSE = ("True", "False", True, False)


def write(content: Content, path: Path, options: FormatOptions) -> None:
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


def _samples(made: RunWithScores, options: FormatOptions) -> Iterator[dict[str, Any]]:
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


def _sample(benchmark: Benchmark, task: Task, attempts: list[Attempt], options: FormatOptions) -> dict[str, Any]:
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


def _results(made: RunWithScores, task: str, moment: datetime) -> dict[str, Any]:
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


@dataclass(frozen=True, slots=True)
class _File:
    """A file of samples, and what its name says."""

    path: Path
    task: str
    date: str


def read(path: Path, options: FormatOptions) -> Imported:
    """A run from the samples of one task."""
    check_options(options, "filter", "task")
    complaints = Complaints(options)
    file = _samples_file(path, options.extra.get("task"))
    attempts = AttemptReader(options, complaints)
    filters: dict[str, None] = {}
    wanted = options.extra.get("filter")
    for row in read_rows(file.path, complaints):
        name = row.values.get("filter")  # lmms-eval does not write it.
        if isinstance(name, str):
            filters[name] = None
            if name != (next(iter(filters)) if wanted is None else wanted):
                continue
        with checked(row, complaints):
            task = _task_id(row, options)
            for number, prediction in enumerate(_predictions(row, attempts.task(task), wanted is not None)):
                attempts.add(Attempt(task, prediction, number), file.path, row.line, "doc_id")
    if wanted is not None and wanted not in filters:
        raise UserError(f'{file.path} has no filter "{wanted}".', f"choose from: {', '.join(filters)}")
    warnings = [f"there are several filters ({some(list(filters))}); replies are taken as they were, before any"]
    return attempts.imported(
        system=_system(file), benchmark=file.task, warnings=warnings if wanted is None and len(filters) > 1 else ()
    )


def _samples_file(path: Path, wanted: str | None) -> _File:
    if path.is_file():
        return _named(path) or _File(path, path.stem, "")
    found = [file for file in map(_named, sorted(path.rglob("*.jsonl"))) if file is not None]
    tasks = sorted({file.task for file in found})
    chosen = wanted or (tasks[0] if len(tasks) == 1 else None)
    if not found:
        raise UserError(f"{path} has no samples_*.jsonl.", "evaluate with --log_samples")
    if chosen not in tasks:
        said = "has samples of several tasks" if wanted is None else f'has no samples of "{wanted}"'
        raise UserError(f"{path} {said}.", f"choose with --option task=: {', '.join(tasks)}")
    return max((file for file in found if file.task == chosen), key=lambda file: file.date)


def _named(path: Path) -> _File | None:
    found = next((match for name in _NAMES if (match := name.fullmatch(path.name))), None)
    return None if found is None else _File(path, found["task"], found["date"])


def _system(file: _File) -> str:
    """The model that the results beside the samples name, else the folder, which is called after it."""
    for name in (f"results_{file.date}.json", f"{file.date}_results.json"):
        beside = file.path.with_name(name)
        if file.date and beside.is_file():
            match read_json(beside):
                case {"model_name": str(model)} | {"config": {"model": str(model)}} if model:
                    return model
    return file.path.absolute().parent.name or file.path.stem


def _task_id(row: TableRow, options: FormatOptions) -> str:
    """The task of a sample: as the user maps it, as the benchmark knows it, else by its number."""
    doc = row.values.get("doc")
    document: Mapping[str, Any] = doc if isinstance(doc, dict) else {}
    if "id" in options.columns:
        key = options.columns["id"]
        return TableRow(row.file, row.line, {**row.values, **document}).id(key)
    number = row.id("doc_id")
    if options.benchmark is not None:
        names = [str(document[key]) for key in _IDS if key in document]
        return next((name for name in (*names, number) if name in options.benchmark.tasks), number)
    return number


def _predictions(row: TableRow, task: Task | None, filtered: bool) -> list[Prediction]:
    ours = row.values.get(OURS)
    exact = [from_exact(value) for value in ours.get("attempts") or ()] if isinstance(ours, dict) else []
    known = [prediction for prediction in exact if prediction is not None]
    if known and len(known) == len(exact) and not filtered:
        return known
    field = "filtered_resps" if filtered or "resps" not in row else "resps"
    value = row.values.get(field)
    scores = _likelihoods(value)
    if scores is not None:
        return [_likeliest(scores, task, field)]
    texts = _texts(value)
    if texts is None:
        raise WrongFieldError(field, f"expected replies or log-likelihoods, got {value!r:.60}")
    return [read_reply(text, task) if text.strip() else Failure("empty", "the model said nothing") for text in texts]


def _texts(value: object) -> list[str] | None:
    """The repeats of one request, however deep they lie."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not value:
        return None
    if len(value) == 1:
        return _texts(value[0])
    return [str(text) for text in value] if all(isinstance(text, str) for text in value) else None


def _likelihoods(value: object) -> list[float] | None:
    """The log-likelihood of each choice; None if these are not such pairs."""
    if not isinstance(value, list) or len(value) < 2:
        return None
    found = [_likelihood(item) for item in value]
    known = [score for score in found if score is not None]
    return known if len(known) == len(found) else None


def _likelihood(item: object) -> float | None:
    """`[-1.5, True]`, also as texts and inside other lists."""
    while isinstance(item, list) and len(item) == 1:
        item = item[0]
    if not isinstance(item, list) or len(item) != 2 or item[1] not in _TRUE_FALSE:
        return None
    try:
        score = float(item[0])
    except (TypeError, ValueError):
        return None
    return None if math.isnan(score) else score


def _likeliest(scores: Sequence[float], task: Task | None, field: str) -> Choice:
    keys = [option.key for option in task.options] if task is not None and task.options else list(ascii_uppercase)
    if len(scores) > len(keys) or (task is not None and task.options and len(scores) != len(keys)):
        raise WrongFieldError(field, f"expected {len(keys)} log-likelihoods, one for each option, got {len(scores)}")
    return Choice(keys[max(range(len(scores)), key=lambda place: scores[place])])


FORMATS = {
    "lm-eval": Format("lm-eval", "lm-eval (and lmms-eval) samples with results", read, write, writes=(Run,)),
}
