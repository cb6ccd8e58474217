"""What is known of the pictures, as columns; which of them a task may see, a subset holds and a filter selects."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

import numpy as np

from sightline.agent.state import AgentState
from sightline.agent.tools.arguments import MistakeError, shown
from sightline.agent.tools.base import Materials
from sightline.retrieval.columns.builder import build_columns
from sightline.retrieval.columns.kinds import PictureColumns
from sightline.retrieval.scope import Selector
from sightline.retrieval.searcher import Searcher
from sightline.retrieval.vector_stores.base import Rows
from sightline.types import Picture, Scope

_ANYWHERE = Scope()


class Catalog:
    """The columns of an index, or of the pictures where there is no index; for any number of threads."""

    def __init__(self, materials: Materials) -> None:
        self._materials = materials
        self._lock = threading.Lock()
        self._built: PictureColumns | None = None
        self._selector: Selector | None = None

    @property
    def columns(self) -> PictureColumns:
        with self._lock:
            if self._built is None:
                searcher = self._materials.searcher
                self._built = _columns(self._materials) if searcher is None else searcher.columns
                self._selector = Selector(self._built)
            return self._built

    def rows(self, state: AgentState, within: str | None = None, where: str | None = None) -> Rows:
        """Rows of what may be seen, in the order of their times; a subset and a filter limit them further."""
        columns = self.columns
        assert self._selector is not None
        scope = scope_of(state, within)
        if scope is None:
            return np.zeros(0, np.int64)
        rows = self._selector.select(scope, where).rows
        rows = np.flatnonzero(columns.present).astype(np.int64) if rows is None else rows
        rows = self._only_allowed(rows, state)
        return rows[np.lexsort((rows, columns.times.wall[rows]))]

    def _only_allowed(self, rows: Rows, state: AgentState) -> Rows:
        """Whatever a scope says, nothing that may not be seen is found."""
        if state.allowed is None:
            return rows
        ids = self.columns.texts("id")
        seen = np.zeros(len(ids.vocabulary) + 1, np.bool_)
        seen[[code for code in map(ids.vocabulary.codes.get, state.allowed) if code is not None]] = True
        return rows[seen[ids.codes[rows]]]

    def notes(self, where: str) -> tuple[str, ...]:
        """What there is to say about a filter: which of several places of one name was taken."""
        assert self._selector is not None
        return self._selector.select(_ANYWHERE, where).notes

    def ids(self, rows: Rows) -> list[str]:
        ids = self.columns.texts("id")
        return [ids.vocabulary[code] for code in ids.codes[rows].tolist()]


def scope_of(state: AgentState, within: str | None) -> Scope | None:
    """What may be found, as a search takes it; None for nothing at all."""
    if state.allowed is not None and not state.allowed:
        return None
    if within is None:
        if state.scope != _ANYWHERE or state.allowed is None:
            return state.scope
        return Scope(pictures=tuple(sorted(state.allowed)))
    subset = subset_of(state, within)
    pictures = tuple(id_ for id_ in subset if state.allowed is None or id_ in state.allowed)
    if state.scope.pictures and not state.scope.groups:
        pictures = tuple(id_ for id_ in pictures if id_ in set(state.scope.pictures))
    # Groups are left out: they would add to the subset, which was found within them.
    return Scope(state.scope.owner, (), pictures) if pictures else None


def subset_of(state: AgentState, name: str) -> tuple[str, ...]:
    """The pictures of a named subset, or the mistake."""
    if name not in state.subsets:
        known = ", ".join(state.subsets) or "none so far; save one with save_as"
        raise MistakeError(f"there is no subset {shown(name)}. Subsets: {known}.")
    return state.subsets[name]


class IndexPictures(Mapping[str, Picture]):
    """The pictures of an index by id, read when they are asked for; `only` hides all others."""

    def __init__(self, searcher: Searcher, only: frozenset[str] | None = None) -> None:
        self._searcher, self._only = searcher, only

    def __getitem__(self, id_: str) -> Picture:
        if self._only is not None and id_ not in self._only:
            raise KeyError(id_)
        with self._searcher.reading_table():
            known = self._searcher.table.find(id_)
            picture = None if known is None else self._searcher.table.pictures([known.row]).get(known.row)
        if picture is None:
            raise KeyError(id_)
        return picture

    def __iter__(self) -> Iterator[str]:
        if self._only is not None:
            return iter(sorted(self._only))
        return iter(id_ for id_ in self._searcher.columns.texts("id").vocabulary if id_ in self)

    def __len__(self) -> int:
        return len(self._searcher) if self._only is None else len(self._only)


def _columns(materials: Materials) -> PictureColumns:
    said = materials.annotations
    return build_columns((picture, said.get(picture.id), ()) for picture in materials.pictures.values())
