"""The baseline that learns: everything but content, by models that saw neither the query nor the picture."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sightline.class_names import known_as
from sightline.metrics.scope import Scopes
from sightline.runs.shortcuts.file_facts import read_files
from sightline.runs.shortcuts.report import LearnedShortcut, learn_shortcut
from sightline.runs.systems.base import Outcome, SystemSetting, as_prediction, own_pictures
from sightline.runs.systems.blind import BlindOptions
from sightline.types import Benchmark, Failure, LedgerEntry, Task
from sightline.types.task import FINDING


@known_as("BlindLearned")
class BlindLearned:
    """Ranks by size, bytes, names, order, source, numbers and text columns, as it learned from other queries."""

    kinds = FINDING

    def __init__(self, options: BlindOptions, setting: SystemSetting) -> None:
        self._options, self._setting = options, setting
        self._scopes = Scopes(setting.benchmark.corpus)
        self._ids = np.array(list(setting.benchmark.corpus.pictures), dtype=object)
        self._model: LearnedShortcut | None = None

    def prepare(self) -> Iterable[LedgerEntry]:
        """Read the files and fit the models."""
        setting = self._setting
        files = read_files(setting.benchmark.corpus.pictures, setting.base, setting.session.config)
        self._model = learn_shortcut(replace(setting.benchmark, truth=setting.truth), files, setting.seed)
        return ()

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome | Failure:
        """All pictures within the scope, the likeliest first."""
        assert self._model is not None  # `prepare` comes first.
        ranker = self._model.ranker
        if ranker is None:
            return Failure("not-enough-data", self._model.report.unmeasured or "")
        scores = await asyncio.to_thread(ranker.scores, task)
        allowed, own = self._scopes.pictures(task.scope), own_pictures(task, allowed=False)
        order = (row for row in np.argsort(-scores, kind="stable").tolist() if self._ids[row] not in own)
        found = [
            (str(self._ids[row]), float(scores[row])) for row in order if allowed is None or self._ids[row] in allowed
        ]
        return Outcome(as_prediction(task, found[: self._options.k], self._options.select), usd=0.0)
