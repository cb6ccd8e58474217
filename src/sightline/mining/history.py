"""Owners and their events: who has a history that is worth mining, and how much of it is taken."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sightline.english import counted
from sightline.errors import UserError
from sightline.mining.project import OwnerRules
from sightline.types import Corpus, Group, Picture

EVERYONE = "all"
"""Stands for the owner of a corpus that names none."""
_FEWEST = 2
"""Events without which nothing is ambiguous."""


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """Pictures of one occasion, in order of time."""

    id: str
    pictures: tuple[Picture, ...]


@dataclass(frozen=True, slots=True)
class PhotoHistory:
    """An owner's events in order of time; `refused` says what they lack, where they lack something."""

    owner: str
    events: tuple[HistoryEvent, ...]
    pictures: int
    coverage: float
    days: int
    refused: str = ""

    @property
    def taken(self) -> int:
        """Pictures of the events that were taken."""
        return sum(len(event.pictures) for event in self.events)

    def __iter__(self) -> Iterator[Picture]:
        return (picture for event in self.events for picture in event.pictures)

    def only(self, pictures: Container[str]) -> PhotoHistory:
        """The history of these pictures alone; an event that has none of them is left out."""
        left = (
            HistoryEvent(each.id, tuple(one for one in each.pictures if one.id in pictures)) for each in self.events
        )
        return replace(self, events=tuple(event for event in left if event.pictures))


@dataclass(frozen=True, slots=True)
class OwnerRecord:
    """A line of `owners.jsonl`: who was found, and what is taken of the history, or why nothing is."""

    owner: str
    refused: str | None
    pictures: int
    taken: int
    events: int
    coverage: float
    days: int

    @classmethod
    def of(cls, found: PhotoHistory) -> OwnerRecord:
        taken = 0 if found.refused else found.taken
        coverage = round(found.coverage, 4)
        return cls(found.owner, found.refused or None, found.pictures, taken, len(found.events), coverage, found.days)


def histories(corpus: Corpus, rules: OwnerRules, owners: Sequence[str] = ()) -> tuple[PhotoHistory, ...]:
    """Every owner's history, or those of the named ones; refused ones are among them, with the reason."""
    groups = {group.id.removeprefix("owner/"): group for group in corpus.groups_of("owner")}
    if not groups:
        groups = {EVERYONE: Group(f"owner/{EVERYONE}", "owner", tuple(corpus.pictures))}
    unknown = [owner for owner in owners if owner not in groups]
    if unknown:
        raise UserError(f'there is no owner "{unknown[0]}".', f"owners: {', '.join(sorted(groups)[:20])}")
    event_of = {picture: group.id for group in corpus.groups_of("event") for picture in group.pictures}
    chosen = {owner: group for owner, group in groups.items() if not owners or owner in owners}
    return tuple(_history(owner, group, corpus.pictures, event_of, rules) for owner, group in chosen.items())


def moment(picture: Picture) -> datetime:
    """When a picture was taken, comparable with others: wall-clock time counts as UTC where no offset is told."""
    taken = picture.taken_at
    assert taken is not None
    return taken.replace(tzinfo=UTC) if taken.tzinfo is None else taken


def _history(
    owner: str, group: Group, pictures: Mapping[str, Picture], event_of: Mapping[str, str], rules: OwnerRules
) -> PhotoHistory:
    own = [pictures[id_] for id_ in group.pictures]
    dated = sorted((each for each in own if each.taken_at is not None), key=lambda each: (moment(each), each.id))
    events: dict[str, list[Picture]] = {}
    for picture in dated:
        if picture.id in event_of:
            events.setdefault(event_of[picture.id], []).append(picture)
    placed = sum(each.lat is not None or each.address is not None for each in dated)
    coverage = placed / len(own) if own else 0.0
    days = (moment(dated[-1]) - moment(dated[0])).days if dated else 0
    found = [HistoryEvent(id_, tuple(each)) for id_, each in events.items()]
    taken = _accumulated(found, rules.cap)
    refused = _refused(len(own), coverage, len(found), days, rules)
    if not refused and len(taken) < _FEWEST:
        refused = f"{counted(len(taken), 'event')} from the first on fit into {counted(rules.cap, 'picture')}"
    return PhotoHistory(owner, taken, len(own), coverage, days, refused)


def _refused(pictures: int, coverage: float, events: int, days: int, rules: OwnerRules) -> str:
    if pictures < rules.pictures:
        return f"{counted(pictures, 'picture')}, fewer than {rules.pictures:,}"
    if coverage < rules.coverage:
        return f"{coverage:.0%} of the pictures tell when and where, less than {rules.coverage:.0%}"
    if events < rules.events:
        return f"{counted(events, 'event')}, fewer than {rules.events:,}"
    return f"a span of {counted(days, 'day')}, less than {rules.days:,}" if days < rules.days else ""


def _accumulated(events: Sequence[HistoryEvent], cap: int) -> tuple[HistoryEvent, ...]:
    """Whole events from the first on, while they fit."""
    ordered = sorted(events, key=lambda event: (moment(event.pictures[0]), event.id))
    taken: list[HistoryEvent] = []
    total = 0
    for event in ordered:
        total += len(event.pictures)
        if total > cap:
            break
        taken.append(event)
    return tuple(taken)
