"""The stages `similarity` and `similarity-retry`: each judged pair with the similarity of its query and its picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from sightline.authoring import project as files
from sightline.authoring.plan import own_embedder
from sightline.authoring.project import Project
from sightline.authoring.project_files import read_annotations, read_images
from sightline.authoring.stage import StageResult
from sightline.calls.estimate import Range
from sightline.calls.plan import CostPlan, StagePlan
from sightline.config.settings import ColumnSettings
from sightline.english import counted
from sightline.errors import StoppedError, UserError
from sightline.io.jsonl import LineError, read_jsonl, write_jsonl
from sightline.models.built_in import find_built_in
from sightline.models.embedders.bulk_embedding import Embedding, embed_listed, embed_words, todo_files
from sightline.models.embedders.session import EmbedderSession
from sightline.models.protocols import Embedder
from sightline.types import Failure, Picture

_DEFAULTS = ColumnSettings()
CLIP_SCORE = "clip_score"
"""benchmaker's column, which holds logits."""
LOGIT = "_logit"
"""What follows the name of the similarity column in that of its logit."""
_NOTHING = Range(0.0, 0.0, 0.0)
_PAGE = 8192


class JudgedRows:
    """The rows of a file of judgments, ours or benchmaker's, with the columns by their configured or usual names."""

    def __init__(self, path: Path, names: ColumnSettings) -> None:
        self.path, self._names = path, names

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, row in read_jsonl(self.path):
            if not isinstance(row, dict):
                raise LineError(self.path, number, "expected one JSON object")
            yield number, row

    def text(self, number: int, row: Mapping[str, Any], setting: str) -> str:
        """A column that must hold text; a `LineError` says what is missing."""
        for name in (str(getattr(self._names, setting)), str(getattr(_DEFAULTS, setting))):
            value = row.get(name)
            if isinstance(value, str) and value.strip():
                return value
        raise LineError(self.path, number, f'expected text in "{getattr(self._names, setting)}"')

    def similarity(self, row: Mapping[str, Any]) -> float | None:
        """The similarity that the row has already."""
        value = row.get(self._column(row))
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def scored(self, row: Mapping[str, Any], cosine: float | None, scale: float) -> dict[str, Any]:
        """The row with its similarity; None where there is none. benchmaker's own column gets what it had: a logit."""
        name = self._column(row)
        similarity = None if cosine is None else round(cosine, 6)
        logit = None if cosine is None else round(cosine * scale, 4)
        return {**row, name: logit} if name == CLIP_SCORE else {**row, name: similarity, f"{name}{LOGIT}": logit}

    def _column(self, row: Mapping[str, Any]) -> str:
        known = (self._names.similarity, _DEFAULTS.similarity, CLIP_SCORE)
        return next((name for name in known if name in row), self._names.similarity)


@dataclass(frozen=True, slots=True)
class SimilarityStage:
    """Embeds every query and every picture once, and compares each judged pair.

    With `retry` only pairs without a similarity are looked at again, and the others stay as they are.
    """

    embedder: str | Embedder | None = None
    retry: bool = False
    name: str = "similarity"
    writes: tuple[str, ...] = (files.SIMILARITY,)

    def run(self, project: Project) -> StageResult:
        """Score the pairs; one that has no similarity has none in its row, and is listed with the reason."""
        config = project.config
        source = project.existing(files.SIMILARITY if self.retry else files.JUDGMENTS)
        rows = JudgedRows(source, config.columns)
        limit = None if self.retry else project.limit  # What is scored already must stay in the file.
        pairs = Pairs.of(rows, limit, only_missing=self.retry)
        listed, warnings = read_images(project.existing(files.IMAGES), config)
        pictures = {id_: listed[id_] for id_ in pairs.pictures if id_ in listed}
        with self._session(project) as session:
            if project.calls.plan:
                return StageResult(self.name, price=_price(session, pairs, pictures), warnings=warnings)
            session.tell_who_sees("pictures and queries")
            texts, seen = self._embedded(pairs, pictures, session, project)
            scores = similarities(pairs, texts, seen, session)
        failures = _failures(pairs, texts, seen, pictures)
        scale = float(getattr(session.embedder, "logit_scale", config.similarity.logit_scale))
        out = project.prepare(files.SIMILARITY)
        write_jsonl(out, _scored(rows, scores, scale, limit, only_missing=self.retry))
        failed = project.failed(files.SIMILARITY)
        write_jsonl(failed, (_failed_row(pair, what, project) for pair, what in failures.items()))
        result = StageResult(
            self.name,
            (out, failed),
            {
                "pairs": pairs.count,
                "scored": len(scores),
                "kept": pairs.kept,
                "pictures embedded": seen.made,
                "pictures from before": len(seen.keys) - seen.made,
                "queries": len(pairs.texts),
                "queries cut": texts.cut or 0,
            },
            dict(Counter(what.kind for what in failures.values())),
            (*warnings, *_cut_warning(texts)),
        )
        _raise_if_stopped(texts, seen, result)
        return result

    def check(self, project: Project) -> None:
        """Refuse an embedder that was named and can't be opened."""
        config = project.config
        if (self.embedder or config.similarity.model or config.models.embedder) is not None:
            with self._session(project):
                pass

    def _session(self, project: Project) -> EmbedderSession:
        settings = project.config.similarity
        chosen = self.embedder if self.embedder is not None else settings.model
        annotated = project.path(files.ANNOTATIONS)
        if chosen is None and project.config.models.embedder is None and annotated.is_file():
            chosen = own_embedder(read_annotations(annotated, project.config).annotations.values())
        if isinstance(chosen, str):  # `builtin/photos` is how a chat stage calls what embedders know as `photos`.
            declared = find_built_in(chosen)
            chosen = chosen.removeprefix("builtin/") if declared is None else declared.embedder
        options: dict[str, Any] = {}
        if isinstance(chosen, str) and chosen.startswith("transformers"):
            told: dict[str, Any] = {"device": settings.device, "dtype": settings.dtype}
            told["safetensors"] = None if settings.safetensors else False
            options = {name: value for name, value in told.items() if value not in (None, "auto")}
        return EmbedderSession(chosen, project.session, options)

    def _embedded(
        self, pairs: Pairs, pictures: Mapping[str, Picture], session: EmbedderSession, project: Project
    ) -> tuple[Embedding, Embedding]:
        seen = embed_listed(pictures.values(), session, project.config)
        if seen.stopped is not None:
            return Embedding(), seen
        return embed_words(pairs.texts, session), seen


@dataclass(frozen=True, slots=True)
class Pairs:
    """Queries and pictures that are to be compared, each once however many rows have them."""

    texts: Mapping[str, None]
    pictures: Mapping[str, None]
    wanted: Mapping[tuple[str, str], str]
    "By words and picture: the id of the query."
    count: int
    kept: int

    @classmethod
    def of(cls, rows: JudgedRows, limit: int | None, *, only_missing: bool) -> Pairs:
        """From the rows of a file."""
        texts: dict[str, None] = {}
        pictures: dict[str, None] = {}
        wanted: dict[tuple[str, str], str] = {}
        count = kept = 0
        for number, row in islice(rows, limit):
            count += 1
            text, picture = rows.text(number, row, "query"), rows.text(number, row, "image_id")
            if only_missing and rows.similarity(row) is not None:
                kept += 1
                continue
            texts[text] = pictures[picture] = None
            wanted[text, picture] = rows.text(number, row, "query_id")
        if not count:
            raise UserError(f"{rows.path} has no judgment in it.", "judge first: sightline make judge")
        return cls(texts, pictures, wanted, count, kept)


def similarities(
    pairs: Pairs, texts: Embedding, pictures: Embedding, session: EmbedderSession
) -> dict[tuple[str, str], float]:
    """The cosine of each pair of which both have a vector."""
    words, ids = list(texts.keys), list(pictures.keys)
    if not words or not ids:
        return {}
    text_rows, picture_rows = texts.vectors(words, session), pictures.vectors(ids, session)
    word_at, id_at = {word: at for at, word in enumerate(words)}, {id_: at for at, id_ in enumerate(ids)}
    both = [(text, picture) for text, picture in pairs.wanted if text in word_at and picture in id_at]
    found: dict[tuple[str, str], float] = {}
    for start in range(0, len(both), _PAGE):
        page = both[start : start + _PAGE]
        left = text_rows[[word_at[text] for text, _ in page]]
        right = picture_rows[[id_at[picture] for _, picture in page]]
        cosines = np.clip(np.einsum("ij,ij->i", left, right, dtype=np.float64), -1.0, 1.0)
        found.update(zip(page, cosines.tolist(), strict=True))
    return found


def _scored(
    rows: JudgedRows,
    scores: Mapping[tuple[str, str], float],
    scale: float,
    limit: int | None,
    *,
    only_missing: bool,
) -> Iterator[dict[str, Any]]:
    for number, row in islice(rows, limit):
        if only_missing and rows.similarity(row) is not None:
            yield row
        else:
            pair = rows.text(number, row, "query"), rows.text(number, row, "image_id")
            yield rows.scored(row, scores.get(pair), scale)


def _failures(
    pairs: Pairs, texts: Embedding, seen: Embedding, pictures: Mapping[str, Picture]
) -> dict[tuple[str, str], Failure]:
    found = {}
    for text, picture in pairs.wanted:
        if picture not in pictures:
            found[text, picture] = Failure("unknown picture", "images.jsonl has no picture of this id")
        elif picture in seen.failures:
            found[text, picture] = seen.failures[picture]
        elif text not in texts.keys:
            found[text, picture] = texts.failures.get(text, Failure("not embedded", "the query has no vector"))
    return found


def _failed_row(pair: tuple[str, str], failure: Failure, project: Project) -> dict[str, Any]:
    names = project.config.columns
    return {names.query: pair[0], names.image_id: pair[1], "kind": failure.kind, "error": failure.message}


def _cut_warning(texts: Embedding) -> tuple[str, ...]:
    if texts.cut is None:
        return ("the embedder does not tell whether queries were longer than it reads",)
    if texts.cut:
        said = counted(texts.cut, "query is", "queries are")
        return (f"{said} longer than the embedder reads; what is beyond was left out",)
    return ()


def _raise_if_stopped(texts: Embedding, seen: Embedding, result: StageResult) -> None:
    stopped = seen.stopped or texts.stopped
    if stopped is not None:
        done = result.counts["scored"]
        raise StoppedError(
            f"{stopped.message} {done:,} pairs have a similarity, in {result.wrote[0]}.",
            stopped.fix or "go on with: sightline make similarity-retry",
        )


def _price(session: EmbedderSession, pairs: Pairs, pictures: Mapping[str, Picture]) -> CostPlan:
    """What a server would be asked; a model on this machine costs nothing."""
    by = session.embedder
    parts: tuple[tuple[str, list[Any]], ...] = (
        ("plan_pictures", list(todo_files(pictures.values()))),
        ("plan_texts", list(pairs.texts)),
    )
    asked = [(plan, todo) for how, todo in parts if (plan := getattr(by, how, None)) is not None]
    stages = [replace(plan(todo), stage="similarity", model=by.name) for plan, todo in asked]
    here = StagePlan("similarity", by.name, 0, 0, _NOTHING, _NOTHING, _NOTHING, None, "a model on this machine")
    return CostPlan(tuple(stages) or (here,))
