"""What each metric is given for each task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sightline.score import registry
from sightline.score.context import Context
from sightline.score.registry import Metric
from sightline.score.scope import Scopes
from sightline.score.text import TextMetric, document_frequencies
from sightline.types import Benchmark, Task, Text, Trace, Traces

# CIDEr looks at n-grams of up to four words.
_LONGEST = 4


class Contexts:
    """The given context with the task, its scope and, for texts, the word frequencies of all references."""

    def __init__(self, benchmark: Benchmark, given: Context, metrics: Iterable[str]) -> None:
        self._given = given
        self._truth = benchmark.truth
        self._scopes = Scopes(benchmark.corpus)
        self._order = _LONGEST if any(registry.parse_name(name).base == "cider" for name in metrics) else 1
        self._by_part: dict[str, Context] = {}

    def of(self, task: Task, metric: Metric) -> Context:
        """The context of one metric for one task."""
        given = self.of_texts(metric) if isinstance(metric, TextMetric) else self._given
        return replace(given, task=task, scope=self.scope(task))

    def of_texts(self, metric: TextMetric) -> Context:
        """The context of a text metric, whatever the task: frequencies are those of the part that it looks at."""
        if self._given.idf is not None:
            return self._given
        if metric.part not in self._by_part:
            texts = [references_with(truth, metric.part) for truth in self._truth.values() if isinstance(truth, Traces)]
            items = [item for item in texts if item]
            counted = document_frequencies(items, self._order) if items else None
            self._by_part[metric.part] = replace(self._given, idf=counted)
        return self._by_part[metric.part]

    def scope(self, task: Task) -> frozenset[str] | None:
        """The ids that may be returned for a task; None when any may."""
        return self._scopes.pictures(task.scope)


def part_of(said: Trace | Text, part: str) -> str:
    """The half of a trace that a text metric looks at; plain text is all answer."""
    if isinstance(said, Text):
        return said.text if part == "answer" else ""
    return said.answer if part == "answer" else said.thinking


def references_with(truth: Traces, part: str) -> list[str]:
    """The references of a task that have that part."""
    texts = [part_of(trace, part) for trace in truth.references]
    return [text for text in texts if text.strip()]
