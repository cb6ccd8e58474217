"""What a search found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sightline.errors import MissingExtraError
from sightline.types import Picture

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Hit:
    """A picture, and how near it lies to the query (a cosine: comparable within one search only)."""

    picture: Picture
    score: float

    def to_json(self) -> dict[str, Any]:
        taken = self.picture.taken_at
        return {
            "id": self.picture.id,
            "score": round(self.score, 6),
            "uri": self.picture.uri,
            "taken_at": None if taken is None else taken.isoformat(),
            "lat": self.picture.lat,
            "lon": self.picture.lon,
            "address": self.picture.address,
        }


@dataclass(frozen=True, slots=True)
class Results:
    """The nearest pictures, best first; ties in the order of their ids.

    `searched` pictures have a vector, of which `embedded` were made for this search; those in `left_out`, by reason,
    could not be read.
    """

    query: str
    hits: tuple[Hit, ...]
    embedder: str
    revision: str
    searched: int
    embedded: int
    left_out: Mapping[str, int]
    query_was_cut: bool
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """The object that `search --json` prints."""
        return {
            "query": self.query,
            "hits": [hit.to_json() for hit in self.hits],
            "embedder": self.embedder,
            "revision": self.revision,
            "searched": self.searched,
            "embedded": self.embedded,
            "left_out": dict(self.left_out),
            "query_was_cut": self.query_was_cut,
            "seconds": round(self.seconds, 3),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each hit."""
        try:
            import pandas
        except ImportError as error:
            raise MissingExtraError("Results.to_pandas", "pandas") from error
        return pandas.DataFrame([hit.to_json() for hit in self.hits])
