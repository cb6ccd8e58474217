"""Pictures and annotations as JSON in the table of an index; pictures with a checksum at the end."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson

from sightline.search.checksums import checksum
from sightline.types import Annotation, Picture, Rights

_SEAL = 9


class ContentError(ValueError):
    """What a table holds is not what was written there."""


def sealed(data: bytes) -> bytes:
    """JSON of one line, and below it its checksum."""
    return b"%b\n%08x" % (data, checksum(data))


def dump_picture(picture: Picture) -> bytes:
    """All that is known of a picture; equal pictures give equal bytes."""
    return orjson.dumps(picture, default=dict, option=orjson.OPT_SORT_KEYS)


def load_picture(data: bytes) -> Picture:
    """The picture back; from an index that is older than checksums, too."""
    try:
        fields: dict[str, Any] = orjson.loads(_unsealed(data))
        taken_at = fields["taken_at"]
        fields["taken_at"] = None if taken_at is None else datetime.fromisoformat(taken_at)
        fields["rights"] = Rights(**fields["rights"])
        return Picture(**fields)
    except (ValueError, KeyError, TypeError) as error:
        raise ContentError(f"a picture's row is not what was written ({error})") from error


def _unsealed(data: bytes) -> bytes:
    if data[-_SEAL : 1 - _SEAL] != b"\n":
        return data
    if sealed(data[:-_SEAL]) != data:
        raise ContentError("its checksum differs")
    return data[:-_SEAL]


def dump_annotation(said: Annotation) -> bytes:
    """All that was said of a picture; equal annotations give equal bytes."""
    return orjson.dumps(said, default=dict, option=orjson.OPT_SORT_KEYS)


def load_annotation(data: bytes) -> Annotation:
    """The annotation back."""
    fields: dict[str, Any] = orjson.loads(data)
    return Annotation(**{**fields, "tags": tuple(fields["tags"])})
