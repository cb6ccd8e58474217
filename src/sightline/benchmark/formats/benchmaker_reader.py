"""The content of benchmaker's files, with the rows that its defects repeat put together again, as one benchmark.

What their author should know about them is said in warnings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Generic, TypeVar, cast, get_args

from sightline.benchmark.formats.base import Complaints, FormatOptions
from sightline.benchmark.formats.benchmaker_columns import JUDGE, BenchmakerColumns
from sightline.benchmark.formats.dataset_folder import UNLABELLED
from sightline.benchmark.formats.retrieval import picture_uri, some
from sightline.benchmark.formats.rows import TableRow, WrongFieldError, checked, read_rows
from sightline.corpus.rights import RightsMap, filled
from sightline.english import counted
from sightline.types import (
    Annotation,
    Benchmark,
    Candidate,
    Corpus,
    Json,
    Judgment,
    Picture,
    Relevance,
    Rights,
    Task,
    Tier,
)

ATTRIBUTION = "attribution"
"""Whom to name: a column that benchmaker does not have."""
_UNKNOWN = ("", "UNKNOWN")
V = TypeVar("V")
DATASET = "original_dataset_name"


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
class QueryPlan:
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
class JudgedQuery:
    """A query as it was worded, and the grades that were given for these words."""

    text: str
    grades: dict[str, int] = field(default_factory=dict)


class BenchmakerPictures:
    """Pictures by id, as far as any of the files tells of them."""

    def __init__(self, root: Path | None, folder: Path, rights: RightsMap | None, columns: BenchmakerColumns) -> None:
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

    def mention(self, name: str, row: TableRow | None = None) -> None:
        """A picture that another file speaks of; its row may tell licence and DOI."""
        if name not in self.found:
            rights = self._of_row(row) if row is not None else Rights()
            self.found[name] = Picture(name, self._uri(name, None), rights=self._filled(name, rights))
            self._unlisted.append(name)

    def warnings(self) -> Iterator[str]:
        if self._listed and self._unlisted:
            said = counted(len(self._unlisted), "picture is", "pictures are")
            yield f'{said} mentioned but not in images.jsonl, for example "{self._unlisted[0]}"'

    def _picture(self, row: TableRow) -> Picture:
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

    def _of_row(self, row: TableRow) -> Rights:
        license_, doi = self._columns.of(row, "license"), self._columns.of(row, "doi")
        return Rights(
            _known(row.maybe_text(license_)),
            _known(row.maybe_text(doi)),
            attribution=_known(row.maybe_text(ATTRIBUTION)),
        )

    def _filled(self, name: str, rights: Rights) -> Rights:
        """What the row leaves open, from the rights map."""
        return rights if self._rights is None else filled(rights, self._rights.of(name))

    def _uri(self, name: str, address: str | None) -> str:
        """A file under the pictures' folder if that is known, else the address, else a file beside the others."""
        if self._root is not None:
            return picture_uri(name, self._root)
        return address if address and "://" in address else picture_uri(name, self._folder)


def read_annotations(
    path: Path, columns: BenchmakerColumns, pictures: BenchmakerPictures, complaints: Complaints
) -> Latest[Annotation]:
    """Annotations by picture."""
    found: Latest[Annotation] = Latest(path.name)
    for row in read_rows(path, complaints):
        with checked(row, complaints):
            note = columns.annotation(row, *_about_the_picture(columns, row))
            pictures.mention(note.picture_id, row)
            found.add(note.picture_id, note)
    return found


def _about_the_picture(columns: BenchmakerColumns, row: TableRow) -> tuple[str, ...]:
    return tuple(columns.of(row, setting) for setting in ("mime_type", "dataset", "image_url"))


def read_plans(path: Path, columns: BenchmakerColumns, complaints: Complaints) -> Latest[QueryPlan]:
    """Seeds and candidates by query, from `query_plan.jsonl` (old or ours) or `seeds.jsonl`."""
    found: Latest[QueryPlan] = Latest(path.name)
    for row in read_rows(path, complaints):
        with checked(row, complaints):
            seeds, listed = columns.of(row, "seeds"), columns.of(row, "candidates")
            ids = row.ids(listed) if listed in row else ()
            recorded = _recorded(row, columns)
            candidates = tuple(
                (name, *recorded.get(name, ("pooled", None))) for name in dict.fromkeys((*ids, *recorded))
            )
            plan = QueryPlan(row.ids(seeds) if seeds in row or not candidates else (), candidates)
            found.add(row.id(columns.of(row, "query_id")), plan)
    return found


def _recorded(row: TableRow, columns: BenchmakerColumns) -> dict[str, tuple[Tier, float | None]]:
    """Our own `candidates: [{image_id, tier, score}]`."""
    given = row.values.get("candidates")
    if not isinstance(given, list) or columns.names.candidates == "candidates":
        return {}
    found: dict[str, tuple[Tier, float | None]] = {}
    for place, item in enumerate(given):
        at = f"candidates.{place}"
        if not isinstance(item, Mapping):
            raise WrongFieldError(at, "expected {image_id, tier, score}")
        inner = TableRow(row.file, row.line, {f"{at}.{key}": value for key, value in item.items()})
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

    def __init__(self, file: Path, columns: BenchmakerColumns) -> None:
        self._file = file.name
        self._columns = columns
        self._asked: dict[str, dict[str, JudgedQuery]] = {}
        self._counts: Counter[str] = Counter()
        self.annotations: Latest[Annotation] = Latest(file.name)

    def add(self, row: TableRow, pictures: BenchmakerPictures) -> None:
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
        asked = self._asked.setdefault(row.id(query), {}).setdefault(words, JudgedQuery(words))
        before = asked.grades.get(note.picture_id)
        if before is not None:
            self._counts["repeated" if before == grade else "changed"] += 1
        asked.grades[note.picture_id] = grade
        pictures.mention(note.picture_id, row)
        if note != Annotation(note.picture_id, by=note.by):
            self.annotations.values.setdefault(note.picture_id, note)

    def asked(self) -> dict[str, JudgedQuery]:
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

    columns: BenchmakerColumns
    column: str | None = None
    scores: dict[str, dict[str, Json]] = field(default_factory=dict)

    def add(self, row: TableRow) -> None:
        """Take in one row, if it has the column."""
        column = self.columns.similarity(row)
        if column is not None:
            score = row.number(column) if column in row else None
            query, picture = row.id(self.columns.of(row, "query_id")), row.id(self.columns.of(row, "image_id"))
            self.scores.setdefault(query, {})[picture] = score
            self.column = column


def _known(value: str | None) -> str | None:
    return None if value is None or value.strip().upper() in _UNKNOWN else value


@dataclass(frozen=True, slots=True)
class BenchmakerContent:
    """What the files hold."""

    name: str
    pictures: Mapping[str, Picture]
    asked: Mapping[str, JudgedQuery]
    plans: Mapping[str, QueryPlan] = field(default_factory=dict)
    annotations: Iterable[Annotation] = ()
    similarities: Similarities | None = None
    card: Mapping[str, Json] = field(default_factory=dict)

    def to_benchmark(self, options: FormatOptions) -> Benchmark:
        """Rank tasks with their truth, pools and judgments."""
        asked = dict(islice(self.asked.items(), options.limit))
        name = options.name or self.name
        labelled = any(picture.rights.source for picture in self.pictures.values())
        return Benchmark(
            name=name,
            corpus=Corpus(name, self.pictures),
            tasks={query: self._task(query, found, labelled) for query, found in asked.items()},
            truth={query: Relevance(found.grades) for query, found in asked.items()},
            card=self.card,
            annotations=tuple(self.annotations),
            candidates=tuple(pooled for query in asked for pooled in self._pool(query)),
            judgments=tuple(
                Judgment(query, picture, JUDGE, grade)
                for query, found in asked.items()
                for picture, grade in found.grades.items()
            ),
        )

    def warnings(self) -> Iterator[str]:
        """What benchmaker does not check: queries, candidates and judgments that do not fit together."""
        lost = [query for query in self.plans if query not in self.asked]
        if lost:
            said = counted(len(lost), "planned query was", "planned queries were")
            yield f"{said} never judged, and {'is' if len(lost) == 1 else 'are'} left out: {some(lost)}"
        outside, unjudged, irrelevant = [], [], []
        for query, plan in self.plans.items():
            if query not in self.asked:
                continue
            grades = self.asked[query].grades
            pool = {candidate.picture for candidate in plan.to_candidates(query)} if plan.candidates else set(grades)
            outside += [f"{picture} for {query}" for picture in grades if picture not in pool]
            unjudged += [f"{picture} for {query}" for picture in pool if picture not in grades]
            irrelevant += [f"{seed} for {query}" for seed in plan.seeds if grades.get(seed) == 0]
        yield from _noted(outside, "judged picture is", "judged pictures are", "not among the candidates")
        yield from _noted(unjudged, "candidate was", "candidates were", "never judged")
        yield from _noted(irrelevant, "seed is", "seeds are", "judged not relevant to the query made from it")

    def _task(self, query: str, asked: JudgedQuery, labelled: bool) -> Task:
        extra: dict[str, Json] = {}
        if self.similarities is not None and query in self.similarities.scores:
            extra["similarity"] = {"column": self.similarities.column, "scores": self.similarities.scores[query]}
        return Task(query, "rank", (asked.text,), labels=self._labels(query) if labelled else {}, extra=extra)

    def _labels(self, query: str) -> dict[str, tuple[str, ...]]:
        """The data sets of the seeds; where no seed is known, of what was found relevant."""
        seeds = self.plans[query].seeds if query in self.plans else ()
        relevant = (picture for picture, grade in self.asked[query].grades.items() if grade > 0)
        sources = (self.pictures[picture].rights.source for picture in seeds or relevant)
        return {DATASET: tuple(dict.fromkeys(source for source in sources if source)) or (UNLABELLED,)}

    def _pool(self, query: str) -> Iterator[Candidate]:
        """The planned candidates; where only seeds are known, what was judged was the pool."""
        plan = self.plans.get(query)
        if plan is None:
            return
        if not plan.candidates:
            plan = QueryPlan(plan.seeds, tuple((picture, "pooled", None) for picture in self.asked[query].grades))
        yield from plan.to_candidates(query)


def _noted(places: list[str], one: str, several: str, what: str) -> Iterator[str]:
    if places:
        yield f"{counted(len(places), one, several)} {what}, for example {places[0]}"
