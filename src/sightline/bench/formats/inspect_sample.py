"""One attempt as a sample of an inspect_ai log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sightline.bench.formats.base import Options
from sightline.bench.formats.replies import reply_text, right_replies, to_exact
from sightline.bench.formats.scored_run import OURS, picture_place
from sightline.score.scores import TaskScore
from sightline.types import Attempt, Benchmark, Failure, LedgerEntry, Option, Part

_COUNTS = ("input_tokens", "output_tokens", "total_tokens", "input_tokens_cache_read", "reasoning_tokens")


def sample_document(
    benchmark: Benchmark, system: str, attempt: Attempt, row: TaskScore, options: Options
) -> dict[str, Any]:
    """The sample: what was asked, what was said, and its scores; pictures stand by their paths."""
    task = benchmark.tasks[attempt.task_id]
    asked = {"role": "user", "content": _content(task.prompt, benchmark, options)}
    failure = attempt.prediction if isinstance(attempt.prediction, Failure) else None
    text = reply_text(attempt.prediction)
    reply = {"role": "assistant", "content": text, "model": system, "source": "generate"}
    choices = [] if failure else [{"message": reply, "stop_reason": "stop"}]
    target = right_replies(benchmark.truth.get(task.id))
    sample = {
        "id": task.id,
        "epoch": attempt.number + 1,
        "input": [asked] if task.pictures else task.text,
        "target": target[0] if len(target) == 1 else target,
        "messages": [asked, *([] if failure else [reply])],
        "output": {
            "model": system,
            "choices": choices,
            "completion": text,
            "metadata": {OURS: to_exact(attempt.prediction)},
        },
        "scores": {
            metric: {"value": value, "answer": text} for metric, value in row.values.items() if value is not None
        },
        "metadata": {
            "kind": task.kind,
            **{name: values[0] if len(values) == 1 else list(values) for name, values in task.labels.items()},
        },
    }
    if task.options:
        sample["choices"] = [_option(option) for option in task.options]
    if failure:
        sample["error"] = {"message": f"{failure.kind}: {failure.message}", "traceback": "", "traceback_ansi": ""}
    return sample


def summary_of(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The line of a sample in the log's list."""
    kept = ("id", "epoch", "choices", "target", "metadata", "scores", "model_usage", "total_time")
    question = sample["input"]
    return {
        **{name: sample[name] for name in kept if name in sample},
        "input": question if isinstance(question, str) else _words(question[0]["content"]),
        **({"error": sample["error"]["message"]} if "error" in sample else {}),
        "completed": True,
        "message_count": len(sample["messages"]),
    }


def usage(calls: Iterable[LedgerEntry]) -> dict[str, Any]:
    """Tokens and money by model; pictures are input, and reasoning is part of the output."""
    found: dict[str, dict[str, Any]] = {}
    for call in calls:
        known = found.setdefault(call.model, dict.fromkeys(_COUNTS, 0))
        known["input_tokens"] += call.tokens_in + call.tokens_image
        known["input_tokens_cache_read"] += call.tokens_cached
        known["output_tokens"] += call.tokens_out + call.tokens_reasoning
        known["reasoning_tokens"] += call.tokens_reasoning
        known["total_tokens"] = known["input_tokens"] + known["input_tokens_cache_read"] + known["output_tokens"]
        if call.usd is not None:
            known["total_cost"] = known.get("total_cost", 0.0) + call.usd
    return found


def calls_of(task: str | None, used: object, seconds: float | None = None) -> list[LedgerEntry]:
    """The inverse of `usage`: an entry for each model; the time stands with the first."""
    entries: list[LedgerEntry] = []
    for model, counts in used.items() if isinstance(used, dict) else ():
        if not isinstance(counts, dict):
            continue
        reasoning, written = _count(counts, "reasoning_tokens"), _count(counts, "input_tokens_cache_write")
        cost = counts.get("total_cost")
        entries.append(
            LedgerEntry(
                stage="run",
                model=str(model) or "unknown",
                task_id=task,
                tokens_in=_count(counts, "input_tokens") + written,
                tokens_cached=_count(counts, "input_tokens_cache_read"),
                tokens_out=max(0, _count(counts, "output_tokens") - reasoning),
                tokens_reasoning=reasoning,
                usd=cost if isinstance(cost, float | int) and cost >= 0 else None,
                seconds=None if entries else seconds,
            )
        )
    return entries


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) and value >= 0 else 0


def _content(parts: Iterable[Part], benchmark: Benchmark, options: Options) -> list[dict[str, str]]:
    return [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image", "image": picture_place(benchmark, part.id, options)}
        for part in parts
    ]


def _option(option: Option) -> str:
    return "".join(part if isinstance(part, str) else f"[{part.id}]" for part in option.content)


def _words(content: Iterable[Mapping[str, str]]) -> str:
    return "".join(part["text"] if part["type"] == "text" else "(Image)" for part in content)
