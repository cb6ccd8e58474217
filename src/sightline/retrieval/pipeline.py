"""One query through the parts of a search: vectors and words → fusion → threshold → late → re-rank → diversity → k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from sightline.corpus.names import path_of
from sightline.errors import StoppedError, UserError
from sightline.retrieval.bm25 import query_words
from sightline.retrieval.open_index import OpenIndex
from sightline.retrieval.query import PictureCue, QueryVector, mean_direction, parse_cue
from sightline.retrieval.ranking import (
    RankedList,
    fuse_ranks,
    fuse_weighted,
    in_blocks,
    max_sim,
    nearest_fused,
    nearest_pictures,
    ranked_by,
    spread_out,
)
from sightline.retrieval.vector_stores.base import Rows
from sightline.types import Method, PictureRef, SearchQuery

_MOST_COMPARED = 20_000
"""Ids that a wrong one is compared with."""
_NOTHING = RankedList(np.zeros(0, np.int64), np.zeros(0))


class Pipeline:
    """One search; what there is to say about it is in its attributes afterwards."""

    def __init__(self, index: OpenIndex, query: SearchQuery, method: Method, within: Rows | None) -> None:
        self._index, self._query, self._method, self._within = index, query, method, within
        self._text = (query.text or "").strip()
        self._vector: NDArray[np.float32] | None = None
        self._pool = 0
        self.was_cut = False
        self.threshold: float | None = None
        self.below = 0
        self.failures = 0
        self.stopped: StoppedError | None = None
        self.notes: list[str] = []

    def run(self) -> RankedList:
        """The best k, in order; the same ones first, whatever k is."""
        method, k = self._method, self._query.k
        found = self._matching(self._first())
        best = found.taking(range(min(self._pool, len(found))))
        rest = found.taking(range(len(best), len(found)))
        if method.late:
            best = self._late(best)
        if method.rerank is not None:
            best = self._reranked(best, method.rerank)
        if method.diversity > 0:
            best = self._spread(best, k)
        found = best.followed_by(rest)
        return found.taking(range(min(k, len(found))))

    # --- lists ------------------------------------------------------------------------------------------------

    def _first(self) -> RankedList:
        """The list that all else works on; `_pool` is how many of it may change places."""
        method, k = self._method, self._query.k
        self._pool = method.depth
        if not (method.vectors and method.words):
            # One list by itself is followed only as far as it is shown, or as something works on it.
            works = method.late or method.rerank is not None or method.diversity > 0 or method.threshold == "auto"
            depth = max(k, method.depth) if works else k
            return self._nearest(depth) if method.vectors else self._worded(depth)
        depth = -(-k // method.depth) * method.depth
        blocks = in_blocks([self._nearest(depth), self._worded(depth)], method.depth, self._fuse)
        self._pool = min(method.depth, blocks.head)
        return blocks.found

    def _fuse(self, lists: Sequence[RankedList]) -> RankedList:
        method = self._method
        if method.fusion == "rrf":
            return fuse_ranks(lists, method.rrf_constant)
        return fuse_weighted(list(zip(lists, (method.vector_weight, 1.0 - method.vector_weight), strict=True)))

    def _nearest(self, depth: int) -> RankedList:
        asked = query_vector(self._index, self._query, self._method.text_weight)
        self._vector, self.was_cut = asked
        pictures, captions = self._index.pictures, self._index.captions
        within = self._index.all_rows if self._within is None else self._within
        if pictures is None or (within is not None and not len(within)):
            return _NOTHING
        if self._method.captions and captions is not None:
            weight = self._method.picture_weight
            return nearest_fused(pictures, captions, self._vector, depth, weight, within)
        return nearest_pictures(pictures, self._vector, depth, within)

    def _worded(self, depth: int) -> RankedList:
        words = query_words(self._text)
        if not words:
            return _NOTHING
        with self._index.reading_table():
            found = self._index.table.ranked_words(words, depth, self._within)
        # A row that came since the columns were read is not known to anything else yet.
        known = [(row, score) for row, score in found if row < len(self._index.columns)]
        rows, scores = np.array([row for row, _ in known], np.int64), np.array([score for _, score in known])
        return ranked_by("words", rows, scores)

    # --- what is done with the list ---------------------------------------------------------------------------

    def _matching(self, found: RankedList) -> RankedList:
        """Without what does not match; a picture that holds every word of the query does."""
        limit = self._method.threshold
        if limit is None or not len(found):
            return found
        pictures, vector = self._index.pictures, self._vector
        if limit != "auto":
            self.threshold = limit
            # What only words found is measured by its vector, too.
            if self._method.words and pictures is not None and vector is not None:
                return self._kept(found, pictures.scores(vector, found.rows) >= limit)
            return self._kept(found, found.scores >= limit)
        if pictures is None or vector is None:
            return found
        calibrated = self._index.threshold()
        self.threshold = calibrated.value
        above = calibrated.match(vector, found.rows, pictures.scores(vector, found.rows))
        known = ~np.isnan(above)
        return self._kept(found.adding("match", _by_row(found.rows[known], above[known])), above >= 0)

    def _kept(self, found: RankedList, keep: NDArray[np.bool_]) -> RankedList:
        words = query_words(self._text) if self._method.words else []
        if words and not keep.all():
            with self._index.reading_table():
                whole = self._index.table.rows_with_all(words, found.rows.tolist())
            keep = keep | np.array([row in whole for row in found.rows.tolist()])
        self.below = int(np.count_nonzero(~keep))
        self._pool = int(np.count_nonzero(keep[: self._pool]))
        return found.taking(np.flatnonzero(keep))

    def _late(self, found: RankedList) -> RankedList:
        """Token by token; pictures without token vectors come after the others, as they were."""
        asked = self._index.asker.tokens(self._text)
        if asked is None or not len(found):
            return found
        with self._index.reading_table():
            tokens = self._index.table.tokens(found.rows.tolist())
        has = np.array([row in tokens for row in found.rows.tolist()])
        scores = np.full(len(found), -np.inf)
        scores[has] = max_sim(asked, [tokens[row] for row in found.rows[has].tolist()])
        order = np.argsort(-scores, kind="stable")
        late = _by_row(found.rows[has], scores[has])
        return replace(found.taking(order), scores=np.where(has, scores, found.scores)[order]).adding("late", late)

    def _reranked(self, found: RankedList, model: str) -> RankedList:
        index, rows = self._index, found.rows.tolist()
        with index.reading_table():
            pictures = index.table.pictures(rows)
        places = [at for at, row in enumerate(rows) if row in pictures]
        from sightline.retrieval.rerank import Reranker, new_order

        reranker = Reranker(model, index.session)
        graded = reranker.grade(self._text, [pictures[rows[at]] for at in places])
        self.failures, self.stopped = graded.failures, graded.stopped
        if graded.why is not None:
            calls = f"{graded.failures} call{'s' * (graded.failures > 1)} of the re-ranker failed"
            self.notes.append(f"{calls}, so those pictures kept their places: {graded.why}")
        if graded.unseen:
            self.notes.append(f"pictures that the re-ranker can't see, and that kept their places: {graded.unseen:,}")
        grades = {places[at]: grade for at, grade in graded.grades.items()}
        by_row = {rows[at]: grade for at, grade in grades.items()}
        return found.adding("rerank", by_row).taking(new_order(len(rows), grades))

    def _spread(self, found: RankedList, k: int) -> RankedList:
        pictures = self._index.pictures
        if pictures is None or not len(found):
            return found
        scores = found.scores if self._method.rerank is None else -np.arange(len(found), dtype=np.float64)
        return found.taking(spread_out(scores, pictures.vectors(found.rows), self._method.diversity, k))


def _by_row(rows: Rows, scores: NDArray[np.float64]) -> dict[int, float]:
    return dict(zip(rows.tolist(), scores.tolist(), strict=True))


def query_vector(index: OpenIndex, query: SearchQuery, text_weight: float) -> QueryVector:
    """Words and pictures by the embedder at once where it can, else by the weighted mean of their directions."""
    cues = [_of_corpus(index, ref) for ref in query.like] + [_of_file(name) for name in query.files]
    text, asker = (query.text or "").strip(), index.asker
    if not text:
        return QueryVector(mean_direction([_vector(index, cue) for cue in cues], [1.0] * len(cues)))
    if len(cues) == 1:
        both = asker.joint(cues[0], text)
        if both is not None:
            return QueryVector(both)
    asked = asker.text(text)
    if not cues:
        return asked
    vectors = [asked.vector, *(_vector(index, cue) for cue in cues)]
    weights = [text_weight, *([(1.0 - text_weight) / len(cues)] * len(cues))]
    return QueryVector(mean_direction(vectors, weights), asked.was_cut)


def _vector(index: OpenIndex, cue: PictureCue) -> NDArray[np.float32]:
    pictures = index.pictures
    if cue.row is not None and cue.region is None and pictures is not None and pictures.holds[cue.row]:
        return pictures.vectors(np.array([cue.row])).reshape(-1)
    return index.asker.cue(cue)


def _of_corpus(index: OpenIndex, ref: PictureRef) -> PictureCue:
    with index.reading_table():
        known = index.table.find(ref.id)
        picture = None if known is None else index.table.pictures([known.row]).get(known.row)
    if known is None or picture is None:
        near = get_close_matches(ref.id, index.columns.texts("id").vocabulary[:_MOST_COMPARED], n=2, cutoff=0.7)
        hint = f"Did you mean {' or '.join(near)}?" if near else "give the path of a file, or an id as search shows it"
        raise UserError(f'there is no picture "{ref.id}" in this index, and no such file.', hint)
    return PictureCue(picture.uri, ref.region, known.row)


def _of_file(name: str) -> PictureCue:
    cue = parse_cue(name)
    if not path_of(cue.uri).is_file():
        raise UserError(f"there is no file {cue.uri} to look like.", "check the path after --like")
    return cue
