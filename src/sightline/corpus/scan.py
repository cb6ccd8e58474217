"""Scan a folder of pictures into a corpus: read what changed, on all cores, and find what belongs together.

A picture's owner and rights follow from its id and from what the user gave.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from sightline.config import Config
from sightline.corpus.apple_photos import is_library
from sightline.corpus.file_reader import (
    FilmReading,
    PictureReading,
    ReadJob,
    RefusedFile,
    UnchangedFile,
    current_readers,
    read_file,
)
from sightline.corpus.film import FilmLimits
from sightline.corpus.groups import GROUPING, count_groups, rebuild_groups
from sightline.corpus.lightroom import ENDING, read_catalogue
from sightline.corpus.metadata_table import read_metadata_rows
from sightline.corpus.names import owner_of, owner_reader
from sightline.corpus.pixels import MissingDecoderError, missing_decoders
from sightline.corpus.rights import RightsMap
from sightline.corpus.schema import DamagedCorpusError, set_aside
from sightline.corpus.skips import SkippedKind, kinds_of
from sightline.corpus.sources import FileList, Merged, Source, merge_records, open_source
from sightline.corpus.store import CorpusRoot, CorpusStore, MissingFile
from sightline.corpus.takeout import albums
from sightline.corpus.walk import NOT_FOLLOWED, FolderWalk
from sightline.display import Shown
from sightline.engine.progress import advancing, progress
from sightline.engine.worker_pool import Died, cores, map_in_processes
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import PathLike
from sightline.io.sqlite import DATABASE_FAULTS, is_damage
from sightline.types import Json, Rights

_log = logging.getLogger(__name__)
_COMMIT_EVERY_SECONDS = 0.5
_CATALOGUE = dict[str, Json].fromkeys(("album", "people", "keywords", "rating", "pick", "label"))
"""What a catalogue may say: what it no longer does is taken back."""


@dataclass(frozen=True, slots=True)
class DerivedColumns:
    """Owner and rights of a picture; the workspace remembers both until others are given."""

    store: CorpusStore
    owner: re.Pattern[str] | None
    rights: Callable[[str], Rights]
    stamp: str

    @classmethod
    def remembered(cls, store: CorpusStore, owner_pattern: str | None, rights: Path | None) -> DerivedColumns:
        owner = owner_reader(owner_pattern)
        map_ = None if rights is None else RightsMap.read(rights)
        with store.transaction():
            if owner_pattern is not None:
                store.set_note("owner_pattern", owner_pattern)
            if rights is not None:
                store.set_note("rights", rights.read_text("utf-8"))
        if owner_pattern is None and (pattern := store.note("owner_pattern")):
            owner = owner_reader(pattern)
        text = store.note("rights")
        if map_ is None and text is not None:
            map_ = RightsMap.parse(text, "the rights map of an earlier scan")
        digest = hashlib.sha256((text or "").encode()).hexdigest()
        stamp = f"{store.note('owner_pattern')} {digest}"
        return cls(store, owner, map_.of if map_ else lambda _: Rights(), stamp)

    def columns(self, picture: str) -> dict[str, Any]:
        """The derived columns of a picture."""
        return {"owner": owner_of(picture, self.owner), **asdict(self.rights(picture))}

    def apply_to_all(self) -> None:
        """Bring every picture up to date, when pattern or map are not those of the last scan."""
        if self.store.note("derived") == self.stamp:
            return
        with self.store.transaction():
            for picture in self.store.ids():
                self.store.set_columns(picture, self.columns(picture))
            self.store.set_note("derived", self.stamp)


@dataclass(frozen=True, slots=True)
class ScanChanges:
    """What is different from the last scan."""

    new: int = 0
    changed: int = 0
    moved: int = 0
    deleted: int = 0
    offline: int = 0


@dataclass(frozen=True, slots=True, repr=False)
class ScanSummary(Shown):
    """What a workspace holds after a scan; `skipped` and `warnings` count files by reason.

    `skipped_here` and `skipped_kinds` are of the scanned folder alone: a workspace may know several `folders`.
    """

    pictures: int
    skipped: Mapping[str, int]
    warnings: Mapping[str, int]
    duplicates: int
    bursts: int
    events: int
    owners: int
    seconds: float
    changes: ScanChanges = ScanChanges()
    first_year: int | None = None
    last_year: int | None = None
    skipped_here: Mapping[str, int] = field(default_factory=dict)
    skipped_kinds: tuple[SkippedKind, ...] = ()
    folders: int = 1
    told: int = 0
    """Of how many pictures a catalogue, a table or a source said something new."""

    def to_json(self) -> dict[str, Any]:
        """What `scan --json` prints."""
        hidden = ("first_year", "last_year", "skipped_here", "folders", "told")
        return {name: value for name, value in asdict(self).items() if name not in hidden}

    def __str__(self) -> str:
        return "\n".join(f"  {line}" for line in (self._line(), *self._lines()))

    def _line(self) -> str:
        parts = [counted(self.pictures, "picture") + (f" in {self.folders:,} folders" if self.folders > 1 else "")]
        if self.first_year is not None:
            one = self.first_year == self.last_year
            parts.append(f"{self.first_year}" if one else f"{self.first_year}–{self.last_year}")
        parts += [counted(self.owners, "owner")] if self.owners else []
        parts += [counted(self.events, "event"), counted(self.bursts, "burst"), counted(self.duplicates, "duplicate")]
        return " · ".join(parts)

    def _lines(self) -> Iterator[str]:
        for what, counts in (("skipped", self.skipped_here), ("noted", self.warnings)):
            if counts:
                listed = ", ".join(f"{n:,} {reason}" for reason, n in sorted(counts.items(), key=lambda c: -c[1]))
                yield f"{sum(counts.values()):,} {what}: {listed}"
            yield from (f"  {kind}" for kind in self.skipped_kinds if what == "skipped")
        if NOT_FOLLOWED in self.warnings:
            yield "Links out of the folder are followed with --follow-links."
        changes = {name: count for name, count in asdict(self.changes).items() if count}
        changed = ", ".join(f"{count:,} {name}" for name, count in changes.items())
        changed = changed or ("" if self.told else "nothing changed")
        news = [changed, f"metadata for {counted(self.told, 'picture')}" if self.told else ""]
        yield f"{', '.join(filter(None, news))} in {self.seconds:.1f} s"

    def _blocks(self) -> Iterable[str]:
        return self._lines()


def scan_folder(
    folder: PathLike,
    workspace: Path,
    config: Config,
    *,
    rights: PathLike | None = None,
    metadata: PathLike | None = None,
    follow_links: bool | None = None,
    limit: int | None = None,
    local_only: bool = False,
    read_all: Callable[..., Iterator[tuple[Any, Any]]] = map_in_processes,
) -> ScanSummary:
    """Read the pictures of a folder, or of another source, into the workspace's corpus; it is never written to.

    Only what changed since the last scan is read. Killed at any moment, the next scan finishes the job. Whether links
    out of the folder are followed is remembered for its root. `read_all` says where files are read.
    """
    started = time.monotonic()
    workspace = workspace.expanduser().absolute()
    table = None if metadata is None else Path(metadata).expanduser()
    if table is not None and not table.is_file():
        raise UserError(f"there is no metadata file {table}.", "check the path after --metadata")
    source = open_source(folder, workspace, local_only=local_only)
    root_path, _ = checked_places(source.folder, workspace)
    store, given = _open_store(workspace)
    with store:
        map_ = None if rights is None else Path(rights).expanduser()
        derive = DerivedColumns.remembered(store, config.scan.owner_pattern, map_)
        root, part = (_own_root(store, root_path), b"") if source.own else _root_of(store, root_path)
        follows = _follows(store, root, follow_links, config.scan.follow_links)
        files = source.files or FolderWalk(root.path, part, config.scan.hidden, follows)
        scanner = _Scanner(store, root, part, config, derive, limit, files, Counter(source.unread), read_all)
        changes = scanner.run()
        with store.transaction():
            for picture, values in given.items():
                store.give(picture, values)
        merged = _merge(store, root, source, table)
        stamp = f"{GROUPING} {derive.stamp} {config.duplicates!r} {config.events!r}"
        if changes != ScanChanges() or merged.changed or store.note("groups") != stamp:
            derive.apply_to_all()
            rebuild_groups(store, config.duplicates, config.events)
            store.set_note("groups", stamp)
        store.mark_scanned(root)
        if store.forget_empty(root):
            _log.warning("%s holds no pictures.", root_path)
        _tell_missing_decoder(store)
        found = _summary(store, scanner.warnings, changes, merged.unmatched, time.monotonic() - started)
        kinds = kinds_of(store.skipped(root, part))
        return replace(found, skipped_here=store.count_skipped(root, part), skipped_kinds=kinds, told=merged.changed)


def _tell_missing_decoder(store: CorpusStore) -> None:
    """Pictures that an optional package would read are not a fault of theirs: say which, every time."""
    for extra in missing_decoders():
        detail = MissingDecoderError(extra).detail
        (count,) = store.database.execute(
            "SELECT count(*) FROM files WHERE state = 'present' AND detail = ?", (detail,)
        ).fetchone()
        if count:
            _log.warning("pictures skipped: %d. %s", count, detail)


def checked_places(folder: Path, workspace: Path) -> tuple[Path, Path]:
    """Both as absolute paths; refused where the folder is none, or the workspace would lie inside it."""
    root, workspace = folder.expanduser().absolute(), workspace.expanduser().absolute()
    root = Path(os.path.normpath(root))
    if root.exists() and not root.is_dir():
        fix = f"give it with its pictures: sightline scan FOLDER --metadata {root}"
        fix = fix if root.suffix.lower() == ENDING else f"give its folder: {root.parent}"
        raise UserError(f"{root} is a file, not a folder of pictures.", fix)
    real_root, real_workspace = os.path.realpath(root), os.path.realpath(workspace)
    if os.path.commonpath([real_root, real_workspace]) == real_root:
        raise UserError(
            f"the workspace {workspace} would be inside the pictures' folder, where nothing is ever written.",
            f"choose a place outside it, for example --workspace {root.parent / 'sightline'}",
        )
    return root, workspace


def _open_store(workspace: Path) -> tuple[CorpusStore, dict[str, dict[str, Any]]]:
    """The corpus; a damaged one is set aside, a new one made, and what people gave to its pictures handed back."""
    store, given = None, {}
    try:
        store = CorpusStore(workspace)
        store.look_over()
        return store, {}
    except (DamagedCorpusError, *DATABASE_FAULTS) as error:
        if isinstance(error, sqlite3.OperationalError) and not is_damage(error):  # A lock, or the disk.
            raise
        if store is not None:
            given = store.sound_given()
            store.close()
        _log.warning(
            "%s It is made again, and %s is what it was: scan its other folders again, and give the owner pattern, "
            "rights and metadata again.",
            error if isinstance(error, DamagedCorpusError) else f"The corpus is damaged: {error}.",
            set_aside(workspace),
        )
    return CorpusStore(workspace), given


def _own_root(store: CorpusStore, folder: Path) -> CorpusRoot:
    """The root that is this folder, even where it lies within another one."""
    return next((root for root in store.roots() if root.path == folder), None) or store.add_root(folder)


def _root_of(store: CorpusStore, folder: Path) -> tuple[CorpusRoot, bytes]:
    """The workspace's root that holds the folder, and the folder's path under it (empty: the whole root)."""
    for root in store.roots():
        if is_library(root.path):
            continue
        if folder == root.path or root.path in folder.parents:
            part = b"" if folder == root.path else os.fsencode(folder.relative_to(root.path))
            if not folder.is_dir() and part:
                raise UserError(f"there is no folder {folder}.", "check the path")
            return root, part
        if folder in root.path.parents:
            raise UserError(
                f"{folder} holds {root.path}, which this workspace knows as a root of its own.",
                "scan it into another --workspace",
            )
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}.", "check the path; nothing was scanned")
    return store.add_root(folder), b""


def _follows(store: CorpusStore, root: CorpusRoot, given: bool | None, otherwise: bool) -> bool:
    """Are links out of the root followed? As given, else as at its last scan, else as configured."""
    key = f"follow_links {root.id}"
    if given is not None:
        with store.transaction():
            store.set_note(key, str(given))
    known = store.note(key)
    return otherwise if known is None else known == str(True)


@dataclass(slots=True)
class _Scanner:
    """One scan of one root, or of a part of it."""

    store: CorpusStore
    root: CorpusRoot
    part: bytes
    config: Config
    derive: DerivedColumns
    limit: int | None
    files: FileList
    warnings: Counter[str]
    read_all: Callable[..., Iterator[tuple[Any, Any]]]

    def run(self) -> ScanChanges:
        settings = self.config.scan
        with progress("look", None) as advance:
            seen = self.store.remember_seen(islice(advancing(self.files, advance), self.limit))
        self.warnings.update(self.files.warnings)
        gone = [] if self.limit is not None else self.store.gone(self.root, self.part)
        offline, deleted = self._sort_out(gone, self.files.unreachable, seen)
        self.store.set_state(self.root, offline, "offline")
        self.store.set_state(self.root, deleted, "deleted")
        readers = current_readers(settings.max_pixels, self._film_limits(), missing_decoders())
        todo = self.store.plan_reading(self.root, readers)
        _log.info("%d files, %d to read", seen, todo)
        counts = self._read(todo) if todo else Counter()
        moved = counts["moved"]
        return ScanChanges(counts["new"], counts["changed"], moved, max(0, len(deleted) - moved), len(offline))

    def _film_limits(self) -> FilmLimits:
        settings = self.config.scan
        return FilmLimits(settings.film_pictures, settings.film_minutes, self.store.workspace)

    def _sort_out(self, gone: list[MissingFile], unreachable: list[bytes], seen: int) -> tuple[list[int], list[int]]:
        """Files that can't be seen for want of their folder or drive, and files that were deleted."""
        if gone and (seen == 0 or not self.root.path.is_dir()):
            self.warnings["offline"] += len(gone)
            return [file.file for file in gone], []
        blocked = tuple(folder + b"/" for folder in unreachable)
        offline = [file.file for file in gone if file.path.startswith(blocked) or file.path in unreachable]
        self.warnings["offline"] += len(offline)
        hidden_away = set(offline)
        return offline, [file.file for file in gone if file.file not in hidden_away]

    def _read(self, todo: int) -> Counter[str]:
        settings = self.config.scan
        workers = min(settings.workers or cores(), -(-todo // 8))
        chunk = max(1, min(16, todo // (4 * workers)))
        jobs = self.store.jobs(self.root, settings.max_pixels, self._film_limits())
        results = self.read_all(read_file, jobs, workers=workers, chunk=chunk)
        counts: Counter[str] = Counter()
        with progress("scan", todo) as advance:
            for batch in _batches(results):
                with self.store.transaction():
                    for job, result in batch:
                        counts[self._keep(job, result)] += 1
                advance(len(batch))
        return counts

    def _keep(self, job: ReadJob, result: PictureReading | FilmReading | RefusedFile | UnchangedFile | Died) -> str:
        if isinstance(result, FilmReading):
            return self.store.keep_film(self.root, job, result, self.derive.columns)
        if isinstance(result, UnchangedFile):
            self.store.keep_same(self.root, job)
            return "same"
        if isinstance(result, Died):
            result = RefusedFile("unreadable", f"reading it ended the worker process ({result.why})")
        if isinstance(result, RefusedFile):
            _log.info("skipped %s: %s (%s)", os.fsdecode(job.path), result.reason, result.detail)
            self.store.keep_refused(self.root, job, result)
            return "skipped"
        return self.store.keep_picture(self.root, job, result, self.derive.columns)


def _batches(results: Iterator[tuple[Any, Any]]) -> Iterator[list[tuple[Any, Any]]]:
    """What came in during each half second: one transaction for it all."""
    batch: list[tuple[Any, Any]] = []
    due = time.monotonic() + _COMMIT_EVERY_SECONDS
    for pair in results:
        batch.append(pair)
        if time.monotonic() >= due:
            yield batch
            batch, due = [], time.monotonic() + _COMMIT_EVERY_SECONDS
    if batch:
        yield batch


def _merge(store: CorpusStore, root: CorpusRoot, source: Source, table: Path | None) -> Merged:
    """Merge what is said of the pictures: by the source, by the folders of a Takeout, by a table or a catalogue."""
    found = [merge_records(store, each) for each in (source.records, albums(store, root))]
    if table is not None and table.suffix.lower() == ENDING:
        found.append(merge_records(store, ((name, _CATALOGUE | said) for name, said in read_catalogue(table))))
    elif table is not None:
        rows, matched = read_metadata_rows(table), Counter[bool]()
        while batch := list(islice(rows, 1000)):
            with store.transaction():
                matched.update(store.give(id_, values) for id_, values in batch)
        found.append(Merged(matched[True], matched[False]))
    return Merged(sum(each.changed for each in found), sum(each.unmatched for each in found))


def _summary(
    store: CorpusStore, warnings: Counter[str], changes: ScanChanges, unmatched: int, seconds: float
) -> ScanSummary:
    groups = count_groups(store)
    first, last = store.first_and_last_year()
    all_warnings = Counter(store.count_warnings()) + warnings
    if unmatched:
        all_warnings["unmatched metadata"] = unmatched
    return ScanSummary(
        pictures=store.count_pictures(),
        skipped=store.count_skipped(),
        warnings=dict(sorted(all_warnings.items())),
        duplicates=groups["duplicate"],
        bursts=groups["burst"],
        events=groups["event"],
        owners=groups["owner"],
        seconds=round(seconds, 3),
        changes=changes,
        first_year=first,
        last_year=last,
        folders=len(store.roots()),
    )
