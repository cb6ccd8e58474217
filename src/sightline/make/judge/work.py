"""What is to be judged: planned queries with their words, and the pools that are made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from sightline.errors import UserError
from sightline.io import write_jsonl
from sightline.make import project as files
from sightline.make.files import read_annotations, read_images, read_plan
from sightline.make.judge.pool import Pool, Retrievers, make_pool
from sightline.make.judge.wordings import Wording, read_wordings
from sightline.make.plan.pool import PlannedQuery
from sightline.make.plan.vectors import own_embedder
from sightline.make.project import Project
from sightline.models.asking import Asking
from sightline.models.protocols import Embedder
from sightline.types import Annotation, Picture


@dataclass(slots=True)
class Work:
    """What is to be judged."""

    project: Project
    pictures: Mapping[str, Picture]
    notes: Mapping[str, Annotation]
    wordings: Mapping[str, Wording]
    planned: Sequence[PlannedQuery]
    wordless: Sequence[str]
    warnings: list[str]
    pools: Sequence[Pool] = ()

    @classmethod
    def read(cls, project: Project) -> Work:
        config = project.config
        pictures, said = read_images(project.existing(files.IMAGES), config)
        wordings = read_wordings(project.existing(files.QUERIES), config)
        planned = list(islice(read_plan(project.existing(files.PLAN), config).values(), project.limit))
        known = [query for query in planned if query.id in wordings]
        if not known:
            raise UserError(
                f"no query of {project.path(files.PLAN)} has words in {project.path(files.QUERIES)}.",
                "write them: sightline make query",
            )
        annotated = project.path(files.ANNOTATIONS).is_file()
        notes = read_annotations(project.path(files.ANNOTATIONS), config).annotations if annotated else {}
        wordless = [query.id for query in planned if query.id not in wordings]
        return cls(project, pictures, notes, wordings, known, wordless, list(said))

    def deepen(self, asking: Asking, embedder: str | Embedder | None = None) -> None:
        """Add to each pool what the searches find, and a draw from outside; the pools are written down."""
        project = self.project
        if embedder is None and project.config.models.embedder is None:
            embedder = own_embedder(self.notes.values())
        retrievers = Retrievers(project, self.pictures, self.notes, asking, embedder)
        found = retrievers.search([self.wordings[query.id] for query in self.planned])
        self.warnings += retrievers.warnings
        self.pools = [
            make_pool(query, found.get(query.id, {}), self.pictures, project.config) for query in self.planned
        ]
        names = project.config.columns
        write_jsonl(project.prepare(files.POOL), (pool.row(names) for pool in self.pools))
