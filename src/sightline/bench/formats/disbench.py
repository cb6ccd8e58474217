"""DISBench: photo histories of users, and queries whose answer is an exact set of one user's photos.

| DISBench | here |
|---|---|
| `queries.jsonl`: `query_id`, `query` | `Task.id`, `prompt` (kind `select`) |
| `user_id` | `Task.scope.owner`, and a group of kind `owner` with the user's photos in order |
| `answer` | `PictureSet` |
| `event_type` | label `event_type`; `unlabelled` where there is none |
| other keys of a query | `Task.extra` |
| `metadata/{user_id}.jsonl`: `photo_id` | `Picture.id`, as `{user_id}/{photo_id}` |
| `metadata`: `taken_time`, `latitude`, `longitude` | `taken_at` (wall-clock time, no offset), `lat`, `lon` |
| `address`, `capturedevice` | `address`, `device` |
| `accuracy`, other keys | `Picture.extra` |
| `images/{user_id}/{photo_id}.jpg` | `Picture.uri`; the files need not be there |
| `photo_ids/{user_id}.txt` | `sha256` where a line holds 64 hexadecimal digits, else `Picture.extra["hash"]` |

Photo ids are unique within a user only, hence the user in ours. The layout of `photo_ids` is not published: a line is
taken as an id and a hash in any order, with a tab, a space or a comma between them.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sightline.bench.formats.base import Complaints, Format, Imported, Options
from sightline.bench.formats.disbench_ids import picture_id
from sightline.bench.formats.disbench_photos import Histories
from sightline.bench.formats.disbench_write import write
from sightline.bench.formats.retrieval import check_options, some
from sightline.bench.formats.rows import Row, WrongFieldError, checked, read_rows
from sightline.bench.formats.seeds import came_from, data_file, labelled
from sightline.english import counted
from sightline.types import Benchmark, Corpus, Group, Json, PictureSet, Scope, Task

HUB = "RUC-NLPIR/DISBench"
METRICS = ("em", "f1", "set_precision", "set_recall", "iou")


@dataclass(frozen=True, slots=True)
class _Query:
    """A line of queries.jsonl; `answer_field` is what its column is called."""

    row: Row
    answer_field: str
    id: str
    user: str
    text: str
    answer: tuple[str, ...]
    event_type: str | None
    extra: Mapping[str, Json]

    def task(self) -> Task:
        labels = {"event_type": labelled(self.event_type)}
        return Task(self.id, "select", (self.text,), scope=Scope(owner=self.user), labels=labels, extra=self.extra)

    def truth(self, known: Container[str]) -> PictureSet:
        for place, photo in enumerate(self.answer):
            if picture_id(self.user, photo) not in known:
                expected = f"expected an id of metadata/{self.user}.jsonl"
                raise WrongFieldError(
                    f"{self.answer_field}.{place}", f'"{photo}" is no photo of user "{self.user}"; {expected}'
                )
        return PictureSet(tuple(picture_id(self.user, photo) for photo in self.answer))


def read(path: Path, options: Options) -> Imported:
    """Select tasks over the histories of all users whose files are there, or of those in the option `users`."""
    check_options(options, "users")
    complaints = Complaints(options)
    file = data_file(path, "queries.jsonl")
    histories = Histories(file.parent, options, complaints)
    asked = list(_queries(file, options, complaints))
    if "users" in options.extra:
        asked = [query for query in asked if query.user in histories.users]
    asked = asked[: options.limit]
    users = histories.users if options.limit is None else _among(histories.users, asked)
    groups = tuple(Group(user, "owner", histories.read(user)) for user in users)
    tasks: dict[str, Task] = {}
    truth: dict[str, PictureSet] = {}
    for query in asked:
        with checked(query.row, complaints):
            if query.user in users:
                truth[query.id] = query.truth(histories.pictures)
                tasks[query.id] = query.task()
    name = options.name or "DISBench"
    benchmark = Benchmark(
        name=name,
        corpus=Corpus(name, histories.pictures, groups),
        tasks=tasks,
        truth=truth,
        metrics=METRICS,
        card={
            "description": "Exact sets of photos in users' photo histories.",
            "languages": ["en"],
            "source": came_from(path, "DISBench", options),
        },
    )
    warnings = (*histories.warnings, *_lost(asked, histories.users))
    return Imported(benchmark, tuple(complaints.problems), warnings)


def _queries(file: Path, options: Options, complaints: Complaints) -> Iterator[_Query]:
    names = ("query_id", "user_id", "query", "answer", "event_type")
    id_, user, text, answer, event_type = map(options.column, names)
    lines: dict[str, int] = {}
    for row in read_rows(file, complaints):
        with checked(row, complaints):
            name = row.id(id_)
            if lines.setdefault(name, row.line) != row.line:
                raise WrongFieldError(id_, f'"{name}" is already on line {lines[name]}')
            yield _Query(
                row,
                answer,
                name,
                row.id(user),
                row.text(text),
                row.ids(answer),
                row.maybe_text(event_type),
                row.rest(id_, user, text, answer, event_type),
            )


def _among(users: Iterable[str], asked: Iterable[_Query]) -> tuple[str, ...]:
    wanted = {query.user for query in asked}
    return tuple(user for user in users if user in wanted)


def _lost(asked: Iterable[_Query], users: Container[str]) -> Iterator[str]:
    """Part of the data set may be on this machine; what can't be asked of it is said."""
    lost = [query.user for query in asked if query.user not in users]
    if lost:
        said = counted(len(lost), "query is", "queries are")
        yield f"{said} left out: there is no metadata of {some(sorted(set(lost)))}"


FORMATS = {
    "disbench": Format(
        "disbench", "DISBench folder: queries, photo metadata, pictures", read, write, writes=(Benchmark,), hub=HUB
    )
}
