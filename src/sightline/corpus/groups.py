"""Groups of a scanned corpus: duplicates, bursts, events, owners and data sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sightline.config import DuplicateSettings, EventSettings
from sightline.corpus.events import Moment, split_events
from sightline.corpus.looks import Looks
from sightline.corpus.store import LIVING, Store
from sightline.types import GroupKind

GROUPING = 2
"""Counts the rules by which groups are found: a workspace that an earlier one grouped is grouped anew."""


def rebuild_groups(store: Store, duplicates: DuplicateSettings, events: EventSettings) -> None:
    """Find all groups again, in one transaction."""
    with store.transaction():
        store.database.execute("DELETE FROM members")
        store.database.execute("DELETE FROM groups")
        looks = Looks.read(store)
        copies = looks.duplicates(duplicates)
        bursts = looks.bursts(copies, duplicates)
        _write(store, "duplicate", ((f"duplicate/{ids[0]}", ids) for ids in map(looks.ids, copies)))
        _write(store, "burst", ((f"burst/{ids[0]}", ids) for ids in map(looks.ids, bursts)))
        _write(store, "event", _events(store, events))
        for kind, column in (("owner", "owner"), ("dataset", "source")):
            store.database.execute(
                f"""INSERT INTO groups SELECT DISTINCT '{kind}/' || p.{column}, '{kind}', 0
                {LIVING} AND p.{column} IS NOT NULL"""
            )
            store.database.execute(
                f"""INSERT INTO members SELECT '{kind}/' || p.{column},
                row_number() OVER (PARTITION BY p.{column} ORDER BY p.taken_key, p.id) - 1, p.id
                {LIVING} AND p.{column} IS NOT NULL"""
            )


def count_groups(store: Store) -> dict[str, int]:
    """Groups by kind; for duplicates, the pictures that another one stands for."""
    counts = dict(store.database.execute("SELECT kind, count(*) FROM groups GROUP BY kind").fetchall())
    extra = store.database.execute(
        "SELECT count(*) FROM members JOIN groups ON id = group_id WHERE kind = 'duplicate' AND position > 0"
    ).fetchone()[0]
    return {kind: counts.get(kind, 0) for kind in ("burst", "event", "owner", "dataset")} | {"duplicate": extra}


def _events(store: Store, settings: EventSettings) -> Iterator[tuple[str, list[str]]]:
    """`event/ana/2023-07-14`, and `-2` for the second of a day."""
    rows = store.database.execute(
        f"""SELECT p.id, p.owner, p.taken_at, p.taken_key, p.lat, p.lon {LIVING} AND p.taken_key IS NOT NULL
        ORDER BY p.owner, p.taken_key, p.id"""
    )
    last, number = "", 1
    for event in split_events((Moment(*row) for row in rows), settings):
        day, owner = event[0].taken_at[:10], event[0].owner
        name = f"event/{owner}/{day}" if owner else f"event/{day}"
        number = number + 1 if name == last else 1
        last = name
        yield (name if number == 1 else f"{name}-{number}"), [moment.id for moment in event]


def _write(store: Store, kind: GroupKind, groups: Iterable[tuple[str, Sequence[str]]]) -> None:
    for name, pictures in groups:
        store.database.execute("INSERT INTO groups VALUES (?, ?, 0)", (name, kind))
        store.database.executemany(
            "INSERT INTO members VALUES (?, ?, ?)",
            ((name, at, picture) for at, picture in enumerate(pictures)),
        )
