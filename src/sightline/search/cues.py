"""A query as one vector: of its words, of its pictures, or of both."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sightline.corpus.names import path_of
from sightline.errors import UserError
from sightline.search.query import Asked, Cue, mean_direction, parse_cue
from sightline.types import PictureRef, SearchQuery

if TYPE_CHECKING:
    from sightline.search.searcher import Searcher

_MOST_COMPARED = 20_000
"""Ids that a wrong one is compared with."""


def query_vector(searcher: Searcher, query: SearchQuery, text_weight: float) -> Asked:
    """Words and pictures by the embedder at once where it can, else by the weighted mean of their directions."""
    cues = [_of_corpus(searcher, ref) for ref in query.like] + [_of_file(name) for name in query.files]
    text, asker = (query.text or "").strip(), searcher.asker
    if not text:
        return Asked(mean_direction([_vector(searcher, cue) for cue in cues], [1.0] * len(cues)))
    if len(cues) == 1:
        both = asker.joint(cues[0], text)
        if both is not None:
            return Asked(both)
    asked = asker.text(text)
    if not cues:
        return asked
    vectors = [asked.vector, *(_vector(searcher, cue) for cue in cues)]
    weights = [text_weight, *([(1.0 - text_weight) / len(cues)] * len(cues))]
    return Asked(mean_direction(vectors, weights), asked.was_cut)


def _vector(searcher: Searcher, cue: Cue) -> NDArray[np.float32]:
    pictures = searcher.pictures
    if cue.row is not None and cue.region is None and pictures is not None and pictures.holds[cue.row]:
        return pictures.vectors(np.array([cue.row])).reshape(-1)
    return searcher.asker.cue(cue)


def _of_corpus(searcher: Searcher, ref: PictureRef) -> Cue:
    with searcher.table_lock:
        known = searcher.table.find(ref.id)
        picture = None if known is None else searcher.table.pictures([known.row]).get(known.row)
    if known is None or picture is None:
        near = get_close_matches(ref.id, searcher.columns.texts("id").vocabulary[:_MOST_COMPARED], n=2, cutoff=0.7)
        hint = f"Did you mean {' or '.join(near)}?" if near else "give the path of a file, or an id as search shows it"
        raise UserError(f'there is no picture "{ref.id}" in this index, and no such file.', hint)
    return Cue(picture.uri, ref.region, known.row)


def _of_file(name: str) -> Cue:
    cue = parse_cue(name)
    if not path_of(cue.uri).is_file():
        raise UserError(f"there is no file {cue.uri} to look like.", "check the path after --like")
    return cue
