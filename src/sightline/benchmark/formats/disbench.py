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
from typing import Any

from sightline.benchmark.formats.base import Complaints, Content, Format, FormatOptions, Imported
from sightline.benchmark.formats.dataset_folder import (
    MAKING,
    chosen,
    copy_picture,
    data_file,
    label,
    labelled,
    new_folder,
    public_benchmark,
    tasks_of,
)
from sightline.benchmark.formats.disbench_photos import EVERYONE, Histories, PhotoIds, file_name, owner_of, picture_id
from sightline.benchmark.formats.retrieval import check_options, some
from sightline.benchmark.formats.rows import TableRow, WrongFieldError, checked, read_rows
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.jsonl import write_jsonl, write_lines
from sightline.types import Benchmark, Corpus, Group, Json, Picture, PictureSet, Scope, Task

HUB = "RUC-NLPIR/DISBench"
METRICS = ("em", "f1", "set_precision", "set_recall", "iou")


def write(content: Content, path: Path, options: FormatOptions) -> None:
    """Write queries, metadata, photo ids and, unless the option `pictures` is `none`, the pictures that are here."""
    check_options(options, "pictures")
    assert isinstance(content, Benchmark)
    copies = chosen(options, "pictures", ("copy", "none")) == "copy"
    ids = PhotoIds(content)
    queries = [_query(task, content, ids) for task in tasks_of(content, "select", options)]
    with new_folder(path, "queries.jsonl") as folder:
        write_jsonl(folder / "queries.jsonl", queries)
        (folder / "metadata").mkdir()
        (folder / "photo_ids").mkdir()
        for owner in ids.owners:
            name = file_name(owner)
            photos = {photo: content.corpus.pictures[picture] for photo, picture in ids.history(owner).items()}
            write_jsonl(folder / "metadata" / f"{name}.jsonl", map(_photo, photos, photos.values()))
            write_lines(folder / "photo_ids" / f"{name}.txt", _listed(photos))
            if copies:
                for photo, picture in photos.items():
                    copy_picture(picture, folder / "images" / name / f"{photo}.jpg", options)


def _query(task: Task, benchmark: Benchmark, ids: PhotoIds) -> dict[str, Any]:
    owner = owner_of(task)
    _refuse_unfit(task, owner, ids)
    truth = benchmark.truth[task.id]
    wanted = truth.pictures if isinstance(truth, PictureSet) else ()
    known = set(ids.history(owner).values())
    for picture in wanted:
        if picture not in known:
            raise UserError(f'task "{task.id}": picture "{picture}" is not one of "{owner}".', "correct its truth")
    row: dict[str, Any] = {
        **{key: value for key, value in task.extra.items() if key not in MAKING},
        "query_id": task.id,
        "user_id": owner,
        "query": task.text,
        "answer": [ids.photo(owner, picture) for picture in wanted],
    }
    event_type = label(task, "event_type")
    return row if event_type is None else {**row, "event_type": event_type}


def _refuse_unfit(task: Task, owner: str, ids: PhotoIds) -> None:
    """A DISBench query is text, and asks of the whole history of one user."""
    if task.pictures:
        raise UserError(f'task "{task.id}" shows a picture; DISBench queries are text only.')
    if task.scope.groups or task.scope.pictures:
        raise UserError(f'task "{task.id}" searches a part of a history; DISBench queries search all of it.')
    if owner not in ids.owners:
        said = "searches everyone's pictures" if owner == EVERYONE else f'searches pictures of "{owner}"'
        raise UserError(
            f'task "{task.id}" {said}; DISBench queries search the history of one of the corpus\'s owners.',
            "give the task an owner for its scope",
        )


def _photo(photo: str, picture: Picture) -> dict[str, Any]:
    taken = None if picture.taken_at is None else picture.taken_at.replace(tzinfo=None)
    return {
        "photo_id": photo,
        "metadata": {
            **{key: value for key, value in picture.extra.items() if key != "hash"},
            "taken_time": None if taken is None else taken.isoformat(" ", "seconds"),
            "longitude": picture.lon,
            "latitude": picture.lat,
            "accuracy": picture.extra.get("accuracy"),
            "address": picture.address,
            "capturedevice": picture.device,
        },
    }


def _listed(photos: dict[str, Picture]) -> Iterator[bytes]:
    for photo, picture in photos.items():
        hashed = picture.sha256 or picture.extra.get("hash")
        yield (f"{photo}\t{hashed}\n" if hashed else f"{photo}\n").encode()


@dataclass(frozen=True, slots=True)
class _Query:
    """A line of queries.jsonl; `answer_field` is what its column is called."""

    row: TableRow
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
                    f"{self.answer_field}.{place}", f'"{photo}" is not a photo of user "{self.user}"; {expected}'
                )
        return PictureSet(tuple(picture_id(self.user, photo) for photo in self.answer))


def read(path: Path, options: FormatOptions) -> Imported:
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
    description = "Exact sets of photos in users' photo histories."
    corpus = Corpus("", histories.pictures, groups)
    benchmark = public_benchmark(
        path, "DISBench", options, corpus, tasks, truth, metrics=METRICS, description=description
    )
    warnings = (*histories.warnings, *_lost(asked, histories.users))
    return Imported(benchmark, tuple(complaints.problems), warnings)


def _queries(file: Path, options: FormatOptions, complaints: Complaints) -> Iterator[_Query]:
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
