"""The pictures of a request: their labels in the text, and what the reader sees in each, once."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sightline.corpus import metadata
from sightline.corpus.pixels import RefusedError, load_rgb, upright
from sightline.models.failures import failure
from sightline.models.pictures import bad_picture, is_web, open_one, read_source
from sightline.models.protocols import Pixels
from sightline.types import Failure, ImagePart, Message
from sightline_world.models.reader import Reading, read

Reader: TypeAlias = Callable[[Pixels], Reading]
_REMEMBERED = 4096
_NAMED = re.compile(
    r"(?:\b(?:image|photo|picture|candidate)[ _]?(?:id|name)?|\bid|\bfile)\s*[:=#]\s*"
    r"[\"'\[(`]*(.+?)[\"'\])`]*\s*:?\s*$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\b(?:image|photo|picture|candidate|option|figure)\s*#?\s*([\w.-]+)\W*$", re.IGNORECASE)
_ALONE = re.compile(r"^\W*([\w./%+@-]+)\W*$")


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture in a conversation; `label` is what the text before it calls it, and `turn` its message."""

    label: str
    part: ImagePart
    turn: int


@dataclass(frozen=True, slots=True)
class Seen:
    """A picture that was looked at."""

    label: str
    reading: Reading
    turn: int = 0


def shown_in(messages: Sequence[Message]) -> Iterator[Shown]:
    """The pictures of a conversation in their order."""
    for turn, message in enumerate(messages):
        before = ""
        for part in message.content:
            if isinstance(part, str):
                before = part
            else:
                yield Shown(label_in(before), part, turn)
                before = ""


def label_in(text: str) -> str:
    """The name that the end of a text gives to the picture after it; empty if it gives none."""
    lines = text.strip().splitlines()
    line = lines[-1].strip()[-200:] if lines else ""
    for pattern in (_NAMED, _NUMBERED, _ALONE):
        found = pattern.search(line)
        if found is not None:
            return found[1].strip().rstrip(":")
    return ""


class Eyes:
    """Looks at pictures; one that was seen before is remembered by its content."""

    def __init__(self, reader: Reader = read) -> None:
        self._reader = reader
        self._lock = threading.Lock()
        self._known: OrderedDict[str, Reading] = OrderedDict()

    def look(self, part: ImagePart) -> Reading | Failure:
        """What the picture shows, or why it can't be looked at."""
        if part.data is None and is_web(part.source):
            return failure("unsupported", f"builtin/world fetches nothing from the web: {part.source[:120]}")
        data = read_source(part)
        if isinstance(data, Failure):
            return data
        key = hashlib.sha256(data).hexdigest()
        with self._lock:
            known = self._known.get(key)
        if known is not None:
            return known
        try:
            pixels = _pixels(data)
        except RefusedError as refused:
            return bad_picture(part, str(refused))
        reading = self._reader(pixels)
        with self._lock:
            self._known[key] = reading
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return reading

    def look_all(self, shown: Sequence[Shown]) -> list[Seen] | Failure:
        """All pictures, or the first that can't be looked at; those without a label are numbered."""
        seen = []
        for number, each in enumerate(shown, 1):
            reading = self.look(each.part)
            if isinstance(reading, Failure):
                return reading
            seen.append(Seen(each.label or str(number), reading, each.turn))
        return seen


def _pixels(data: bytes) -> Pixels:
    """The picture upright and whole."""
    image = open_one(data)
    turn = metadata.read_facts(image).orientation
    return np.ascontiguousarray(upright(np.asarray(load_rgb(image, data, image.size)), turn))
