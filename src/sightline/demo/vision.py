"""What the embedder `photos` recognizes in some of your pictures, searches made from that, and results for the page.

Pixels are read upright and no larger than needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sightline.config.settings import AnnotateSettings
from sightline.corpus.names import path_of
from sightline.corpus.pixels import RefusedError, read_file
from sightline.corpus.scan import ScanSummary
from sightline.corpus.small_copy import data_url, fitted_copy, small_copy
from sightline.engine.progress import progress
from sightline.markup import Markup
from sightline.models.failures import failure
from sightline.models.photos.annotator import EVERYDAY, Annotator
from sightline.models.photos.embedder import Photos
from sightline.models.photos.ocr import WordReader, missing_modules
from sightline.models.protocols import Pixels
from sightline.retrieval.results import Results
from sightline.types import Annotation, Failure, Group, Json, Picture

LONGEST = 1280
"""Of the longer side of what is looked at: words are still to be read at this size."""
_SMALL = (320, 240)
_ALWAYS = ("people outdoors", "food on a table", "a building")
SURE, PERHAPS = 0.5, 0.25
"""A name that is less sure than the first is a guess, and one that is less sure than the second is not shown."""
_QUERIES = 5
_LEAST = 3


def read_pixels(picture: Picture) -> Pixels | Failure:
    """Height × width × 3, or why there is none."""
    try:
        return np.asarray(small_copy(read_file(path_of(picture.uri)), LONGEST))
    except RefusedError as refused:
        return failure("bad-picture", str(refused))


class Thumbnails:
    """Made once for each picture, however often it is shown; of its pixels alone, without what else the file knows."""

    def __init__(self) -> None:
        self._made: dict[str, Markup | None] = {}

    def __call__(self, picture: Picture) -> Markup | None:
        """A data URL; None where the picture can't be read."""
        if picture.id not in self._made:
            small = fitted_copy(path_of(picture.uri), _SMALL)
            self._made[picture.id] = None if small is None else data_url(small)
        return self._made[picture.id]


@dataclass(frozen=True, slots=True)
class RecognizedPicture:
    """What was seen in one picture: names and guesses with confidences, best first; measured looks; words read."""

    picture: Picture
    tags: Mapping[str, float]
    guesses: Mapping[str, float]
    colours: tuple[str, ...]
    light: str
    sharpness: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DemoQuery:
    """A text to search for, and the picture that it was made of, if any."""

    text: str
    seen_in: str | None = None
    confidence: float = 0.0


def reads_words() -> bool:
    """Is the extra `ocr` there?"""
    return not missing_modules()


def see(
    pictures: Sequence[Picture], photos: Photos, settings: AnnotateSettings
) -> Iterator[RecognizedPicture | Failure]:
    """Each picture in turn; one that can't be read is a failure."""
    chosen = settings if settings.vocabulary else settings.model_copy(update={"vocabulary": EVERYDAY})
    by_word = Annotator(photos, chosen, threshold=PERHAPS, words=WordReader() if reads_words() else None)
    by_class = Annotator(photos, threshold=PERHAPS)
    with progress("annotate", len(pictures)) as advance:
        for picture in pictures:
            pixels = read_pixels(picture)
            if isinstance(pixels, Failure):
                yield pixels
            else:
                (words,), (classes,) = by_word({picture.id: pixels}), by_class({picture.id: pixels})
                yield _seen(picture, words, classes)
            advance(1)


def _seen(picture: Picture, words: Annotation, classes: Annotation) -> RecognizedPicture:
    sure = {**words.confidence, **classes.confidence}
    names = sorted({*classes.tags, *words.tags}, key=lambda tag: (-sure[f"tag:{tag}"], tag))
    chances = {name: sure[f"tag:{name}"] for name in names}
    extra = words.extra
    return RecognizedPicture(
        picture,
        {name: chance for name, chance in chances.items() if chance >= SURE},
        {name: chance for name, chance in chances.items() if chance < SURE},
        _texts(extra["colours"]),
        str(extra["light"]),
        str(extra["sharpness"]),
        tuple(line for line in _texts(extra.get("words")) if len(line) > 1),  # A lone "O" is mostly a round thing.
    )


def _texts(found: Json) -> tuple[str, ...]:
    """`["red"]`, or `[{"text": "OPEN", …}]`."""
    items = found if isinstance(found, list) else []
    return tuple(str(item["text"] if isinstance(item, dict) else item) for item in items)


def queries(seen: Sequence[RecognizedPicture]) -> list[DemoQuery]:
    """The surest names, each of another picture; a few plain ones where too little was named."""
    found: dict[str, DemoQuery] = {}
    for one in sorted(seen, key=lambda one: -max(one.tags.values(), default=0.0)):
        fresh = next((tag for tag in one.tags if tag not in found), None)
        if fresh is not None:
            found[fresh] = DemoQuery(fresh, one.picture.id, one.tags[fresh])
    chosen = list(found.values())[:_QUERIES]
    return chosen + [DemoQuery(text) for text in _ALWAYS[: max(0, _LEAST - len(chosen))]]


@dataclass(frozen=True, slots=True)
class DemoFindings:
    """A scan of at most `limit` files, a look at some of the pictures (`unread` gave no pixels), searches, groups."""

    root: Path
    scanned: ScanSummary
    limit: int
    stayed_here: bool
    reads_words: bool
    seen: tuple[RecognizedPicture, ...]
    unread: int
    searches: tuple[tuple[DemoQuery, Results], ...]
    groups: tuple[Group, ...]
    pictures: Mapping[str, Picture]

    @property
    def limited(self) -> bool:
        """Was the limit met, so that there may be more in the folder?"""
        return self.scanned.pictures + sum(self.scanned.skipped.values()) >= self.limit

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; says nothing about where a picture was taken."""
        return {
            "seen": [
                {
                    "id": one.picture.id,
                    "tags": dict(one.tags),
                    "guesses": dict(one.guesses),
                    "colours": one.colours,
                    "light": one.light,
                    "sharpness": one.sharpness,
                    "words": one.words if self.reads_words else None,
                }
                for one in self.seen
            ],
            "unread": self.unread,
            "searches": [
                {
                    "query": query.text,
                    "seen_in": query.seen_in,
                    "hits": [{"id": hit.picture.id, "score": round(hit.score, 6)} for hit in found.hits],
                }
                for query, found in self.searches
            ],
            "groups": [{"id": group.id, "kind": group.kind, "pictures": group.pictures} for group in self.groups],
        }
