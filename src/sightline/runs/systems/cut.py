"""Rankings of another run, cut into sets: the direct-retrieval baseline for tasks that ask for exactly some pictures.

Where to cut (after how many pictures, or below which score) is tuned on *other* tasks: those of other owners, or of
other folds where the tasks have no owners, so that no task helps to choose its own cut.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sightline.errors import UserError
from sightline.runs.folder import ATTEMPTS, read_run
from sightline.runs.systems.base import Kind, Options, Outcome, SystemSetting, attempt_number
from sightline.types import Attempt, Benchmark, Failure, Json, PictureSet, Ranking, Run, Task, Truth
from sightline.types.task import FINDING

_MOST_CANDIDATES = 400
"""Cut-offs that are tried."""


class CutOptions(Options):
    """Whose rankings; cut after `k` pictures or below a `score`; in how many folds, where tasks have no owners."""

    run: str
    by: Literal["k", "score"] = "k"
    folds: Annotated[int, Field(ge=2)] = 10


@dataclass(frozen=True, slots=True)
class CutRanking:
    """A ranking beside its truth."""

    task: str
    pictures: tuple[str, ...]
    scores: tuple[float, ...] | None
    true: frozenset[str]

    def keeps(self, cuts: NDArray[np.float64], by: str) -> NDArray[np.int64]:
        """How many pictures each cut leaves."""
        if by == "k":
            return np.minimum(cuts, len(self.pictures)).astype(np.int64)
        scores = np.asarray(self.scores, np.float64)
        return np.array([np.count_nonzero(scores >= cut) for cut in cuts], np.int64)

    def f1(self, cuts: NDArray[np.float64], by: str) -> NDArray[np.float64]:
        """2 · right / (kept + true) at each cut; nothing kept of nothing is 1."""
        right = np.concatenate(([0], np.cumsum([picture in self.true for picture in self.pictures])))
        kept = self.keeps(cuts, by)
        whole = kept + len(self.true)
        return np.divide(2.0 * right[kept], whole, out=np.ones(len(cuts)), where=whole > 0)


class Cut:
    """The rankings of a run, those of select tasks as sets; rank tasks stay as they are."""

    kinds = FINDING

    def __init__(self, options: CutOptions, setting: SystemSetting) -> None:
        self._options = options
        folder = Path(options.run).expanduser()
        self._source = _checked(read_run(folder), setting.benchmark, folder)
        self._digest = hashlib.sha256((folder / ATTEMPTS.name).read_bytes()).hexdigest()
        self._said = {(attempt.task_id, attempt.number): attempt.prediction for attempt in self._source.attempts}
        self.name = f"{self._source.system} cut by {options.by}"
        folds = folds_of(setting.benchmark.tasks, options.folds)
        self.cuts = fit(_ranked(self._source.attempts, setting.truth, options.by), folds, options.by)

    @property
    def parameters(self) -> dict[str, Json]:
        """Whose rankings they are, down to the last byte."""
        of: dict[str, Json] = {"system": self._source.system, "parameters": dict(self._source.parameters)}
        return {"cut_of": of, "predictions_sha256": self._digest}

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome:
        """The task's ranking as far as the cut that other tasks chose."""
        said = self._said.get((task.id, attempt_number()), self._said.get((task.id, 0)))
        if said is None:
            return Outcome(Failure("missing", "the run that is cut has no prediction for this task"), usd=0.0)
        if task.kind != "select" or not isinstance(said, Ranking):
            return Outcome(said, usd=0.0)  # A failure stays one, and a set is cut already.
        cut = self.cuts.get(task.id)
        if cut is None:
            return Outcome(Failure("no-cut", "no task of another owner or fold has a truth to go by"), usd=0.0)
        if self._options.by == "score":
            _refuse_unordered(task.id, said)
        one = CutRanking(task.id, said.pictures, said.scores, frozenset())
        kept = int(one.keeps(np.array([cut]), self._options.by)[0])
        return Outcome(PictureSet(said.pictures[:kept]), usd=0.0)


def fit(ranked: Sequence[CutRanking], folds: Mapping[str, str], by: str) -> dict[str, float]:
    """By task the cut with the highest mean F1 over all tasks of other folds; of equal ones the smaller set."""
    if not ranked:
        return {}
    cuts = _candidates(ranked, by)
    values = np.stack([one.f1(cuts, by) for one in ranked])
    names = np.array([folds.get(one.task, one.task) for one in ranked])
    chosen: dict[str, float] = {}
    for fold in dict.fromkeys([*folds.values(), *names.tolist()]):
        others = values[names != fold]
        if len(others):
            chosen[fold] = float(cuts[int(np.argmax(others.mean(axis=0)))])
    return {task: chosen[fold] for task, fold in folds.items() if fold in chosen}


def folds_of(tasks: Mapping[str, Task], count: int) -> dict[str, str]:
    """The owner of each select task, where there are several; else folds of neighbouring tasks by turns."""
    selects = [task for task in tasks.values() if task.kind == "select"]
    owners = {task.id: task.scope.owner for task in selects}
    if len({owner for owner in owners.values() if owner is not None}) > 1:
        return {task: f"owner {owner}" for task, owner in owners.items()}
    return {task.id: f"fold {place % count}" for place, task in enumerate(selects)}


def _candidates(ranked: Sequence[CutRanking], by: str) -> NDArray[np.float64]:
    """Cuts to try, those that keep least first, so that `argmax` takes the smaller of equals."""
    if by == "k":
        return np.arange(max(len(one.pictures) for one in ranked) + 1, dtype=np.float64)
    scores = np.unique(np.concatenate([np.asarray(one.scores, np.float64) for one in ranked]))
    if len(scores) > _MOST_CANDIDATES:
        scores = np.unique(np.quantile(scores, np.linspace(0, 1, _MOST_CANDIDATES)))
    return np.concatenate(([np.inf], scores[::-1]))


def _ranked(attempts: Sequence[Attempt], truth: Mapping[str, Truth], by: str) -> list[CutRanking]:
    found = []
    for attempt in attempts:
        said, true = attempt.prediction, truth.get(attempt.task_id)
        if attempt.number or not isinstance(said, Ranking) or not isinstance(true, PictureSet):
            continue
        if by == "score":
            _refuse_unordered(attempt.task_id, said)
        found.append(CutRanking(attempt.task_id, said.pictures, said.scores, frozenset(true.pictures)))
    return found


def _refuse_unordered(task: str, said: Ranking) -> None:
    """Below a score is after a place only where scores fall; those of distances rise."""
    if said.scores is None:
        raise UserError(
            f'the ranking of task "{task}" has no scores, or had some that do not fall.', "cut by k: cut:run=…,by=k"
        )
    if any(after > before for before, after in pairwise(said.scores)):
        raise UserError(
            f'the scores of task "{task}" do not fall from place to place; distances are not scores.',
            "cut by k: cut:run=…,by=k",
        )


def _checked(run: Run, benchmark: Benchmark, folder: Path) -> Run:
    if run.benchmark != benchmark.name or not benchmark.is_version(run.benchmark_checksum):
        raise UserError(
            f"{folder} was run on another benchmark, or on another version of it.", "name a run on this one"
        )
    return run


KINDS = {"cut": Kind("cut", "rankings of another run as sets, cut where other tasks say", CutOptions, Cut)}
