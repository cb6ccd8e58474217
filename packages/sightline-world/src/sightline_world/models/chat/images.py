"""The pictures of a request: their labels in the text, and what the reader sees in each, once.

Pictures that are only told of (annotations in a text) become readings of what the text says.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sightline.corpus import metadata
from sightline.corpus.pixels import RefusedError, load_rgb, upright
from sightline.models.failures import failure
from sightline.models.json_schema import json_values
from sightline.models.pictures import bad_picture, is_web, open_one, read_source
from sightline.models.protocols import Pixels
from sightline.types import Box, Failure, ImagePart, Message
from sightline_world.models.chat.claims import At, Either, Exists, Lit, Meant, Related, Wanted
from sightline_world.models.chat.lexicon import PERSON, SIGN
from sightline_world.models.chat.parser import understand
from sightline_world.models.chat.verification import items_of
from sightline_world.models.scene_reader import Reading, read
from sightline_world.scene import Figure, Predicate, Relation, SceneGraph, Sign, Thing

Reader: TypeAlias = Callable[[Pixels], Reading]
_REMEMBERED = 4096
_NAMED = re.compile(
    r"(?:\b(?:image|photo|picture|candidate)[ _]?(?:id|name)?|\bid|\bfile)\s*[:=#]\s*"
    r"[\"'\[(`]*(.+?)[\"'\])`]*\s*:?\s*$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\b(?:image|photo|picture|candidate|option|figure)\s*#?\s*([\w.-]+)\W*$", re.IGNORECASE)
_ALONE = re.compile(r"^\W*([\w./%+@-]+)\W*$")
_IDS = ("image_id", "photo_id", "picture_id", "id", "name", "file")
_SURE = 0.5
_NOWHERE = Box(0.0, 0.0, 0.0, 0.0)
_MOST = 12
_PREDICATES: tuple[Predicate, ...] = ("left of", "behind", "on", "holding")


@dataclass(frozen=True, slots=True)
class ShownImage:
    """A picture in a conversation; `label` is what the text before it calls it, and `turn` its message."""

    label: str
    part: ImagePart
    turn: int


@dataclass(frozen=True, slots=True)
class SeenImage:
    """A picture that was looked at."""

    label: str
    reading: Reading
    turn: int = 0


def shown_in(messages: Sequence[Message]) -> Iterator[ShownImage]:
    """The pictures of a conversation in their order."""
    for turn, message in enumerate(messages):
        before = ""
        for part in message.content:
            if isinstance(part, str):
                before = part
            else:
                yield ShownImage(label_in(before), part, turn)
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


class ImageReader:
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

    def look_all(self, shown: Sequence[ShownImage]) -> list[SeenImage] | Failure:
        """All pictures, or the first that can't be looked at; those without a label are numbered."""
        seen = []
        for number, each in enumerate(shown, 1):
            reading = self.look(each.part)
            if isinstance(reading, Failure):
                return reading
            seen.append(SeenImage(each.label or str(number), reading, each.turn))
        return seen


def _pixels(data: bytes) -> Pixels:
    """The picture upright and whole."""
    image = open_one(data)
    turn = metadata.read_facts(image).orientation
    return np.ascontiguousarray(upright(np.asarray(load_rgb(image, data, image.size)), turn))


def told_of(text: str) -> list[SeenImage]:
    """The annotated pictures in the JSON of a text, in their order; none is told of twice."""
    found: dict[str, SeenImage] = {}
    for value in json_values(text):
        for record in _records(value, 0):
            label = next((str(record[name]) for name in _IDS if isinstance(record.get(name), str | int)), "")
            words = ". ".join(_texts({key: part for key, part in record.items() if key not in _IDS}, 0))
            if label and words and label not in found:
                found[label] = SeenImage(label, imagine(understand(words)))
    return list(found.values())


def imagine(meant: Meant) -> Reading:
    """A reading that shows what the claims say, and nothing else."""
    maker = _Maker()
    place = light = ""
    for claim in meant.claims:
        match claim:
            case At(places, False):
                place = place or places[0]
            case Lit(lights, False):
                light = light or lights[0]
            case Exists(wanted, low) if claim.high:
                maker.several(wanted, low)
            case Either(options):
                maker.several(options[0].wanted, options[0].low)
            case Related(subject, predicate, thing, False):
                maker.relate(subject, predicate, thing)
            case _:
                continue
    graph = maker.graph(place, light)
    sure = {item.id: _SURE for item in items_of(graph)}
    return Reading(graph, _SURE if place else 0.0, _SURE if light else 0.0, sure)


class _Maker:
    """Makes what is told of; the same description is the same thing."""

    def __init__(self) -> None:
        self.things: list[Thing] = []
        self.figures: list[Figure] = []
        self.signs: list[Sign] = []
        self._relations: list[Relation] = []
        self._first: dict[Wanted, str] = {}

    def several(self, wanted: Wanted, count: int) -> None:
        for _ in range(max(1, min(count, _MOST))):
            name = self._one(wanted)
            self._first.setdefault(wanted, name)

    def relate(self, subject: Wanted, predicate: str, thing: Wanted) -> None:
        ends = [self._first[each] if each in self._first else self._one(each) for each in (subject, thing)]
        self._relations += [Relation(ends[0], known, ends[1]) for known in _PREDICATES if known == predicate]

    def graph(self, place: str, light: str) -> SceneGraph:
        relations = tuple(self._relations)
        return SceneGraph(place, light, tuple(self.things), tuple(self.figures), tuple(self.signs), relations)

    def _one(self, wanted: Wanted) -> str:
        colour = wanted.colours[0] if wanted.colours else ""
        if wanted.kinds == (PERSON,):
            gear = wanted.headgear[0] if wanted.headgear else "none"
            gear_colour = wanted.headgear_colours[0] if wanted.headgear_colours else None
            name = f"p{len(self.figures)}"
            hair = wanted.hair[0] if wanted.hair else ""
            self.figures.append(Figure(name, hair, gear, gear_colour, colour, _NOWHERE))
        elif wanted.kinds == (SIGN,):
            name = f"s{len(self.signs)}"
            self.signs.append(Sign(name, wanted.words.upper(), _NOWHERE))
        else:
            name = f"t{len(self.things)}"
            size = wanted.sizes[0] if wanted.sizes else "medium"
            self.things.append(Thing(name, wanted.kinds[0], colour, size, _NOWHERE))
        return name


def _records(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    if depth > 6:
        return
    if isinstance(value, dict):
        if any(isinstance(value.get(name), str | int) for name in _IDS):
            yield value
        else:
            for part in value.values():
                yield from _records(part, depth + 1)
    elif isinstance(value, list):
        for part in value:
            yield from _records(part, depth + 1)


def _texts(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value.replace("_", " ")
    elif isinstance(value, dict) and depth < 4:
        for key, part in value.items():
            if part is True:
                yield str(key).replace("_", " ")
            elif key != "confidence":
                yield from _texts(part, depth + 1)
    elif isinstance(value, list) and depth < 4:
        for part in value:
            yield from _texts(part, depth + 1)
