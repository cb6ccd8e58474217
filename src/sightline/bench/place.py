"""Where a benchmark may be written: not over another one, and not over what people said of it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from sightline.bench.files import HEADER, REVIEWS, TASKS
from sightline.errors import UserError
from sightline.io import PathLike, read_json, read_jsonl, read_lines
from sightline.types import Review
from sightline.types.words import counted

_ELSEWHERE = "choose a new or an empty folder"


def check_place(
    folder: PathLike, name: str, kept: Collection[Review] = (), tasks: Collection[str] | None = None
) -> None:
    """Refuse a folder whose content would be lost; for verbs, before anything is asked or paid.

    A benchmark of the same name is replaced by its next version. `kept` are the reviews that will be written again.
    What adds to another benchmark gives the ids of its `tasks`: one that has others is not an earlier version of it.
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
    if tasks is not None:
        _refuse_other_tasks(place, name, tasks)
    reviews = place / REVIEWS.name
    lost = sum(1 for _ in read_lines(reviews)) - len(kept) if reviews.is_file() else 0
    if lost > 0:  # Decisions are only ever added.
        raise UserError(f"people have reviewed {place}: {counted(lost, 'decision')} would be lost.", _ELSEWHERE)


def _refuse_other_tasks(place: Path, name: str, tasks: Collection[str]) -> None:
    rows = read_jsonl(place / TASKS.name) if (place / TASKS.name).is_file() else ()
    ids = [row.get("id") for _, row in rows if isinstance(row, dict)]
    others = [task for task in ids if task not in tasks]
    if others:
        raise UserError(
            f'{place} holds another benchmark "{name}": {counted(len(others), "task")} of it, such as "{others[0]}", '
            "would be lost; it is left as it is.",
            _ELSEWHERE,
        )


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
