"""What a search found, and how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, SupportsIndex, overload

from sightline.corpus.album import PictureResult
from sightline.display import Shown, Table, Thumbnail, pictures, place_of, quiet
from sightline.english import counted
from sightline.errors import StoppedError
from sightline.io.files import picture_path
from sightline.plain_text import printable
from sightline.types import Method, Picture
from sightline.types.task_table import thumbnail_of

_TAGS = 5


@dataclass(frozen=True, slots=True, repr=False)
class Hit(Shown):
    """A picture, and how well it fits (comparable within one search only).

    `score` is a cosine where vectors alone were asked, a BM25 score where words alone were, else the fused score.
    `parts` says which parts of the search found it, and with what scores. `place` is the picture's address, else the
    nearest place to its coordinates, and `also_at` the addresses of its copies: files with the same content.
    """

    picture: Picture
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    place: str | None = None
    also_at: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Of the picture."""
        return self.picture.id

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
            "also_at": list(self.also_at),
        }

    def _line(self) -> str:
        return "  ".join(cell for cell in self.cells() if cell)

    def _blocks(self) -> Iterable[str]:
        return (pictures([self.thumbnail()]),)

    def cells(self) -> tuple[str, ...]:
        """Score, path, time, place and tags, as a terminal can show them."""
        picture = self.picture
        when = "" if picture.taken_at is None else picture.taken_at.strftime("%Y-%m-%d %H:%M")
        where = self.place or ""
        if not where and picture.lat is not None and picture.lon is not None:
            where = f"{picture.lat:.4f}, {picture.lon:.4f}"
        name = printable(self._path()) + (f" (+{counted(len(self.also_at), 'copy', 'copies')})" if self.also_at else "")
        return f"{self.score:.3f}", name, when, where, ", ".join(self.tags[:_TAGS])

    def _path(self) -> str:
        """Where the picture can be opened from here; its id, where it is not a file of this machine."""
        path, here = picture_path(self.picture.uri, Path()), Path.cwd()
        if path is None:
            return self.picture.id
        return str(path.relative_to(here) if path.is_relative_to(here) else path)

    def thumbnail(self) -> Thumbnail:
        """How a notebook shows it."""
        score, _, *rest = self.cells()
        return thumbnail_of(self.picture, lines=[score, *(line for line in rest if line)])


@dataclass(frozen=True, slots=True, repr=False)
class Results(PictureResult, Table[Hit]):
    """The pictures that fit best, in order; equal ones in the order in which they came into the index.

    Its rows are the hits: `results[0]` is the best, `results[:5]` are the results with only the first five.

    After re-ranking or with diversity the order is that of the list, not of the scores. `searched` pictures were within
    scope and filter, of which `embedded` had no vector before this search; those in `left_out`, by reason, could not be
    read. `threshold` is what a picture must reach (a cosine; calibrated, a corrected one); `below` counts what did not.
    `failures` counts calls of the re-ranker that gave nothing, and `stopped` is the budget that ended them, if one did.
    `notes` is what a person should know, `narrowed` the options that left pictures out, `like` the pictures given.
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
    narrowed: tuple[str, ...] = field(default=(), compare=False)
    like: tuple[str, ...] = field(default=(), compare=False)

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

    def records(self) -> list[dict[str, Any]]:
        """One record for each hit."""
        return [hit.to_json() for hit in self.hits]

    @overload
    def __getitem__(self, at: SupportsIndex, /) -> Hit: ...
    @overload
    def __getitem__(self, at: slice, /) -> Results: ...
    def __getitem__(self, at: SupportsIndex | slice, /) -> Hit | Results:
        return replace(self, hits=self.hits[at]) if isinstance(at, slice) else self.hits[place_of(at, len(self.hits))]

    def __str__(self) -> str:
        """A line for each hit: score, path, time, place, tags; or why there is none."""
        if not self.hits:
            return f"  {self._why_nothing()}"
        rows = [hit.cells() for hit in self.hits]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        shown = [column for column, width in enumerate(widths) if width]
        lines = ["  ".join(row[column].ljust(widths[column]) for column in shown) for row in rows]
        return "\n".join(f"  {line}".rstrip() for line in lines)

    def _rows(self) -> Sequence[Hit]:
        return self.hits

    def _places(self) -> Sequence[tuple[Picture, tuple[str, ...]]]:
        return [(hit.picture, hit.also_at) for hit in self.hits]

    def _title(self) -> str:
        return self.query or f"like {', '.join(self.like) or 'pictures'}"

    def _line(self) -> str:
        return f"{self._title()}: {counted(len(self.hits), 'hit')} in {counted(self.searched, 'picture')}"

    def _blocks(self) -> Iterable[str]:
        if self.hits:
            yield pictures([hit.thumbnail() for hit in self.hits])
        else:
            yield self._why_nothing()
        yield from (quiet(f"Note: {note}") for note in self.notes)

    def _why_nothing(self) -> str:
        if self.below:
            return f"nothing matches: the nearest of {self.searched:,} pictures are below the threshold"
        if self.searched:
            return f"nothing matches in {self.searched:,} pictures"
        if self.narrowed:
            return f"no picture to search: none fits {' and '.join(self.narrowed)}"
        return "no picture to search: a scan of the folder says what it holds"
