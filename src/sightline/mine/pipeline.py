"""The stages of mining, each of which reads and writes files, and can be run again at no cost."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from sightline.corpus.view import open_corpus
from sightline.engine.plan import Plan
from sightline.errors import UserError
from sightline.io import read_json, write_json, write_jsonl, write_whole
from sightline.mine import confirming, parsing, verifying, writing
from sightline.mine import files as names
from sightline.mine.asking import Desk, Gathered
from sightline.mine.assembling import check_place, choose, type_of, write_benchmark
from sightline.mine.checking import Ranker, anchor_words, check
from sightline.mine.drafting import OVERSAMPLED, knowledge_of
from sightline.mine.files import Files
from sightline.mine.graph import MemoryGraph, build_graph, read_graph, write_graph
from sightline.mine.graph_page import graph_page
from sightline.mine.history import History, histories
from sightline.mine.knowledge import Knowledge
from sightline.mine.neighbours import Followed, embedded_pictures, follow, rarest_clues
from sightline.mine.nouns import Association, Draft, Reading, Verdict
from sightline.mine.settings import Settings
from sightline.mine.templates import drafts_by_templates
from sightline.models.embedders.listed import embed_words
from sightline.models.embedders.session import Session
from sightline.models.protocols import Embedder
from sightline.types import Benchmark, Corpus

StageName: TypeAlias = Literal["parse", "associate", "graph", "queries", "check"]
STAGES: tuple[StageName, ...] = get_args(StageName)
_LOOKS_EACH = 2
"""Calls of a second look at a usual request."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a stage did; `failures` counts what could not be done, by kind."""

    stage: str
    wrote: tuple[Path, ...]
    counts: Mapping[str, Any]
    failures: Mapping[str, int] = field(default_factory=dict)
    usd: float | None = 0.0
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self) | {"wrote": [str(path) for path in self.wrote]}


class Mining:
    """One project: a workspace's corpus, a folder for the stages' files, and how models are asked."""

    def __init__(self, desk: Desk, folder: Path, settings: Settings, embedder: Embedder | None = None) -> None:
        """`embedder` is an open one, instead of the one that the settings name."""
        self.desk, self.files, self.settings = desk, Files(folder), settings
        self._embedder = embedder

    @cached_property
    def corpus(self) -> Corpus:
        return open_corpus(self.desk.workspace)

    @cached_property
    def histories(self) -> tuple[History, ...]:
        """The histories that are mined; an error says why none is."""
        found = histories(self.corpus, self.settings.rules, self.settings.owners)
        taken = tuple(history for history in found if not history.refused)
        if not taken:
            reasons = "; ".join(f"{history.owner}: {history.refused}" for history in found[:5])
            raise UserError(f"no owner has a history to mine ({reasons}).", "scan more pictures, or ease the rules")
        return taken

    def run_all(self, out: Path, tell: Callable[[Done], None] = lambda _: None) -> Benchmark:
        """All stages, and what passed the checks as a benchmark; `tell` hears of each stage when it is done."""
        check_place(out)
        for stage in STAGES:
            tell(self.run(stage))
        return self.assemble(out)

    def run(self, stage: StageName) -> Done:
        """One stage; its figures are added to `retention.json`."""
        stages: dict[StageName, Callable[[], Done]] = {
            "parse": self._parse,
            "associate": self._associate,
            "graph": self._graph,
            "queries": self._queries,
            "check": self._check,
        }
        started = time.monotonic()
        done = stages[stage]()
        self._retain(stage, {**done.counts, "failed": sum(done.failures.values())})
        return replace(done, seconds=time.monotonic() - started)

    def plan(self) -> Plan:
        """What all stages would cost, if every picture has as many clues as are followed and all drafts pass."""
        pictures = [picture for history in self.histories for picture in history]
        model, settings = self.settings.model, self.settings
        parse = (parsing.ask_for(picture, model).request for picture in pictures)
        stages = [
            self.desk.price(parse, model, parsing.STAGE),
            self.desk.price(
                [verifying.typical(pictures, settings.near, model)],
                model,
                verifying.STAGE,
                len(pictures) * settings.clues,
            ),
        ]
        if settings.writer is not None:
            typical = [writing.typical(settings.writer)]
            stages.append(self.desk.price(typical, settings.writer, writing.STAGE, writing.calls_for(settings)))
        if settings.confirm:
            looked = [confirming.typical(pictures, model)]
            calls = _LOOKS_EACH * OVERSAMPLED * settings.queries
            stages.append(self.desk.price(looked, model, confirming.STAGE, calls))
        return Plan(tuple(stages))

    # --- stages ------------------------------------------------------------------------------------------------

    def _parse(self) -> Done:
        everyone = histories(self.corpus, self.settings.rules, self.settings.owners)
        pictures = [picture for history in self.histories for picture in history]
        model = self.settings.model
        owners = self._write_owners(everyone)
        asks = [(picture, parsing.ask_for(picture, model)) for picture in pictures]
        came = self.desk.gather(asks, model, parsing.STAGE)
        readings = [parsing.reading_of(picture.id, reply, model) for picture, reply in came.replies]
        path = self.files.write(names.READINGS, readings)
        failed = [{"picture": picture.id, "kind": why.kind, "error": why.message} for picture, why in came.failed]
        wrote = (owners, path, self._write_failed(names.READINGS, failed))
        came.raise_if_stopped(f"{len(readings):,} of {len(pictures):,} pictures were read, into {path}.")
        counts = {
            "owners": len(everyone),
            "owners kept": len(self.histories),
            "pictures": len(pictures),
            "read": len(readings),
            "clues": sum(len(reading.clues) for reading in readings),
        }
        return Done("parse", wrote, counts, came.failures, came.usd)

    def _associate(self) -> Done:
        followed = self._followed(self._readings())
        pictures = {picture.id: picture for history in self.histories for picture in history}
        model = self.settings.model
        asks = [(each, verifying.ask_for(each, pictures, model)) for each in followed]
        came = self.desk.gather(asks, model, verifying.STAGE)
        found = [said for each, reply in came.replies for said in verifying.associations_of(each, reply)]
        path = self.files.write(names.ASSOCIATIONS, found)
        failed = [{"clue": each.clue.id, "kind": why.kind, "error": why.message} for each, why in came.failed]
        wrote = (path, self._write_failed(names.ASSOCIATIONS, failed))
        came.raise_if_stopped(f"{len(came.replies):,} of {len(followed):,} clues were compared, into {path}.")
        accepted = [each for each in found if each.accepted]
        counts = {
            "clues followed": len(followed),
            "comparisons": len(found),
            "accepted": len(accepted),
            "accepted outside": sum(each.where == "outside" for each in accepted),
        }
        return Done("associate", wrote, counts, came.failures, came.usd)

    def _graph(self) -> Done:
        associations = self.files.read(names.ASSOCIATIONS, Association)
        graph = build_graph(self.histories, self._readings(), associations, self.corpus.groups)
        write_graph(graph, self.files.path(names.GRAPH))
        page = self.files.path(names.GRAPH_PAGE)
        write_whole(page, graph_page(graph).encode())
        return Done("graph", (self.files.path(names.GRAPH), page), graph.stats())

    def _queries(self) -> Done:
        came: Gathered[Any] = Gathered()
        if self.settings.writer is None:
            drafts = list(drafts_by_templates(self.graph(), self.settings))
        else:
            drafts, came = writing.drafts_by_model(self.graph(), self.settings, self.desk)
        path = self.files.write(names.DRAFTS, drafts)
        came.raise_if_stopped(f"{len(drafts):,} drafts are in {path}.")
        relations = Counter[str](draft.logic.relation for draft in drafts)
        return Done("queries", (path,), {"drafts": len(drafts), **relations}, came.failures, came.usd)

    def _check(self) -> Done:
        drafts = list(self.files.read(names.DRAFTS, Draft))
        known = {each.owner: each for each in knowledge_of(self.graph(), self.settings)}
        strange = {draft.owner for draft in drafts} - (set(known) & {history.owner for history in self.histories})
        if strange:
            raise UserError(
                f"{self.files.path(names.DRAFTS)} speaks of {min(strange)}, whom the graph does not know.",
                "draft anew: sightline mine queries",
            )
        rankers = dict(self._rankers(drafts, known))
        verdicts = [check(each, known[each.owner], rankers[each.owner], self.settings) for each in drafts]
        came: Gathered[confirming.Look] = Gathered()
        if self.settings.confirm:
            pictures = {picture.id: picture for history in self.histories for picture in history}
            asks = list(confirming.looks(verdicts, known, pictures, self.settings.model))
            came = self.desk.gather(asks, self.settings.model, confirming.STAGE)
            verdicts = confirming.confirmed(verdicts, [look for look, _ in asks], came)
        path = self.files.write(names.VERDICTS, verdicts)
        came.raise_if_stopped(f"{len(verdicts):,} drafts are checked, some without a second look, in {path}.")
        return Done("check", (path,), _retained(verdicts), came.failures, came.usd)

    def assemble(self, out: Path) -> Benchmark:
        """BENCH, from what passed the checks."""
        verdicts = list(self.files.read(names.VERDICTS, Verdict))
        chosen = choose(verdicts, self.settings.queries)
        if not chosen:
            raise UserError(
                f"no request passed the checks, of {len(verdicts):,}; {self.files.path(names.VERDICTS)} says why.",
                "mine more pictures, or ask for more: --queries N",
            )
        self._retain("benchmark", {"tasks": len(chosen), **Counter(type_of(verdict) for verdict in chosen)})
        card = {
            "description": "Requests mined from photo histories; each means an exact set of one owner's pictures.",
            "languages": ["en"],
            "mined_by": self.settings.model,
            "written_by": self.settings.writer or "templates",
            "retention": read_json(self.files.path(names.RETENTION)),
            "reviewed": False,
        }
        return write_benchmark(out, chosen, self.histories, self.graph(), self._readings(), card)

    # --- what stages share -------------------------------------------------------------------------------------

    def graph(self) -> MemoryGraph:
        """The graph as it was written."""
        return read_graph(self.files.existing(names.GRAPH))

    def _readings(self) -> dict[str, Reading]:
        return {reading.picture: reading for reading in self.files.read(names.READINGS, Reading)}

    def _session(self) -> Session:
        embedder = self._embedder if self._embedder is not None else self.settings.embedder
        asking = self.desk.asking
        return Session(
            embedder, self.desk.workspace, config=self.desk.config, local_only=asking.local_only, asking=asking
        )

    def _followed(self, readings: Mapping[str, Reading]) -> list[Followed]:
        found: list[Followed] = []
        with self._session() as session:
            session.tell_who_sees("pictures and what they show")
            for history in self.histories:
                event_of = {picture.id: event.id for event in history.events for picture in event.pictures}
                own = {id_: readings[id_] for id_ in event_of if id_ in readings}
                clues = rarest_clues(own, event_of, self.settings.clues)
                found += follow(history, clues, self.settings.near, session, self.desk.config)
        return [each for each in found if each.neighbours]

    def _rankers(self, drafts: list[Draft], known: Mapping[str, Knowledge]) -> Iterator[tuple[str, Ranker]]:
        with self._session() as session:
            for history in self.histories:
                own = [draft for draft in drafts if draft.owner == history.owner]
                words_of = (text for draft in own for text in (draft.query, anchor_words(draft, known[draft.owner])))
                texts = list(dict.fromkeys(words_of))
                if texts:
                    ids, pictures = embedded_pictures(list(history), session, self.desk.config)
                    words = embed_words(texts, session)
                    if words.stopped is not None:
                        raise words.stopped
                    rows = dict(zip(texts, words.vectors(texts, session), strict=True))
                    yield history.owner, Ranker(ids, pictures, rows)

    def _write_owners(self, found: tuple[History, ...]) -> Path:
        self.files.folder.mkdir(parents=True, exist_ok=True)
        rows = (
            {
                "owner": each.owner,
                "refused": each.refused or None,
                "pictures": each.pictures,
                "taken": 0 if each.refused else each.taken,
                "events": len(each.events),
                "coverage": round(each.coverage, 4),
                "days": each.days,
            }
            for each in found
        )
        write_jsonl(self.files.path(names.OWNERS), rows)
        return self.files.path(names.OWNERS)

    def _write_failed(self, name: str, rows: list[dict[str, str]]) -> Path:
        write_jsonl(self.files.failed(name), rows)
        return self.files.failed(name)

    def _retain(self, stage: str, figures: Mapping[str, Any]) -> None:
        path = self.files.path(names.RETENTION)
        known = read_json(path) if path.is_file() else {}
        write_json(path, {**known, stage: dict(figures)})


def _retained(verdicts: list[Verdict]) -> dict[str, Any]:
    """How many were checked and kept, and how many each reason refused; the first reason counts."""
    refused = Counter(verdict.reasons[0] for verdict in verdicts if verdict.reasons)
    kept = Counter(type_of(verdict) for verdict in verdicts if verdict.kept)
    return {"checked": len(verdicts), "kept": sum(kept.values()), **kept, "refused": dict(refused.most_common())}
