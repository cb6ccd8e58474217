"""The unit in which a model family writes boxes and points.

Tools work with fractions of a picture's width and height; around a model that was trained on another unit they are
described, called and answered in that one.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from PIL import Image

from sightline.agent.state import AgentState, PictureView
from sightline.agent.tools.arguments import MistakeError, finite, shown
from sightline.agent.tools.base import Materials, Observation, Tool, mistake
from sightline.agent.tools.picture_refs import NamedPictures
from sightline.models.providers import limit_of
from sightline.types import Json, ToolSpec

BoxUnit: TypeAlias = Literal["fractions", "thousandths", "pixels"]
_FAMILIES: tuple[tuple[re.Pattern[str], BoxUnit], ...] = (
    (re.compile(r"qwen-?2[.-]5-?vl"), "pixels"),
    (re.compile(r"qwen-?(?:2-?vl|3(?:[.-]\d)?-?vl|3\.5)|glm-?[45](?:\.\d)?v|internvl|gemini"), "thousandths"),
)
"""As their makers say; a model that is not among them is spoken to in fractions."""
_ORIENTATION, _LAST_UPRIGHT = 0x0112, 4
"""The EXIF tag, and the last of its values that leaves width and height as they are."""
_FIELDS = {"box": (4, 0), "boxes": (4, 1), "point": (2, 0), "points": (2, 1)}
"""Fields of tools: how many numbers, and whether they come in a list."""
_WHERE = {
    "thousandths": "in thousandths of the picture's width and height, from 0 to 1000",
    "pixels": "in pixels of the picture as it was shown; its size was told with it",
}


def box_unit(model: str) -> BoxUnit:
    """The unit of a model's family, by its name."""
    return next((unit for family, unit in _FAMILIES if family.search(model.lower())), "fractions")


def in_unit(tools: Mapping[str, Tool], unit: BoxUnit, model: str, materials: Materials) -> dict[str, Tool]:
    """The tools as a model of this unit is offered them."""
    if unit == "fractions":
        return dict(tools)
    subjects = NamedPictures(materials)
    return {name: UnitTool(tool, unit, subjects, _side(model)) for name, tool in tools.items()}


def with_sizes(content: Iterable[str | PictureView], model: str) -> Iterator[str | PictureView]:
    """A question with the size of each picture told before it, for a model that speaks in pixels."""
    for part in content:
        if isinstance(part, PictureView):
            yield f"\n{_told_size(part, _side(model))}"
        yield part


def _side(model: str) -> int:
    """The longest side of a picture that is sent to this model's provider."""
    return limit_of(model.partition("/")[0]).side


def _size_of(view: PictureView, side: int) -> tuple[int, int] | None:
    """Width and height of a view as it is sent, upright and no longer than `side`; None where it can't be read."""
    part = view.part
    try:
        with Image.open(part.source if part.data is None else io.BytesIO(part.data)) as image:
            lies = image.getexif().get(_ORIENTATION, 1) > _LAST_UPRIGHT
            width, height = image.size[::-1] if lies else image.size
    except (OSError, ValueError):
        return None
    scale = min(1.0, side / max(width, height))
    return round(width * scale), round(height * scale)


def _told_size(view: PictureView, side: int) -> str:
    """The size of a view in words; nothing where it is not known."""
    size = _size_of(view, side)
    return "" if size is None else f"{view.name} is {size[0]} × {size[1]} pixels"


@dataclass(frozen=True, slots=True)
class UnitTool:
    """A tool whose boxes and points are written in another unit than fractions; in pixels, sizes are told."""

    tool: Tool
    unit: BoxUnit
    subjects: NamedPictures
    side: int

    @property
    def spec(self) -> ToolSpec:
        spec = self.tool.spec
        properties = spec.parameters.get("properties")
        fields: dict[str, Any] = dict(properties) if isinstance(properties, Mapping) else {}
        changed = {name: self._described(name, fields[name]) for name in _FIELDS if name in fields}
        return replace(spec, parameters={**spec.parameters, "properties": {**fields, **changed}}) if changed else spec

    async def call(self, arguments: Mapping[str, Json], state: AgentState) -> Observation:
        try:
            found = await self.tool.call(self._fractions(arguments, state), state)
        except MistakeError as error:
            return mistake(str(error))
        sizes = [told for view in found.pictures if self.unit == "pixels" and (told := _told_size(view, self.side))]
        return replace(found, text="\n".join([found.text, *sizes])) if sizes else found

    def _described(self, name: str, field: Mapping[str, Any]) -> dict[str, Any]:
        count, several = _FIELDS[name]
        told = f"{'left, top, right, bottom' if count == 4 else 'x, y'} {_WHERE[self.unit]}"
        if several and "items" in field:
            return {**field, "items": {**field["items"], "description": told}, "description": "several of them"}
        return {**field, "description": told}

    def _fractions(self, arguments: Mapping[str, Json], state: AgentState) -> dict[str, Json]:
        given = {name: arguments[name] for name in _FIELDS if arguments.get(name) is not None}
        if not given:
            return dict(arguments)
        size = self._size(str(arguments.get("photo", "")), state)
        read = {name: self._read(value, *_FIELDS[name], name, size) for name, value in given.items()}
        return {**arguments, **read}

    def _size(self, name: str, state: AgentState) -> tuple[int, int]:
        """What makes one of its numbers a fraction."""
        if self.unit == "thousandths":
            return 1000, 1000
        view = state.views.get(self.subjects.find(name, state).name)
        size = None if view is None else _size_of(view, self.side)
        if size is None:
            raise MistakeError(f"{shown(name)} was not shown yet, so it has no pixels to point at: view it first.")
        return size

    def _read(self, value: Json, count: int, several: int, name: str, size: tuple[int, int]) -> Json:
        if several and isinstance(value, list):
            return [self._read(each, count, 0, name, size) for each in value]
        if not isinstance(value, list) or len(value) != count:
            raise MistakeError(f"{name} must be {count} numbers {_WHERE[self.unit]}; it is {shown(value)}.")
        numbers = self._checked(value, name, size)
        return [number / size[at % 2] for at, number in enumerate(numbers)]

    def _checked(self, value: Sequence[Json], name: str, size: tuple[int, int]) -> list[float]:
        numbers = [finite(each, f"a number of {name}") for each in value]
        if any(not 0 <= number <= size[at % 2] for at, number in enumerate(numbers)):
            most = "1000" if self.unit == "thousandths" else f"{size[0]} × {size[1]}"
            raise MistakeError(f"{name} must be {_WHERE[self.unit]}, at most {most}; it is {shown(value)}.")
        return numbers
