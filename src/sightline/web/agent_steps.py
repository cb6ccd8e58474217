"""An agent's steps as a page shows them: what it thought, which tools it used, what was found, how subsets shrank."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import orjson

from sightline.agent.trajectory import End, Memory, Record, Start, Turn, Use, ViewedPicture
from sightline.types import Box, Failure, PictureSet, Ranking, Text
from sightline.web.agent_jobs import AgentJob
from sightline.web.corpus_view import Tile
from sightline.web.library import Library, LoadedBenchmark
from sightline.web.thumbnails import Region, region_of

_SHOWN = 12
_LISTED = 3


@dataclass(frozen=True, slots=True)
class Subset:
    """A named subset after a step: how many pictures, and how many before (None: it is new)."""

    name: str
    count: int
    before: int | None
    share: float


@dataclass(frozen=True, slots=True)
class SeenPicture:
    """A picture that the model was shown; `region` is the part of the original that was cut, in percent."""

    name: str
    key: str | None
    original: str | None = None
    region: Region | None = None


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool call: what it was told, what it found first, what was looked at, and the subsets that it changed."""

    use: Use
    told: tuple[tuple[str, str], ...]
    tiles: tuple[Tile, ...]
    more: int
    seen: tuple[SeenPicture, ...]
    subsets: tuple[Subset, ...]


@dataclass(frozen=True, slots=True)
class AgentStep:
    """A turn with its calls, or a memory that took the conversation's place."""

    turn: Turn | None = None
    memory: Memory | None = None
    uses: tuple[ToolUse, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentAnswer:
    """What came of it: words or pictures, with the evidence, or why there is none."""

    text: str = ""
    reason: str = ""
    tiles: tuple[Tile, ...] = ()
    failure: str | None = None
    end: End | None = None
    task: str | None = None


@dataclass
class Steps:
    """Goes through an attempt; remembers how large each subset was."""

    library: Library
    loaded: LoadedBenchmark | None = None
    _sizes: dict[str, int] = field(default_factory=dict)
    _task: str | None = None

    @cached_property
    def _all(self) -> int:
        """How many pictures there are to choose from."""
        if self.loaded is not None:
            return len(self.loaded.benchmark.corpus.pictures)
        return 0 if self.library.corpus is None else self.library.corpus.total()

    def step(self, record: Record) -> AgentStep | None:
        """A step to show; None for the first and the last line."""
        if isinstance(record, Start):
            self._task = record.task
        if isinstance(record, Turn):
            return AgentStep(turn=record, uses=tuple(self._used(use) for use in record.uses))
        return AgentStep(memory=record) if isinstance(record, Memory) else None

    def answer(self, job: AgentJob) -> AgentAnswer:
        """The end of a question that was asked in the app."""
        if job.asked is None:
            return AgentAnswer(failure=job.error or "there is no answer")
        end = job.asked.answered.end
        return self.ended(end, self._task)

    def ended(self, end: End, task: str | None = None) -> AgentAnswer:
        """The end of any attempt."""
        said = end.prediction
        failure = f"{said.kind}: {said.message}" if isinstance(said, Failure) else None
        text = said.text if isinstance(said, Text) else ""
        found = said.pictures if isinstance(said, PictureSet | Ranking) else ()
        pictures = self.library.tiles(found or end.evidence, self.loaded)
        return AgentAnswer(text, end.reason, pictures, failure, end, task)

    def sights(self, given: tuple[ViewedPicture, ...]) -> tuple[SeenPicture, ...]:
        """What the model was shown, with the place of each crop in its original."""
        return tuple(self._seen(sight) for sight in given)

    def _seen(self, sight: ViewedPicture) -> SeenPicture:
        original = None if sight.picture is None else self.library.key(sight.picture, self.loaded)
        part = region_of(None if sight.region is None else Box(*sight.region))
        return SeenPicture(sight.name, sight.sha256 or original, original if part else None, part)

    def _used(self, use: Use) -> ToolUse:
        subsets = []
        for name, held in use.saved.items():
            before = self._sizes.get(name)
            most = max(1, self._all, len(held), *self._sizes.values())
            subsets.append(Subset(name, len(held), before, len(held) / most))
            self._sizes[name] = len(held)
        shown = self.library.tiles(use.found[:_SHOWN], self.loaded)
        return ToolUse(
            use,
            arguments_of(use.arguments),
            shown,
            len(use.found) - len(shown),
            self.sights(use.pictures),
            tuple(subsets),
        )


def arguments_of(text: str) -> tuple[tuple[str, str], ...]:
    """A call's arguments by name; of a long list only its length, and what is not an object as it is."""
    try:
        given = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        given = text
    if not isinstance(given, dict):
        return (("", text),)
    return tuple((name, _argument(value)) for name, value in given.items())


def _argument(value: object) -> str:
    if isinstance(value, list) and (len(value) > _LISTED or any(isinstance(one, dict | list) for one in value)):
        return f"{len(value):,} of them"
    if isinstance(value, list):
        return ", ".join(map(_argument, value))
    return value if isinstance(value, str) else orjson.dumps(value).decode()
