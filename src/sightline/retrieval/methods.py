"""Queries and methods, looked at before anything is asked: what can't work is said with its fix."""

from __future__ import annotations

import math
from dataclasses import replace

from sightline.errors import UserError
from sightline.retrieval.index.manifest import IndexManifest
from sightline.types import Method, SearchQuery

METHODS = {"vectors": Method(), "words": Method(vectors=False, words=True), "hybrid": Method(words=True)}
"""The methods that have a name."""
_SHARES = ("picture_weight", "vector_weight", "text_weight", "diversity")


def checked(query: SearchQuery, method: Method, manifest: IndexManifest) -> Method:
    """The method, less what has nothing to do for this query; otherwise a `UserError`."""
    check_query(query)
    check_method(method)
    has_text = bool(query.text and query.text.strip())
    if not has_text:
        for name, wanted in (("words", not method.vectors), ("re-ranking", method.rerank), ("late", method.late)):
            if wanted:
                raise UserError(f"{name} can't be used without words to look for.", "add what the picture shows")
        method = replace(method, words=False)
    if not method.vectors and (query.like or query.files):
        raise UserError("A search by words alone can't use a picture.", "use --method vectors or hybrid")
    if method.vectors and method.captions and not manifest.captions:
        raise UserError(
            f'the index "{manifest.name}" holds no vectors of captions.',
            "make them: sightline index --captions embed --annotations FILE",
        )
    if method.late and not manifest.tokens:
        raise UserError(f'the index "{manifest.name}" holds no token vectors.', "make them: sightline index --tokens")
    if method.threshold == "auto" and (query.like or query.files):
        raise UserError("an automatic threshold is for words alone.", "give a number: --threshold 0.8")
    return method


def check_method(method: Method) -> None:
    """Refuse a method that can't work for any query."""
    _check_numbers(method)
    if not method.vectors and not method.words:
        raise UserError("neither vectors nor words are to be searched.", "switch one of them on")
    if not method.vectors:
        _check_words_only(method)


def check_query(query: SearchQuery) -> None:
    """Refuse a query that asks for nothing."""
    if not (query.text and query.text.strip()) and not query.like and not query.files:
        raise UserError("the query is empty.", 'say what to look for: sightline search "a dog on the beach"')
    if query.k < 1:
        raise UserError(
            f"-k {query.k} (k={query.k}) must be at least 1.", "Give the number of pictures to find, for example 10."
        )


def _check_numbers(method: Method) -> None:
    for name in _SHARES:
        value = getattr(method, name)
        if not 0 <= value <= 1:
            raise UserError(f"{name} {value} is not a share.", "give a number from 0 to 1")
    if isinstance(method.threshold, float | int) and not math.isfinite(method.threshold):
        raise UserError(f"the threshold {method.threshold} is not a number.", "give one, such as 0.3, or auto")
    if method.depth < 1:
        raise UserError(f"depth must be at least 1, not {method.depth}.", "leave it out for the default")
    if method.rrf_constant <= 0:
        raise UserError(f"rrf_constant must be above 0, not {method.rrf_constant}.", "the usual one is 60")


def _check_words_only(method: Method) -> None:
    for name, wanted in (("captions", method.captions), ("late", method.late), ("diversity", method.diversity)):
        if wanted:
            raise UserError(f"{name} needs vectors, which are switched off.", "use --method vectors or hybrid")
    if method.threshold is not None:
        raise UserError("a threshold needs vectors, which are switched off.", "use --method vectors or hybrid")
