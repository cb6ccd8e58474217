"""The stages of mining, each of which reads and writes files, and can be run again at no cost; and their price."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from sightline.calls.ask_many import check_model, price_many
from sightline.calls.plan import CostPlan
from sightline.calls.session import Session
from sightline.corpus.view import open_corpus
from sightline.display import Shown
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.jsonl import read_json
from sightline.mining import associations, checks, clue_extraction, model_drafts
from sightline.mining import project as names
from sightline.mining.associations import FollowedClue, embedded_pictures, follow, rarest_clues
from sightline.mining.benchmark import (
    REQUESTS,
    check_mining_place,
    choose,
    refusals,
    retained,
    type_of,
    write_mined_benchmark,
)
from sightline.mining.checks import VectorRanker, anchor_words, check
from sightline.mining.drafts import OVERSAMPLED, drafts_by_templates, knowledge_of, what_is_strange
from sightline.mining.graph import MemoryGraph, build_graph, read_graph, write_graph
from sightline.mining.history import OwnerRecord, PhotoHistory, histories
from sightline.mining.knowledge import Knowledge
from sightline.mining.model_calls import Bill, CallResults, billed, gather, told_failures
from sightline.mining.project import GENTLE, MiningFiles, MiningSettings
from sightline.mining.records import Association, Draft, DraftVerdict, PictureClues
from sightline.models.embedders.bulk_embedding import embed_words
from sightline.models.embedders.session import EmbedderSession
from sightline.models.protocols import Embedder
from sightline.types import Benchmark, Corpus, Picture

_LOOKS_EACH = 2
"""Calls of a second look at a usual request."""
_SHOWN = "pictures and what they show"


@dataclass(frozen=True, slots=True, repr=False)
class MiningResult(Shown):
    """What a stage did; `failures` counts what could not be done, by kind, and `nothing` says that nothing could."""

    stage: str
    wrote: tuple[Path, ...]
    counts: Mapping[str, Any]
    failures: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    nothing: str = ""
    bill: Bill = field(default_factory=Bill)
    seconds: float = 0.0

    def raise_if_nothing(self) -> None:
        """Go no further where every call of a stage failed."""
        if self.nothing:
            raise UserError(self.nothing, "correct what it names, or choose another --model, and run it again")

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints: `usd` is what was paid now, null where no price is known."""
        return {
            "stage": self.stage,
            "wrote": [str(path) for path in self.wrote],
            "counts": dict(self.counts),
            "failures": dict(self.failures),
            "notes": list(self.notes),
            **self.bill.to_json(),
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        """A line for a stage, one for what failed, and one for each note."""
        return "\n".join([f"  {self._line()}", *(f"    {note}" for note in self._blocks())])

    def _line(self) -> str:
        counts = ", ".join(f"{name} {_told(value)}" for name, value in self.counts.items() if value not in ({}, None))
        return f"{self.stage}: {counts} · {self.bill} · {self.seconds:.1f} s"

    def _blocks(self) -> Iterable[str]:
        return (*told_failures(self.failures), *self.notes)


def _told(value: Any) -> str:
    if isinstance(value, dict):
        return f"({', '.join(f'{name} {count:,}' for name, count in value.items())})"
    return f"{value:,}" if isinstance(value, int) else str(value)


def plan_mining(pictures: Sequence[Picture], settings: MiningSettings, session: Session) -> CostPlan:
    """What all stages would cost, if every picture has as many clues as are followed and all drafts pass."""
    model, writer = settings.model, settings.writer
    parse = (clue_extraction.ask_for(picture, model).request for picture in pictures)
    compared = [associations.typical(pictures, settings.near, model)]
    stages = [
        price_many(parse, model, clue_extraction.STAGE, session),
        price_many(compared, model, associations.STAGE, session, len(pictures) * settings.clues),
    ]
    if writer is not None:
        stages.append(
            price_many(
                [model_drafts.typical(writer)], writer, model_drafts.STAGE, session, model_drafts.calls_for(settings)
            )
        )
    if settings.confirm:
        looked, calls = [checks.typical(pictures, model)], _LOOKS_EACH * OVERSAMPLED * settings.queries
        stages.append(price_many(looked, model, checks.STAGE, session, calls))
    return CostPlan(tuple(stages))


StageName: TypeAlias = Literal["parse", "associate", "graph", "queries", "check"]
STAGES: tuple[StageName, ...] = get_args(StageName)


class Mining:
    """One project: a workspace's corpus, a folder for the stages' files, and how models are asked."""

    def __init__(
        self, session: Session, folder: Path, settings: MiningSettings, embedder: Embedder | None = None
    ) -> None:
        """`embedder` is an open one, instead of the one that the settings name."""
        self.session, self.files, self.settings = session, MiningFiles(folder), settings
        self._embedder = embedder

    @cached_property
    def corpus(self) -> Corpus:
        return open_corpus(self.session.workspace)

    @cached_property
    def everyone(self) -> tuple[PhotoHistory, ...]:
        """All histories, also those that are refused."""
        return histories(self.corpus, self.settings.rules, self.settings.owners)

    @cached_property
    def histories(self) -> tuple[PhotoHistory, ...]:
        """The histories that are mined; an error says why none is."""
        taken = tuple(history for history in self.everyone if not history.refused)
        if not taken:
            reasons = "; ".join(f"{history.owner}: {history.refused}" for history in self.everyone[:5])
            gentler = " or choose --preset gentle" if self.settings.rules.pictures > GENTLE.pictures else ""
            fix = f"scan more pictures, with when and where they were taken,{gentler}".rstrip(",")
            raise UserError(f"no owner has a history to mine ({reasons}).", fix)
        return taken

    def run_all(self, out: Path, tell: Callable[[MiningResult], None] = lambda _: None) -> Benchmark:
        """All stages, and what passed the checks as a benchmark; `tell` hears of each stage when it is done."""
        check_mining_place(out, REQUESTS, self.corpus.pictures)
        self._check_means()
        for stage in STAGES:
            done = self.run(stage)
            tell(done)
            done.raise_if_nothing()
        return self.assemble(out)

    def run(self, stage: StageName) -> MiningResult:
        """One stage; its figures are added to `retention.json`."""
        stages: dict[StageName, Callable[[], MiningResult]] = {
            "parse": self._parse,
            "associate": self._associate,
            "graph": self._graph,
            "queries": self._queries,
            "check": self._check,
        }
        started = time.monotonic()
        self.files.keep_settings(self.settings)
        with billed(self.session.workspace) as bill:
            done = stages[stage]()
        self.files.retain(stage, {**done.counts, "failed": sum(done.failures.values())})
        return replace(done, bill=bill, seconds=time.monotonic() - started)

    def plan(self) -> CostPlan:
        """What all stages would cost."""
        return plan_mining([picture for history in self.histories for picture in history], self.settings, self.session)

    # --- stages ------------------------------------------------------------------------------------------------

    def _parse(self) -> MiningResult:
        owners = self.files.write(names.OWNERS, map(OwnerRecord.of, self.everyone))
        pictures = [picture for history in self.histories for picture in history]
        model = self.settings.model
        asks = [(picture, clue_extraction.ask_for(picture, model)) for picture in pictures]
        came = gather(asks, model, clue_extraction.STAGE, self.session)
        readings = [clue_extraction.reading_of(picture.id, reply, model) for picture, reply in came.replies]
        path = self.files.write(names.READINGS, readings)
        failed = [{"picture": picture.id, "kind": why.kind, "error": why.message} for picture, why in came.failed]
        listed = self.files.write_failed(names.READINGS, failed)
        came.raise_if_stopped(f"{len(readings):,} of {len(pictures):,} pictures were read, into {path}.")
        counts = {
            "owners": len(self.everyone),
            "owners kept": len(self.histories),
            "pictures": len(pictures),
            "read": len(readings),
            "clues": sum(len(reading.clues) for reading in readings),
        }
        left_out = f"left out of the history, because it was not read: {counted(len(failed), 'picture')}, see {listed}"
        nothing = f"no picture could be read, of {len(pictures):,}; {came.why_nothing}. {listed} lists them."
        return MiningResult(
            "parse",
            (owners, path, listed),
            counts,
            came.failures,
            (left_out,) if failed else (),
            nothing if came.why_nothing else "",
        )

    def _associate(self) -> MiningResult:
        readings = self._readings()
        histories = self._read(readings)
        followed = self._followed(histories, readings)
        pictures = {picture.id: picture for history in histories for picture in history}
        model = self.settings.model
        asks = [(each, associations.ask_for(each, pictures, model)) for each in followed]
        came = gather(asks, model, associations.STAGE, self.session)
        found = [said for each, reply in came.replies for said in associations.associations_of(each, reply)]
        path = self.files.write(names.ASSOCIATIONS, found)
        failed = [{"clue": each.clue.id, "kind": why.kind, "error": why.message} for each, why in came.failed]
        listed = self.files.write_failed(names.ASSOCIATIONS, failed)
        came.raise_if_stopped(f"{len(came.replies):,} of {len(followed):,} clues were compared, into {path}.")
        accepted = [each for each in found if each.accepted]
        counts = {
            "clues followed": len(followed),
            "comparisons": len(found),
            "accepted": len(accepted),
            "accepted outside": sum(each.where == "outside" for each in accepted),
        }
        nothing = f"no clue could be compared, of {len(followed):,}; {came.why_nothing}. {listed} lists them."
        return MiningResult(
            "associate", (path, listed), counts, came.failures, nothing=nothing if came.why_nothing else ""
        )

    def _graph(self) -> MiningResult:
        compared = self.files.read(names.ASSOCIATIONS, Association)
        graph = build_graph(self.histories, self._readings(), compared, self.corpus.groups)
        write_graph(graph, self.files.path(names.GRAPH))
        return MiningResult("graph", (self.files.path(names.GRAPH),), graph.stats())

    def _queries(self) -> MiningResult:
        if self.settings.writer is None:
            drafts = list(drafts_by_templates(self.graph(), self.settings))
            return MiningResult("queries", (self.files.write(names.DRAFTS, drafts),), _drafted(drafts))
        made = model_drafts.drafts_by_model(self.graph(), self.settings, self.session)
        path = self.files.write(names.DRAFTS, made.drafts)
        made.came.raise_if_stopped(f"{len(made.drafts):,} drafts are in {path}.")
        counts = {"written": made.written, **_drafted(made.drafts)}
        why = made.came.why_nothing
        nothing = f"no request could be written; {why}." if why else ""
        return MiningResult("queries", (path,), counts, made.came.failures, nothing=nothing)

    def _check(self) -> MiningResult:
        drafts = list(self.files.read(names.DRAFTS, Draft))
        known = {each.owner: each for each in knowledge_of(self.graph(), self.settings)}
        pictures = {picture.id: picture for history in self._read(self._readings()) for picture in history}
        strange = what_is_strange(drafts, known, pictures)
        if strange:
            path = self.files.path(names.DRAFTS)
            raise UserError(
                f"{path} speaks of {strange} the graph does not know.", "draft again: sightline mine queries"
            )
        rankers = dict(self._rankers(drafts, known, pictures))
        verdicts = [check(each, known[each.owner], rankers[each.owner], self.settings) for each in drafts]
        came: CallResults[checks.SecondLook] = CallResults()
        if self.settings.confirm:
            asks = list(checks.looks(verdicts, known, pictures, self.settings.model))
            came = gather(asks, self.settings.model, checks.STAGE, self.session)
            verdicts = checks.confirmed(verdicts, [look for look, _ in asks], came)
        path = self.files.write(names.VERDICTS, verdicts)
        came.raise_if_stopped(f"{len(verdicts):,} drafts are checked, some without a second look, in {path}.")
        nothing = f"no request could be looked at once more; {came.why_nothing}." if came.why_nothing else ""
        return MiningResult("check", (path,), retained(verdicts), came.failures, nothing=nothing)

    def assemble(self, out: Path) -> Benchmark:
        """BENCH, from what passed the checks."""
        check_mining_place(out, REQUESTS, self.corpus.pictures)
        verdicts = list(self.files.read(names.VERDICTS, DraftVerdict))
        chosen = choose(verdicts, self.settings.queries)
        if not chosen:
            raise self._nothing_kept(verdicts)
        types = Counter(type_of(verdict) for verdict in chosen)
        left = sum(verdict.kept for verdict in verdicts) - len(chosen)
        self.files.retain("benchmark", {"tasks": len(chosen), **types, "not taken": left})
        readings = self._readings()
        histories = self._read(readings)
        taken = sum(history.taken for history in self.histories)
        card = {
            "mined": REQUESTS,
            "description": "Requests mined from photo histories; each means an exact set of one owner's pictures.",
            "languages": ["en"],
            "mined_by": self.settings.model,
            "written_by": self.settings.writer or "templates",
            "left_out": taken - sum(history.taken for history in histories),
            "retention": read_json(self.files.path(names.RETENTION)),
            "reviewed": False,
        }
        return write_mined_benchmark(out, chosen, histories, self.graph(), readings, card)

    def _nothing_kept(self, verdicts: Sequence[DraftVerdict]) -> UserError:
        if not verdicts:
            return UserError(
                "the history gives no request that is certain: nothing was drafted.",
                "mine more pictures, or have a model write the requests: --writer MODEL",
            )
        refused = ", ".join(f"{reason} {count:,}" for reason, count in refusals(verdicts).items())
        path = self.files.path(names.VERDICTS)
        return UserError(
            f"no request passed the checks, of {len(verdicts):,} ({refused}); {path} has the reasons of each.",
            "mine more pictures, or ask for more: --queries N",
        )

    # --- what stages share -------------------------------------------------------------------------------------

    def graph(self) -> MemoryGraph:
        """The graph as it was written."""
        return read_graph(self.files.existing(names.GRAPH))

    def _readings(self) -> dict[str, PictureClues]:
        return {reading.picture: reading for reading in self.files.read(names.READINGS, PictureClues)}

    def _read(self, readings: Mapping[str, PictureClues]) -> tuple[PhotoHistory, ...]:
        """The histories of what was read: a picture that nobody could read might show anything."""
        found = (history.only(readings) for history in self.histories)
        return tuple(history for history in found if history.events)

    def _check_means(self) -> None:
        """Refuse what can't be asked or opened before anything is paid."""
        self.files.write(names.OWNERS, map(OwnerRecord.of, self.everyone))
        if self.histories:
            for model in dict.fromkeys((self.settings.model, self.settings.writer or self.settings.model)):
                check_model(model, self.session)
            with self._session() as opened:
                opened.tell_who_sees(_SHOWN)

    def _session(self) -> EmbedderSession:
        embedder = self._embedder if self._embedder is not None else self.settings.embedder
        return EmbedderSession(embedder, self.session)

    def _followed(self, histories: Iterable[PhotoHistory], readings: Mapping[str, PictureClues]) -> list[FollowedClue]:
        found: list[FollowedClue] = []
        with self._session() as opened:
            opened.tell_who_sees(_SHOWN)
            for history in histories:
                event_of = {picture.id: event.id for event in history.events for picture in event.pictures}
                own = {id_: readings[id_] for id_ in event_of}
                clues = rarest_clues(own, event_of, self.settings.clues)
                found += follow(history, clues, self.settings.near, opened, self.session.config)
        return [each for each in found if each.neighbours]

    def _rankers(
        self, drafts: list[Draft], known: Mapping[str, Knowledge], pictures: Mapping[str, Picture]
    ) -> Iterator[tuple[str, VectorRanker]]:
        with self._session() as opened:
            for owner, own in known.items():
                asked = [draft for draft in drafts if draft.owner == owner]
                texts = list(dict.fromkeys(text for draft in asked for text in (draft.query, anchor_words(draft, own))))
                if texts:
                    ids, vectors = embedded_pictures([pictures[id_] for id_ in own.photos], opened, self.session.config)
                    words = embed_words(texts, opened)
                    if words.stopped is not None:
                        raise words.stopped
                    rows = dict(zip(texts, words.vectors(texts, opened), strict=True))
                    yield owner, VectorRanker(ids, vectors, rows)


def _drafted(drafts: Sequence[Draft]) -> dict[str, int]:
    return {"drafts": len(drafts), **Counter[str](draft.logic.relation for draft in drafts)}
