"""What was found in one's own pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.corpus.scan import ScanSummary
from sightline.demo.seeing import Query, Seen
from sightline.search.results import Results
from sightline.types import Group, Picture


@dataclass(frozen=True, slots=True)
class Found:
    """A scan of at most `limit` files, a look at some of the pictures (`unread` gave no pixels), searches, groups."""

    root: Path
    scanned: ScanSummary
    limit: int
    stayed_here: bool
    reads_words: bool
    seen: tuple[Seen, ...]
    unread: int
    searches: tuple[tuple[Query, Results], ...]
    groups: tuple[Group, ...]
    pictures: Mapping[str, Picture]

    @property
    def limited(self) -> bool:
        """Was the limit met, so that there may be more in the folder?"""
        return self.scanned.pictures + sum(self.scanned.skipped.values()) >= self.limit

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; says nothing about where a picture was taken."""
        return {
            "seen": [
                {
                    "id": one.picture.id,
                    "tags": dict(one.tags),
                    "guesses": dict(one.guesses),
                    "colours": one.colours,
                    "light": one.light,
                    "sharpness": one.sharpness,
                    "words": one.words if self.reads_words else None,
                }
                for one in self.seen
            ],
            "unread": self.unread,
            "searches": [
                {
                    "query": query.text,
                    "seen_in": query.seen_in,
                    "hits": [{"id": hit.picture.id, "score": round(hit.score, 6)} for hit in found.hits],
                }
                for query, found in self.searches
            ],
            "groups": [{"id": group.id, "kind": group.kind, "pictures": group.pictures} for group in self.groups],
        }
