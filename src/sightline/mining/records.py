"""What mining speaks of: clues in pictures, what links them, requests drafted from that, and what checks said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

ClueKind: TypeAlias = Literal["object", "landmark", "text", "person", "name"]
"""A `name` is one that a picture's own metadata give; nobody sees it."""
Where: TypeAlias = Literal["inside", "outside"]
"""Of the event of the picture that a clue was seen in."""
Rule: TypeAlias = Literal["unique-identifier", "matching-features", "reference", "same-theme"]
"""Why two pictures are taken to show the same: DISBench's four rules."""
SAME_THING: frozenset[Rule] = frozenset(("unique-identifier", "matching-features"))
"""The rules under which it is the very same thing; the others link pictures, and identify nothing."""
Relation: TypeAlias = Literal["same-event", "other-events", "next-event", "previous-event", "same-place", "free"]
"""How an anchor leads to where the targets are; `free` is a model's own way, which the graph can't decide."""
EventType: TypeAlias = Literal["intra-event", "inter-event"]


@dataclass(frozen=True, slots=True)
class Clue:
    """Something in a picture by which it can be found again.

    Clues of equal `look` can't be told apart by words; `noun` names what kind of thing it is without its look, `text`
    is how a request speaks of it, and `detail` how the model described it.
    """

    id: str
    picture: str
    kind: ClueKind
    noun: str
    look: str
    text: str
    detail: str
    confidence: float

    @property
    def key(self) -> str:
        """What clues of equal look share."""
        return f"{self.kind}:{self.look}"

    @property
    def name(self) -> str:
        """What it is called: words as they are written, and the name of a landmark."""
        return self.text if self.kind == "landmark" else self.detail


@dataclass(frozen=True, slots=True)
class PictureClues:
    """What a model saw in one picture."""

    picture: str
    summary: str
    place: str
    clues: tuple[Clue, ...]
    by: str
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Association:
    """A clue, another picture, and whether it was accepted that the picture shows the same, with the reason."""

    clue: str
    picture: str
    where: Where
    score: float
    accepted: bool
    rule: Rule | None
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Logic:
    """A request as the graph can decide it, in keys of clues.

    All of `anchor` are in one picture, which singles out an event; `relation` leads from there (along what looks like
    `link`, where it needs one) to other events or stays; wanted is every picture there that shows all of `target`.
    """

    relation: Relation
    anchor: tuple[str, ...]
    target: tuple[str, ...]
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A request before it is checked, with the part of the graph that it comes from."""

    id: str
    owner: str
    query: str
    logic: Logic
    event_type: EventType
    targets: tuple[str, ...]
    by: str
    seed_photo: str
    photos: tuple[str, ...]
    clues: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """What the checks said: no reason against it means that it is kept.

    `retrieval` and `metadata` are the best F1 that direct retrieval, or one filter on metadata, reaches; None where
    there is nothing to find. `anchored` and `linked` are the photos that surely show the anchor and the link, and
    `events` those that are meant. `pool` holds pictures that a person should look at: the others of those events, then
    those that come nearest.
    """

    draft: Draft
    reasons: tuple[str, ...]
    retrieval: float | None = None
    retrieval_k: int | None = None
    metadata: float | None = None
    metadata_filter: str = ""
    doubts: tuple[str, ...] = ()
    anchored: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    pool: tuple[tuple[str, float], ...] = ()

    @property
    def kept(self) -> bool:
        return not self.reasons
