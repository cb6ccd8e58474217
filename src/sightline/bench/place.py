"""Where a benchmark may be written: not over another one, and not over what people said of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sightline.bench.files import HEADER, PICTURES, REVIEWS, TASKS
from sightline.bench.problems import Problem
from sightline.bench.schema import CURRENT
from sightline.bench.table import Source
from sightline.english import counted
from sightline.errors import UserError
from sightline.io import PathLike, parse_line, read_json, read_jsonl
from sightline.types import Picture, Review, Task

_ELSEWHERE = "choose a new or an empty folder"


def check_place(
    folder: PathLike,
    name: str,
    kept: Collection[Review] = (),
    tasks: Mapping[str, Task] | None = None,
    pictures: Mapping[str, Picture] | None = None,
) -> None:
    """Refuse a folder whose content would be lost; for verbs, before anything is asked or paid.

    A benchmark of the same name is replaced by its next version. `kept` are the reviews that are not lost by that.
    Whoever knows the `tasks` that a version before can have gives them: one that has others, or the same ids with other
    words throughout, is another benchmark. Whoever can come to other tasks of the same pictures gives these `pictures`
    too: then only one that has none of them is another.
    """
    place = Path(folder)
    if not place.exists():
        _try(place)
        return
    if not (place / HEADER).is_file():
        if place.is_file() or any(place.iterdir()):
            raise UserError(f"{place} holds other things; it is left as it is.", _ELSEWHERE)
        return
    found = read_json(place / HEADER)
    there = found.get("name") if isinstance(found, dict) else None
    if there != name:
        raise UserError(f'{place} holds the benchmark "{there}", not "{name}"; it is left as it is.', _ELSEWHERE)
    if tasks is not None and not (pictures and _has_some(place, pictures)):
        _refuse_other_tasks(place, name, tasks)
    lost = _lost_reviews(place, kept)
    if lost:
        raise UserError(f"people have reviewed {place}: {counted(lost, 'decision')} would be lost.", _ELSEWHERE)


def _has_some(place: Path, pictures: Mapping[str, Picture]) -> bool:
    """Does the benchmark that is there have one of these? Cameras and worlds use names again: bytes decide."""
    return any(
        (one := pictures.get(str(row.get("id")))) is not None
        and (row.get("sha256") or one.sha256) == (one.sha256 or row.get("sha256"))
        for row in _rows(place / PICTURES.name)
    )


def _refuse_other_tasks(place: Path, name: str, tasks: Mapping[str, Task]) -> None:
    there = {str(row.get("id")): row for row in _rows(place / TASKS.name)}
    others, which = [id_ for id_ in there if id_ not in tasks], ""
    if not others and not any(_same_words(row, tasks[id_]) for id_, row in there.items()):
        others, which = list(there), " with other words"
    if others:
        raise UserError(
            f'{place} holds another benchmark "{name}": {counted(len(others), "task")} of it, such as "{others[0]}"'
            f"{which}, would be lost; it is left as it is.",
            _ELSEWHERE,
        )


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if path.is_file():
        yield from (row for _, row in read_jsonl(path) if isinstance(row, dict))


def _same_words(row: Mapping[str, Any], task: Task) -> bool:
    return bool(row.get("prompt") == parse_line(TASKS.name, 1, TASKS.line(task))["prompt"])


def _lost_reviews(place: Path, kept: Collection[Review]) -> int:
    """How many decisions of people are not among those that are kept; a line that can't be read is one, too."""
    unreadable: list[Problem] = []
    rows = Source(place, CURRENT, unreadable.extend, growing=True).rows(REVIEWS)
    lost = Counter(_decision(review) for _, review in rows) - Counter(map(_decision, kept))
    return lost.total() + len({problem.line for problem in unreadable})


def _decision(review: Review) -> tuple[object, ...]:
    """Who decided what when; the words of a decision may be others in a version that was made of it."""
    return review.task, review.picture, review.person, review.when


def _try(place: Path) -> None:
    """Make the folder, and take it away again: whether that can be done is known only then."""
    missing = [folder for folder in (place, *place.parents) if not folder.exists()]
    try:
        place.mkdir(parents=True)
    except OSError as error:
        raise UserError(f"{place} can't be written: {error.strerror or error}.", _ELSEWHERE) from None
    finally:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
