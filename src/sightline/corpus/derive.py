"""What follows from a picture's id and from what the user gave: its owner and its rights."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.corpus.names import owner_of, owner_reader
from sightline.corpus.rights import RightsMap
from sightline.corpus.store import Store
from sightline.types import Rights


@dataclass(frozen=True, slots=True)
class Derive:
    """Owner and rights of a picture; the workspace remembers both until others are given."""

    store: Store
    owner: re.Pattern[str] | None
    rights: Callable[[str], Rights]
    stamp: str

    @classmethod
    def remembered(cls, store: Store, owner_pattern: str | None, rights: Path | None) -> Derive:
        owner = owner_reader(owner_pattern)
        map_ = None if rights is None else RightsMap.read(rights)
        with store.transaction():
            if owner_pattern is not None:
                store.set_note("owner_pattern", owner_pattern)
            if rights is not None:
                store.set_note("rights", rights.read_text("utf-8"))
        if owner_pattern is None and (pattern := store.note("owner_pattern")):
            owner = owner_reader(pattern)
        text = store.note("rights")
        if map_ is None and text is not None:
            map_ = RightsMap.parse(text, "the rights map of an earlier scan")
        digest = hashlib.sha256((text or "").encode()).hexdigest()
        stamp = f"{store.note('owner_pattern')} {digest}"
        return cls(store, owner, map_.of if map_ else lambda _: Rights(), stamp)

    def columns(self, picture: str) -> dict[str, Any]:
        """The derived columns of a picture."""
        rights = self.rights(picture)
        return {
            "owner": owner_of(picture, self.owner),
            "license": rights.license,
            "doi": rights.doi,
            "source": rights.source,
            "attribution": rights.attribution,
        }

    def apply_to_all(self) -> None:
        """Bring every picture up to date, when pattern or map are not those of the last scan."""
        if self.store.note("derived") == self.stamp:
            return
        with self.store.transaction():
            for picture in self.store.ids():
                self.store.set_columns(picture, self.columns(picture))
            self.store.set_note("derived", self.stamp)
