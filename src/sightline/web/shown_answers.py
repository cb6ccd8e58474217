"""What runs said to a task as pages show it: pictures with their grades and what was missed, or words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sightline.agent.trajectory import trajectory_path
from sightline.runs.folder import PER_TASK, read_run
from sightline.types import Answer, Attempt, Choice, Failure, PictureSet, Prediction, Ranking, Relevance, Text, Trace
from sightline.types.truth import grades_of, relevant_pictures
from sightline.web.app_state import address
from sightline.web.cache import StampedCache
from sightline.web.corpus_view import Tile
from sightline.web.library import Library, LoadedBenchmark

_TILES = 20
_RUNS: StampedCache[Mapping[str, list[Attempt]]] = StampedCache()
GradedTile = tuple[Tile, int | None]


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """What a run said to one task: pictures with their grades, and relevant ones that it did not find; or words."""

    tiles: tuple[GradedTile, ...] = ()
    more: int = 0
    missed: tuple[GradedTile, ...] = ()
    more_missed: int = 0
    text: str = ""
    thinking: str = ""
    failure: str = ""


def attempts_of(folder: Path) -> Mapping[str, list[Attempt]]:
    """A run's attempts by task, read again when it was scored again."""
    path = folder / PER_TASK
    stamp = path.stat().st_mtime_ns if path.is_file() else None
    return _RUNS.get(str(folder), stamp, lambda: _by_task(folder))


def replay_address(name: str, folder: Path, task: str, attempt: int) -> str | None:
    """Where an attempt can be replayed, if notes were taken."""
    if not trajectory_path(folder, task, attempt).is_file():
        return None
    return address(f"/runs/{name}/replay", task=task, attempt=attempt or None)


def _by_task(folder: Path) -> Mapping[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in read_run(folder).attempts:
        found[attempt.task_id].append(attempt)
    return dict(found)


def shown_truth(library: Library, loaded: LoadedBenchmark, task: str, most: int = _TILES) -> ShownAnswer:
    """The right answer."""
    match truth := loaded.benchmark.truth.get(task):
        case Relevance() | PictureSet():
            return _pictures(library, loaded, relevant_pictures(truth), grades_of(truth), most)
        case Answer(text):
            return ShownAnswer(text=text)
        case Choice(option):
            return ShownAnswer(text=option or "")
    return ShownAnswer()


def shown_answer(library: Library, loaded: LoadedBenchmark, attempt: Attempt, most: int = _TILES) -> ShownAnswer:
    """What an attempt said; of pictures the first, and the relevant ones that are not among these."""
    said: Prediction = attempt.prediction
    match said:
        case Ranking(pictures) | PictureSet(pictures):
            truth = loaded.benchmark.truth.get(attempt.task_id)
            missed = [id_ for id_ in relevant_pictures(truth) if id_ not in pictures[:most]]
            left = _pictures(library, loaded, missed, grades_of(truth), most)
            shown = _pictures(library, loaded, pictures, grades_of(truth), most)
            return replace(shown, missed=left.tiles, more_missed=left.more, text="" if pictures else "no picture")
        case Text(text):
            return ShownAnswer(text=text)
        case Choice(option, status):
            return ShownAnswer(text=option or f"no option ({status})")
        case Trace(thinking, answer):
            return ShownAnswer(text=answer, thinking=thinking)
        case Failure(kind, message):
            return ShownAnswer(failure=f"{kind}: {message}")


def _pictures(
    library: Library, loaded: LoadedBenchmark, ids: Sequence[str], grades: Mapping[str, int], most: int
) -> ShownAnswer:
    tiles = tuple((tile, grades.get(tile.id)) for tile in library.tiles(ids[:most], loaded))
    return ShownAnswer(tiles, max(0, len(ids) - most))
