"""What a model or a person said of a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sightline.types.picture import Json


@dataclass(frozen=True, slots=True)
class Annotation:
    """A description of one picture, with who gave it and what it cost."""

    picture_id: str
    summary: str | None = None
    facets: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    confidence: Mapping[str, float] = field(default_factory=dict)
    by: str | None = None
    cost_usd: float | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)
