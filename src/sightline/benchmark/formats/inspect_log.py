"""inspect_ai: a log of an evaluation, as `.eval` (a zip) or `.json`.

| log | here |
|---|---|
| `eval.task`, `eval.model`, `eval.packages` | `Run.benchmark`, `system`, `versions` |
| sample `id`, `epoch` | `Attempt.task_id`, `number` (from 0) |
| sample `output` | `Choice` where there are choices, else by the benchmark's task, else `Text` |
| sample `error`, or no output | `Failure` |
| sample `model_usage`, `total_time` | `Run.ledger` |

A run is written with its benchmark (`--benchmark`): inputs, choices and targets; pictures by their paths; the scores
of each attempt and the estimates over all; failures as errors; what an agent said and did, by
`agent.trajectory_export`. All of a prediction stands in the output's metadata, so nothing of it is lost on the way
back. Of the ledger, image tokens are counted as input, and calls of a task that was tried several times are only in the
totals.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from string import ascii_uppercase
from typing import Any, TypeAlias

from sightline import __version__
from sightline.benchmark.formats.base import Complaints, Content, FormatOptions, Imported
from sightline.benchmark.formats.inspect_documents import (
    HEADER,
    START,
    calls_of,
    open_eval,
    parse,
    sample_document,
    summary_of,
    usage,
    write_eval,
)
from sightline.benchmark.formats.replies import AttemptReader, from_exact, read_reply
from sightline.benchmark.formats.retrieval import check_options
from sightline.benchmark.formats.scored_run import OURS, RunWithScores, made_at, scored
from sightline.errors import READ_AGAIN, UserError, explained
from sightline.io.jsonl import write_json
from sightline.types import Attempt, Estimate, Failure, LedgerEntry, Option, Prediction, Run, Task

_VERSION = 2
_ATTACHED = "attachment://"
_LONGEST = 2000


Conversation: TypeAlias = Callable[[Attempt], Mapping[str, Any]]
"""The `messages`, `events` and `attachments` of a sample; nothing where what was said in between is not known."""


def write(
    content: Content, path: Path, options: FormatOptions, conversation: Conversation = lambda attempt: {}
) -> None:
    """Write a run with its scores: `.eval`, or `.json` if the name says so."""
    check_options(options, "created")
    assert isinstance(content, Run)
    if path.suffix not in (".eval", ".json"):
        raise UserError(f'inspect_ai would not open "{path.name}".', "end the name in .eval or .json")
    log = _Log(scored(content, options, "a log of inspect_ai"), options, conversation)
    if path.suffix == ".json":
        write_json(path, {**log.header, "samples": list(log.samples()), "reductions": log.reductions()})
    else:
        write_eval(path, log.documents())


class _Log:
    """The documents of a log."""

    def __init__(self, made: RunWithScores, options: FormatOptions, conversation: Conversation) -> None:
        self._conversation = conversation
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
            used = {"model_usage": usage(calls), **({"total_time": sum(seconds)} if seconds else {})}
            yield {**sample, **self._conversation(attempt), **used}

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


def read(path: Path, options: FormatOptions) -> Imported:
    """A run from a log."""
    check_options(options)
    complaints = Complaints(options)
    reader = _Reader(path, options, complaints)
    if path.suffix == ".json":
        log = parse(_bytes(path), str(path))
        reader.begin(log)
        for place, sample in enumerate(log.get("samples") or ()):
            reader.add(f"samples.{place}", sample)
    else:
        with open_eval(path) as file:
            reader.begin(file.header())
            for name, sample in file.samples():
                reader.add(name, sample)
    return reader.imported()


def _bytes(path: Path) -> bytes:
    with explained(f"{path} can't be read", READ_AGAIN):
        return path.read_bytes()


class _Reader:
    """The run of a log as its samples are read."""

    def __init__(self, path: Path, options: FormatOptions, complaints: Complaints) -> None:
        self._path = path
        self._complaints = complaints
        self._attempts = AttemptReader(options, complaints)
        self._header: Mapping[str, Any] = {}
        self._ledger: list[LedgerEntry] = []

    def begin(self, header: Any) -> None:
        """Take in what the log says of the whole evaluation."""
        if not isinstance(header, dict) or not isinstance(header.get("eval"), dict):
            raise UserError(f'{self._path} has no "eval".', "is it a log of inspect_ai?")
        self._header = header

    def add(self, where: str, sample: Any) -> None:
        """Take in one sample."""
        if not isinstance(sample, dict) or not isinstance(sample.get("id"), str | int):
            self._complaints.add(self._path, None, f"{where}.id", "expected the sample's id")
            return
        name, epoch = str(sample["id"]), sample.get("epoch", 1)
        if not isinstance(epoch, int) or epoch < 1:
            self._complaints.add(self._path, None, f"{where}.epoch", f"expected a number from 1, got {epoch!r:.60}")
            return
        task = self._attempts.task(name) or _task_of(name, sample.get("choices"))
        attempt = Attempt(name, _prediction(sample, task), epoch - 1)
        if self._attempts.add(attempt, self._path, None, where):
            seconds = sample.get("total_time")
            known = float(seconds) if isinstance(seconds, float | int) and seconds >= 0 else None
            self._ledger += calls_of(name, sample.get("model_usage"), known)

    def imported(self) -> Imported:
        """The run; a log whose samples do not say what they used has its totals in the ledger."""
        spec = self._header["eval"]
        stats = self._header.get("stats")
        total = calls_of(None, stats.get("model_usage")) if isinstance(stats, dict) else []
        made = spec.get("metadata")
        parameters = made.get("parameters") if isinstance(made, dict) else None
        packages = spec.get("packages")
        status = self._header.get("status", "started")
        found = self._attempts.imported(
            system=str(spec.get("model") or "unknown"),
            benchmark=str(spec.get("task") or "unknown"),
            ledger=self._ledger or total,
            parameters=parameters if isinstance(parameters, dict) else {},
            versions={str(name): str(number) for name, number in packages.items()}
            if isinstance(packages, dict)
            else {},
            warnings=() if status == "success" else (f'the evaluation ended with "{status}": samples may be missing',),
        )
        config = spec.get("model_generate_config")
        seed = config.get("seed") if isinstance(config, dict) else None
        assert isinstance(found.content, Run)
        return replace(found, content=replace(found.content, seed=seed if isinstance(seed, int) else None))


def _task_of(name: str, choices: object) -> Task | None:
    """A task that is known only by its choices."""
    if not isinstance(choices, list) or not choices:
        return None
    options = zip(ascii_uppercase, choices, strict=False)
    return Task(name, "choose", (), tuple(Option(key, (str(text),)) for key, text in options))


def _prediction(sample: Mapping[str, Any], task: Task | None) -> Prediction:
    output = sample.get("output")
    output = output if isinstance(output, dict) else {}
    metadata = output.get("metadata")
    exact = from_exact(metadata.get(OURS)) if isinstance(metadata, dict) else None
    if exact is not None:
        return exact
    error = sample.get("error")
    if isinstance(error, dict):
        return Failure("error", str(error.get("message", ""))[:_LONGEST])
    text = _text(output, sample.get("attachments"))
    if text.strip():
        return read_reply(text, task)
    limit = sample.get("limit")
    if isinstance(limit, dict):
        return Failure("limit", f"stopped by the limit on {limit.get('type', 'something')}")
    return Failure("empty", str(output.get("error") or "the model said nothing")[:_LONGEST])


def _text(output: Mapping[str, Any], attachments: object) -> str:
    """The words of the output, wherever the log keeps them."""
    found = output.get("completion")
    if not isinstance(found, str) or not found:
        found = "".join(_said(output.get("choices")))
    if found.startswith(_ATTACHED) and isinstance(attachments, dict):
        return str(attachments.get(found.removeprefix(_ATTACHED), found))
    return found


def _said(choices: object) -> Iterator[str]:
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield from (
            str(part.get("text", "")) for part in content if isinstance(part, dict) and part.get("type") == "text"
        )
