"""What a search found, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from sightline.errors import MissingExtraError, StoppedError
from sightline.types import Method, Picture

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Hit:
    """A picture, and how well it fits (comparable within one search only).

    `score` is a cosine where vectors alone were asked, a BM25 score where words alone were, else the fused score.
    `parts` says which parts of the search found it, and with what scores. `place` is the picture's address, else the
    nearest place to its coordinates.
    """

    picture: Picture
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    place: str | None = None

    def to_json(self) -> dict[str, Any]:
        taken = self.picture.taken_at
        return {
            "id": self.picture.id,
            "score": round(self.score, 6),
            "parts": {name: round(score, 6) for name, score in self.parts.items()},
            "uri": self.picture.uri,
            "taken_at": None if taken is None else taken.isoformat(),
            "lat": self.picture.lat,
            "lon": self.picture.lon,
            "address": self.picture.address,
            "place": self.place,
            "tags": list(self.tags),
        }


@dataclass(frozen=True, slots=True)
class Results:
    """The pictures that fit best, in order; equal ones in the order in which they came into the index.

    After re-ranking or with diversity the order is that of the list, not of the scores. `searched` pictures were within
    scope and filter, of which `embedded` had no vector before this search; those in `left_out`, by reason, could not be
    read. `threshold` is what a picture must reach (a cosine; calibrated, a corrected one); `below` counts what did not.
    `failures` counts calls of the re-ranker that gave nothing, and `stopped` is the budget that ended them, if one did.
    `notes` is what a person should know.
    """

    query: str
    hits: tuple[Hit, ...]
    embedder: str | None
    revision: str | None
    searched: int
    embedded: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    query_was_cut: bool = False
    seconds: float = 0.0
    index: str = ""
    backend: str = ""
    exact: bool = True
    method: Method = field(default_factory=Method)
    threshold: float | None = None
    below: int = 0
    failures: int = 0
    stopped: StoppedError | None = None
    notes: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the hits, in order."""
        return tuple(hit.picture.id for hit in self.hits)

    def to_json(self) -> dict[str, Any]:
        """The object that `search --json` prints."""
        return {
            "query": self.query,
            "hits": [hit.to_json() for hit in self.hits],
            "embedder": self.embedder,
            "revision": self.revision,
            "index": self.index,
            "backend": self.backend,
            "exact": self.exact,
            "method": asdict(self.method),
            "threshold": None if self.threshold is None else round(self.threshold, 6),
            "below_threshold": self.below,
            "failures": self.failures,
            "searched": self.searched,
            "embedded": self.embedded,
            "left_out": dict(self.left_out),
            "query_was_cut": self.query_was_cut,
            "notes": list(self.notes),
            "seconds": round(self.seconds, 3),
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each hit."""
        try:
            import pandas
        except ImportError as error:
            raise MissingExtraError("Results.to_pandas", "pandas") from error
        return pandas.DataFrame([hit.to_json() for hit in self.hits])
