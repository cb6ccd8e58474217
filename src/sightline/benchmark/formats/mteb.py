"""mteb: a Hugging Face data set folder with the configurations `corpus`, `queries` and `qrels`, and its predictions.

| mteb | here |
|---|---|
| corpus `id` (`_id`), `image`, `text`, other columns | `Picture.id`, `uri` and `sha256`, `extra` |
| queries `id` (`_id`), `text` (and `instruction`), `image` | `Task.id`, `prompt` |
| qrels (or `default`) `query-id`, `corpus-id`, `score` | `Relevance` |
| top_ranked `query-id`, `corpus-ids` | `Task.scope` |
| `{task}_predictions.json`: subset → split → query → picture → score | `Run` |

Written as Parquet with the pictures inside, a card for `datasets` and `mteb_task.py` for `mteb`. Labels, annotations
and what is known of the pictures are not in the format and are lost.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.mteb_dataset import (
    MODULE,
    Category,
    MtebFiles,
    dataset_card,
    find_files,
    task_facts,
    task_module,
)
from sightline.benchmark.formats.parquet import IMAGE, write_parts
from sightline.benchmark.formats.pictures import EmbeddedPictures, QueryPictures, image_cell
from sightline.benchmark.formats.retrieval import (
    JudgedTask,
    Judgments,
    RetrievalResults,
    bare_pictures,
    check_options,
    finite_number,
    judged,
    qrels_rows,
    rank_benchmark,
    some,
)
from sightline.benchmark.formats.rows import TableRow, checked, read_rows
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import whole_folder
from sightline.io.jsonl import read_json
from sightline.metrics.scope import Scopes
from sightline.types import Benchmark, Part, Picture, Scope, Task

log = logging.getLogger(__name__)

_META = "mteb_model_meta"
_CARD, _MODULE = "README.md", f"{MODULE}.py"
_CONFIGS = ("corpus", "queries", "qrels", "top_ranked")


def read(path: Path, options: FormatOptions) -> Imported:
    """A benchmark from a data set folder, or a run from a file of predictions."""
    return _read_predictions(path, options) if path.suffix == ".json" else _read_folder(path, options)


def _read_folder(path: Path, options: FormatOptions) -> Imported:
    check_options(options, "subset", "extract")
    complaints = Complaints(options)
    files = find_files(path, options)
    embedded = EmbeddedPictures(options, path)
    pictures = _read_corpus(files, options, embedded, complaints)
    shown = QueryPictures(pictures)
    found = _read_qrels(files, complaints)
    warnings = list(found.warnings())
    strange = [picture for picture in found.pictures if picture not in pictures]
    if strange:
        said = counted(len(strange), "judged picture is", "judged pictures are")
        warnings.append(f"{said} not in the corpus: {some(strange)}; taken in by id")
        pictures |= bare_pictures(strange, options, path)
    scopes = _read_scopes(files, complaints)
    queries = _read_queries(files, found.grades, scopes, embedded, shown, complaints)
    wordless = [name for name in found.grades if name not in queries]
    if wordless:
        complaints.add(files.qrels[0], None, "query-id", f"{some(wordless)}: not among the queries")
    tasks = (JudgedTask(task, found.grades[name]) for name, task in queries.items())
    benchmark = shown.keep_apart(rank_benchmark(path.absolute().name, pictures, tasks, options))
    return Imported(benchmark, tuple(complaints.problems), (*warnings, *embedded.warnings()))


def _rows(paths: Sequence[Path], complaints: Complaints) -> Iterator[TableRow]:
    for path in paths:
        yield from read_rows(path, complaints)


def _id(row: TableRow, options: FormatOptions | None = None) -> str:
    mapped = options.columns.get("id") if options else None
    return mapped or ("_id" if "_id" in row.values and "id" not in row.values else "id")


def _read_corpus(
    files: MtebFiles, options: FormatOptions, embedded: EmbeddedPictures, complaints: Complaints
) -> dict[str, Picture]:
    image = options.column("image")
    pictures: dict[str, Picture] = {}
    for row in _rows(files.corpus, complaints):
        with checked(row, complaints):
            column = _id(row, options)
            name = row.new_id(column, pictures)
            extra = {key: value for key, value in row.rest(column, image).items() if value not in (None, "")}
            pictures[name] = embedded.picture(name, row.values.get(image), extra=extra)
    return pictures


def _read_qrels(files: MtebFiles, complaints: Complaints) -> Judgments:
    found = Judgments(files.qrels[0], complaints)
    for row in _rows(files.qrels, complaints):
        with checked(row, complaints):
            found.add(row.line, row.id("query-id"), row.id("corpus-id"), row.grade("score"))
    return found


def _read_scopes(files: MtebFiles, complaints: Complaints) -> dict[str, Scope]:
    scopes: dict[str, Scope] = {}
    for row in _rows(files.top_ranked, complaints):
        with checked(row, complaints):
            scopes[row.id("query-id")] = Scope(pictures=row.ids("corpus-ids"))
    return scopes


def _read_queries(
    files: MtebFiles,
    wanted: Mapping[str, object],
    scopes: Mapping[str, Scope],
    embedded: EmbeddedPictures,
    shown: QueryPictures,
    complaints: Complaints,
) -> dict[str, Task]:
    """The judged queries; mteb passes over the others too."""
    tasks: dict[str, Task] = {}
    for row in _rows(files.queries, complaints):
        with checked(row, complaints):
            column = _id(row)
            name = row.new_id(column, tasks)
            if name not in wanted:
                continue
            prompt: list[Part] = []
            if "image" not in row or row.values.get("text"):
                prompt.append(" ".join(filter(None, (row.text("text"), row.maybe_text("instruction")))))
            if "image" in row:
                prompt.append(shown.ref(embedded.picture(name, row.values["image"])))
            extra = {key: value for key, value in row.rest(column, "text", "instruction", "image").items() if value}
            tasks[name] = Task(name, "rank", tuple(prompt), scope=scopes.get(name, Scope()), extra=extra)
    return tasks


def _read_predictions(path: Path, options: FormatOptions) -> Imported:
    check_options(options, "subset")
    content = read_json(path)
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected an object of subsets.", "give mteb's {task}_predictions.json")
    meta = content.pop(_META, None)
    system = str(meta.get("model_name")) if isinstance(meta, dict) else path.stem
    subset = _one(path, content, options.extra.get("subset"), "subset", "--option subset=")
    queries = _one(path, subset, options.split, "split", "--split ")
    complaints = Complaints(options)
    results = RetrievalResults()
    for query, scores in queries.items():
        if not isinstance(scores, dict):
            complaints.add(path, None, query, "expected an object of pictures with their scores")
            continue
        for picture, score in scores.items():
            number = None if isinstance(score, str) else finite_number(score)
            if number is None:
                complaints.add(path, None, f"{query}.{picture}", f"expected a number, got {score!r}")
            else:
                results.add(query, picture, number)
    return Imported(results.to_run(system, options), tuple(complaints.problems), results.warnings(options))


def _one(path: Path, content: Any, wanted: str | None, what: str, option: str) -> dict[str, Any]:
    if not isinstance(content, dict) or not all(isinstance(value, dict) for value in content.values()):
        raise UserError(f"{path}: expected an object of {what}s.", "give mteb's {task}_predictions.json")
    name = wanted or (next(iter(content)) if len(content) == 1 else None)
    if name not in content:
        said = f"has several {what}s" if wanted is None else f'has no {what} "{wanted}"'
        raise UserError(f"{path} {said}.", f"choose with {option}: {', '.join(content)}")
    found: dict[str, Any] = content[name]
    return found


def write(content: Content, path: Path, options: FormatOptions) -> None:
    """Write the rank and select tasks whose queries are of one category, with the pictures that are here."""
    check_options(options, "category", "language")
    assert isinstance(content, Benchmark)
    category, tasks = _of_one_category(judged(content, options), options.extra.get("category"))
    split = options.split or "test"
    if not re.fullmatch(r"\w+(\.\w+)*", split):
        raise UserError(f'"{split}" can\'t be the name of a split.', "use letters, digits and _")
    pictures = content.corpus.pictures
    corpus, scopes = _corpus(content, tasks)
    missing = 0

    def corpus_rows() -> Iterator[dict[str, Any]]:
        nonlocal missing
        for name in corpus:
            cell = image_cell(pictures[name], options)
            missing += cell is None
            yield {"id": name, "image": cell}

    with whole_folder(path, marker=_MODULE, owned=(_MODULE, _CARD, *_CONFIGS)) as folder:
        write_parts(folder / "corpus", split, {"id": "string", "image": IMAGE}, corpus_rows())
        columns = {"id": "string", **({} if category == "i2i" else {"text": "string"})}
        columns |= {} if category == "t2i" else {"image": IMAGE}
        write_parts(folder / "queries", split, columns, (_query_row(t, columns, pictures, options) for t, _ in tasks))
        qrels = {"query-id": "string", "corpus-id": "string", "score": "int32"}
        write_parts(folder / "qrels", split, qrels, qrels_rows(tasks))
        if scopes:
            rows = ({"query-id": name, "corpus-ids": ids} for name, ids in scopes.items())
            write_parts(folder / "top_ranked", split, {"query-id": "string", "corpus-ids": ["string"]}, rows)
        configs = _CONFIGS if scopes else _CONFIGS[:-1]
        facts = task_facts(
            content, split=split, category=category, language=options.extra.get("language"), configs=configs
        )
        (folder / _CARD).write_text(dataset_card(facts), "utf-8")
        (folder / _MODULE).write_text(task_module(facts), "utf-8")
    if missing:
        log.warning("%s not here; mteb can't run without", counted(missing, "picture is", "pictures are"))


def _of_one_category(tasks: Sequence[JudgedTask], wanted: str | None) -> tuple[Category, list[JudgedTask]]:
    """mteb has one category for a whole task, and one picture for a query."""
    if wanted is not None and wanted not in get_args(Category):
        raise UserError(f'"{wanted}" is not a category.', f"choose from {', '.join(get_args(Category))}")
    found: dict[Category, list[JudgedTask]] = {}
    several = 0
    for one in tasks:
        if len(one.task.pictures) > 1:
            several += 1
        else:
            found.setdefault(_category(one.task), []).append(one)
    if several:
        log.warning("left out: %s with more than one picture", counted(several, "query", "queries"))
    if wanted is None and len(found) > 1:
        counts = Counter({category: len(of_it) for category, of_it in found.items()})
        listed = ", ".join(f"{category} {count}" for category, count in counts.most_common())
        raise UserError(f"the queries are of several categories: {listed}.", "choose one with --option category=")
    for category, of_it in found.items():
        if wanted in (None, category):
            return category, of_it
    raise UserError("there is no query to write.", "queries need text, one picture, or both")


def _category(task: Task) -> Category:
    if not task.pictures:
        return "t2i"
    return "it2i" if task.text.strip() else "i2i"


def _corpus(benchmark: Benchmark, tasks: Sequence[JudgedTask]) -> tuple[list[str], dict[str, list[str]]]:
    """The pictures to search, and those of each query where queries may not all be answered with the same ones."""
    known = Scopes(benchmark.corpus)
    scopes = {task.id: known.pictures(task.scope) for task, _ in tasks}
    every = list(benchmark.corpus.pictures)
    kinds = set(scopes.values())
    if len(kinds) == 1:
        only = kinds.pop()
        return [name for name in every if only is None or name in only], {}
    listed = {scope: [name for name in every if scope is None or name in scope] for scope in kinds}
    return every, {task: listed[scope] for task, scope in scopes.items()}


def _query_row(
    task: Task, columns: Mapping[str, str], pictures: Mapping[str, Picture], options: FormatOptions
) -> dict[str, Any]:
    row: dict[str, Any] = {"id": task.id}
    if "text" in columns:
        row["text"] = task.text
    if "image" in columns:
        shown = pictures[task.pictures[0].id]
        row["image"] = image_cell(shown, options)
        if row["image"] is None:
            raise UserError(
                f'"{task.id}" shows {shown.uri}, which is not here.', "a query can't do without its picture"
            )
    return row


FORMATS = {
    "mteb": Format("mteb", "mteb retrieval data set with its task; predictions in", read, write, writes=(Benchmark,)),
}
