"""What an index is to hold, and what building it did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.class_names import known_as
from sightline.search.index.manifest import Manifest
from sightline.search.index.plan import Changes
from sightline.search.index.vectors import Embedded


@known_as("Parts")
@dataclass(frozen=True, slots=True)
class Parts:
    """What an index holds beside rows and words; what it held before stays in."""

    vectors: bool = True
    captions: bool = False
    tokens: bool = False
    words_in_pictures: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """What building did; `put` vectors went into the back-end, of which `embedded` were made now."""

    name: str
    folder: Path
    manifest: Manifest
    changes: Changes
    embedded: Embedded = field(default_factory=Embedded)
    words_read: int = 0
    tokens_made: int = 0
    seconds: float = 0.0

    @property
    def pictures(self) -> int:
        return self.manifest.pictures

    @property
    def left_out(self) -> Mapping[str, int]:
        """Pictures without a vector, by reason."""
        return dict(self.embedded.left_out.most_common())

    @property
    def is_unchanged(self) -> bool:
        """Nothing was new."""
        changed = self.changes.added or self.changes.changed or self.changes.removed
        return not (changed or self.embedded.put or self.embedded.captions or self.words_read or self.tokens_made)

    def to_json(self) -> dict[str, Any]:
        """The object that `index --json` prints."""
        mark = self.manifest.embedder
        return {
            "name": self.name,
            "folder": str(self.folder),
            "pictures": self.pictures,
            "added": self.changes.added,
            "changed": self.changes.changed,
            "removed": self.changes.removed,
            "embedded": self.embedded.made,
            "put": self.embedded.put,
            "captions": self.embedded.captions,
            "words_read": self.words_read,
            "left_out": dict(self.left_out),
            "unmatched_annotations": self.changes.unmatched,
            "embedder": None if mark is None else mark.name,
            "revision": None if mark is None else mark.revision,
            "dim": None if mark is None else mark.dim,
            "backend": self.manifest.backend,
            "recalls": self.manifest.recalls,
            "seconds": round(self.seconds, 3),
        }
