"""Photo histories on disk: pictures and their truth, written as a stream, on all cores, resumed where it stopped.

What links events is found in the truth of the pictures themselves: so every link can be seen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import IO, NamedTuple

from sightline import __version__
from sightline.engine.worker_pool import Died, cores, map_in_processes
from sightline.errors import SightlineError, UserError
from sightline.io.files import PathLike, write_whole
from sightline.io.jsonl import CutOffError, dump, read_json, write_json
from sightline_world.histories.corpus import ADDRESS_FILE, LIFE_FILE, SCHEMA, TRUTH_FILE, known_address, shots_in
from sightline_world.histories.frames import Batch
from sightline_world.histories.people import owner_names
from sightline_world.histories.render import RenderJob, write_batch
from sightline_world.histories.shots import batches
from sightline_world.histories.towns import town_map
from sightline_world.histories.years import HistoryPlan, plan_history
from sightline_world.scene import Sign
from sightline_world.truth import Link, LinkKind, ShotTruth, SyntheticHistory, World

LEGIBLE_PX, LEGIBLE_HIDDEN = 7.0, 0.1
"""A sign can be read when its letters are so high and at most that share of it is hidden."""
_MAKING_FILE = "making.json"
_PARTIAL, _BEFORE = "truth.partial.jsonl", "truth.before.jsonl"


@dataclass(slots=True)
class Links:
    """Collects, picture by picture, who and what was seen at which events of a life."""

    life: SyntheticHistory
    _seen: dict[tuple[LinkKind, str], dict[str, list[str]]] = field(default_factory=dict)

    def add(self, shot: ShotTruth) -> None:
        """Take note of one picture; copies and pictures between events link nothing."""
        if shot.event is None or shot.duplicate_of is not None:
            return
        for key in self._keys(shot):
            self._seen.setdefault(key, {}).setdefault(shot.event, []).append(shot.id)

    def _keys(self, shot: ShotTruth) -> list[tuple[LinkKind, str]]:
        met = {friend.name for friend in self.life.friends if friend.met is not None}
        bought = {item.name for item in self.life.belongings if item.bought is not None}
        towns = {town.name.upper(): town.name for town in self.life.towns}
        keys: list[tuple[LinkKind, str]] = [("met" if name in met else "friend", name) for name in shot.people]
        keys += [("bought" if name in bought else "belonging", name) for name in shot.belongings]
        for words in dict.fromkeys(sign.words for sign in shot.graph.signs if is_legible(sign)):
            if words in towns:
                keys.append(("town", towns[words]))
            elif words == self.life.team.name:
                keys.append(("team", words))
        return keys

    def all(self) -> tuple[Link, ...]:
        """Whatever was seen at two events or more; a purchase or a meeting only where its own picture is among them."""
        first = {friend.name: friend.met for friend in self.life.friends}
        first |= {item.name: item.bought for item in self.life.belongings}
        return tuple(
            Link(kind, via, tuple(events), tuple(id_ for ids in events.values() for id_ in ids))
            for (kind, via), events in sorted(self._seen.items())
            if len(events) > 1 and (kind not in ("met", "bought") or first[via] in events)
        )


def is_legible(sign: Sign) -> bool:
    """Whether its words can be read in the picture at its full size."""
    return sign.letter_px >= LEGIBLE_PX and sign.hidden <= LEGIBLE_HIDDEN


def write_history(
    folder: PathLike, seed: int = 0, pictures: int = 600, size: tuple[int, int] = (640, 480), *, workers: int | None = 1
) -> SyntheticHistory:
    """Write one owner's life of exactly so many pictures; equal arguments give equal bytes.

    Stopped at any moment, the same call finishes the work: files with the right bytes are kept. `workers` is the
    number of processes; None means one for each core.
    """
    return write_world(folder, seed, owners=1, pictures=pictures, size=size, workers=workers).lives[0]


def write_world(
    folder: PathLike,
    seed: int = 0,
    *,
    owners: int = 3,
    pictures: int = 600,
    size: tuple[int, int] = (640, 480),
    workers: int | None = 1,
) -> World:
    """Write the lives of several owners on one map, with so many `pictures` each; see `write_life`."""
    if owners < 1 or (workers is not None and workers < 1):
        wrong = f"for {owners} owners" if owners < 1 else f"by {workers} workers"
        raise UserError(f"Photo histories can't be written {wrong}.", "ask for at least 1")
    root = Path(folder)
    making = {"schema": SCHEMA, "seed": seed, "owners": owners, "pictures": pictures, "size": list(size)}
    towns = town_map(seed)
    names = owner_names(seed, owners)
    # What can't be planned is refused before anything is written.
    plan_history(seed, names[0], towns, pictures, size)
    _begin(root, making)
    lives = _Histories(plan_history(seed, name, towns, pictures, size) for name in names)
    with (root / _PARTIAL).open("wb") as truth, (root / f"{ADDRESS_FILE}.partial").open("wb") as addresses:
        for shots in _drawn(root, lives.batches(), cores() if workers is None else workers):
            lives.add(shots)
            _append(truth, addresses, shots)
    world = World(root, seed, tuple(lives.done()))
    _finish(root, making, world)
    return world


def _begin(root: Path, making: dict[str, object]) -> None:
    """Claim the folder for these lives, and put aside what an unfinished run left."""
    for name in (_MAKING_FILE, LIFE_FILE):
        if (root / name).is_file():
            earlier = read_json(root / name)
            if not isinstance(earlier, dict) or {key: earlier.get(key) for key in making} != making:
                raise UserError(f"{root} holds other photo histories ({name}).", "choose a new folder")
            break
    else:
        if root.exists() and any(root.iterdir()):
            raise UserError(f"{root} holds other things; it is left as it is.", "choose a new or an empty folder")
    root.mkdir(parents=True, exist_ok=True)
    (root / "pictures").mkdir(exist_ok=True)
    write_json(root / _MAKING_FILE, making)
    partial, before = root / _PARTIAL, root / _BEFORE
    if partial.is_file() and (not before.is_file() or partial.stat().st_size > before.stat().st_size):
        partial.replace(before)


def _finish(root: Path, making: dict[str, object], world: World) -> None:
    head = dump(making).rstrip(b"}\n")
    lives = b",\n".join(dump(life).rstrip(b"\n") for life in world.lives)
    (root / _PARTIAL).replace(root / TRUTH_FILE)
    (root / f"{ADDRESS_FILE}.partial").replace(root / ADDRESS_FILE)
    write_whole(root / LIFE_FILE, head + b',"lives":[\n' + lives + b"\n]}\n")
    for name in (_BEFORE, _MAKING_FILE):
        (root / name).unlink(missing_ok=True)


def _append(truth: IO[bytes], addresses: IO[bytes], shots: Iterable[ShotTruth]) -> None:
    for shot in shots:
        truth.write(dump(shot))
        if (address := known_address(shot)) is not None:
            addresses.write(dump({"image_id": shot.id, "address": address}))
    truth.flush()
    addresses.flush()


class _Histories:
    """Plans lives one after the other, and completes each with the links that its pictures show."""

    def __init__(self, plans: Iterable[HistoryPlan]) -> None:
        self._plans = plans
        self._open: dict[str, Links] = {}

    def batches(self) -> Iterator[Batch]:
        for plan in self._plans:
            self._open[plan.life.owner] = Links(plan.life)
            yield from batches(plan)

    def add(self, shots: Iterable[ShotTruth]) -> None:
        for shot in shots:
            self._open[shot.owner].add(shot)

    def done(self) -> Iterator[SyntheticHistory]:
        for links in self._open.values():
            yield replace(links.life, links=links.all())


class _Numbered(NamedTuple):
    """A job with its place in the order of the truth."""

    number: int
    job: RenderJob


def write_numbered(item: _Numbered) -> tuple[ShotTruth, ...]:
    """`write_batch`, in a worker process."""
    return write_batch(item.job)


def _drawn(root: Path, todo: Iterable[Batch], workers: int) -> Iterator[tuple[ShotTruth, ...]]:
    """The truth about each batch, in order; batches ahead of their turn wait, and there are never many."""
    earlier = _Earlier(root)
    jobs = (RenderJob(root / "pictures", batch, print_ := _print(batch), earlier.take(print_, batch)) for batch in todo)
    if workers == 1:
        yield from map(write_batch, jobs)
        return
    items = (_Numbered(number, job) for number, job in enumerate(jobs))
    waiting: dict[int, tuple[ShotTruth, ...]] = {}
    turn = 0
    for item, result in map_in_processes(write_numbered, items, workers=workers, chunk=1):
        if isinstance(result, Died):
            raise SightlineError(f"a process that draws pictures ended: {result.why}.", "run it again to go on")
        waiting[item.number] = result
        while turn in waiting:
            yield waiting.pop(turn)
            turn += 1


def _print(batch: Batch) -> str:
    """What the files of a batch depend on, as sixteen digits."""
    made_with = f"{__version__} {version('pillow')} {version('numpy')}"
    return hashlib.sha256(f"{made_with} {batch!r}".encode()).hexdigest()[:16]


class _Earlier:
    """The truth that an earlier run wrote, read along with the batches that come in the same order."""

    def __init__(self, root: Path) -> None:
        path = next((root / name for name in (TRUTH_FILE, _BEFORE) if (root / name).is_file()), None)
        self._groups = groupby(_readable(path) if path else (), key=lambda shot: shot.plan)
        self._next: tuple[ShotTruth, ...] = ()

    def take(self, plan_print: str, batch: Batch) -> tuple[ShotTruth, ...]:
        """What is known of this very batch; nothing where it was another one, or not finished."""
        if not self._next:
            _, group = next(self._groups, ("", iter(())))
            self._next = tuple(group)
        if not self._next or self._next[0].plan != plan_print or len(self._next) != len(batch.frames):
            return ()
        taken, self._next = self._next, ()
        return taken


def _readable(path: Path) -> Iterator[ShotTruth]:
    """Up to where a stopped writer left off."""
    try:
        yield from shots_in(path)
    except CutOffError:
        return
