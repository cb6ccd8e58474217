"""What the embedder `photos` sees in some of the pictures, and searches made of what it saw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sightline.config.making import AnnotateSettings
from sightline.demo.looking import read_pixels
from sightline.engine import progress
from sightline.models.photos import Photos
from sightline.models.photos.annotate import Annotator
from sightline.models.photos.everyday import EVERYDAY
from sightline.models.photos.words import WordReader, missing_modules
from sightline.types import Annotation, Failure, Json, Picture

_ALWAYS = ("people outdoors", "food on a table", "a building")
SURE, PERHAPS = 0.5, 0.25
"""A name that is less sure than the first is a guess, and one that is less sure than the second is not shown."""
_QUERIES = 5
_LEAST = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen in one picture: names and guesses with confidences, best first; measured looks; words read."""

    picture: Picture
    tags: Mapping[str, float]
    guesses: Mapping[str, float]
    colours: tuple[str, ...]
    light: str
    sharpness: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A text to search for, and the picture that it was made of, if any."""

    text: str
    seen_in: str | None = None
    confidence: float = 0.0


def reads_words() -> bool:
    """Is the extra `ocr` there?"""
    return not missing_modules()


def see(pictures: Sequence[Picture], photos: Photos, settings: AnnotateSettings) -> Iterator[Seen | Failure]:
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


def _seen(picture: Picture, words: Annotation, classes: Annotation) -> Seen:
    sure = {**words.confidence, **classes.confidence}
    names = sorted({*classes.tags, *words.tags}, key=lambda tag: (-sure[f"tag:{tag}"], tag))
    chances = {name: sure[f"tag:{name}"] for name in names}
    extra = words.extra
    return Seen(
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


def queries(seen: Sequence[Seen]) -> list[Query]:
    """The surest names, each of another picture; a few plain ones where too little was named."""
    found: dict[str, Query] = {}
    for one in sorted(seen, key=lambda one: -max(one.tags.values(), default=0.0)):
        fresh = next((tag for tag in one.tags if tag not in found), None)
        if fresh is not None:
            found[fresh] = Query(fresh, one.picture.id, one.tags[fresh])
    chosen = list(found.values())[:_QUERIES]
    return chosen + [Query(text) for text in _ALWAYS[: max(0, _LEAST - len(chosen))]]
