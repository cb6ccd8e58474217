"""The stages `taxonomy` and `annotate`: pictures → what is in them, by the questions of the configuration.

A chat model is asked, live or in a batch, or `builtin/photos`. Each annotation is on disk before the next is made, so
that a run that was stopped resumes.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from sightline.authoring import annotate_photos
from sightline.authoring import project as files
from sightline.authoring.annotate_requests import STAGE as ANNOTATE
from sightline.authoring.annotate_requests import AnnotateJob, AnnotationQuestions, batch_requests, metadata_of
from sightline.authoring.project import Project
from sightline.authoring.project_files import SCHEMA, SHA256, AnnotationLines, GrowingFile, read_images
from sightline.authoring.stage import BatchOptions, StageResult, batch_first, free_plan, require_local_engine
from sightline.authoring.taxonomy import SHOWN, STAGE, propose, request, write_taxonomy
from sightline.calls.ask_many import ask_many, price_many
from sightline.calls.plan import CostPlan
from sightline.config import Config
from sightline.errors import StoppedError, UserError
from sightline.io.jsonl import dump, write_jsonl
from sightline.models.built_in import Taxonomy, find_built_in
from sightline.models.replies import total_usd
from sightline.types import Annotation, Failure, Picture

log = logging.getLogger(__name__)


class AnnotationStore(GrowingFile):
    """The annotations of a project, while they are made."""

    def __init__(self, project: Project) -> None:
        super().__init__(project, files.ANNOTATIONS)
        self._image_id = project.config.columns.image_id
        self._lines = AnnotationLines(project.config)
        self._rows = dict(self._earlier(self._read, "it is made again"))

    def kept(self, pictures: Iterable[Picture], questions: str) -> set[str]:
        """Pictures that are annotated already: the same bytes under the same questions, or by somebody else."""
        return {picture.id for picture in pictures if self._is_kept(picture, questions)}

    def _is_kept(self, picture: Picture, questions: str) -> bool:
        row = self._rows.get(picture.id)
        if row is None:
            return False
        if SCHEMA not in row:  # benchmaker's, or written by hand.
            return True
        return row[SCHEMA] == questions and row.get(SHA256) == picture.extra.get(SHA256)

    def add(self, id_: str, found: Annotation | Failure) -> None:
        """One picture's annotation, or why there is none."""
        if isinstance(found, Failure):
            about = {self._image_id: id_, "custom_id": f"{ANNOTATE}::{id_}"}
            self._failures[id_] = about | {"kind": found.kind, "error": found.message}
            return
        row = self._lines.write(found)
        self._append(dump(row))
        self._rows[id_] = row

    def __len__(self) -> int:
        return len(self._rows)

    def _read(self, row: object) -> tuple[str, dict[str, Any]]:
        if not isinstance(row, dict):
            raise ValueError("expected one JSON object")
        return self._lines.read(row).picture_id, row

    def _write(self) -> None:
        write_jsonl(self.path, self._rows.values())


@dataclass(frozen=True, slots=True)
class TaxonomyStage:
    """Proposes facets, flags and a vocabulary from a sample of the pictures, into the configuration file."""

    model: str | None = None
    name: str = STAGE
    writes: tuple[str, ...] = ()

    def run(self, project: Project) -> StageResult:
        """Propose, and write it; the user edits it before pictures are annotated by it."""
        pictures, warnings = _pictures(project)
        model = chosen_model(self.model, project.config)
        if has_taxonomy(project.config):
            raise UserError("the configuration has a taxonomy already.", "remove it to have one proposed")
        if project.calls.plan:
            own = find_built_in(model)
            planned = free_plan(self.name, model) if own is not None else self._price(pictures, model, project)
            return StageResult(self.name, price=planned)
        taxonomy, path = _proposed(project, pictures, model)
        counts = {"facets": len(taxonomy.facets), "flags": len(taxonomy.flags), "words": len(taxonomy.vocabulary)}
        return StageResult(self.name, (path,), counts, {}, warnings)

    def _price(self, pictures: Sequence[Picture], model: str, project: Project) -> CostPlan:
        requests = [request(pictures[:SHOWN], model, project.config)]
        return CostPlan((price_many(requests, model, self.name, project.session),))


@dataclass(frozen=True, slots=True)
class AnnotateStage:
    """Annotates what is not annotated yet: live, in a batch, or by `builtin/photos`."""

    model: str | None = None
    batch: BatchOptions | None = None
    name: str = ANNOTATE
    writes: tuple[str, ...] = (files.ANNOTATIONS,)

    def run(self, project: Project) -> StageResult:
        """Ask about each picture that has no annotation under these questions; failures are listed beside."""
        pictures, warnings = _pictures(project)
        model = chosen_model(self.model, project.config)
        if model == annotate_photos.NAME:
            require_local_engine(model, self.batch, project.session.engine)
        if not has_taxonomy(project.config) and not project.calls.plan and not _is_annotated(project, pictures):
            taxonomy, path = _proposed(project, pictures, model)
            project = project.with_config(taxonomy.settings(project.config))
            warnings = (
                *warnings,
                f"no taxonomy was configured: one was proposed, and written to {path}; edit it there",
            )
        config, calls = project.config, project.calls
        questions = AnnotationQuestions(model, config)
        AnnotationLines(config).check_names()
        questions.check({name for picture in pictures for name in metadata_of(picture, config)})
        store = AnnotationStore(project)
        kept = set[str]() if calls.fresh else store.kept(pictures, questions.hash)
        todo = [picture for picture in pictures if picture.id not in kept]
        if calls.plan:
            return StageResult(self.name, price=_price(todo, questions, project), warnings=warnings)
        if self.batch is not None and todo:
            asked = batch_requests(todo, questions)
            batch_first(asked, model, self.name, questions.settings, project, self.batch)
        failures, usd = self._annotate(todo, questions, store, project)
        return StageResult(
            self.name,
            (store.path, store.failed_path),
            {"annotated": len(todo) - sum(failures.values()), "kept": len(kept)},
            failures,
            (*warnings, *store.warnings),
            usd,
        )

    def _annotate(
        self,
        todo: Sequence[Picture],
        questions: AnnotationQuestions,
        store: AnnotationStore,
        project: Project,
    ) -> tuple[Counter[str], float | None]:
        failures: Counter[str] = Counter()
        usd: float | None = 0.0
        done = 0
        try:
            with store:
                for picture, found in self._answers(todo, questions, project):
                    store.add(picture.id, found)
                    if isinstance(found, Failure):
                        failures[found.kind] += 1
                    else:
                        done += 1
                        usd = total_usd((usd, found.cost_usd))
        except StoppedError as stopped:
            said = f"{stopped.message} {done:,} of {len(todo):,} pictures were annotated, into {store.path}."
            raise StoppedError(said, stopped.fix) from stopped
        return failures, usd

    def _answers(
        self, todo: Sequence[Picture], questions: AnnotationQuestions, project: Project
    ) -> Iterator[tuple[Picture, Annotation | Failure]]:
        if not todo:
            return iter(())
        if questions.model == annotate_photos.NAME:
            return annotate_photos.annotate_by_photos(todo, questions, local_only=project.calls.local_only)
        return ask_many(todo, AnnotateJob(questions), project.session)


def chosen_model(given: str | None, config: Config) -> str:
    """Who annotates: as given, else as configured, else the built-in model, which needs no key."""
    return given or config.annotate.model or annotate_photos.NAME


def has_taxonomy(config: Config) -> bool:
    """Does the configuration say what is to be asked?"""
    settings = config.annotate
    return bool(settings.taxonomy or settings.flags or settings.vocabulary)


def _pictures(project: Project) -> tuple[list[Picture], tuple[str, ...]]:
    found, warnings = read_images(project.existing(files.IMAGES), project.config)
    pictures = list(islice(found.values(), project.limit))
    if not pictures:
        raise UserError(f"{project.path(files.IMAGES)} lists no picture.", "make it again: sightline make pictures DIR")
    return pictures, warnings


def _is_annotated(project: Project, pictures: Sequence[Picture]) -> bool:
    """Are all annotated, by whomever? Then there is nothing to propose questions for."""
    if not project.path(files.ANNOTATIONS).is_file():
        return False
    return len(AnnotationStore(project).kept(pictures, "")) == len(pictures)


def _proposed(project: Project, pictures: Sequence[Picture], model: str) -> tuple[Taxonomy, Path]:
    config = project.config
    taxonomy = propose(pictures, model, project.session, config.plan.random_seed)
    path = write_taxonomy(taxonomy, taxonomy.settings(config).annotate.min_tags, project.config_path)
    log.info("a taxonomy was proposed and written to %s", path)
    return taxonomy, path


def _price(todo: Sequence[Picture], questions: AnnotationQuestions, project: Project) -> CostPlan:
    if questions.model == annotate_photos.NAME:
        return free_plan(ANNOTATE, questions.model)
    return CostPlan((price_many(map(questions.request, todo), questions.model, ANNOTATE, project.session),))
