"""Writing DISBench's layout from any benchmark of select tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sightline.bench.formats.base import Content, Options
from sightline.bench.formats.disbench_ids import EVERYONE, PhotoIds, file_name, owner_of
from sightline.bench.formats.retrieval import check_options
from sightline.bench.formats.seeds import MAKING, chosen, copy_picture, label, new_folder, tasks_of
from sightline.errors import UserError
from sightline.io import write_jsonl, write_lines
from sightline.types import Benchmark, Picture, PictureSet, Task


def write(content: Content, path: Path, options: Options) -> None:
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
