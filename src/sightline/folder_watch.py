"""Pictures taken in as they arrive: what `watch` does."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from sightline.calls.session import Session
from sightline.corpus.scan import ScanChanges, checked_places, scan_folder
from sightline.corpus.store import CorpusStore
from sightline.display import Shown
from sightline.english import counted
from sightline.errors import SightlineError, UserError, needs_extra, require_at_least
from sightline.io.files import PathLike, as_path
from sightline.retrieval.index.build import Parts, build_index
from sightline.retrieval.index.content import corpus_state
from sightline.retrieval.index.manifest import WORKSPACE, index_folder, index_names, read_manifest

_TICK = 0.5
_SETTLED, _LONGEST_WAIT = 2.0, 60.0
_POLL = 10.0
_NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "davfs", "vboxsf", "fuse.sshfs", "fuse.rclone", "fuse.s3fs")


@dataclass(frozen=True, slots=True, repr=False)
class WatchedChanges(Shown):
    """What one scan took in while a folder was watched, and the indexes that were brought up to date.

    `skipped` is by how many the files that can't be read became more, or fewer; `notes` say what went wrong.
    """

    folder: Path
    changes: ScanChanges
    skipped: int
    pictures: int
    indexes: dict[str, int] = field(default_factory=dict)
    "How many pictures were embedded, by the index's name."
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    when: datetime = field(default_factory=lambda: datetime.now().astimezone())

    def to_json(self) -> dict[str, Any]:
        """A line of `watch --json`."""
        when, seconds = self.when.isoformat(timespec="seconds"), round(self.seconds, 3)
        return {**asdict(self), "folder": str(self.folder), "when": when, "seconds": seconds}

    def _line(self) -> str:
        counts = {**asdict(self.changes), "skipped": self.skipped}
        listed = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count > 0) or "nothing changed"
        parts = [f"{self.when:%H:%M:%S}  {listed}", counted(self.pictures, "picture")]
        parts += [f'index "{name}": {count:,} embedded' for name, count in self.indexes.items()]
        return " · ".join([*parts, f"{self.seconds:.1f} s", *self.notes])


def watch(
    folder: PathLike,
    *,
    poll: float | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> Iterator[WatchedChanges]:
    """Take in new, changed, moved and deleted pictures of a folder as they arrive, until the iterator is closed.

    The folder is scanned first, so what happened since the last scan is not missed. Files that are still being written
    are waited for: a scan starts when nothing has changed for two seconds, or after a minute of constant changes.
    Indexes of the workspace's pictures are brought up to date where there are any. A folder that goes away (a drive
    that is unplugged) is offline until it is back.

    Parameters
    ----------
    folder:
        The folder with the pictures; sub-folders are included.
    poll:
        Look for changes every so many seconds, instead of being told by the operating system. Network drives are always
        polled, every ten seconds when not given: what another machine writes to them is not told.
    workspace, session:
        Where it works; `scan` of the session's configuration says how.

    Returns
    -------
    Iterator[WatchedChanges]
        What the first scan found, then one for each batch of changes.

    Examples
    --------
    >>> import sightline
    >>> watching = sightline.watch("pictures", workspace="ws")
    >>> next(watching).pictures
    6
    """
    require_at_least(0.1, poll=poll)
    session = Session.of(session, workspace)
    root, _ = checked_places(as_path(folder, "a folder of pictures"), session.workspace)
    if not root.is_dir():
        raise UserError(f"There is no folder {root}.", "Check the path; nothing is watched.")
    with needs_extra("sightline watch", "watch"):
        import watchfiles  # noqa: F401
    return _Watch(root, session, _POLL if poll is None and _is_network_drive(root) else poll).batches()


@dataclass(slots=True)
class _Watch:
    """One folder; `skipped` is the number of files that the last scan could not read."""

    root: Path
    session: Session
    poll: float | None
    skipped: int = 0

    def batches(self) -> Iterator[WatchedChanges]:
        first = True
        while True:
            for folder in self._changed_folders():
                found = self._take_in(folder)
                if first or found.skipped or found.notes or found.changes != ScanChanges():
                    yield found
                first = False
            while not self.root.is_dir():
                time.sleep(_TICK)

    def _changed_folders(self) -> Iterator[Path]:
        """The root at the beginning, then the folder that holds each batch of changes; ends where the root is gone."""
        quiet = max(_SETTLED, 1.5 * (self.poll or 0.0))
        pending: set[str] = set()
        started, since, latest, mark = False, 0.0, 0.0, _mark(self.root)
        for events in self._events():
            if not started:  # The watcher is ready: nothing that comes after this scan is missed.
                started = True
                yield self.root
            now = time.monotonic()
            if events:
                since, latest = since if pending else now, now
                pending |= events
            if pending and (now - latest >= quiet or now - since >= _LONGEST_WAIT):
                changed, pending = pending, set()
                yield self._holding(changed)
            if _mark(self.root) != mark:  # Deleted, unplugged, or mounted over: the watcher would be told nothing.
                yield self.root
                return

    def _events(self) -> Iterator[set[str]]:
        """The paths that changed in the last half second, at the end of each."""
        from watchfiles import watch as watch_files

        try:
            for changes in watch_files(
                self.root,
                watch_filter=None,
                rust_timeout=int(_TICK * 1000),
                yield_on_timeout=True,
                force_polling=self.poll is not None,
                poll_delay_ms=int((self.poll or 1.0) * 1000),
                ignore_permission_denied=True,
            ):
                yield {path for _, path in changes}
        except FileNotFoundError:  # It went away just now.
            return
        except OSError as error:
            raise UserError(
                f"{self.root} can't be watched: {error}.", "Look for changes from time to time: --poll 10 (poll=10)."
            ) from error

    def _holding(self, changed: Iterable[str]) -> Path:
        """The folder below which all changes are: one scan of it sees both ends of a move."""
        folder = Path(os.path.commonpath([Path(path).parent for path in changed]))
        while not folder.is_dir() and folder != folder.parent:
            folder = folder.parent
        return folder if folder.is_relative_to(self.root) else self.root

    def _take_in(self, folder: Path) -> WatchedChanges:
        started, session = time.monotonic(), self.session
        found = scan_folder(folder, session.workspace, session.config)
        skipped, self.skipped = self.skipped, sum(found.skipped.values())
        indexes, notes = self._update_indexes()
        return WatchedChanges(
            self.root,
            found.changes,
            self.skipped - skipped,
            found.pictures,
            indexes,
            notes,
            time.monotonic() - started,
        )

    def _update_indexes(self) -> tuple[dict[str, int], tuple[str, ...]]:
        """How many pictures were embedded by index, and why one could not be brought up to date, which ends nothing."""
        embedded, notes, place = {}, [], self.session.workspace.absolute()
        with CorpusStore(place) as store:
            state = corpus_state(store)
        for name in index_names(place):
            try:
                before = read_manifest(index_folder(place, name))
                if before is None or before.source != WORKSPACE or before.state == state:
                    continue
                built = build_index(self.session, name, parts=Parts(vectors=before.embedder is not None))
                embedded[name] = built.embedded.made
            except SightlineError as error:
                notes.append(f'the index "{name}" is not up to date: {error}')
        return embedded, tuple(notes)


def _mark(folder: Path) -> tuple[int, int] | None:
    """Tells a folder from another one at the same place."""
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _is_network_drive(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> bool:
    """Does the folder lie on a drive that other machines write to? Known on Linux alone."""
    try:
        lines = mounts.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    kinds = {fields[1].replace("\\040", " "): fields[2] for line in lines if len(fields := line.split()) > 2}
    real = Path(os.path.realpath(folder))
    above = next((str(place) for place in (real, *real.parents) if str(place) in kinds), "")
    return kinds.get(above, "").startswith(_NETWORK)
