"""Kept requests as a benchmark of select tasks, with where each came from and what people should look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sightline.benchmark.files import HEADER
from sightline.benchmark.folder import check_place, write_benchmark
from sightline.english import listed
from sightline.errors import UserError, explained
from sightline.io.jsonl import read_json
from sightline.mining.graph import MemoryGraph
from sightline.mining.history import EVERYONE, PhotoHistory
from sightline.mining.records import DraftVerdict, PictureClues
from sightline.types import Annotation, Benchmark, Candidate, Corpus, Group, Json, Picture, PictureSet, Scope, Task

REQUESTS, QUESTIONS = "requests", "questions"
"""What a mined benchmark asks; its card says it."""
_NOTHING, _NOTHING_SHARE = "no-answer", 0.1
_SEEN_WELL = 2
_ELSEWHERE = "choose a new or an empty folder"
_HOPS = {"same-event": "1", "same-place": "2", "other-events": "2", "next-event": "2", "previous-event": "2"}


def check_mining_place(out: Path, what: str, pictures: Mapping[str, Picture]) -> None:
    """Refuse a place that can't be written, or whose content would be lost, before anything is asked.

    What was mined before of some of these pictures is replaced, unless people have reviewed it.
    """
    check_place(out, out.resolve().name, tasks={}, pictures=pictures)
    if (out / HEADER).is_file() and read_json(out / HEADER).get("card", {}).get("mined") != what:
        raise UserError(f"{out} holds a benchmark of another kind; it is left as it is.", _ELSEWHERE)
    place = next(folder for folder in (out, *out.resolve().parents) if folder.is_dir())
    with explained(f"{out} can't be written", _ELSEWHERE):
        TemporaryDirectory(dir=place).cleanup()


def choose(verdicts: Iterable[DraftVerdict], most: int) -> list[DraftVerdict]:
    """So many of those that passed: one in ten has no answer, the others in turn from each owner and of each type.

    Those whose anchor is seen in several photos come first: what is seen once may have been misread.
    """
    passed: dict[tuple[str, str], list[DraftVerdict]] = {}
    for verdict in sorted(verdicts, key=lambda each: len(each.anchored) < _SEEN_WELL):
        if verdict.kept:
            passed.setdefault((type_of(verdict), verdict.draft.owner), []).append(verdict)
    something = _in_turn([each for (kind, _), each in passed.items() if kind != _NOTHING])
    nothing = _in_turn([each for (kind, _), each in passed.items() if kind == _NOTHING])
    nothing = nothing[: ceil(most * _NOTHING_SHARE)]
    return [*something[: most - len(nothing)], *nothing]


def type_of(verdict: DraftVerdict) -> str:
    """intra-event, inter-event, or no-answer."""
    return verdict.draft.event_type if verdict.draft.targets else _NOTHING


def retained(verdicts: Sequence[DraftVerdict]) -> dict[str, Any]:
    """How many were checked and kept, and how many each reason refused."""
    kept = Counter(type_of(verdict) for verdict in verdicts if verdict.kept)
    return {"checked": len(verdicts), "kept": sum(kept.values()), **kept, "refused": refusals(verdicts)}


def refusals(verdicts: Iterable[DraftVerdict]) -> dict[str, int]:
    """Requests by what refused them, the most frequent first; the first reason of each counts."""
    return dict(Counter(verdict.reasons[0] for verdict in verdicts if verdict.reasons).most_common())


def _in_turn(lists: Sequence[Sequence[DraftVerdict]]) -> list[DraftVerdict]:
    rows = chain.from_iterable(zip_longest(*lists))
    return [verdict for verdict in rows if verdict is not None]


def write_mined_benchmark(
    out: Path,
    chosen: Sequence[DraftVerdict],
    histories: Sequence[PhotoHistory],
    graph: MemoryGraph,
    readings: Mapping[str, PictureClues],
    card: Mapping[str, Json],
) -> Benchmark:
    """Write BENCH: histories as the corpus (events hidden), requests as tasks, what was read as annotations."""
    used = {verdict.draft.owner for verdict in chosen}
    kept = [history for history in histories if history.owner in used]
    benchmark = Benchmark(
        name=out.resolve().name,
        corpus=_corpus(out.resolve().name, kept),
        tasks={verdict.draft.id: _task(verdict, graph) for verdict in chosen},
        truth={verdict.draft.id: PictureSet(verdict.draft.targets) for verdict in chosen},
        card=card,
        annotations=tuple(_annotations(kept, readings)),
        candidates=tuple(candidate for verdict in chosen for candidate in _candidates(verdict)),
    )
    return write_benchmark(benchmark, out)


def _corpus(name: str, histories: Iterable[PhotoHistory]) -> Corpus:
    pictures: dict[str, Picture] = {}
    groups: list[Group] = []
    for history in histories:
        own = {picture.id: picture for picture in history}
        pictures |= own
        if history.owner != EVERYONE:
            groups.append(Group(history.owner, "owner", tuple(own)))
        for event in history.events:
            groups.append(Group(event.id, "event", tuple(each.id for each in event.pictures), hidden=True))
    return Corpus(name, pictures, tuple(groups))


def _task(verdict: DraftVerdict, graph: MemoryGraph) -> Task:
    draft = verdict.draft
    labels = {
        "event_type": (draft.event_type,),
        "targets": ("some" if draft.targets else "none",),
        "relation": (draft.logic.relation,),
        "hops": (_HOPS.get(draft.logic.relation, "unknown"),),
        "writer": (draft.by,),
    }
    scope = Scope() if draft.owner == EVERYONE else Scope(owner=draft.owner)
    return Task(draft.id, "select", (draft.query,), scope=scope, labels=labels, extra=_provenance(verdict, graph))


def _provenance(verdict: DraftVerdict, graph: MemoryGraph) -> dict[str, Json]:
    """Where a request came from, what the checks found, and that nobody has looked at it yet."""
    draft, logic = verdict.draft, verdict.draft.logic
    clues: list[Json] = [
        {"id": id_, "picture": graph.clues[id_].picture, "text": graph.clues[id_].text} for id_ in draft.clues
    ]
    at = {graph.photos[photo].event for photo in verdict.anchored}
    events = {*at, *verdict.events}
    linked: list[Json] = [photo for photo in verdict.linked if graph.photos[photo].event in events]
    return {
        "mined": {
            "by": draft.by,
            "seed_photo": draft.seed_photo,
            "photos": list(draft.photos),
            "clues": clues,
            "anchor": {"text": _said(logic.anchor, graph), "pictures": list(verdict.anchored)},
            "link": None if logic.link is None else {"text": _said((logic.link,), graph), "pictures": linked},
            "target": {"text": _said(logic.target, graph), "pictures": list(draft.targets)},
            "events": [_event(graph, id_, id_ in at, id_ in verdict.events) for id_ in sorted(events)],
            "logic": {
                "relation": logic.relation,
                "anchor": list(logic.anchor),
                "link": logic.link,
                "target": list(logic.target),
            },
            "why": draft.why,
            "retrieval_f1": verdict.retrieval,
            "metadata_f1": verdict.metadata,
        },
        "review": "waiting",
    }


def _said(keys: Iterable[str], graph: MemoryGraph) -> str:
    texts = {clue.key: clue.text for clue in graph.clues.values()}
    return listed(texts[key] for key in keys)


def _event(graph: MemoryGraph, event: str, anchors: bool, meant: bool) -> Json:
    """When and where an event was, and all its pictures; whether the anchor is there, and whether it is meant."""
    photos = [graph.photos[id_] for id_ in graph.events[event].photos]
    where = next((photo.address for photo in photos if photo.address), None)
    return {
        "id": event,
        "from": photos[0].taken_at,
        "to": photos[-1].taken_at,
        "where": where,
        "anchor": anchors,
        "meant": meant,
        "pictures": [photo.id for photo in photos],
    }


def _candidates(verdict: DraftVerdict) -> Iterator[Candidate]:
    """The pool for whoever reviews it: the targets, and what comes nearest."""
    task = verdict.draft.id
    for picture in verdict.draft.targets:
        yield Candidate(task, picture, "positive")
    for picture, score in verdict.pool:
        yield Candidate(task, picture, "hard", score)


def _annotations(histories: Iterable[PhotoHistory], readings: Mapping[str, PictureClues]) -> Iterator[Annotation]:
    for history in histories:
        for picture in history:
            reading = readings.get(picture.id)
            if reading is not None:
                tags = tuple(clue.look for clue in reading.clues)
                yield Annotation(picture.id, reading.summary, tags=tags, by=reading.by, cost_usd=reading.usd)
