"""What a page of pictures shows: all, those that facets and a filter leave, or the best for words or a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UserError
from sightline.retrieval.results import Results
from sightline.web.corpus_view import CorpusView
from sightline.web.index_search import AppSearch, SearchForm
from sightline.web.picture_choice import PictureChoice

_KEPT = 24
_DEEP = 300
"""So many of the best are shown."""


@dataclass(frozen=True, slots=True)
class PictureQuery:
    """All that an address of the page of pictures says."""

    form: SearchForm = field(default_factory=SearchForm)
    choice: PictureChoice = field(default_factory=PictureChoice)
    is_folded: bool = True

    @classmethod
    def read(cls, query: Mapping[str, str]) -> PictureQuery:
        text, like, upload, where = (query.get(name, "").strip() for name in ("text", "like", "upload", "where"))
        choice = PictureChoice.read(query)
        form = SearchForm(text, like, upload, where, query.get("method") or "vectors", _DEEP)
        return cls(form, choice, query.get("similar") != "all" and choice.group is None)

    @property
    def as_filter(self) -> str:
        """Facets and filter as one text."""
        own = self.form.where
        own = f"({own})" if own and (" or " in own.lower() or "||" in own) and self.choice.as_filter() else own
        return " and ".join(filter(None, (self.choice.as_filter(), own)))


@dataclass(frozen=True, slots=True)
class FoundPictures:
    """Pictures in the order in which they are shown, by the numbers of their files; `folded` stand behind others."""

    files: NDArray[np.int64]
    folded: int = 0
    results: Results | None = None


class PictureFinder:
    """Finds them once for the page and all that its script fetches, until corpus or index change."""

    def __init__(self, corpus: CorpusView, search: AppSearch) -> None:
        self.corpus, self.search = corpus, search
        self._found = lru_cache(maxsize=_KEPT)(self._find)
        self._facets = lru_cache(maxsize=_KEPT)(self._count)

    def find(self, query: PictureQuery) -> FoundPictures:
        """The pictures; what is wrong with a search or a filter is a `UserError`."""
        return self._found(query, self.corpus.stamp())

    def facets(self, query: PictureQuery) -> Mapping[str, Sequence[tuple[str, int]]]:
        """What there is to choose among them: facets with two values at least."""
        return self._facets(query, self.corpus.stamp())

    def _find(self, query: PictureQuery, _stamp: object) -> FoundPictures:
        results = None
        if not query.form.is_empty:
            self._check(query.form)
            results = self.search.search(replace(query.form, where=query.as_filter))
            files = self.corpus.files_of(hit.picture.id for hit in results.hits)
        else:
            files = self.corpus.files(query.choice)
            if query.form.where:
                left = self.corpus.files_of(self.search.left_by(query.form.where))
                files = files[np.isin(files, left)]
        shown = self.corpus.looks().folded(files, is_ranked=results is not None) if query.is_folded else files
        return FoundPictures(shown, len(files) - len(shown), results)

    def _count(self, query: PictureQuery, _stamp: object) -> Mapping[str, Sequence[tuple[str, int]]]:
        is_limited = not query.form.is_empty or query.form.where
        found = self.corpus.facets_of(self.find(query).files) if is_limited else self.corpus.facets(query.choice)
        return {name: values for name, values in found.items() if sum(value != "?" for value, _ in values) > 1}

    def _check(self, form: SearchForm) -> None:
        """A picture to look like is one of the corpus; the app takes no path."""
        if form.like and self.corpus.find(form.like) is None:
            raise UserError(
                f"there is no picture {form.like} in the corpus.",
                "drop one here, or open a picture and choose `Search like this`",
            )
