"""The stages `taxonomy` and `annotate`: pictures → what is in them, by the questions of the configuration."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from sightline.calls.ask_many import ask_many, price_many
from sightline.calls.session import Session
from sightline.config import Config
from sightline.engine.plan import Plan
from sightline.errors import StoppedError, UserError
from sightline.make import project as files
from sightline.make.annotate import photos
from sightline.make.annotate.answers import STAGE as ANNOTATE
from sightline.make.annotate.answers import Answers, batch_requests
from sightline.make.annotate.config_file import write_taxonomy
from sightline.make.annotate.questions import Questions, metadata_of
from sightline.make.annotate.store import AnnotationStore
from sightline.make.annotate.taxonomy import SHOWN, STAGE, propose, request
from sightline.make.asking import BatchWish, batch_first, free, refuse_elsewhere
from sightline.make.files import AnnotationLines, read_images
from sightline.make.project import Project
from sightline.make.stages import StageResult
from sightline.models.asking import Asking
from sightline.models.built_in import Taxonomy, find_built_in
from sightline.types import Annotation, Failure, Picture

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TaxonomyStage:
    """Proposes facets, flags and a vocabulary from a sample of the pictures, into the configuration file."""

    model: str | None = None
    name: str = STAGE
    reads: tuple[str, ...] = (files.IMAGES,)
    writes: tuple[str, ...] = ()

    def run(self, project: Project, asking: Asking) -> StageResult:
        """Propose, and write it; the user edits it before pictures are annotated by it."""
        started = time.monotonic()
        pictures, warnings = _pictures(project)
        model = chosen_model(self.model, project.config)
        if has_taxonomy(project.config):
            raise UserError("the configuration has a taxonomy already.", "take it out to have one proposed")
        if asking.plan:
            own = find_built_in(model)
            planned = free(self.name, model) if own is not None else self._price(pictures, model, project, asking)
            return StageResult(self.name, price=planned)
        taxonomy, path = _proposed(project, pictures, model, asking)
        counts = {"facets": len(taxonomy.facets), "flags": len(taxonomy.flags), "words": len(taxonomy.vocabulary)}
        return StageResult(self.name, (path,), counts, {}, warnings, seconds=time.monotonic() - started)

    def _price(self, pictures: Sequence[Picture], model: str, project: Project, asking: Asking) -> Plan:
        requests = [request(pictures[:SHOWN], model, project.config)]
        return Plan((price_many(requests, model, self.name, Session(project.workspace, project.config, asking)),))


@dataclass(frozen=True, slots=True)
class AnnotateStage:
    """Annotates what is not annotated yet: live, in a batch, or by `builtin/photos`."""

    model: str | None = None
    batch: BatchWish | None = None
    engine: str = "local"
    name: str = ANNOTATE
    reads: tuple[str, ...] = (files.IMAGES,)
    writes: tuple[str, ...] = (files.ANNOTATIONS,)

    def run(self, project: Project, asking: Asking) -> StageResult:
        """Ask about each picture that has no annotation under these questions; failures are listed beside."""
        started = time.monotonic()
        pictures, warnings = _pictures(project)
        model = chosen_model(self.model, project.config)
        if model == photos.NAME:
            refuse_elsewhere(model, self.batch, self.engine)
        config = project.config
        if not has_taxonomy(config) and not asking.plan and not _is_annotated(project, pictures):
            taxonomy, path = _proposed(project, pictures, model, asking)
            config = taxonomy.settings(config)
            warnings = (
                *warnings,
                f"no taxonomy was configured: one was proposed, and written to {path}; edit it there",
            )
        questions = Questions(model, config)
        AnnotationLines(config).check_names()
        questions.check(_columns(pictures, config))
        store = AnnotationStore(replace(project, config=config))
        kept = set[str]() if asking.fresh else store.kept(pictures, questions.hash)
        todo = [picture for picture in pictures if picture.id not in kept]
        if asking.plan:
            return StageResult(self.name, price=_price(todo, questions, project, asking), warnings=warnings)
        if self.batch is not None and todo:
            asked = batch_requests(todo, questions)
            batch_first(asked, model, self.name, questions.settings, project, asking, self.batch)
        failures, usd = self._annotate(todo, questions, store, project, asking)
        return StageResult(
            self.name,
            (store.path, store.failed_path),
            {"annotated": len(todo) - sum(failures.values()), "kept": len(kept)},
            failures,
            (*warnings, *store.warnings),
            usd,
            time.monotonic() - started,
        )

    def _annotate(
        self, todo: Sequence[Picture], questions: Questions, store: AnnotationStore, project: Project, asking: Asking
    ) -> tuple[Counter[str], float | None]:
        failures: Counter[str] = Counter()
        usd: float | None = 0.0
        done = 0
        try:
            with store:
                for picture, found in self._answers(todo, questions, project, asking):
                    store.add(picture.id, found)
                    if isinstance(found, Failure):
                        failures[found.kind] += 1
                    else:
                        done += 1
                        usd = None if usd is None or found.cost_usd is None else usd + found.cost_usd
        except StoppedError as stopped:
            said = f"{stopped.message} {done:,} of {len(todo):,} pictures were annotated, into {store.path}."
            raise StoppedError(said, stopped.fix) from stopped
        return failures, usd

    def _answers(
        self, todo: Sequence[Picture], questions: Questions, project: Project, asking: Asking
    ) -> Iterator[tuple[Picture, Annotation | Failure]]:
        if not todo:
            return iter(())
        if questions.model == photos.NAME:
            return photos.annotate_by_photos(todo, questions, local_only=asking.local_only)
        session = Session(project.workspace, questions.config, asking, self.engine)
        return ask_many(todo, Answers(questions), session)


def chosen_model(given: str | None, config: Config) -> str:
    """Who annotates: as given, else as configured, else the built-in model, which needs no key."""
    return given or config.annotate.model or photos.NAME


def has_taxonomy(config: Config) -> bool:
    """Does the configuration say what is to be asked?"""
    settings = config.annotate
    return bool(settings.taxonomy or settings.flags or settings.vocabulary)


def _pictures(project: Project) -> tuple[list[Picture], tuple[str, ...]]:
    found, warnings = read_images(project.existing(files.IMAGES), project.config)
    pictures = list(islice(found.values(), project.limit))
    if not pictures:
        raise UserError(f"{project.path(files.IMAGES)} lists no picture.", "make it anew: sightline make pictures DIR")
    return pictures, warnings


def _is_annotated(project: Project, pictures: Sequence[Picture]) -> bool:
    """Are all annotated, by whomever? Then there is nothing to propose questions for."""
    if not project.path(files.ANNOTATIONS).is_file():
        return False
    return len(AnnotationStore(project).kept(pictures, "")) == len(pictures)


def _proposed(project: Project, pictures: Sequence[Picture], model: str, asking: Asking) -> tuple[Taxonomy, Path]:
    config = project.config
    taxonomy = propose(pictures, model, config, project.workspace, asking, config.plan.random_seed)
    path = write_taxonomy(taxonomy, taxonomy.settings(config).annotate.min_tags, project.config_path)
    log.info("a taxonomy was proposed and written to %s", path)
    return taxonomy, path


def _columns(pictures: Sequence[Picture], config: Config) -> set[str]:
    return {name for picture in pictures for name in metadata_of(picture, config)}


def _price(todo: Sequence[Picture], questions: Questions, project: Project, asking: Asking) -> Plan:
    if questions.model == photos.NAME:
        return free(ANNOTATE, questions.model)
    session = Session(project.workspace, questions.config, asking)
    return Plan((price_many(map(questions.request, todo), questions.model, ANNOTATE, session),))
