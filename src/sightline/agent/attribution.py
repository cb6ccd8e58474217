"""Why an attempt missed what it missed: for each picture, and for the attempt in DISBench's classes of errors.

The classes of the paper were given by hand. Ours follow from the trajectory and the truth by the rules below; the
first that fits is the class. What needs a reading of the model's thoughts (whether it took the request for another one)
is not told apart from other reasoning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from sightline.agent.trajectory import Memory, Trajectory, Turn, trajectories_of
from sightline.io.files import PathLike
from sightline.io.jsonl import write_json
from sightline.runs.folder import ATTRIBUTION, TRAJECTORIES
from sightline.types import Benchmark, Failure, Json, PictureSet, Ranking, Truth
from sightline.types.truth import relevant_pictures

Miss: TypeAlias = Literal[
    "never retrieved", "retrieved not viewed", "viewed not recognised", "dropped", "stopped early"
]
MISSES: tuple[Miss, ...] = get_args(Miss)
Error: TypeAlias = Literal[
    "External Failure",
    "Hallucination & Bookkeeping",
    "Clue Mislocalization",
    "Episode Misgrounding",
    "Visual Discrimination",
    "Reasoning Breakdown",
]
ERRORS: tuple[Error, ...] = get_args(Error)
_REJECTS = re.compile(
    r"\b(?:no|not|none|neither|without|exclud\w*|reject\w*|wrong|irrelevant)\b|n't\b|不|没|排除", re.I
)
_KEEPS = re.compile(
    r"\b(?:yes|fit(?:s|ting)?|match(?:es|ing)?|keep(?:ing)?|kept|candidates?|select(?:ed)?|show(?:s|ing)?|confirmed|"
    r"relevant|right|belongs?|answer)\b|符合|保留|选中",
    re.I,
)
_ITEM = re.compile(r"\s*(?:[-*•–]|\d+[.)])\s")
_LISTING = re.compile(r"\W*Noted [a-z ]+: \{")
"""A line that lists all that was come across, such as `Noted found: {…}`: it says nothing of what is kept."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """What one attempt got wrong; `misses` by picture, `wrong` are pictures that do not belong."""

    task: str
    attempt: int
    misses: Mapping[str, Miss] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()
    error: Error | None = None

    def to_json(self) -> dict[str, Json]:
        return {
            "task": self.task,
            "attempt": self.attempt,
            "misses": dict(self.misses),
            "wrong": list(self.wrong),
            "error": self.error,
        }


@dataclass(frozen=True, slots=True)
class _Known:
    """What a trajectory shows: pictures that tools named, that were shown, and that the agent held on to after that."""

    found: frozenset[str]
    viewed: frozenset[str]
    held: frozenset[str]


def attribute(trajectory: Trajectory, truth: Truth | None, events: Mapping[str, str] | None = None) -> Attribution:
    """Why this attempt is not right; `events` says which event a picture belongs to, where that is known.

    A missed picture was *never retrieved* when no tool named it; *retrieved not viewed* when none showed it; *dropped*
    when it was shown and the agent itself held on to it after that (named it and never said "not" since, or saved it by
    its id; a memory must name it as one that fits); else *viewed not recognised*. What was not looked at when a limit
    or a failure ended the attempt counts as *stopped early*.
    """
    start, end = trajectory.start, trajectory.end
    targets = frozenset(relevant_pictures(truth))
    said = frozenset(() if end is None else _pictures(end.prediction))
    known = _known(trajectory)
    ended = end is None or end.forced is not None or isinstance(end.prediction, Failure)
    misses = {picture: _miss(picture, known, ended) for picture in sorted(targets - said)}
    wrong = tuple(sorted(said - targets))
    error = _error(trajectory, targets, said, misses, known, events or {}) if misses or wrong or _failed(end) else None
    return Attribution(start.task, start.attempt, misses, wrong, error)


def attribute_run(trajectories: Iterable[Trajectory], benchmark: Benchmark) -> tuple[Attribution, ...]:
    """All attempts at tasks that ask for pictures."""
    events = {picture: group.id for group in benchmark.corpus.groups_of("event") for picture in group.pictures}
    return tuple(
        attribute(each, benchmark.truth.get(each.start.task), events)
        for each in trajectories
        if each.start.kind in ("rank", "select")
    )


def summary(found: Collection[Attribution]) -> dict[str, Json]:
    """How often each reason and each class occurs."""
    misses = Counter(miss for each in found for miss in each.misses.values())
    errors = Counter(each.error for each in found if each.error is not None)
    return {
        "attempts": len(found),
        "right": sum(each.error is None for each in found),
        "misses": {name: misses[name] for name in MISSES},
        "errors": {name: errors[name] for name in ERRORS},
    }


def attribute_folder(folder: PathLike, benchmark: Benchmark) -> dict[str, Json] | None:
    """Write why a run missed what it missed; the summary, or None where no trajectory looks for pictures."""
    if not (Path(folder) / TRAJECTORIES).is_dir():
        return None
    known = (each for each in trajectories_of(folder) if each.start.task in benchmark.tasks)
    found = attribute_run(known, benchmark)
    if not found:
        return None
    told = summary(found)
    write_json(Path(folder) / ATTRIBUTION, {**told, "attributions": [each.to_json() for each in found]})
    return told


def _pictures(said: object) -> tuple[str, ...]:
    return said.pictures if isinstance(said, PictureSet | Ranking) else ()


def _failed(end: object) -> bool:
    return isinstance(getattr(end, "prediction", None), Failure)


def _known(trajectory: Trajectory) -> _Known:
    found: set[str] = {sight.picture for sight in trajectory.start.pictures if sight.picture}
    viewed: set[str] = set(found)
    held = _Held()
    for step in trajectory.steps:
        held.hear(step, viewed)
        if isinstance(step, Turn):
            for use in step.uses:
                seen = {sight.picture for sight in use.pictures if sight.picture}
                found |= {*use.found, *seen}
                viewed |= seen
    return _Known(frozenset(found), frozenset(viewed), frozenset(held.kept))


@dataclass(slots=True)
class _Held:
    """Which pictures an agent holds on to, from its own words in order: a rejection stands until it is taken back.

    A line of a list counts under its heading. Outlines and lists of what was found say nothing of what is kept.
    """

    kept: set[str] = field(default_factory=set)
    rejected: set[str] = field(default_factory=set)

    def hear(self, step: Turn | Memory, viewed: Collection[str]) -> None:
        """Take in what a step says of pictures that were seen before it."""
        if isinstance(step, Memory) and step.made_by == "outline":
            return
        heading = ""
        for line in step.text.splitlines():
            named = {picture for picture in viewed if picture in line}
            if not named:
                heading = line if line.rstrip(" *#_").endswith((":", "：")) else heading
            elif not _LISTING.match(line):
                self._take(named, f"{heading} {line}" if _ITEM.match(line) else line, mentions=isinstance(step, Turn))
        for use in step.uses if isinstance(step, Turn) else ():
            if use.saved:
                self._keep({picture for picture in viewed if picture in use.arguments})

    def _take(self, named: set[str], words: str, *, mentions: bool) -> None:
        for picture in named:  # A name may hold any word.
            words = words.replace(picture, "")
        if _REJECTS.search(words):
            self.rejected |= named
            self.kept -= named
        elif _KEEPS.search(words):
            self._keep(named)
        elif mentions:
            self.kept |= named - self.rejected

    def _keep(self, named: set[str]) -> None:
        self.kept |= named
        self.rejected -= named


def _miss(picture: str, known: _Known, ended: bool) -> Miss:
    if picture not in known.viewed:
        if ended:
            return "stopped early"
        return "retrieved not viewed" if picture in known.found else "never retrieved"
    return "dropped" if picture in known.held else "viewed not recognised"


def _error(
    trajectory: Trajectory,
    targets: frozenset[str],
    said: frozenset[str],
    misses: Mapping[str, Miss],
    known: _Known,
    events: Mapping[str, str],
) -> Error:
    """The first that fits.

    External: the attempt ended in a failure of a model or a tool. Bookkeeping: an answer names what no tool ever named,
    or leaves out what the agent had held on to. Mislocalization: none of the targets was ever retrieved. Misgrounding:
    pictures were returned, none from an event of the targets. Discrimination: a target was seen and not recognised, or
    a picture of the right event was taken for one. Reasoning: everything else.
    """
    end = trajectory.end
    if end is None or (_failed(end) and end.prediction.kind not in ("unparsed", "context-overflow")):  # type: ignore[union-attr]
        return "External Failure"
    if end.unknown or said - known.found or "dropped" in misses.values():
        return "Hallucination & Bookkeeping"
    if targets and not targets & known.found:
        return "Clue Mislocalization"
    right = {events[picture] for picture in targets if picture in events}
    given = {events[picture] for picture in said if picture in events}
    if right and given and not right & given:
        return "Episode Misgrounding"
    close = right and any(events.get(picture) in right for picture in said - targets)
    if close or "viewed not recognised" in misses.values():
        return "Visual Discrimination"
    return "Reasoning Breakdown"
