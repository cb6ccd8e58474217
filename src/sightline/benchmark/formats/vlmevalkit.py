"""VLMEvalKit: a TSV file with a question in each row, its pictures in base64 or by path; predictions as TSV or Excel.

| column | here |
|---|---|
| `index` | `Task.id` |
| `image`: base64, a list of them, or the `index` of the row that has the same | pictures of the prompt |
| `image_path`: a path or a list | their ids; without `image` also their `uri` |
| `question`, `hint` before it | `Task.prompt`; `<image 1>` in it stands for the first picture |
| `A`, `B`, … | `Task.options` of a `choose` task; without them it is an `answer` task |
| `answer` | `Choice`, or `Answer` (of a list, the rest are aliases) |
| `category`, `l2-category`, `split` (and `--option labels=…`) | `Task.labels` |
| other columns | `Task.extra` |
| `prediction` | the file is a `Run`: the option that the reply chooses, or its text |

Pictures inside the file are written out with `--option extract=DIR` or to `--pictures DIR`. Written are `choose` and
`answer` tasks; regions of pictures, steps, units and translations are not in the format and are lost.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.dataset_folder import UNLABELLED, limited
from sightline.benchmark.formats.replies import AttemptReader, read_reply
from sightline.benchmark.formats.retrieval import check_options, local_file, some
from sightline.benchmark.formats.rows import TableRow, checked
from sightline.benchmark.formats.vlmevalkit_rows import (
    LABELS,
    CellPictures,
    QuestionRow,
    open_rows,
    question_of,
    text_of,
)
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.io.jsonl import write_lines
from sightline.types import Answer, Attempt, Benchmark, Choice, Corpus, Failure, PictureRef, Prediction, Task, Truth

log = logging.getLogger(__name__)
_NO_REPLY = "Failed to obtain answer via API"


def write(content: Content, path: Path, options: FormatOptions) -> None:
    """Write the choose and answer tasks; pictures in base64 if all of them are here, else by path."""
    check_options(options)
    assert isinstance(content, Benchmark)
    benchmark = limited(content, options)
    tasks = [task for task in benchmark.tasks.values() if task.kind in ("choose", "answer")]
    if not tasks:
        raise UserError(f'"{benchmark.name}" has no choose or answer task.', "this format holds no other kinds")
    others = Counter(task.kind for task in benchmark.tasks.values() if task.kind not in ("choose", "answer"))
    if others:
        log.warning("left out: %s", ", ".join(counted(number, f"{kind} task") for kind, number in others.items()))
    rows = _Rows(benchmark, tasks, options)
    write_lines(path, rows.lines())


class _Rows:
    """The rows of the file; `image` is a column only if every picture is on this machine."""

    def __init__(self, benchmark: Benchmark, tasks: Sequence[Task], options: FormatOptions) -> None:
        self._pictures = benchmark.corpus.pictures
        self._options = options
        self._rows = [(task, _fields(task, benchmark.truth.get(task.id))) for task in tasks]
        missing = {name for task in tasks for name in _shown(task) if self._file(name) is None}
        if missing:
            said = counted(len(missing), "picture is", "pictures are")
            log.warning("%s not here; all are written by path (image_path)", said)
        used = dict.fromkeys(name for _, fields in self._rows for name in fields)
        letters = [letter for letter in ascii_uppercase if letter in used]
        pictures = ("image_path",) if missing else ("image", "image_path")
        usual = [name for name in ("hint", "question", *letters, "answer", *LABELS) if name in used]
        self._columns = ["index", *pictures, *usual, *(name for name in used if name not in usual)]

    def lines(self) -> Iterator[bytes]:
        """The header, then a line for each task."""
        yield _line(self._columns)
        for task, fields in self._rows:
            shown = _shown(task)
            row = {"index": task.id, "image_path": [self._path(name) for name in shown], **fields}
            if "image" in self._columns:
                row["image"] = [self._code(name) for name in shown]
                row["image_path"] = shown
            yield _line([_cell(row.get(name)) for name in self._columns])

    def _file(self, name: str) -> Path | None:
        return local_file(self._pictures[name], self._options)

    def _code(self, name: str) -> str:
        file = self._file(name)
        assert file is not None
        return base64.b64encode(file.read_bytes()).decode()

    def _path(self, name: str) -> str:
        uri = self._pictures[name].uri
        place = picture_path(uri, self._options.pictures or Path())
        return uri if place is None else str(place.absolute())


def _shown(task: Task) -> list[str]:
    """The pictures of a prompt and its options, each once."""
    return list(dict.fromkeys(ref.id for ref in task.shown))


def _fields(task: Task, truth: Truth | None) -> dict[str, Any]:
    """The columns of a task but its index and pictures."""
    numbers = {name: place for place, name in enumerate(_shown(task), 1)}
    if len(task.options) > len(ascii_uppercase):
        raise UserError(f'task "{task.id}" has {len(task.options)} options.', "this format has the letters A to Z")
    letters = dict(zip((option.key for option in task.options), ascii_uppercase, strict=False))
    question = task.text if _pictures_first(task) else text_of(task.prompt, numbers)
    hint = task.extra.get("hint")
    extra = {name: value for name, value in task.extra.items() if name != "hint"}
    if isinstance(hint, str) and question.startswith(f"{hint}\n"):
        extra, question = {"hint": hint, **extra}, question.removeprefix(f"{hint}\n")
    labels = {name: [value for value in values if value != UNLABELLED] for name, values in task.labels.items()}
    options = {letters[option.key]: text_of(option.content, numbers) for option in task.options}
    return {**extra, **labels, "question": question, **options, "answer": _answer(truth, letters)}


def _pictures_first(task: Task) -> bool:
    """Is the prompt pictures, then text? Then no marker is needed, as long as no option shows a picture."""
    kinds = [isinstance(part, PictureRef) for part in task.prompt]
    in_options = any(isinstance(part, PictureRef) for option in task.options for part in option.content)
    return not in_options and kinds == sorted(kinds, reverse=True)


def _answer(truth: Truth | None, letters: Mapping[str, str]) -> str | list[str] | None:
    match truth:
        case Choice(option):
            return None if option is None else letters.get(option, option)
        case Answer(text, aliases):
            return [text, *aliases]
        case _:
            return None


def _cell(value: Any) -> str:
    """Text as it is, one item of a list alone, everything else as JSON, which Python reads as well."""
    if isinstance(value, list) and len(value) <= 1:
        value = value[0] if value else None
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _line(cells: Sequence[str]) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


def read(path: Path, options: FormatOptions) -> Imported:
    """A benchmark from questions, or a run from a file that has predictions."""
    check_options(options, "extract", "labels")
    complaints = Complaints(options)
    rows = open_rows(path, complaints)
    first = next(rows, None)
    if first is None:
        raise UserError(f"{path} has no rows.", "give a file with a header line and a question in each row")
    is_run = options.column("prediction") in first.values
    for name in ("index", *(() if is_run else ("question",))):
        if options.column(name) not in first.values:
            have = ", ".join(first.values)
            raise UserError(
                f'{path} has no column "{options.column(name)}".', f"add --map {name}=COLUMN; it has {have}"
            )
    every = chain([first], rows)
    return _read_run(path, every, options, complaints) if is_run else _read_questions(path, every, options, complaints)


def _read_questions(path: Path, rows: Iterator[TableRow], options: FormatOptions, complaints: Complaints) -> Imported:
    pictures = CellPictures(options, path.absolute().parent)
    kept: dict[str, TableRow] = {}
    for row in islice(_of_split(path, rows, options), options.limit):
        with checked(row, complaints):
            index = row.new_id(options.column("index"), kept)
            pictures.add(index, row)
            # A row may name the pictures of a later one; until then only its words are kept.
            kept[index] = TableRow(row.file, row.line, {**row.values, options.column("image"): None})
    questions: list[QuestionRow] = []
    for index, row in kept.items():
        with checked(row, complaints):
            questions.append(question_of(row, pictures.of_row(index), options))
    name = options.name or path.stem
    unanswered = [task.id for task, truth in questions if truth is None]
    said = f"{counted(len(unanswered), 'task has', 'tasks have')} no answer: {some(unanswered)}; they can't be scored"
    benchmark = Benchmark(
        name=name,
        corpus=Corpus(name, pictures.found),
        tasks={task.id: task for task, _ in questions},
        truth={task.id: truth for task, truth in questions if truth is not None},
    )
    warnings = (*pictures.warnings(), *([said] if unanswered else []))
    return Imported(benchmark, tuple(complaints.problems), warnings)


def _of_split(path: Path, rows: Iterator[TableRow], options: FormatOptions) -> Iterator[TableRow]:
    seen: dict[str, None] = {}
    for row in rows:
        split = str(row.values.get(options.column("split")) or "")
        seen[split] = None
        if options.split in (None, split):
            yield row
    if options.split is not None and options.split not in seen:
        known = ", ".join(filter(None, seen)) or "there are none; leave --split out"
        raise UserError(f'{path} has no split "{options.split}".', f"choose from: {known}")


def _read_run(path: Path, rows: Iterator[TableRow], options: FormatOptions, complaints: Complaints) -> Imported:
    attempts = AttemptReader(options, complaints)
    for row in _of_split(path, rows, options):
        with checked(row, complaints):
            index = row.id(options.column("index"))
            said = row.maybe_text(options.column("prediction"))
            attempts.add(Attempt(index, _prediction(row, said, index, attempts, options)), path, row.line, "index")
    benchmark = options.benchmark.name if options.benchmark is not None else "unknown"
    return attempts.imported(system=path.stem.removesuffix(f"_{benchmark}"), benchmark=benchmark)


def _prediction(
    row: TableRow, said: str | None, index: str, attempts: AttemptReader, options: FormatOptions
) -> Prediction:
    """What a reply says, by the options of the benchmark's task, else by those of its own row."""
    if said is None:
        return Failure("empty", "the file has no prediction for this question")
    if said.startswith(_NO_REPLY):
        return Failure("api", said, retryable=True)
    task = attempts.task(index)
    if task is None and options.column("question") in row:
        task = question_of(row, (), options).task
    return read_reply(said, task)


FORMATS = {
    "vlmevalkit": Format("vlmevalkit", "VLMEvalKit questions as TSV; predictions in", read, write, writes=(Benchmark,)),
}
