"""Verdicts on disk while they are made; one label from several judges, and how far the judges agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, ValidationError

from sightline.authoring import project as files
from sightline.authoring.project import Project
from sightline.authoring.project_files import GrowingFile, first_problem, read_growing
from sightline.io.jsonl import dump, write_jsonl
from sightline.metrics.agreement import AgreementMeasure, cohen_kappa, krippendorff_alpha, percent_agreement
from sightline.types import Failure, Judgment

_AGAIN = "it is judged again"
GOOD_ALPHA = 0.667
"""Judges of a lower Krippendorff's alpha agree little."""
Pair = tuple[str, str]
Text: TypeAlias = Annotated[str, Field(min_length=1)]
_RESAMPLES = 2000
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """What one judge said of one picture: where it stood among how many, when, and under which questions (`key`).

    `counts` is False for one that the labels were not made from: of a former panel, pool or wording.
    """

    task: Text
    picture: Text
    judge: Text
    grade: Annotated[int, Field(ge=0)]
    confidence: float | None = None
    reason: str | None = None
    place: int | None = None
    shown: int | None = None
    at: float | None = None
    key: str = ""
    counts: bool = True

    def to_judgment(self) -> Judgment:
        """As a benchmark keeps it."""
        return Judgment(self.task, self.picture, self.judge, self.grade, self.confidence, self.reason)


_ROW = TypeAdapter(JudgeVerdict)


def read_verdict(row: object) -> JudgeVerdict:
    """One row; raises `ValueError` with what was expected."""
    if not isinstance(row, dict):
        raise ValueError("expected one JSON object")
    try:
        return _ROW.validate_json(dump(row), strict=True)
    except ValidationError as error:
        raise ValueError(first_problem(error)) from None


def read_verdicts(path: Path) -> tuple[list[JudgeVerdict], list[str]]:
    """The verdicts of a file in their order, and a warning for a last line that is cut off."""
    return read_growing(path, read_verdict, _AGAIN)


class VerdictStore(GrowingFile):
    """The verdicts of a project, taken group by group while they are made.

    Those that are no longer asked for (another panel, another pool) stay in the file: they were paid for.
    """

    def __init__(self, project: Project) -> None:
        super().__init__(project, files.VERDICTS)
        self._found: dict[tuple[str, str, str], JudgeVerdict] = {}
        self._add(self._earlier(read_verdict, _AGAIN))

    def get(self, task: str, picture: str, judge: str, key: str) -> JudgeVerdict | None:
        """The verdict, if it holds: the same questions about the same words and bytes, or written by hand."""
        known = self._found.get((task, picture, judge))
        return known if known is not None and known.key in (key, "") else None

    def add(self, verdicts: Iterable[JudgeVerdict]) -> None:
        """New verdicts."""
        new = list(verdicts)
        self._append(b"".join(dump(asdict(verdict)) for verdict in new))
        self._add(new)

    def mark(self, counted: Iterable[JudgeVerdict]) -> None:
        """Write down which verdicts the labels were made from."""
        used = {_who(verdict) for verdict in counted}
        self._found = {who: replace(verdict, counts=who in used) for who, verdict in self._found.items()}
        self._write()

    def fail(self, task: str, judge: str, picture: str, failure: Failure) -> None:
        """No verdict, and why."""
        about = {"task": task, "picture": picture, "judge": judge}
        self._failures[task, picture, judge] = about | {"kind": failure.kind, "error": failure.message}

    def _add(self, verdicts: Iterable[JudgeVerdict]) -> None:
        for verdict in verdicts:
            self._found.pop(_who(verdict), None)  # The order of the file is that of the judging.
            self._found[_who(verdict)] = verdict

    def _write(self) -> None:
        write_jsonl(self.path, (asdict(verdict) for verdict in self._found.values()))


def _who(verdict: JudgeVerdict) -> tuple[str, str, str]:
    return verdict.task, verdict.picture, verdict.judge


@dataclass(frozen=True, slots=True)
class Label:
    """What counts of all that was said of one picture; `confidence` is the mean of those who gave one."""

    grade: int
    confidence: float | None
    judges: int

    @property
    def is_relevant(self) -> bool:
        return self.grade > 0


def label_of(verdicts: Sequence[JudgeVerdict]) -> Label:
    """The median of the grades; between two of them the lower, so that a tie is never called relevant."""
    grades = sorted(verdict.grade for verdict in verdicts)
    sure = [verdict.confidence for verdict in verdicts if verdict.confidence is not None]
    confidence = round(sum(sure) / len(sure), 3) if sure else None
    return Label(grades[(len(grades) - 1) // 2], confidence, len({verdict.judge for verdict in verdicts}))


def by_pair(verdicts: Iterable[JudgeVerdict]) -> dict[Pair, list[JudgeVerdict]]:
    """Verdicts by query and picture."""
    found: dict[Pair, list[JudgeVerdict]] = defaultdict(list)
    for verdict in verdicts:
        found[verdict.task, verdict.picture].append(verdict)
    return dict(found)


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How far the judges of a panel agree, over `items` that two or more of them judged.

    `alpha` is Krippendorff's, with squared distances between grades, and an interval by resampling queries; `pairs`
    holds percent agreement and Cohen's κ (quadratic weights) of each two judges.
    """

    judges: tuple[str, ...]
    items: int
    alpha: AgreementMeasure
    pairs: Mapping[tuple[str, str], tuple[float | None, float | None]]
    relevant: Mapping[str, float]
    "The share of pictures that each judge calls relevant."
    level: float = _LEVEL


def agreement(verdicts: Sequence[JudgeVerdict], *, seed: int = 0) -> JudgeAgreement:
    """Of all verdicts of a panel; of one judge alone, only how often it says relevant."""
    judges = tuple(dict.fromkeys(verdict.judge for verdict in verdicts))
    pairs = list(dict.fromkeys((verdict.task, verdict.picture) for verdict in verdicts))
    column = {pair: at for at, pair in enumerate(pairs)}
    ratings: dict[str, list[int | None]] = {judge: [None] * len(pairs) for judge in judges}
    for verdict in verdicts:
        ratings[verdict.judge][column[verdict.task, verdict.picture]] = verdict.grade
    rows = list(ratings.values())
    said = Counter(verdict.judge for verdict in verdicts)
    relevant = Counter(verdict.judge for verdict in verdicts if verdict.grade > 0)
    return JudgeAgreement(
        judges,
        sum(sum(row[at] is not None for row in rows) > 1 for at in range(len(pairs))),
        _alpha(rows, [task for task, _ in pairs], seed),
        {
            (one, other): (
                percent_agreement(ratings[one], ratings[other]),
                cohen_kappa(ratings[one], ratings[other], quadratic=True),
            )
            for one, other in combinations(judges, 2)
        },
        {judge: relevant[judge] / said[judge] for judge in judges},
    )


def _alpha(rows: Sequence[Sequence[int | None]], tasks: Sequence[str], seed: int) -> AgreementMeasure:
    value = krippendorff_alpha(rows, "interval") if len(rows) > 1 else None
    if value is None:
        return AgreementMeasure(None)
    tables = coincidences(rows, tasks)
    rng = np.random.default_rng(seed)
    if len(tables) < 2:
        return AgreementMeasure(value)
    picks = rng.integers(len(tables), size=(_RESAMPLES, len(tables)))
    drawn = np.stack([np.bincount(pick, minlength=len(tables)) for pick in picks])
    found = alphas(np.einsum("rt,tcd->rcd", drawn.astype(np.float64), tables))
    defined = found[np.isfinite(found)]
    if len(defined) <= _RESAMPLES // 2:
        return AgreementMeasure(value)
    low, high = np.quantile(defined, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return AgreementMeasure(value, float(low), float(high))


def coincidences(rows: Sequence[Sequence[int | None]], tasks: Sequence[str]) -> NDArray[np.float64]:
    """For each task the table of grades that its pictures' judges pair, each picture weighing as its ratings."""
    table = np.array([[-1 if grade is None else grade for grade in row] for row in rows])
    counts = np.stack([(table == grade).sum(axis=0) for grade in range(int(table.max()) + 1)], axis=1).astype(float)
    several = counts.sum(axis=1) > 1
    weights = np.divide(1.0, counts.sum(axis=1) - 1, out=np.zeros(len(counts)), where=several)
    found = np.einsum("ic,id,i->icd", counts, counts, weights)
    diagonal = np.arange(counts.shape[1])
    found[:, diagonal, diagonal] -= counts * weights[:, None]
    _, at = np.unique(np.array(tasks), return_inverse=True)
    summed = np.zeros((int(at.max()) + 1, *found.shape[1:]))
    np.add.at(summed, at, found)
    return summed


def alphas(tables: NDArray[np.float64]) -> NDArray[np.float64]:
    """α = 1 − D_o / D_e of each table of coincidences, with squared distances; NaN where only one grade occurs."""
    grades = np.arange(tables.shape[1])
    apart = np.subtract.outer(grades, grades).astype(np.float64) ** 2
    margins = tables.sum(axis=1)
    total = margins.sum(axis=1)
    observed = (tables * apart).sum(axis=(1, 2))
    expected = np.einsum("rc,rd,cd->r", margins, margins, apart)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - observed * (total - 1) / expected, np.nan)
