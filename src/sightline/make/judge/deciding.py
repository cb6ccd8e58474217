"""From verdicts to labels: a query is judged in full and its seeds are relevant, or it is set aside with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sightline.config import Config
from sightline.make.files import BY, COST, OURS, AnnotationLines
from sightline.make.judge.panel import Label
from sightline.make.judge.pool import Pool
from sightline.make.judge.wordings import Wording
from sightline.types import Annotation, Picture

NOT_JUDGED, SEED_NOT_RELEVANT, NO_WORDS, NO_SEED = "not judged", "seed not relevant", "no words", "no seed"
TIER, SURE, JUDGES = "tier", "judge_confidence", "judges"
"""Columns of `qrels.jsonl` that benchmaker does not have."""
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class SetAside:
    """A query that is left out of the benchmark, and why."""

    query: str
    reason: str
    detail: str

    def row(self, config: Config, wording: Wording | None) -> dict[str, Any]:
        """A line of `set_aside.jsonl`."""
        names = config.columns
        text = None if wording is None else wording.text
        return {names.query_id: self.query, names.query: text, "reason": self.reason, "detail": self.detail}


def problem_with(pool: Pool, labels: Mapping[str, Label]) -> SetAside | None:
    """What keeps a query out: a pooled picture without a label, or a seed that does not fit its own query."""
    query = pool.query
    if not query.seeds:
        return SetAside(query.id, NO_SEED, "the plan names no seed for it")
    unjudged = [picture for picture in query.pictures if picture not in labels]
    if unjudged:
        return SetAside(query.id, NOT_JUDGED, f"{len(unjudged):,} of its pictures have no verdict: {_some(unjudged)}")
    wrong = [seed for seed in query.seeds if not labels[seed].is_relevant]
    if wrong:
        return SetAside(query.id, SEED_NOT_RELEVANT, f"judged not to fit the query made from it: {_some(wrong)}")
    return None


def _some(pictures: Sequence[str]) -> str:
    more = "" if len(pictures) <= _SHOWN else f" and {len(pictures) - _SHOWN:,} more"
    return f"{', '.join(pictures[:_SHOWN])}{more}"


class LabelRows:
    """Lines of `qrels.jsonl`: benchmaker's columns with all that is known of the picture, and ours."""

    def __init__(self, config: Config, pictures: Mapping[str, Picture], notes: Mapping[str, Annotation]) -> None:
        self._config, self._pictures, self._notes = config, pictures, notes
        self._lines = AnnotationLines(config)
        # What tells of the making of an annotation, and not of its picture, stays with the annotation.
        self._left_out = {*OURS, BY, COST, config.columns.image_id}

    def of(self, wording: Wording, pool: Pool, labels: Mapping[str, Label]) -> Iterator[dict[str, Any]]:
        """The seeds first, then the others in the order of the pool."""
        names = self._config.columns
        for candidate in pool.query.candidates:
            label = labels[candidate.picture]
            yield {
                names.query_id: wording.id,
                names.query: wording.text,
                names.image_id: candidate.picture,
                names.relevance: label.grade,
                TIER: candidate.tier,
                SURE: label.confidence,
                JUDGES: label.judges,
                **self._known(candidate.picture),
            }

    def _known(self, id_: str) -> dict[str, Any]:
        names, picture, note = self._config.columns, self._pictures[id_], self._notes.get(id_)
        row = {} if note is None else self._lines.write(note)
        rights = picture.rights
        told = {
            names.mime_type: picture.mime,
            names.license: rights.license,
            names.doi: rights.doi,
            names.dataset: rights.source,
        }
        row |= {name: value for name, value in told.items() if value is not None}
        return {name: value for name, value in row.items() if name not in self._left_out}
