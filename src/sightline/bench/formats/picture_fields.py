"""A picture as flat fields of a row, for tables that have room for more columns than they ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from sightline.bench.records import PictureRecord, RightsRecord
from sightline.types import Json, Picture

_RIGHTS = tuple(RightsRecord.model_fields)
_OWN = tuple(name for name in PictureRecord.model_fields if name not in ("id", "uri", "rights", "extra"))
FIELDS = (*_OWN, *_RIGHTS)
"""The names of the fields, each as in `pictures.jsonl`; those of `rights` stand beside the others."""


def to_fields(picture: Picture) -> dict[str, Any]:
    """What is known of a picture but its id and address; its own fields win over an extra of the same name."""
    record = PictureRecord.from_picture(picture).model_dump(mode="json", exclude_none=True)
    return {**record["extra"], **{name: record[name] for name in _OWN if name in record}, **record.get("rights", {})}


def from_fields(name: str, uri: str, fields: Mapping[str, Json]) -> Picture:
    """A picture from such fields; what is unknown, or does not fit the field of its name, is kept as an extra."""
    known = {key: value for key, value in fields.items() if key in FIELDS and value is not None}
    while True:
        try:
            picture = _record(name, uri, known).to_picture()
        except ValidationError as error:
            misfits = {str(detail["loc"][-1]) for detail in error.errors(include_url=False)}
            known = {key: value for key, value in known.items() if key not in misfits}
        else:
            break
    extra = {key: value for key, value in fields.items() if key not in known and value is not None}
    return replace(picture, extra=extra)


def _record(name: str, uri: str, known: Mapping[str, Json]) -> PictureRecord:
    own = {key: value for key, value in known.items() if key in _OWN}
    rights = {key: value for key, value in known.items() if key in _RIGHTS}
    return PictureRecord.model_validate({"id": name, "uri": uri, **own, "rights": rights or None})
