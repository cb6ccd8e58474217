"""Tools that tell facts: Measure, ReadText, Calculate."""

from __future__ import annotations

import math
import threading
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from sightline.agent.state import AgentState
from sightline.agent.tools.arguments import BOX_FIELD, PHOTO_FIELD, MistakeError, ToolArguments, spec, text_field
from sightline.agent.tools.base import FunctionTool, Materials, Observation, Tool, has_pictures, tool
from sightline.agent.tools.picture_refs import NamedPictures
from sightline.agent.tools.search_tools import answered
from sightline.agent.tools.view_tools import read_point
from sightline.models.built_in import find_text_reader
from sightline.types import Json

_MOST_POINTS = 20
_MOST_LINES = 200
_READING_SIDE = 1536
_LONGEST_EXPRESSION = 1000
MEASURE = spec(
    "Measure",
    "Measure a picture: its size in pixels, the size and mean colour of a region, colours at points, "
    "and the distance in pixels from each point to the next.",
    {
        "photo": PHOTO_FIELD,
        "box": BOX_FIELD,
        "points": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
            "maxItems": _MOST_POINTS,
            "description": "x, y in fractions from 0 to 1",
        },
    },
    "photo",
)
READ_TEXT = spec(
    "ReadText",
    "Read the words written in a picture or in a region of it.",
    {"photo": PHOTO_FIELD, "box": BOX_FIELD},
    "photo",
)
CALCULATE = spec(
    "Calculate",
    "Compute exactly: arithmetic, percentages, units (5 km to mi), dates (2019-06-01 + 3 months, "
    "2020-03-01 - 2019-03-01), and functions such as sqrt, round, min, max, mean, days, age(born, on), weekday, "
    "distance(lat, lon, lat, lon).",
    {"expression": text_field(f"what to compute, up to {_LONGEST_EXPRESSION} characters")},
    "expression",
)


@tool(MEASURE, NamedPictures, has_pictures)
def measure(subjects: NamedPictures, given: ToolArguments, state: AgentState) -> Observation:
    """Measure, on the picture's own pixels."""
    subject = subjects.find(given.text("photo"), state)
    # All pixels, so that a length in them means what it says.
    image = subjects.image(subject, side=1 << 16)
    data: dict[str, Any] = {
        "photo": subject.name,
        "width": image.width,
        "height": image.height,
        "aspect_ratio": round(image.width / image.height, 4),
    }
    if given.has("box"):
        part = subjects.image(subject.part(given.box()), side=1 << 16)
        mean = np.asarray(part).reshape(-1, 3).mean(axis=0)
        data["region"] = {"width": part.width, "height": part.height, "mean_colour": _colour(mean)}
    points = given.value("points")
    if points is not None:
        data |= _at_points(image, points)
    return answered(data)


def read_text(materials: Materials) -> Tool | None:
    """ReadText: by the extra `ocr`, else by the reader that an installed built-in model brings."""
    if not has_pictures(materials):
        return None
    subjects, readers = NamedPictures(materials), _Readers()

    def work(given: ToolArguments, state: AgentState) -> Observation:
        subject = subjects.find(given.text("photo"), state)
        if given.has("box"):
            subject = subject.part(given.box())
        image = subjects.image(subject, side=_READING_SIDE)
        lines, reader = readers.read(np.asarray(image))
        data: dict[str, Any] = {"photo": subject.name, "lines": lines[:_MOST_LINES], "reader": reader}
        if not lines:
            data["note"] = "no words were read; magnify a region, or look at it"
        return answered(data, [subject.root] if subject.root is not None else [], untrusted=True)

    return FunctionTool(READ_TEXT, work)


def calculator(materials: Materials) -> Tool | None:
    """Calculate; needs no material."""

    def work(given: ToolArguments, state: AgentState) -> Observation:
        from sightline.agent.tools.calculator import calculate  # Here: few attempts compute anything.
        from sightline.agent.tools.calculator_values import CalculationError, shown_value

        expression = given.text("expression")
        try:
            result = shown_value(calculate(expression, _LONGEST_EXPRESSION))
        except CalculationError as error:
            raise MistakeError(f"{error}.") from None
        return answered({"expression": expression, "result": result})

    return FunctionTool(CALCULATE, work)


class _Readers:
    """The reader that there is, opened when it is first needed; one picture at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ocr: Any = None

    def read(self, pixels: Any) -> tuple[list[Json], str]:
        with self._lock:
            if not _has_ocr():
                return _read_by_model(pixels)
            if self._ocr is None:
                from sightline.models.photos.ocr import WordReader

                self._ocr = WordReader()
            lines: list[Json] = self._ocr.read(pixels)
            return lines, "ocr"


def can_read_words(materials: Materials) -> bool:
    """Is there any reader of words: the extra `ocr`, or that of an installed model?"""
    return _has_ocr() or (find_spec("onnxruntime") is not None and find_text_reader() is not None)


def _has_ocr() -> bool:
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


def _read_by_model(pixels: Any) -> tuple[list[Json], str]:
    reader = find_text_reader()
    if reader is None:
        raise MistakeError("nothing here reads words in pictures: pip install 'sightline[ocr]'.")
    try:
        return reader.read(pixels), reader.name
    except FileNotFoundError as error:  # An installation without all of the built-in networks.
        missing = Path(error.filename or "").name
        raise MistakeError(f"the built-in reader of signs is not complete here: {missing} is missing.") from None


def _at_points(image: Image.Image, points: Json) -> dict[str, Any]:
    if not isinstance(points, list) or len(points) > _MOST_POINTS:
        raise MistakeError(f"points must be a list of at most {_MOST_POINTS} points [x, y].")
    places = [read_point(point) for point in points]
    pixels = np.asarray(image)
    high, wide = pixels.shape[:2]
    colours = [_colour(pixels[min(int(y * high), high - 1), min(int(x * wide), wide - 1)]) for x, y in places]
    steps = [
        round(math.hypot((b[0] - a[0]) * image.width, (b[1] - a[1]) * image.height), 1) for a, b in pairwise(places)
    ]
    data: dict[str, Any] = {"colours": colours, "distances": steps}
    if len(steps) > 1 and steps[0] > 0:
        data["ratios_to_first_distance"] = [round(step / steps[0], 4) for step in steps[1:]]
    return data


def _colour(rgb: Sequence[float] | np.ndarray[Any, Any]) -> str:
    """`#d71e23 (red)`: the nearest of a few named colours, weighted as the eye does."""
    red, green, blue = (float(value) for value in rgb)
    weights = (2, 4, 3)

    colours = _named_colours()

    def apart(name: str) -> float:
        pairs = zip(colours[name], (red, green, blue), weights, strict=True)
        return sum(weight * (a - b) ** 2 for a, b, weight in pairs)

    return f"#{round(red):02x}{round(green):02x}{round(blue):02x} ({min(colours, key=apart)})"


@cache
def _named_colours() -> Mapping[str, Sequence[int]]:
    return tomllib.loads(Path(__file__).with_name("colours.toml").read_text("utf-8"))
