"""The pieces that the records share: prompt parts, regions, times, steps, and one way to choose between forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Self, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    JsonValue,
    PlainSerializer,
    PlainValidator,
    Tag,
)

from sightline.types import Box, Json, Part, PictureRef, Step, StepKind

V = TypeVar("V")
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d(:\d\d)?)?")
Id: TypeAlias = Annotated[str, Field(min_length=1)]
Extra: TypeAlias = dict[str, JsonValue]
Fraction: TypeAlias = Annotated[float, Field(ge=0, le=1)]


class StrictRecord(BaseModel):
    """A JSON object of ours: unknown fields are errors, and nothing is converted silently."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    def to(self, kind: Callable[..., V], **changed: Any) -> V:
        """The value that has the same fields; `changed` are those that it holds in another form."""
        return kind(**{**vars(self), **changed})

    @classmethod
    def of(cls, value: object, **changed: Any) -> Self:
        """The record that has the fields of a value; `changed` are those that a file holds in another form."""
        return cls(**{name: getattr(value, name) for name in cls.model_fields if name not in changed}, **changed)


def form(choose: Callable[[Any], str | None], expected: str) -> Discriminator:
    """Which branch of a union a value is meant for, so that an error speaks of that branch only."""
    return Discriminator(
        choose,
        custom_error_type="form",
        custom_error_message="{expected}",
        custom_error_context={"expected": f"expected {expected}"},
    )


def _time(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or _ISO.fullmatch(value) is None:
        raise ValueError("expected a time like 2024-05-31T18:20:00 or 2024-05-31T18:20:00+02:00")
    return datetime.fromisoformat(value)


def _in_order(corners: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    left, top, right, bottom = corners
    if left > right or top > bottom:
        raise ValueError("expected [left, top, right, bottom] with left ≤ right and top ≤ bottom")
    return corners


Time: TypeAlias = Annotated[datetime, PlainValidator(_time), PlainSerializer(datetime.isoformat, return_type=str)]
Region: TypeAlias = Annotated[tuple[Fraction, Fraction, Fraction, Fraction], AfterValidator(_in_order)]


class RefRecord(StrictRecord):
    """A picture, or a region of it: `{"picture": id, "region": [left, top, right, bottom]}`."""

    picture: Id
    region: Region | None = None

    def to_ref(self) -> PictureRef:
        return PictureRef(self.picture, None if self.region is None else Box(*self.region))

    @classmethod
    def from_ref(cls, ref: PictureRef) -> RefRecord:
        box = ref.region
        return cls(picture=ref.id, region=None if box is None else (box.left, box.top, box.right, box.bottom))


def _part_form(value: object) -> str | None:
    if isinstance(value, str):
        return "<text>"
    return "<picture>" if isinstance(value, dict | RefRecord) else None


PartRecord: TypeAlias = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[RefRecord, Tag("<picture>")],
    form(_part_form, 'text or {"picture": id}'),
]


def to_parts(records: tuple[str | RefRecord, ...]) -> tuple[Part, ...]:
    """The parts of a prompt or an option, as they are in memory."""
    return tuple(part if isinstance(part, str) else part.to_ref() for part in records)


def from_parts(parts: tuple[Part, ...]) -> tuple[str | RefRecord, ...]:
    """The parts of a prompt or an option, as they are in a file."""
    return tuple(part if isinstance(part, str) else RefRecord.from_ref(part) for part in parts)


class StepRecord(StrictRecord):
    """One step of reasoning, with what it looks at."""

    kind: StepKind
    text: str
    pictures: tuple[RefRecord, ...] = ()


def to_steps(records: tuple[StepRecord, ...]) -> tuple[Step, ...]:
    """Steps as they are in memory."""
    return tuple(record.to(Step, pictures=tuple(ref.to_ref() for ref in record.pictures)) for record in records)


def from_steps(steps: tuple[Step, ...]) -> tuple[StepRecord, ...]:
    """Steps as they are in a file."""
    return tuple(StepRecord.of(step, pictures=tuple(map(RefRecord.from_ref, step.pictures))) for step in steps)


class TraceRecord(StrictRecord):
    """Thinking kept apart from the answer."""

    thinking: str
    answer: str
    model: str | None = None


def ordered(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The same mapping with its keys in order, at every depth: equal content gives equal bytes."""
    return {key: _ordered(mapping[key]) for key in sorted(mapping)}


def _ordered(value: Json | tuple[Any, ...] | Mapping[str, Any]) -> Any:
    if isinstance(value, Mapping):
        return ordered(value)
    return [_ordered(item) for item in value] if isinstance(value, list) else value
