"""Which pictures belong together although the benchmark does not say so: bursts, events and owners of the scan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from pathlib import Path

from sightline.config import Config
from sightline.corpus.groups import PictureMoment, split_events
from sightline.corpus.schema import FILE_NAME
from sightline.corpus.view import open_corpus
from sightline.types import Benchmark, Group, GroupKind, Picture

TIED: tuple[GroupKind, ...] = ("burst", "event", "owner")


def missing_groups(benchmark: Benchmark, workspace: Path, config: Config) -> tuple[Group, ...]:
    """Groups of the kinds that the benchmark has none of: as the workspace's scan found them, else events by time."""
    wanted = [kind for kind in TIED if not benchmark.corpus.groups_of(kind)]
    found = list(_scanned(benchmark.corpus.pictures, workspace, wanted))
    if "event" in wanted and not any(group.kind == "event" for group in found):
        found += _events(benchmark.corpus.pictures.values(), config)
    return tuple(found)


def _scanned(pictures: Mapping[str, Picture], workspace: Path, wanted: Sequence[GroupKind]) -> Iterator[Group]:
    if not (workspace / FILE_NAME).is_file():
        return
    corpus = open_corpus(workspace)
    for group in corpus.groups:
        if group.kind in wanted:
            members = tuple(id_ for id_ in group.pictures if id_ in pictures and _same(pictures[id_], corpus.pictures))
            if members:
                yield replace(group, pictures=members)


def _same(picture: Picture, scanned: Mapping[str, Picture]) -> bool:
    """A workspace may hold another picture under the same id."""
    found = scanned.get(picture.id)
    return found is not None and (None in (picture.sha256, found.sha256) or picture.sha256 == found.sha256)


def _events(pictures: Iterable[Picture], config: Config) -> Iterator[Group]:
    """Pictures with a time, cut at long pauses and long jumps as a scan does."""
    moments = sorted(_moments(pictures), key=lambda moment: (moment.seconds, moment.id))
    for number, event in enumerate(split_events(moments, config.events), 1):
        yield Group(f"event/{event[0].taken_at[:10]}-{number}", "event", tuple(moment.id for moment in event))


def _moments(pictures: Iterable[Picture]) -> Iterator[PictureMoment]:
    for picture in pictures:
        taken = picture.taken_at
        if taken is not None:
            seconds = (taken.replace(tzinfo=UTC) if taken.tzinfo is None else taken).timestamp()
            yield PictureMoment(picture.id, None, taken.isoformat(), seconds, picture.lat, picture.lon)
