"""Pictures that may show the same as a clue: the nearest inside its event, and the nearest outside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.config import Config
from sightline.errors import UserError
from sightline.mine.history import History
from sightline.mine.nouns import Clue, Reading, Where
from sightline.models.embedders.listed import Embedding, embed_listed, embed_words
from sightline.models.embedders.session import Session
from sightline.models.protocols import Vectors
from sightline.types import Picture


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A picture that came near to a clue."""

    picture: str
    where: Where
    score: float


@dataclass(frozen=True, slots=True)
class Followed:
    """A clue with the pictures that it is compared with."""

    clue: Clue
    neighbours: tuple[Neighbour, ...]


def rarest_clues(readings: Mapping[str, Reading], event_of: Mapping[str, str], most: int) -> list[Clue]:
    """The clues of each picture that identify most: those whose look is seen at the fewest events."""
    events: dict[str, set[str]] = {}
    for reading in readings.values():
        for clue in reading.clues:
            events.setdefault(clue.key, set()).add(event_of[clue.picture])
    counts = Counter({key: len(seen) for key, seen in events.items()})
    return [
        clue
        for reading in readings.values()
        for clue in sorted(reading.clues, key=lambda clue: (counts[clue.key], -clue.confidence, clue.id))[:most]
    ]


def follow(history: History, clues: Sequence[Clue], near: int, session: Session, config: Config) -> list[Followed]:
    """The nearest pictures of every clue, by the vector of its picture and its words together."""
    pictures = list(history)
    ids, matrix = embedded_pictures(pictures, session, config)
    at = {id_: row for row, id_ in enumerate(ids)}
    here = [clue for clue in clues if clue.picture in at]
    words = embed_words((clue.detail for clue in here), session)
    _raise_if_stopped(words)
    here = [clue for clue in here if clue.detail in words.keys]
    if not here:
        return []
    texts = words.vectors([clue.detail for clue in here], session)
    event_of = {picture.id: event.id for event in history.events for picture in event.pictures}
    events = np.array([event_of[id_] for id_ in ids])
    found = []
    for clue, text in zip(here, texts, strict=True):
        scores = matrix @ _joint(matrix[at[clue.picture]], text)
        scores[at[clue.picture]] = -np.inf
        inside = events == event_of[clue.picture]
        best = [*_best(ids, scores, inside, near, "inside"), *_best(ids, scores, ~inside, near, "outside")]
        found.append(Followed(clue, tuple(best)))
    return found


def embedded_pictures(pictures: Sequence[Picture], session: Session, config: Config) -> tuple[list[str], Vectors]:
    """Ids and rows of all pictures that have a vector."""
    seen = embed_listed(pictures, session, config)
    _raise_if_stopped(seen)
    ids = list(seen.keys)
    if not ids:
        raise UserError("no picture could be embedded.", "run `sightline scan` again: are the files still there?")
    return ids, seen.vectors(ids, session)


def _joint(picture: Vectors, text: Vectors) -> Vectors:
    """A picture with a clue of it in one vector: both count alike."""
    both = picture + text
    length = float(np.linalg.norm(both))
    joined: Vectors = both / length if length > 0 else picture
    return joined


def _best(ids: Sequence[str], scores: Vectors, allowed: NDArray[np.bool_], near: int, where: Where) -> list[Neighbour]:
    rows = np.flatnonzero(allowed & np.isfinite(scores))
    order = rows[np.argsort(-scores[rows], kind="stable")][:near]
    return [Neighbour(ids[row], where, round(float(scores[row]), 6)) for row in order]


def _raise_if_stopped(embedding: Embedding) -> None:
    if embedding.stopped is not None:
        raise embedding.stopped
