"""Pictures and annotations as JSON in the table of an index."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson

from sightline.types import Annotation, Picture, Rights


def dump_picture(picture: Picture) -> bytes:
    """All that is known of a picture; equal pictures give equal bytes."""
    return orjson.dumps(picture, default=dict, option=orjson.OPT_SORT_KEYS)


def load_picture(data: bytes) -> Picture:
    """The picture back."""
    fields: dict[str, Any] = orjson.loads(data)
    taken_at = fields["taken_at"]
    fields["taken_at"] = None if taken_at is None else datetime.fromisoformat(taken_at)
    fields["rights"] = Rights(**fields["rights"])
    return Picture(**fields)


def dump_annotation(said: Annotation) -> bytes:
    """All that was said of a picture; equal annotations give equal bytes."""
    return orjson.dumps(said, default=dict, option=orjson.OPT_SORT_KEYS)


def load_annotation(data: bytes) -> Annotation:
    """The annotation back."""
    fields: dict[str, Any] = orjson.loads(data)
    return Annotation(**{**fields, "tags": tuple(fields["tags"])})
