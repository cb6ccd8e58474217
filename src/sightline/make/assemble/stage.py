"""The stage `assemble`: all files of a project → a BENCH folder that validates clean."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from sightline import bench
from sightline.bench.files import HEADER, REVIEWS
from sightline.english import counted
from sightline.make import project as files
from sightline.make.asking import free
from sightline.make.assemble.benchmark import FOLDER, OTHER_REVIEWS, Assembled, assemble, read_reviews
from sightline.make.project import Project
from sightline.make.stages import StageResult
from sightline.models.asking import Asking

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class AssembleStage:
    """Puts everything together; asks nobody."""

    out: Path | None = None
    "The folder of the benchmark; `benchmark` in the project when not given."
    name: str = "assemble"
    reads: tuple[str, ...] = (
        files.JUDGMENTS,
        files.IMAGES,
        files.ANNOTATIONS,
        files.POOL,
        files.SEEDS,
        files.QUERIES,
        files.VERDICTS,
        files.SIMILARITY,
        files.REVIEWS,
        files.AUDIT,
    )
    writes: tuple[str, ...] = ()

    def run(self, project: Project, asking: Asking) -> StageResult:
        """Write the benchmark, whole or not at all, and look at what was written as `sightline validate` does."""
        if asking.plan:
            return StageResult(self.name, price=free(self.name, "nobody"))
        started = time.monotonic()
        folder = self.out or project.folder / FOLDER
        found = assemble(project, folder)
        _refuse_another(folder, found, is_own=self.out is None)
        kept = read_reviews(folder / OTHER_REVIEWS) if (folder / OTHER_REVIEWS).is_file() else ()
        if found.other_reviews:  # Before the folder is replaced: nobody's word is lost by a kill.
            replace(REVIEWS, name=OTHER_REVIEWS).write(
                (*kept, *(one for one in found.other_reviews if one not in kept)), folder
            )
        bench.write(found.benchmark, folder, force=True)
        problems = bench.validate(folder)
        return StageResult(
            self.name,
            (folder,),
            counts_of(found),
            {"problem": len(problems)} if problems else {},
            (*found.warnings, *_aside(found), *map(str, problems[:_SHOWN])),
            seconds=time.monotonic() - started,
        )


def _refuse_another(folder: Path, found: Assembled, *, is_own: bool) -> None:
    """In a project its queries take the place of those before; elsewhere the ones of another of that name may lie."""
    made = found.benchmark
    reviews = (*made.reviews, *found.other_reviews)
    bench.check_place(folder, made.name, reviews, None if is_own else made.tasks, made.corpus.pictures)


def check_bench(project: Project) -> None:
    """Refuse a project whose benchmark has another name, before anything is made that would take its place."""
    place = project.folder / FOLDER
    if (place / HEADER).is_file():
        said = read_reviews(place / REVIEWS.name) if (place / REVIEWS.name).is_file() else ()
        bench.check_place(place, project.name, said)


def counts_of(found: Assembled) -> dict[str, int]:
    """What a benchmark holds."""
    benchmark = found.benchmark
    return {
        "queries": len(benchmark.tasks),
        "pictures": len(benchmark.corpus.pictures),
        "judgments": len(benchmark.judgments),
        "candidates": len(benchmark.candidates),
        "annotations": len(benchmark.annotations),
        "reviews": len(benchmark.reviews),
        "set aside": len(found.set_aside),
    }


def _aside(found: Assembled) -> tuple[str, ...]:
    if not found.set_aside:
        return ()
    first = found.set_aside[0]
    said = counted(len(found.set_aside), "query is", "queries are")
    return (f"{said} left out, for example {first.query}: {first.detail}",)
