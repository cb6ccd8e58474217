"""Which part of a picture a text speaks of: a box in numbers, or a side, a corner or the middle in words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sightline.types import Box

_NUMBER = r"\s*(\d{1,5}(?:\.\d+)?)\s*"
_BOX = re.compile(rf"[\[(<]{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER}[\])>]")
_WHOLE = r"of (?:the|this) (?:whole )?(?:picture|image|photo(?:graph)?|scene|frame|view|shot|canvas)\b"
_PLACE = re.compile(
    r"\b(?P<lead>(?:in|on|at|to|near|towards?|along|from|fills?|occup(?:y|ies)) (?:the |its )?)?"
    r"(?:(?:far|very|extreme) )?"
    r"(?P<where>(?:top|upper|bottom|lower)(?:[ -](?:left|right))?|left|right|cent(?:re|er)|middle)"
    r"(?:[ -]hand(?= side))?"
    r"(?P<part> (?:side|half|part|corner|edge|area|portion|quadrant|section))?"
    rf"(?P<whole> {_WHOLE})?"
    # What follows must not be what it is the left, the top or the middle of, such as "side of the car" or "branch".
    r"(?=\s*(?:[.,;:!?)\]]|$|(?:and|or|but|is|are|was|were|has|have|with|there|we|you|stands?|sits?|lies?|shows?)\b))",
    re.IGNORECASE,
)
_MIDDLE = (0.25, 0.75)
_SPANS = {"left": (0.0, 0.5), "right": (0.5, 1.0), "upper": (0.0, 0.5), "lower": (0.5, 1.0)}
_SAME = {"top": "upper", "bottom": "lower"}
_THOUSANDTHS = 1000.0


def regions_in(text: str, size: tuple[int, int] | None = None) -> tuple[Box, ...]:
    """The parts of a picture of this size (width, height) that are named, each once, in order.

    Four numbers in brackets are left, top, right and bottom: fractions if none is above 1; pixels of the picture, if it
    is known to be that large; else thousandths. What is left of a thing, or the top of one, is no part of the picture.
    """
    found = [*_boxes(text, size), *_places(_BOX.sub(" ", text))]
    return tuple(dict.fromkeys(found))


def without_boxes(text: str) -> str:
    """The text without its boxes in numbers."""
    return _BOX.sub(" ", text)


def _boxes(text: str, size: tuple[int, int] | None) -> Iterator[Box]:
    for match in _BOX.finditer(text):
        left, top, right, bottom = map(float, match.groups())
        wide, high = _scale(max(left, right), max(top, bottom), size)
        box = Box(left / wide, top / high, right / wide, bottom / high)
        if box.is_valid:
            yield box


def _scale(right: float, bottom: float, size: tuple[int, int] | None) -> tuple[float, float]:
    if max(right, bottom) <= 1:
        return 1.0, 1.0
    if size is not None and right <= size[0] and bottom <= size[1]:
        return float(size[0]), float(size[1])
    return _THOUSANDTHS, _THOUSANDTHS


def _places(text: str) -> Iterator[Box]:
    for match in _PLACE.finditer(text):
        words = [_SAME.get(word, word) for word in re.split("[ -]", match["where"].lower())]
        # "left" alone may be anything; a corner, a side or half, or what is said to be of the picture is a place.
        if match["lead"] or match["part"] or match["whole"] or len(words) > 1:
            yield _box(words)


def _box(words: list[str]) -> Box:
    down = next((_SPANS[word] for word in words if word in ("upper", "lower")), None)
    across = next((_SPANS[word] for word in words if word in ("left", "right")), None)
    if down is None and across is None:
        return Box(_MIDDLE[0], _MIDDLE[0], _MIDDLE[1], _MIDDLE[1])
    left, right = across or (0.0, 1.0)
    top, bottom = down or (0.0, 1.0)
    return Box(left, top, right, bottom)
