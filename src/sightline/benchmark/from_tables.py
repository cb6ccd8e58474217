"""A benchmark or a run from tables in memory: what `Benchmark.from_tables` and `Run.from_rankings` do."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast, get_args

from sightline.benchmark.files import HEADER
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.formats.base import FormatOptions
from sightline.benchmark.formats.pictures import from_fields
from sightline.benchmark.formats.retrieval import Judgments, RetrievalResults, bare_pictures, picture_uri, some
from sightline.benchmark.formats.rows import TableRow, WrongFieldError, checked
from sightline.benchmark.tables import (
    IDS,
    REFUSAL,
    Table,
    TableRows,
    check_columns,
    judgment_records,
    keyed_records,
    plain,
    records,
)
from sightline.class_names import name_of
from sightline.english import counted
from sightline.errors import UserError, did_you_mean
from sightline.io.files import PathLike, as_path
from sightline.metrics.choices.options import read_options
from sightline.metrics.registry import parse_name, split_names
from sightline.types import (
    Answer,
    Attempt,
    Benchmark,
    Choice,
    Corpus,
    Option,
    Picture,
    PictureRef,
    PictureSet,
    Prediction,
    Ranking,
    Relevance,
    Run,
    Task,
    TaskKind,
    Truth,
)

_log = logging.getLogger(__name__)
_KINDS: Mapping[type, TaskKind] = {PictureSet: "select", Answer: "answer", Choice: "choose"}
_MOST_COMPARED = 10_000
"""Ids among which a wrong one is looked for."""


def benchmark_from_tables(
    pictures: Table | None,
    queries: Table | None,
    judgments: Table,
    *,
    name: str = "benchmark",
    columns: Mapping[str, str] | None = None,
    labels: str | Sequence[str] = (),
    metrics: str | Sequence[str] = (),
    root: PathLike | None = None,
) -> Benchmark:
    """A benchmark; `Benchmark.from_tables` says how."""
    usual, mapped = split_names(metrics), dict(columns or {})
    for metric in usual:
        parse_name(metric)
    judgments, other = _by_kind(judgments)
    shown = TableRows("pictures", keyed_records(pictures, "pictures", "picture", "uri"), mapped)
    asked = TableRows("queries", keyed_records(queries, "queries", "query", "text"), mapped)
    judged = TableRows("judgments", judgment_records(judgments), mapped)
    check_columns(mapped, (shown, asked, judged))
    found = _judgments(judged)
    base = Path.cwd() if root is None else Path(root).expanduser()
    named = (
        *found.pictures,
        *(one for said in other.values() if isinstance(said, PictureSet) for one in said.pictures),
    )
    known = _pictures(shown, base) if pictures is not None else bare_pictures(named, FormatOptions(), base)
    tasks = {query: Task(query, "rank", (query,)) for query in (*found.grades, *other)}
    if queries is not None:
        tasks = _tasks(asked, known, (labels,) if isinstance(labels, str) else labels)
    if not (found.grades.keys() <= tasks.keys() and found.pictures.keys() <= known.keys()):
        _refuse_strangers(judged, tasks, known)
    truth: dict[str, Truth] = {query: Relevance(grades) for query, grades in found.grades.items()} | other
    for warning in (*found.warnings(), *_unjudged([task for task in tasks if task not in truth])):
        _log.warning("%s", warning)
    if not truth:
        raise UserError("No query has a judgment.", "Give at least one judgment: query, picture and grade.")
    tasks |= {query: _as_kind(tasks, query, said, known) for query, said in other.items()}
    posed = {id_: task for id_, task in tasks.items() if id_ in truth}
    return Benchmark(name, Corpus(name, known), posed, {query: truth[query] for query in posed}, metrics=usual)


def _by_kind(judgments: Table) -> tuple[Table, dict[str, Truth]]:
    """What is graded; and, by query, what is true of other kinds of task: a set of pictures, an answer, a choice."""
    if not isinstance(judgments, Mapping):
        return judgments, {}
    other: dict[Any, Any] = {query: said for query, said in judgments.items() if isinstance(said, tuple(_KINDS))}
    graded = {query: grades for query, grades in judgments.items() if query not in other}
    return graded, {_id(query, "judgments"): said for query, said in other.items()}


def _as_kind(tasks: Mapping[str, Task], query: str, said: Truth, pictures: Mapping[str, Picture]) -> Task:
    """The task of a query that is not graded; the options of a choice are in a column `options`."""
    if query not in tasks:
        raise UserError(f'"{query}" of judgments is not in queries.', did_you_mean(query, tasks, "Add it to queries."))
    extra = dict(tasks[query].extra)
    options: tuple[Option, ...] = ()
    if isinstance(said, Choice):
        given: Any = extra.pop("options", ())
        options = tuple(Option(one.key, (one.text or one.key,)) for one in read_options(given))
        if said.option not in (keys := [one.key for one in options]):
            raise UserError(f'"{said.option}" is not an option of "{query}".', f"Choose from {', '.join(keys)}.")
    if isinstance(said, PictureSet) and (strange := [one for one in said.pictures if one not in pictures]):
        raise UserError(f'"{strange[0]}" of "{query}" is not in pictures.', "Add it to pictures, or leave it out.")
    return replace(tasks[query], kind=_KINDS[type(said)], options=options, extra=extra)


def _unjudged(queries: Sequence[str]) -> Iterator[str]:
    if queries:
        yield f"{counted(len(queries), 'query has', 'queries have')} no judgment; left out: {some(queries)}"


def _pictures(rows: TableRows, base: Path) -> dict[str, Picture]:
    """Pictures by id; one without an id of its own is called as its path is."""
    found: dict[str, Picture] = {}
    uri = rows.find("uri")
    id_ = rows.find("picture", *IDS) or rows.need("uri")
    for row in rows:
        with checked(row, REFUSAL):
            ready = row.values.get("picture")
            if isinstance(ready, Picture):
                found[ready.id] = ready
                continue
            name = row.new_id(id_, found)
            place = name if uri is None or uri == id_ else row.maybe_text(uri) or name
            rest = row.rest(id_, *([] if uri is None else [uri]))
            found[name] = from_fields(name, picture_uri(place, base), rest)
    return found


def _tasks(rows: TableRows, pictures: Mapping[str, Picture], labels: Sequence[str]) -> dict[str, Task]:
    """A rank task for each query; a column `picture` shows a picture of the corpus with it."""
    for label in labels:
        if rows.rows and label not in rows.names:
            hint = did_you_mean(label, rows.names, f"Columns: {', '.join(rows.names)}.")
            raise UserError(f'queries has no column "{label}", which labels names.', hint)
    tasks: dict[str, Task] = {}
    id_ = rows.find("query", *IDS)
    text, shown = rows.find("text", but=id_), rows.find("picture")
    if id_ is None:
        id_ = rows.need("text") if text is None else rows.find("query", "query", but=text) or text
    used = [column for column in (id_, text, shown, *labels) if column is not None]
    for row in rows:
        with checked(row, REFUSAL):
            name = row.new_id(id_, tasks)
            prompt = tuple(_prompt(row, text, shown, pictures)) or (name,)
            sliced = {label: _label(row.values[label]) for label in labels if label in row}
            tasks[name] = Task(name, "rank", prompt, labels=sliced, extra=row.rest(*used))
    return tasks


def _prompt(
    row: TableRow, text: str | None, shown: str | None, pictures: Mapping[str, Picture]
) -> Iterator[str | PictureRef]:
    if text is not None and text in row:
        yield row.text(text)
    if shown is not None and shown in row:
        picture = row.id(shown)
        if picture not in pictures:
            raise WrongFieldError(shown, f'"{picture}" is not among the pictures')
        yield PictureRef(picture)


def _label(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list | tuple | set) else (str(value),)


def _judgments(rows: TableRows) -> Judgments:
    """Grades by query; without a column of grades every row says that its picture is relevant."""
    found = Judgments(Path(rows.table), REFUSAL)
    query, picture, grade = rows.need("query", "query", *IDS), rows.need("picture"), rows.find("grade")
    for row in rows:
        with checked(row, REFUSAL):
            given = True if grade is None else row.values.get(grade)
            number = int(given) if isinstance(given, bool) else row.grade(grade or "")
            found.add(row.line, row.id(query), row.id(picture), number)
    return found


def _refuse_strangers(rows: TableRows, tasks: Mapping[str, Task], pictures: Mapping[str, Picture]) -> None:
    """A judgment of a query or a picture that is not in its table is more often a wrong id than meant."""
    places = ((rows.need("query", "query", *IDS), tasks, "queries"), (rows.need("picture"), pictures, "pictures"))
    for row in rows:
        for column, known, table in places:
            named = row.id(column)
            if named not in known:
                near = list(known)[:_MOST_COMPARED]
                raise UserError(
                    f'Row {row.line} of {rows.table} (counted from 0), column "{column}": "{named}" is not in {table}.',
                    did_you_mean(named, near, f"Add it to {table}, or leave the row out."),
                )


def run_from_rankings(
    rankings: Table,
    *,
    benchmark: Benchmark | PathLike | None = None,
    system: str = "system",
    columns: Mapping[str, str] | None = None,
) -> Run:
    """A run from results at hand; `Run.from_rankings` says how."""
    by_query = rankings if isinstance(rankings, Mapping) else _by_query(rankings, columns or {})
    by_query = {query: list(given) if isinstance(given, Iterator) else given for query, given in by_query.items()}
    attempts = tuple(
        Attempt(_id(query, "rankings"), read_ranking(given, f'The ranking of "{query}"'))
        for query, given in by_query.items()
    )
    if not attempts:
        raise UserError("There is no ranking.", "Give {query: {picture: score}}, {query: [pictures]} or a data frame.")
    for warning in _odd_rankings(by_query.values(), [attempt.prediction for attempt in attempts]):
        _log.warning("%s", warning)
    if isinstance(benchmark, os.PathLike) or (isinstance(benchmark, str) and (Path(benchmark) / HEADER).is_file()):
        benchmark = read_benchmark(as_path(benchmark, "a benchmark"))
    if isinstance(benchmark, Benchmark):
        _check_tasks(attempts, benchmark)
        return Run(benchmark.name, system, attempts, benchmark.checksum)
    return Run(benchmark or "unknown", system, attempts)


def _check_tasks(attempts: Sequence[Attempt], benchmark: Benchmark) -> None:
    unknown = [attempt.task_id for attempt in attempts if attempt.task_id not in benchmark.tasks]
    if len(unknown) == len(attempts):
        example = next(iter(benchmark.tasks), "none")
        raise UserError(
            f'None of the {len(attempts):,} queries, such as "{unknown[0]}", is in "{benchmark.name}".',
            f'Use the ids of its tasks, such as "{example}".',
        )
    if unknown:
        said = counted(len(unknown), "query is", "queries are")
        _log.warning('%s not in "%s": %s', said, benchmark.name, some(unknown))
    rankings = [attempt.prediction for attempt in attempts if isinstance(attempt.prediction, Ranking | PictureSet)]
    strange = [one for ranking in rankings for one in ranking.pictures if one not in benchmark.corpus.pictures]
    if strange and benchmark.corpus.pictures:
        said = counted(len(strange), "result is", "results are")
        _log.warning('%s not among the pictures of "%s", and counted as wrong: %s', said, benchmark.name, some(strange))


def _odd_rankings(given: Iterable[Any], read: Sequence[Prediction]) -> Iterator[str]:
    """Rankings that say something else than they may seem to: pictures that come twice, pairs out of order."""
    ranked = [(one, found) for one, found in zip(given, read, strict=True) if isinstance(found, Ranking)]
    doubled = sum(len(one) > len(found.pictures) for one, found in ranked if isinstance(one, Sized))
    if doubled:
        said = counted(doubled, "ranking has", "rankings have")
        yield f"{said} a picture more than once; the first place of each counts"
    rising = sum(rises(one, found) for one, found in ranked)
    if rising:
        yield f"{counted(rising, 'ranking has', 'rankings have')} {RISING}"


RISING = "scores that do not fall: the order of the list counts. To order by score, give {picture: score}"


def rises(given: object, ranking: Ranking) -> bool:
    """Do the scores of (picture, score) pairs rise somewhere, as distances and unsorted scores do?"""
    pairs = isinstance(given, list | tuple) and isinstance(next(iter(given), None), list | tuple)
    return pairs and any(first < second for first, second in pairwise(ranking.scores or ()))


def _by_query(table: Table, columns: Mapping[str, str]) -> dict[str, Any]:
    """Rows by query: by score where there is one, else by rank, else in their order."""
    rows = TableRows("rankings", records(table, "rankings"), columns)
    check_columns(columns, (rows,))
    query, picture = rows.need("query", "query", *IDS), rows.need("picture")
    score, rank = rows.find("score"), rows.find("rank")
    order = score or rank
    found: dict[str, list[tuple[str, float]]] = {}
    for row in rows:
        with checked(row, REFUSAL):
            value = 0.0 if order is None else row.number(order)
            found.setdefault(row.id(query), []).append((row.id(picture), value))
    if score is not None:
        return {name: _best(pairs) for name, pairs in found.items()}
    return {name: [one for one, _ in sorted(pairs, key=lambda pair: pair[1])] for name, pairs in found.items()}


def _best(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Of a picture that comes twice the better score, as when files are imported."""
    best: dict[str, float] = {}
    for picture, score in pairs:
        best[picture] = max(score, best.get(picture, score))
    return best


def read_ranking(given: object, what: str) -> Prediction:
    """A prediction as it is; `{picture: score}` by falling score, equal ones as trec_eval orders them; a list as given.

    Of a picture that comes twice the first counts. Scores are kept where every picture has one.
    """
    if isinstance(given, get_args(Prediction)):
        return cast("Prediction", given)
    if isinstance(given, Mapping):
        results = RetrievalResults()
        for picture, score in given.items():
            results.add("", _id(picture, what), _score(score, what))
        return results.to_run("", FormatOptions()).attempts[0].prediction if given else Ranking(())
    if isinstance(given, str | bytes | set | frozenset) or not isinstance(given, Iterable):
        raise UserError(
            f"{what} must be a list of pictures, best first, or {{picture: score}}; it is {name_of(type(given))}.",
            'For example ["a.jpg", "b.jpg"] or {"a.jpg": 0.9, "b.jpg": 0.4}.',
        )
    found: dict[str, float | None] = {}
    for item in given:
        picture, score = _pair(item, what)
        found.setdefault(picture, score)
    scores = tuple(score for score in found.values() if score is not None)
    return Ranking(tuple(found), scores if found and len(scores) == len(found) else None)


def _pair(item: Any, what: str) -> tuple[str, float | None]:
    """An id, a pair of id and score, or an object with a picture (such as a search hit)."""
    if isinstance(item, tuple | list):
        if len(item) != 2:
            raise UserError(f"{what} holds a tuple of {len(item)} values.", "Give (picture, score).")
        return _id(item[0], what), _score(item[1], what)
    picture = getattr(item, "picture", item)
    score = getattr(item, "score", None)
    return _id(getattr(picture, "id", picture), what), None if score is None else _score(score, what)


def _id(value: Any, what: str) -> str:
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise UserError(f"{what} has the id {value!r}.", "An id must be text or a whole number.")
    return str(value)


def _score(value: Any, what: str) -> float:
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise UserError(f"{what} has the score {value!r}.", "A score must be a number, and not NaN.")
    return float(number)
