"""Tools that find pictures of a history: ImageSearch, SimilarTo, FilterMetadata, Combine, Count."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from sightline.agent.state import AgentState
from sightline.agent.tools.arguments import (
    PHOTO_FIELD,
    SAVE_FIELD,
    MistakeError,
    ToolArguments,
    shown,
    spec,
    text_field,
    texts_field,
    whole_field,
)
from sightline.agent.tools.base import Materials, Observation, tool
from sightline.agent.tools.catalog import Catalog, scope_of, subset_of
from sightline.agent.tools.picture_refs import NamedPicture, NamedPictures
from sightline.types import PictureRef, SearchQuery

MOST_HITS = 200
MOST_SHOWN = 400
"""Ids that one answer lists; a saved subset holds all of them."""
_CUES = 8
_WITHIN = "only look within the subset of this name"
_EXPRESSION = (
    "a condition on time, address and other fields, such as: time >= 2019-06-01 and time < 2019-07-01; "
    'address ~ "Kyoto, Japan"; year == 2021 and weekday in [sat, sun]; near(35.01, 135.77, 5km). '
    'A Python expression over time and address (match_address(address, "Japan")) is understood, too'
)

IMAGE_SEARCH = spec(
    "ImageSearch",
    "Find photos that look like a description, like given photos, or both; the best first, with scores. "
    "photos are cues for the search, not a limit; a region of one is id#left,top,right,bottom.",
    {
        "text": text_field("what the photo shows, in a few words"),
        "photos": texts_field("ids of photos that the wanted ones look like", _CUES),
        "top_k": whole_field("how many photos to return", 1, MOST_HITS, 20),
        "save_as": SAVE_FIELD,
        "search_within": text_field(_WITHIN),
    },
)
SIMILAR_TO = spec(
    "SimilarTo",
    "Find the photos that look most like one photo, or like a region of it; the photo itself is left out.",
    {
        "photo": PHOTO_FIELD,
        "top_k": whole_field("how many photos to return", 1, MOST_HITS, 20),
        "save_as": SAVE_FIELD,
        "search_within": text_field(_WITHIN),
    },
    "photo",
)
FILTER_METADATA = spec(
    "FilterMetadata",
    "Select all photos whose metadata fulfil a condition: their number and their ids, in the order of time.",
    {"expression": text_field(_EXPRESSION), "save_as": SAVE_FIELD, "filter_within": text_field(_WITHIN)},
    "expression",
)
COMBINE = spec(
    "Combine",
    "Put named subsets together: union, intersect, or minus (the first without the others). photos, where given, "
    "count as one more subset, after the named ones.",
    {
        "operation": text_field("what to do with them", choices=("union", "intersect", "minus")),
        "subsets": texts_field("names of subsets, in order", 16),
        "photos": texts_field("ids of photos", MOST_SHOWN),
        "save_as": SAVE_FIELD,
    },
    "operation",
)
COUNT = spec(
    "Count",
    "Count photos: all of them, those of a subset, or those that fulfil a condition.",
    {"expression": text_field(_EXPRESSION), "within": text_field("only count within the subset of this name")},
)


def _has_index(materials: Materials) -> bool:
    return materials.searcher is not None


def _can_filter(materials: Materials) -> bool:
    return materials.searcher is not None or bool(materials.pictures)


class _Finder:
    """Searches within what a task may see."""

    def __init__(self, materials: Materials) -> None:
        assert materials.searcher is not None
        self._searcher, self.subjects = materials.searcher, NamedPictures(materials)

    def find(
        self, text: str | None, cues: Sequence[NamedPicture], k: int, within: str | None, state: AgentState
    ) -> list[tuple[str, float]]:
        scope = scope_of(state, within)
        if scope is None:
            return []
        with ExitStack() as stack:
            like, files = self._cues(cues, stack)
            query = SearchQuery(text, like, files, scope=scope, k=k)
            results = self._searcher.search(query)
        allowed = state.allowed
        return [(h.picture.id, h.score) for h in results.hits if allowed is None or h.picture.id in allowed]

    def _cues(self, cues: Sequence[NamedPicture], stack: ExitStack) -> tuple[tuple[PictureRef, ...], tuple[str, ...]]:
        """Pictures of the index by id; what a tool made goes through a file that is gone after the search."""
        like, files = [], []
        for cue in cues:
            if cue.picture is not None:
                like.append(PictureRef(cue.picture.id, cue.region))
                continue
            file = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sightline-"))) / "cue"
            file.write_bytes(self.subjects.data(cue))
            files.append(str(file) if cue.region is None else f"{file}#{cue.name.rpartition('#')[2]}")
        return tuple(like), tuple(files)


@tool(IMAGE_SEARCH, _Finder, _has_index)
def image_search(finder: _Finder, given: ToolArguments, state: AgentState) -> Observation:
    """ImageSearch over the materials' index."""
    text, names = given.maybe_text("text"), given.texts("photos")
    if text is None and not names:
        raise MistakeError("give text, photos, or both: what is looked for?")
    cues = [finder.subjects.find(name, state) for name in names]
    ids = finder.find(text, cues, given.whole("top_k", 20), given.maybe_text("search_within"), state)
    return _ranked(ids, given.maybe_text("save_as"), state)


@tool(SIMILAR_TO, _Finder, _has_index)
def similar_to(finder: _Finder, given: ToolArguments, state: AgentState) -> Observation:
    """SimilarTo over the materials' index."""
    subject = finder.subjects.find(given.text("photo"), state)
    top_k = given.whole("top_k", 20)
    found = finder.find(None, [subject], top_k + 1, given.maybe_text("search_within"), state)
    others = [hit for hit in found if hit[0] != subject.root][:top_k]
    return _ranked(others, given.maybe_text("save_as"), state)


@tool(FILTER_METADATA, Catalog, _can_filter)
def filter_metadata(catalogue: Catalog, given: ToolArguments, state: AgentState) -> Observation:
    """FilterMetadata over the index's columns, or over those of the pictures where there is no index."""
    expression = given.text("expression")
    ids = catalogue.ids(catalogue.rows(state, given.maybe_text("filter_within"), expression))
    return listed(ids, given.maybe_text("save_as"), state, catalogue.notes(expression))


@tool(COMBINE, NamedPictures, _can_filter)
def combine(subjects: NamedPictures, given: ToolArguments, state: AgentState) -> Observation:
    """Combine, over the subsets of the state."""
    operands = [list(subset_of(state, name)) for name in given.texts("subsets")]
    unknown: list[str] = []
    if given.has("photos"):
        pictures, unknown = subjects.split(given.texts("photos"), state)
        operands.append([picture.id for picture in pictures])
    if not operands:
        raise MistakeError("give subsets, photos, or both: there is nothing to combine.")
    ids = _combined(given.text("operation"), operands)
    notes = (f"unknown, and left out: {', '.join(map(shown, unknown[:5]))}",) if unknown else ()
    return listed(ids, given.maybe_text("save_as"), state, notes)


@tool(COUNT, Catalog, _can_filter)
def count(catalogue: Catalog, given: ToolArguments, state: AgentState) -> Observation:
    """Count, over the same columns as FilterMetadata."""
    rows = catalogue.rows(state, given.maybe_text("within"), given.maybe_text("expression"))
    total = len(rows)
    return answered({"count": total})


def answered(
    data: dict[str, Any], found: Sequence[str] = (), *, untrusted: bool = False, public: bool = False
) -> Observation:
    """An observation whose text is its data as JSON."""
    return Observation(orjson.dumps(data).decode(), (), data, tuple(found), untrusted, public=public)


def listed(ids: Sequence[str], save_as: str | None, state: AgentState, notes: Sequence[str] = ()) -> Observation:
    """A number of pictures and their ids, saved where that is wished."""
    first = list(ids[:MOST_SHOWN])
    data: dict[str, Any] = {"count": len(ids), "photos": first}
    if len(ids) > len(first):
        data["note"] = f"only the first {len(first)} are listed; narrow it down, or save it and search within"
    return answered(_saved(data, ids, save_as, state, notes), first)


def _ranked(hits: Sequence[tuple[str, float]], save_as: str | None, state: AgentState) -> Observation:
    ids = [id_ for id_, _ in hits]
    data: dict[str, Any] = {"results": [{"photo_id": id_, "score": round(score, 4)} for id_, score in hits]}
    return answered(_saved(data, ids, save_as, state), ids)


def _saved(
    data: dict[str, Any], ids: Sequence[str], save_as: str | None, state: AgentState, notes: Sequence[str] = ()
) -> dict[str, Any]:
    if save_as is not None:
        problem = state.save(save_as, ids)
        data |= {"saved_as": save_as} if problem is None else {"not_saved": problem}
    if notes:
        data["notes"] = list(notes)
    return data


def _combined(operation: str, operands: list[list[str]]) -> list[str]:
    """In the order of the first operand that has them."""
    first, rest = operands[0], operands[1:]
    if operation == "union":
        return list(dict.fromkeys(id_ for operand in operands for id_ in operand))
    others = [set(operand) for operand in rest]
    if operation == "intersect":
        return [id_ for id_ in first if all(id_ in other for other in others)]
    return [id_ for id_ in first if not any(id_ in other for other in others)]
