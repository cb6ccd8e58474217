"""The stage `query`: seeds → the words of each query, checked.

A chat model sees the seeds and nothing else: not the candidates, not the file names. Without one, templates write.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from sightline.authoring import project as files
from sightline.authoring import query_templates
from sightline.authoring.project import Project
from sightline.authoring.project_files import (
    BY,
    COST,
    SCHEMA,
    SeededQuery,
    listed_pictures,
    read_annotations,
    read_seeds,
)
from sightline.authoring.query_checks import KnownQueries, wrong_with
from sightline.authoring.query_templates import Templates
from sightline.authoring.stage import BatchOptions, StageResult, batch_first, free_plan, stage_request
from sightline.calls.ask_many import Ask, AskJob, ask_many, price_many
from sightline.calls.caller import paid_now
from sightline.calls.plan import CostPlan
from sightline.config import Config
from sightline.config.settings import Difficulty, QueryStyle
from sightline.errors import StoppedError, UserError
from sightline.io.jsonl import CutOffError, read_jsonl, write_jsonl
from sightline.models.built_in import find_built_in
from sightline.models.json_schema import strict_object
from sightline.models.replies import total_usd
from sightline.models.structured_output import ask_again
from sightline.types import Annotation, ChatReply, ChatRequest, Failure, ImagePart, Picture

STAGE = "query"
SCHEMA_NAME = "sightline_query"
_SYSTEM = (
    "You write queries for a test of picture search. You see one or more pictures that a query must find. Write what a "
    "person would type who remembers such a picture. Ask only for what can be seen, in words that other pictures could "
    "match too; never name a file."
)
_STYLES: Mapping[QueryStyle, str] = {
    "keyword": "two to five keywords, with no sentence around them",
    "sentence": "one plain sentence that describes the picture",
    "question": "one question that asks for such pictures",
    "vague": "a few vague words, as of somebody who half remembers it, that still leave out most other pictures",
}
_DIFFICULTIES: Mapping[Difficulty, str] = {
    "easy": "ask for the main thing alone",
    "medium": "ask for the main thing and one or two details",
    "hard": "ask for several things at once that only few pictures share",
}
log = logging.getLogger(__name__)
STYLE, DIFFICULTY = "style", "difficulty"
_MENDABLE = frozenset({"empty", "leak", "unanswerable", "duplicate", "wrong-schema"})


@dataclass(frozen=True, slots=True)
class QuerySpec:
    """A query that is to be written: its seeds, how it is to be worded, and how much it asks for."""

    query: SeededQuery
    style: QueryStyle
    difficulty: Difficulty
    notes: tuple[Annotation, ...]
    pictures: tuple[Picture, ...] = ()

    def hash(self, model: str, config: Config) -> str:
        """What tells that the same was asked for before, of the same."""
        settings = config.query
        parts = [
            model,
            self.query.seeds,
            self.style,
            self.difficulty,
            [settings.system_prompt, settings.user_prompt, settings.max_output_tokens, settings.reasoning_effort],
            [_told(note, config) for note in self.notes],
        ]
        return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:16]


def request(spec: QuerySpec, model: str, config: Config) -> ChatRequest:
    """The call for one query."""
    settings = config.query
    asked = settings.user_prompt or "Write one query for these pictures."
    told = orjson.dumps([_told(note, config) for note in spec.notes]).decode()
    words = (
        f"{asked}\nStyle: {_STYLES[spec.style]}.\nDifficulty: {_DIFFICULTIES[spec.difficulty]}.\n"
        f"What was said of them: {told}"
    )
    shown = tuple(ImagePart(picture.uri, detail=settings.image_detail) for picture in spec.pictures)
    schema = strict_object({config.columns.query: {"type": "string"}})
    return stage_request(model, settings, settings.system_prompt or _SYSTEM, (words, *shown), schema, SCHEMA_NAME)


def _told(note: Annotation, config: Config) -> dict[str, object]:
    """An annotation without ids, licences and hashes: nothing that could give the picture away by name."""
    names = config.columns
    found = {names.summary: note.summary, **note.facets, **note.flags, names.tags: list(note.tags)}
    return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class QueryStage:
    """Words each planned query: by a chat model, or by templates where none is configured."""

    model: str | None = None
    batch: BatchOptions | None = None
    name: str = STAGE
    writes: tuple[str, ...] = (files.QUERIES,)

    def run(self, project: Project) -> StageResult:
        """Write what is not written yet; a text that fails a check is asked for once more, then set aside."""
        config = project.config
        model = chosen_model(self.model, config)
        notes = read_annotations(project.existing(files.ANNOTATIONS), config)
        queries, said = _queries(project)
        specs, unknown = query_specs(queries, notes.annotations, listed_pictures(project), config)
        by = model or query_templates.BY
        store = _QueryRows(project, by, {} if project.calls.fresh else _kept(project, specs, by))
        if project.calls.plan:
            return StageResult(self.name, price=self._price(store.todo(specs), model, project))
        stopped: StoppedError | None = None
        if model is None:
            store.by_templates(specs, Templates(notes.annotations.values(), config.plan.core_facets))
        else:
            try:
                self._ask(store, specs, model)
            except StoppedError as error:
                stopped = error
        store.write(specs)
        if stopped is not None:
            written = f"{len(store.rows):,} of {len(specs):,} queries are written, into {project.path(files.QUERIES)}."
            raise StoppedError(f"{stopped.message} {written}", stopped.fix)
        kept = len(store.kept)
        return StageResult(
            self.name,
            (project.path(files.QUERIES), project.failed(files.QUERIES)),
            {"written": len(store.rows) - kept, "kept": kept},
            Counter(failure.kind for failure in store.failures.values()),
            (*notes.warnings, *said, *unknown),
            store.usd,
        )

    def _price(self, todo: Sequence[QuerySpec], model: str | None, project: Project) -> CostPlan:
        if model is not None:
            requests = [request(spec, model, project.config) for spec in todo]
            return CostPlan((price_many(requests, model, self.name, project.session),))
        return free_plan(self.name, query_templates.BY)

    def _ask(self, store: _QueryRows, specs: Sequence[QuerySpec], model: str) -> None:
        project, config = store.project, store.project.config
        by_id = {spec.query.id: spec for spec in store.todo(specs)}
        attempts = [Ask(id_, request(spec, model, config)) for id_, spec in by_id.items()]
        if self.batch is not None and attempts:
            batch_first(
                lambda: ((f"{STAGE}::{attempt.about}", attempt.request) for attempt in attempts),
                model,
                STAGE,
                config.query,
                project,
                self.batch,
            )
        for last in (False, True):
            rejected: list[Ask] = []
            for attempt, reply in ask_many(attempts, AskJob(STAGE, model), project.session):
                wrong = store.take(by_id[attempt.about], reply)
                if wrong is not None and not last and wrong.kind in _MENDABLE:
                    said = reply if isinstance(reply, ChatReply) else None
                    rejected.append(replace(attempt, request=ask_again(attempt.request, wrong.message, said)))
                elif wrong is not None:
                    store.failures[attempt.about] = wrong
            attempts = rejected


@dataclass(slots=True)
class _QueryRows:
    """Queries as they come in: those that pass the checks become rows."""

    project: Project
    by: str
    kept: Mapping[str, Mapping[str, Any]]
    rows: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    usd: float | None = 0.0
    asked: KnownQueries = field(default_factory=KnownQueries)

    def __post_init__(self) -> None:
        self.rows = dict(self.kept)
        for id_, row in self.kept.items():
            self.asked.add(id_, str(row[self.project.config.columns.query]))

    def todo(self, specs: Iterable[QuerySpec]) -> list[QuerySpec]:
        return [spec for spec in specs if spec.query.id not in self.kept]

    def by_templates(self, specs: Sequence[QuerySpec], written: Templates) -> None:
        for spec in self.todo(specs):
            wrong: Failure | None = Failure("empty", "nothing was said of the seeds that could be asked for")
            for text in written.versions(spec.notes, spec.style, spec.difficulty):
                wrong = self.add(spec, text, 0.0)
                if wrong is None:
                    break
            if wrong is not None:
                self.failures[spec.query.id] = wrong

    def take(self, spec: QuerySpec, reply: ChatReply | Failure) -> Failure | None:
        """What is wrong with a reply; None when it became a query."""
        self.usd = total_usd((self.usd, paid_now(reply)))
        if isinstance(reply, Failure):
            return reply
        said = reply.parsed
        text = said.get(self.project.config.columns.query) if isinstance(said, dict) else None
        return self.add(spec, text.strip() if isinstance(text, str) else "", reply.usd)

    def add(self, spec: QuerySpec, text: str, usd: float | None) -> Failure | None:
        wrong = wrong_with(text, spec.style, spec.query.seeds, spec.notes, self.asked)
        if wrong is None:
            names = self.project.config.columns
            self.asked.add(spec.query.id, text)
            self.rows[spec.query.id] = {
                names.query_id: spec.query.id,
                names.query: text,
                STYLE: spec.style,
                DIFFICULTY: spec.difficulty,
                names.seeds: list(spec.query.seeds),
                BY: self.by,
                COST: usd,
                SCHEMA: spec.hash(self.by, self.project.config),
            }
        return wrong

    def write(self, specs: Iterable[QuerySpec]) -> None:
        """Both files, in the order of the plan."""
        names = self.project.config.columns
        ids = [spec.query.id for spec in specs]
        write_jsonl(self.project.prepare(files.QUERIES), (self.rows[id_] for id_ in ids if id_ in self.rows))
        failed = (
            {names.query_id: id_, "custom_id": f"{STAGE}::{id_}", "kind": failure.kind, "error": failure.message}
            for id_, failure in self.failures.items()
        )
        write_jsonl(self.project.failed(files.QUERIES), failed)


def chosen_model(given: str | None, config: Config) -> str | None:
    """Who words queries: as given, else as configured; None for templates, also for models that can't word them."""
    name = given or config.query.model
    declared = find_built_in(name)
    return None if declared is not None and not declared.words_queries else name


def query_specs(
    queries: Sequence[SeededQuery],
    notes: Mapping[str, Annotation],
    pictures: Mapping[str, Picture],
    config: Config,
) -> tuple[list[QuerySpec], list[str]]:
    """How each query is to be worded: styles and difficulties take turns, so that all pairs of them occur."""
    styles, difficulties = config.query.styles, config.query.difficulties
    specs, unknown = [], []
    for number, query in enumerate(queries):
        said = tuple(notes[seed] for seed in query.seeds if seed in notes)
        if not said:
            unknown.append(query.id)
            continue
        style = styles[number % len(styles)]
        difficulty = difficulties[number // len(styles) % len(difficulties)]
        shown = tuple(pictures[seed] for seed in query.seeds if seed in pictures)
        specs.append(QuerySpec(query, style, difficulty, said, shown))
    if not specs:
        raise UserError("no query has an annotated seed.", "give the plan and the annotations of the same pictures")
    return specs, [f"{len(unknown):,} queries have no annotated seed, for example {unknown[0]}"] if unknown else []


def _queries(project: Project) -> tuple[tuple[SeededQuery, ...], tuple[str, ...]]:
    """From the plan, or from the seeds alone: a query's words need no candidates."""
    path = project.found(files.PLAN) or project.found(files.SEEDS) or project.existing(files.PLAN)
    queries, said = read_seeds(path, project.config)
    return tuple(islice(queries, project.limit)), said


def _kept(project: Project, specs: Iterable[QuerySpec], by: str) -> dict[str, Mapping[str, Any]]:
    """Queries that were written before under the same spec, or by somebody else."""
    path, names = project.path(files.QUERIES), project.config.columns
    if not path.is_file():
        return {}
    rows = {row[names.query_id]: row for row in _whole_rows(path) if isinstance(row, dict) and names.query_id in row}
    found: dict[str, Mapping[str, Any]] = {}
    for spec in specs:
        row = rows.get(spec.query.id)
        if row is None or not row.get(names.query):
            continue
        if SCHEMA not in row or row[SCHEMA] == spec.hash(by, project.config):
            found[spec.query.id] = row
    return found


def _whole_rows(path: Path) -> Iterator[Any]:
    """Lines of an earlier run; one that is cut off, by a copy that was not finished, is written again."""
    try:
        for _, row in read_jsonl(path):
            yield row
    except CutOffError:
        log.warning("%s ends in the middle of a line, which is written again", path)
