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

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from sightline.bench.formats.base import Complaints, Format, Imported, Options
from sightline.bench.formats.replies import Attempts, read_reply
from sightline.bench.formats.retrieval import check_options, some
from sightline.bench.formats.rows import Row, WrongFieldError, checked
from sightline.bench.formats.vlmevalkit_pictures import CellPictures
from sightline.bench.formats.vlmevalkit_rows import Question, open_rows, question_of
from sightline.bench.formats.vlmevalkit_write import write
from sightline.english import counted
from sightline.errors import UserError
from sightline.types import Attempt, Benchmark, Corpus, Failure, Prediction

_NO_REPLY = "Failed to obtain answer via API"


def read(path: Path, options: Options) -> Imported:
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


def _read_questions(path: Path, rows: Iterator[Row], options: Options, complaints: Complaints) -> Imported:
    pictures = CellPictures(options, path.absolute().parent)
    kept: dict[str, Row] = {}
    for row in islice(_of_split(path, rows, options), options.limit):
        with checked(row, complaints):
            index = row.id(options.column("index"))
            if index in kept:
                raise WrongFieldError(options.column("index"), f'"{index}" is there twice')
            pictures.add(index, row)
            # A row may name the pictures of a later one; until then only its words are kept.
            kept[index] = Row(row.file, row.line, {**row.values, options.column("image"): None})
    questions: list[Question] = []
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


def _of_split(path: Path, rows: Iterator[Row], options: Options) -> Iterator[Row]:
    seen: dict[str, None] = {}
    for row in rows:
        split = str(row.values.get(options.column("split")) or "")
        seen[split] = None
        if options.split in (None, split):
            yield row
    if options.split is not None and options.split not in seen:
        known = ", ".join(filter(None, seen)) or "there are none; leave --split out"
        raise UserError(f'{path} has no split "{options.split}".', f"choose from: {known}")


def _read_run(path: Path, rows: Iterator[Row], options: Options, complaints: Complaints) -> Imported:
    attempts = Attempts(options, complaints)
    for row in _of_split(path, rows, options):
        with checked(row, complaints):
            index = row.id(options.column("index"))
            said = row.maybe_text(options.column("prediction"))
            attempts.add(Attempt(index, _prediction(row, said, index, attempts, options)), path, row.line, "index")
    benchmark = options.benchmark.name if options.benchmark is not None else "unknown"
    return attempts.imported(system=path.stem.removesuffix(f"_{benchmark}"), benchmark=benchmark)


def _prediction(row: Row, said: str | None, index: str, attempts: Attempts, options: Options) -> Prediction:
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
