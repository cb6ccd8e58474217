"""Which rows may be found: scope and filter, as ascending row numbers."""

from __future__ import annotations

from collections.abc import Collection
from difflib import get_close_matches
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.retrieval.columns.kinds import PictureColumns
from sightline.retrieval.vector_stores.base import Rows
from sightline.types import Scope

_KEPT = 64
"""Selections that are remembered: an agent asks within the same few again and again."""
_ANYWHERE = Scope()


class Selection(NamedTuple):
    """Rows, ascending; None for all. `notes` is what there is to say about the filter."""

    rows: Rows | None
    notes: tuple[str, ...] = ()


class Selector:
    """Scopes and filters over the columns of an index; for any number of threads."""

    def __init__(self, columns: PictureColumns) -> None:
        self._columns = columns
        self.select = lru_cache(maxsize=_KEPT)(self._select)

    def _select(self, scope: Scope, where: str | None) -> Selection:
        if scope == _ANYWHERE and where is None:
            return Selection(None)
        mask = self._columns.present.copy()
        notes: tuple[str, ...] = ()
        if scope.owner is not None:
            mask &= self._owned(scope.owner)
        if scope.nowhere:
            mask[:] = False
        if scope.groups or scope.pictures:  # They add up, as in scoring (metrics/scope.py).
            mask &= self._grouped(scope.groups) | self._named(scope.pictures)
        if where is not None:
            from sightline.retrieval.filters.filter import compile_filter, parse_filter  # Most searches have none.

            filter_ = parse_filter(where)
            mask &= compile_filter(filter_, self._columns)
            notes = filter_.notes()
        rows = np.flatnonzero(mask).astype(np.int64)
        rows.flags.writeable = False
        return Selection(rows, notes)

    def _owned(self, owner: str) -> NDArray[np.bool_]:
        owners = self._columns.texts("owner")
        if owner not in owners.vocabulary.codes:
            raise _unknown("owner", owner, owners.vocabulary)
        return owners.where(owners.vocabulary.one(owner))

    def _grouped(self, groups: Collection[str]) -> NDArray[np.bool_]:
        """Pictures of any of the groups; hidden ones are not in the columns, so nobody can name them."""
        labels = self._columns.labels("group")
        hits = np.zeros(len(labels.vocabulary) + 1, np.bool_)
        for group in groups:
            if group not in labels.vocabulary.codes:
                raise _unknown("group", group, labels.vocabulary)
            hits[labels.vocabulary.codes[group]] = True
        return labels.where(hits)

    def _named(self, pictures: Collection[str]) -> NDArray[np.bool_]:
        """Pictures by id; those that the index does not have are skipped."""
        ids = self._columns.texts("id")
        codes = [code for code in map(ids.vocabulary.codes.get, pictures) if code is not None]
        hits = np.zeros(len(ids.vocabulary) + 1, np.bool_)
        hits[codes] = True
        return ids.where(hits)


def _unknown(what: str, name: str, known: Collection[str]) -> UserError:
    if not known:
        hint = "scan again, and say whose they are: --owner-pattern '{owner}/*'" if what == "owner" else "leave it out"
        return UserError(f'there is no {what} "{name}" in this index: no picture has one.', hint)
    folded = {each.lower(): each for each in known}
    near = [folded[each] for each in get_close_matches(name.lower(), list(folded), n=3, cutoff=0.5)]
    meant = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(sorted(known)[:10])}"
    more = f" and {len(known) - 10:,} more" if not near and len(known) > 10 else ""
    return UserError(f'there is no {what} "{name}" in this index.', meant + more)
