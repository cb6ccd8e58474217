"""The content of benchmaker's files, with the rows that its defects repeat put together again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, TypeVar, cast, get_args

from sightline.bench.formats.base import Complaints
from sightline.bench.formats.benchmaker_columns import Columns
from sightline.bench.formats.retrieval import picture_uri
from sightline.bench.formats.rows import Row, WrongFieldError, checked, read_rows
from sightline.corpus.rights import RightsMap, filled
from sightline.english import counted
from sightline.types import Annotation, Candidate, Json, Picture, Rights, Tier

ATTRIBUTION = "attribution"
"""Whom to name: a column that benchmaker does not have."""
_UNKNOWN = ("", "UNKNOWN")
V = TypeVar("V")


class Latest(Generic[V]):
    """Values by key, of which a file may hold several: repeats count once, of different ones the last counts."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.values: dict[str, V] = {}
        self._repeated = 0
        self._replaced = 0

    def add(self, key: str, value: V) -> None:
        if key in self.values:
            self._repeated += self.values[key] == value
            self._replaced += self.values[key] != value
        self.values[key] = value

    def warnings(self) -> Iterator[str]:
        if self._repeated:
            yield f"{self._file}: {counted(self._repeated, 'row is', 'rows are')} there twice; each counts once"
        if self._replaced:
            said = counted(self._replaced, "row was", "rows were")
            yield f"{self._file}: {said} replaced by a later one for the same id"


@dataclass(frozen=True, slots=True)
class Plan:
    """Which pictures stand for a query, and which were to be judged."""

    seeds: tuple[str, ...]
    candidates: tuple[tuple[str, Tier, float | None], ...] = ()

    def pictures(self) -> tuple[str, ...]:
        """Every picture that the plan names."""
        return tuple(dict.fromkeys((*self.seeds, *(picture for picture, _, _ in self.candidates))))

    def to_candidates(self, task: str) -> Iterator[Candidate]:
        """Seeds first, as benchmaker writes them."""
        recorded = {picture: (tier, score) for picture, tier, score in self.candidates}
        for picture in self.pictures():
            tier, score = recorded.get(picture, ("pooled", None))
            yield Candidate(task, picture, "seed" if picture in self.seeds else tier, score)


@dataclass(slots=True)
class Asked:
    """A query as it was worded, and the grades that were given for these words."""

    text: str
    grades: dict[str, int] = field(default_factory=dict)


class Pictures:
    """Pictures by id, as far as any of the files tells of them."""

    def __init__(self, root: Path | None, folder: Path, rights: RightsMap | None, columns: Columns) -> None:
        self._root = root
        self._folder = folder
        self._rights = rights
        self._columns = columns
        self.found: dict[str, Picture] = {}
        self._listed = False
        self._unlisted: list[str] = []

    def read_list(self, path: Path, complaints: Complaints) -> list[str]:
        """Take in `images.jsonl`; what there is to say about repeated rows."""
        rows: Latest[Picture] = Latest(path.name)
        for row in read_rows(path, complaints):
            with checked(row, complaints):
                picture = self._picture(row)
                rows.add(picture.id, picture)
        self.found = rows.values
        self._listed = True
        return list(rows.warnings())

    def mention(self, name: str, row: Row | None = None) -> None:
        """A picture that another file speaks of; its row may tell licence and DOI."""
        if name not in self.found:
            rights = self._of_row(row) if row is not None else Rights()
            self.found[name] = Picture(name, self._uri(name, None), rights=self._filled(name, rights))
            self._unlisted.append(name)

    def warnings(self) -> Iterator[str]:
        if self._listed and self._unlisted:
            said = counted(len(self._unlisted), "picture is", "pictures are")
            yield f'{said} mentioned but not in images.jsonl, for example "{self._unlisted[0]}"'

    def _picture(self, row: Row) -> Picture:
        of = self._columns.of
        id_, url, mime = of(row, "image_id"), of(row, "image_url"), of(row, "mime_type")
        license_, doi, dataset = of(row, "license"), of(row, "doi"), of(row, "dataset")
        name = row.id(id_)
        address = row.maybe_text(url)
        others = row.rest(id_, mime, license_, doi, dataset, ATTRIBUTION)
        extra = {key: value for key, value in others.items() if value is not None}
        if url in extra:
            extra["image_url"] = extra.pop(url)
        rights = self._filled(name, replace(self._of_row(row), source=_known(row.maybe_text(dataset))))
        return Picture(name, self._uri(name, address), mime=row.maybe_text(mime), rights=rights, extra=extra)

    def _of_row(self, row: Row) -> Rights:
        license_, doi = self._columns.of(row, "license"), self._columns.of(row, "doi")
        return Rights(
            _known(row.maybe_text(license_)),
            _known(row.maybe_text(doi)),
            attribution=_known(row.maybe_text(ATTRIBUTION)),
        )

    def _filled(self, name: str, rights: Rights) -> Rights:
        """What the row leaves open, from the rights map."""
        if self._rights is None:
            return rights
        return filled(rights, self._rights.of(name))

    def _uri(self, name: str, address: str | None) -> str:
        """A file under the pictures' folder if that is known, else the address, else a file beside the others."""
        if self._root is not None:
            return picture_uri(name, self._root)
        return address if address and "://" in address else picture_uri(name, self._folder)


def read_annotations(path: Path, columns: Columns, pictures: Pictures, complaints: Complaints) -> Latest[Annotation]:
    """Annotations by picture."""
    found: Latest[Annotation] = Latest(path.name)
    for row in read_rows(path, complaints):
        with checked(row, complaints):
            note = columns.annotation(row, *_about_the_picture(columns, row))
            pictures.mention(note.picture_id, row)
            found.add(note.picture_id, note)
    return found


def _about_the_picture(columns: Columns, row: Row) -> tuple[str, ...]:
    return tuple(columns.of(row, setting) for setting in ("mime_type", "dataset", "image_url"))


def read_plans(path: Path, columns: Columns, complaints: Complaints) -> Latest[Plan]:
    """Seeds and candidates by query, from `query_plan.jsonl` (old or ours) or `seeds.jsonl`."""
    found: Latest[Plan] = Latest(path.name)
    for row in read_rows(path, complaints):
        with checked(row, complaints):
            seeds, listed = columns.of(row, "seeds"), columns.of(row, "candidates")
            ids = row.ids(listed) if listed in row else ()
            recorded = _recorded(row, columns)
            candidates = tuple(
                (name, *recorded.get(name, ("pooled", None))) for name in dict.fromkeys((*ids, *recorded))
            )
            plan = Plan(row.ids(seeds) if seeds in row or not candidates else (), candidates)
            found.add(row.id(columns.of(row, "query_id")), plan)
    return found


def _recorded(row: Row, columns: Columns) -> dict[str, tuple[Tier, float | None]]:
    """Our own `candidates: [{image_id, tier, score}]`."""
    given = row.values.get("candidates")
    if not isinstance(given, list) or columns.names.candidates == "candidates":
        return {}
    found: dict[str, tuple[Tier, float | None]] = {}
    for place, item in enumerate(given):
        at = f"candidates.{place}"
        if not isinstance(item, Mapping):
            raise WrongFieldError(at, "expected {image_id, tier, score}")
        inner = Row(row.file, row.line, {f"{at}.{key}": value for key, value in item.items()})
        tier = inner.text(f"{at}.tier")
        if tier not in get_args(Tier):
            raise WrongFieldError(f"{at}.tier", f'expected one of {", ".join(get_args(Tier))}, got "{tier}"')
        score = inner.number(f"{at}.score") if f"{at}.score" in inner else None
        found[inner.id(f"{at}.{columns.names.image_id}")] = (cast("Tier", tier), score)
    return found


class WordedJudgments:
    """Queries with their grades; a query that was judged again, in other words, counts as it was judged last.

    benchmaker words a query and judges it in one call, so the grades of two calls must not be mixed.
    """

    def __init__(self, file: Path, columns: Columns) -> None:
        self._file = file.name
        self._columns = columns
        self._asked: dict[str, dict[str, Asked]] = {}
        self._counts: Counter[str] = Counter()
        self.annotations: Latest[Annotation] = Latest(file.name)

    def add(self, row: Row, pictures: Pictures) -> None:
        """Take in one row."""
        of = self._columns.of
        query, text, relevance = of(row, "query_id"), of(row, "query"), of(row, "relevance")
        grade = row.grade(relevance)
        if grade < 0:
            raise WrongFieldError(relevance, f"expected 0 or more, got {grade}")
        words = row.text(text)
        if not words.strip():
            raise WrongFieldError(text, "expected the words of the query, but they are empty")
        about = (query, text, relevance, of(row, "image"), self._columns.similarity(row) or "")
        note = self._columns.annotation(row, *about, *_about_the_picture(self._columns, row))
        asked = self._asked.setdefault(row.id(query), {}).setdefault(words, Asked(words))
        before = asked.grades.get(note.picture_id)
        if before is not None:
            self._counts["repeated" if before == grade else "changed"] += 1
        asked.grades[note.picture_id] = grade
        pictures.mention(note.picture_id, row)
        if note != Annotation(note.picture_id, by=note.by):
            self.annotations.values.setdefault(note.picture_id, note)

    def asked(self) -> dict[str, Asked]:
        """Each query as it was worded last."""
        return {query: list(wordings.values())[-1] for query, wordings in self._asked.items()}

    def warnings(self) -> Iterator[str]:
        repeated, changed = self._counts["repeated"], self._counts["changed"]
        if repeated:
            yield f"{self._file}: {counted(repeated, 'judgment is', 'judgments are')} there twice; each counts once"
        if changed:
            said = counted(changed, "judgment was", "judgments were")
            yield f"{self._file}: {said} replaced by a later one with another grade"
        again = [query for query, wordings in self._asked.items() if len(wordings) > 1]
        if again:
            said = counted(len(again), "query was", "queries were")
            yield f'{self._file}: {said} worded and judged again, for example "{again[0]}"; the last wording counts'


@dataclass(slots=True)
class Similarities:
    """How alike query and picture are, in one column of some rows; None where it was not computed."""

    columns: Columns
    column: str | None = None
    scores: dict[str, dict[str, Json]] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """Take in one row, if it has the column."""
        column = self.columns.similarity(row)
        if column is not None:
            score = row.number(column) if column in row else None
            query, picture = row.id(self.columns.of(row, "query_id")), row.id(self.columns.of(row, "image_id"))
            self.scores.setdefault(query, {})[picture] = score
            self.column = column


def _known(value: str | None) -> str | None:
    return None if value is None or value.strip().upper() in _UNKNOWN else value
