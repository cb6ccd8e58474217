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

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from sightline.bench.formats.base import Complaints, Format, Imported, Options
from sightline.bench.formats.lm_eval_write import write
from sightline.bench.formats.replies import Attempts, from_exact, read_reply
from sightline.bench.formats.retrieval import check_options, some
from sightline.bench.formats.rows import Row, WrongFieldError, checked, read_rows
from sightline.bench.formats.scored_run import OURS
from sightline.errors import UserError
from sightline.io import read_json
from sightline.types import Attempt, Choice, Failure, Prediction, Run, Task

_NAMES = (
    re.compile(r"samples_(?P<task>.+)_(?P<date>[^_]+)\.jsonl"),
    re.compile(r"(?P<date>.+?)_samples_(?P<task>.+)\.jsonl"),
)
_IDS = ("id", "question_id", "index")
_TRUE_FALSE = ("True", "False", True, False)


@dataclass(frozen=True, slots=True)
class _File:
    """A file of samples, and what its name says."""

    path: Path
    task: str
    date: str


def read(path: Path, options: Options) -> Imported:
    """A run from the samples of one task."""
    check_options(options, "filter", "task")
    complaints = Complaints(options)
    file = _samples_file(path, options.extra.get("task"))
    attempts = Attempts(options, complaints)
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


def _task_id(row: Row, options: Options) -> str:
    """The task of a sample: as the user maps it, as the benchmark knows it, else by its number."""
    doc = row.values.get("doc")
    document: Mapping[str, Any] = doc if isinstance(doc, dict) else {}
    if "id" in options.columns:
        key = options.columns["id"]
        return Row(row.file, row.line, {**row.values, **document}).id(key)
    number = row.id("doc_id")
    if options.benchmark is not None:
        names = [str(document[key]) for key in _IDS if key in document]
        return next((name for name in (*names, number) if name in options.benchmark.tasks), number)
    return number


def _predictions(row: Row, task: Task | None, filtered: bool) -> list[Prediction]:
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
