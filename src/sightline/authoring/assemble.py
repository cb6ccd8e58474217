"""The stage `assemble`: all files of a project, ours or benchmaker's → a BENCH folder that validates clean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from sightline.authoring import project as files
from sightline.authoring.judge_labels import SetAside
from sightline.authoring.judge_verdicts import JudgeVerdict, read_verdicts
from sightline.authoring.pictures import completed, look_alikes, restored
from sightline.authoring.project import Project
from sightline.authoring.project_files import (
    PlannedQuery,
    QueryWording,
    StrictProblems,
    pool_problems,
    read_annotations,
    read_plan,
    read_seeds,
    read_wordings,
    seed_problems,
)
from sightline.authoring.stage import StageResult, free_plan
from sightline.benchmark.files import HEADER, REVIEWS, TASKS
from sightline.benchmark.folder import check_place, write_benchmark
from sightline.benchmark.formats.benchmaker_columns import JUDGE, BenchmakerColumns
from sightline.benchmark.formats.benchmaker_reader import BenchmakerPictures, JudgedQuery, Similarities, WordedJudgments
from sightline.benchmark.formats.rows import checked, read_rows
from sightline.benchmark.problems import stop
from sightline.benchmark.provenance import CARD_FIELD, Provenance, is_model
from sightline.benchmark.table import TableSource
from sightline.benchmark.validation import validate_benchmark
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.jsonl import read_json
from sightline.metrics.evaluation import DEFAULT_METRICS
from sightline.runs.kept_baselines import keep_baselines
from sightline.types import Annotation, Benchmark, Candidate, Corpus, Json, Judgment, Picture, Relevance, Review, Task

OTHER_REVIEWS = "reviews_of_other_queries.jsonl"
"""Beside a benchmark: what people said about queries of the one before it."""
FOLDER = "benchmark"
"""Where the benchmark of a project lies."""
DATASET = "original_dataset_name"
_SHOWN_EXAMPLES = 3
_SHOWN_PROBLEMS = 5


@dataclass(frozen=True, slots=True)
class Assembled:
    """A benchmark, the queries that are not in it, and what there is to say; `verdicts` keep when and where."""

    benchmark: Benchmark
    set_aside: tuple[SetAside, ...] = ()
    verdicts: tuple[JudgeVerdict, ...] = ()
    warnings: tuple[str, ...] = ()
    judging: Mapping[str, Any] = field(default_factory=dict)
    other_reviews: tuple[Review, ...] = ()
    "What people said about queries of the benchmark before that are no longer the same."


def assemble(project: Project, bench: Path | None = None) -> Assembled:
    """Read all files of a project that are there; judgments must be.

    What people said in the app of the benchmark that was made before (in `bench`, else in the project) comes along.
    """
    reading = _Reading(project, bench or project.folder / FOLDER)
    benchmark = reading.benchmark()
    return Assembled(
        benchmark,
        tuple(reading.set_aside),
        tuple(verdict for verdict in reading.verdicts if verdict.task in benchmark.tasks),
        tuple(reading.warnings),
        reading.judging,
        tuple(reading.other_reviews),
    )


class _Reading:
    """One pass over the files, each with what is known from those before it."""

    def __init__(self, project: Project, before: Path) -> None:
        self._project, config = project, project.config
        self._before = before
        self.other_reviews: list[Review] = []
        self.warnings: list[str] = []
        self.set_aside: list[SetAside] = []
        self._columns = BenchmakerColumns(config.columns)
        self._pictures = self._listed()
        self.asked = self._judged()
        self._pools = self._planned()
        self._given = self._given_seeds()
        self._wordings = self._worded()
        self.verdicts = self._said()
        judging = self._project.found(files.JUDGING)
        self.judging: Mapping[str, Any] = {} if judging is None else read_json(judging)

    def benchmark(self) -> Benchmark:
        """All of it, less the queries whose judgments do not hold."""
        config = self._project.config
        asked = dict(islice(self._sound(), self._project.limit))
        if not asked:
            first = next(iter(self.set_aside), None)
            why = ", because it has none" if first is None else f": {first.query}: {first.detail}"
            raise UserError(
                f"no query of {self._project.path(files.JUDGMENTS)} can be used{why}.",
                "judge again: sightline make judge",
            )
        listed = completed(self._pictures.found, config)
        pictures = {id_: restored(picture) for id_, picture in listed.items()}
        groups = look_alikes(self._pictures.found, config.duplicates.bits)
        similar = self._similarities()
        name = self._project.name
        return Benchmark(
            name=name,
            corpus=Corpus(name, pictures, groups),
            tasks={id_: self._task(id_, one, pictures, similar) for id_, one in asked.items()},
            truth={id_: Relevance(self._seed_first(id_, one.grades)) for id_, one in asked.items()},
            metrics=DEFAULT_METRICS["rank"],
            card=self._card(),
            annotations=tuple(note for note in self._annotations().values() if note.picture_id in pictures),
            candidates=tuple(self._candidates(asked, pictures)),
            judgments=tuple(self._judgments(asked)),
            reviews=tuple(self._reviews(asked, pictures)),
        )

    def _lost_map(self) -> Iterator[str]:
        path = self._project.config.paths.rights
        if path is not None and not path.is_file():
            yield f"the rights map {path} is not there: licences are those of the files alone"

    # --- files ------------------------------------------------------------------------------------------------

    def _listed(self) -> BenchmakerPictures:
        config = self._project.config
        judged = self._project.existing(files.JUDGMENTS)
        pictures = BenchmakerPictures(None, config.paths.pictures or judged.parent, None, self._columns)
        listed = self._project.found(files.IMAGES)
        if listed is not None:
            self.warnings += pictures.read_list(listed, StrictProblems())
        return pictures

    def _judged(self) -> dict[str, JudgedQuery]:
        path, complaints = self._project.existing(files.JUDGMENTS), StrictProblems()
        judgments = WordedJudgments(path, self._columns)
        for row in read_rows(path, complaints):
            with checked(row, complaints):
                judgments.add(row, self._pictures)
        self.warnings += (*judgments.warnings(), *self._pictures.warnings(), *self._lost_map())
        self._flat_notes: Mapping[str, Annotation] = judgments.annotations.values
        return judgments.asked()

    def _planned(self) -> dict[str, PlannedQuery]:
        """The pools that were judged; the plan alone where there are none."""
        path = self._project.found(files.POOL) or self._project.found(files.PLAN)
        return {} if path is None else read_plan(path, self._project.config)

    def _given_seeds(self) -> dict[str, tuple[str, ...]]:
        """Seeds that were given, for queries that no plan speaks of."""
        path = self._project.found(files.SEEDS)
        if path is None:
            return {}
        queries, said = read_seeds(path, self._project.config)
        self.warnings += said
        return {query.id: query.seeds for query in queries}

    def _worded(self) -> dict[str, QueryWording]:
        path = self._project.found(files.QUERIES)
        return {} if path is None else read_wordings(path, self._project.config)

    def _said(self) -> list[JudgeVerdict]:
        path = self._project.found(files.VERDICTS)
        if path is None:
            return []
        found, warnings = read_verdicts(path)
        self.warnings += warnings
        return [verdict for verdict in found if verdict.counts]

    def _annotations(self) -> Mapping[str, Annotation]:
        """Those of the file; what it does not say of a picture is taken from the columns of the judgments.

        Benchmaker's files do not name the model; a person who wrote some is named in the column `by`.
        """
        path = self._project.found(files.ANNOTATIONS)
        if path is None:
            return self._flat_notes
        said = read_annotations(path, self._project.config).annotations
        named = {id_: replace(note, by=note.by or JUDGE) for id_, note in {**self._flat_notes, **said}.items()}
        return {id_: _filled(note, self._flat_notes.get(id_)) for id_, note in named.items()}

    def _similarities(self) -> Similarities:
        found, complaints = Similarities(self._columns), StrictProblems()
        path = self._project.found(files.SIMILARITY)
        if path is not None:
            for row in read_rows(path, complaints):
                with checked(row, complaints):
                    found.add(row)
        return found

    def _reviews(self, asked: Mapping[str, JudgedQuery], pictures: Mapping[str, Picture]) -> Iterator[Review]:
        """Those about queries and pictures of the benchmark; of others it is only said how many there are."""
        path = self._project.found(files.REVIEWS)
        strange = 0
        written = () if path is None else read_reviews(path)
        for review in written:
            if review.task in asked and (review.picture is None or review.picture in pictures):
                yield review
            else:
                strange += 1
        if strange:
            self.warnings.append(f"{path}: {strange:,} reviews are about queries or pictures that are not in it")
        yield from (review for review in self._said_before(asked, pictures) if review not in written)

    def _said_before(self, asked: Mapping[str, JudgedQuery], pictures: Mapping[str, Picture]) -> Iterator[Review]:
        """What people said in the app; of queries whose words are others now it is kept, but does not count."""
        path = self._before / REVIEWS.name
        if not path.is_file():
            return
        words = {task.id: task.text for _, task in TableSource(self._before, stop).rows(TASKS)}
        for review in read_reviews(path):
            same = review.task in asked and asked[review.task].text == words.get(review.task)
            if same and (review.picture is None or review.picture in pictures):
                yield review
            else:
                self.other_reviews.append(review)
        if self.other_reviews:
            said = counted(len(self.other_reviews), "review is", "reviews are")
            self.warnings.append(f"{path}: {said} about queries that are others now; {OTHER_REVIEWS} keeps them")

    # --- parts ------------------------------------------------------------------------------------------------

    def _sound(self) -> Iterator[tuple[str, JudgedQuery]]:
        """Queries whose pool is judged in full, with nothing from outside, and with relevant seeds."""
        for id_, asked in self.asked.items():
            planned = self._pools.get(id_)
            relevant = [picture for picture, grade in asked.grades.items() if grade > 0]
            if planned is None:  # Of a pool that nobody noted it is only known who its seeds are.
                wrong = seed_problems(self._seeds(id_), relevant)
            else:
                wrong = pool_problems(planned, asked.grades, relevant)
            if not wrong:
                yield id_, asked
            else:
                more = f"; and {len(wrong) - _SHOWN_EXAMPLES:,} more" if len(wrong) > _SHOWN_EXAMPLES else ""
                self.set_aside.append(SetAside(id_, "judgments do not fit", "; ".join(wrong[:_SHOWN_EXAMPLES]) + more))

    def _seeds(self, id_: str) -> tuple[str, ...]:
        return self._pools[id_].seeds if id_ in self._pools else self._given.get(id_, ())

    def _seed_first(self, id_: str, grades: Mapping[str, int]) -> dict[str, int]:
        seeds = {seed: grades[seed] for seed in self._seeds(id_) if seed in grades}
        return seeds | dict(grades)

    def _task(self, id_: str, asked: JudgedQuery, pictures: Mapping[str, Picture], similar: Similarities) -> Task:
        extra: dict[str, Json] = {}
        seeds = self._seeds(id_)
        if seeds:
            extra["seeds"] = list(seeds)
        if id_ in similar.scores:
            extra["similarity"] = {"column": similar.column, "scores": dict(similar.scores[id_])}
        labels = dict(self._wordings[id_].labels) if id_ in self._wordings else {}
        about = seeds or [picture for picture, grade in asked.grades.items() if grade > 0]
        sources = dict.fromkeys(source for picture in about if (source := pictures[picture].rights.source))
        if sources:
            labels[DATASET] = tuple(sources)
        return Task(id_, "rank", (asked.text,), labels=labels, extra=extra)

    def _candidates(self, asked: Mapping[str, JudgedQuery], pictures: Mapping[str, Picture]) -> Iterator[Candidate]:
        for id_ in asked:
            for candidate in self._pools[id_].candidates if id_ in self._pools else ():
                if candidate.picture in pictures:
                    yield Candidate(id_, candidate.picture, candidate.tier, candidate.score)

    def _judgments(self, asked: Mapping[str, JudgedQuery]) -> Iterator[Judgment]:
        """What each judge said; where nobody kept that, the labels as benchmaker's judge gave them."""
        said = [
            verdict
            for verdict in self.verdicts
            if verdict.task in asked and verdict.picture in asked[verdict.task].grades
        ]
        yield from (verdict.to_judgment() for verdict in said)
        known = {verdict.task for verdict in said}
        for id_, one in asked.items():
            if id_ not in known:
                yield from (Judgment(id_, picture, JUDGE, grade) for picture, grade in one.grades.items())

    def _card(self) -> dict[str, Json]:
        config = self._project.config
        card: dict[str, Json] = config.benchmark.model_dump(mode="json", exclude={"name"}, exclude_none=True)
        card[CARD_FIELD] = self._provenance().to_json()
        if self.judging:
            card["judging"] = {name: value for name, value in self.judging.items() if name != "usd"}
        audit = self._project.found(files.AUDIT)
        if audit is not None:
            card["audit"] = read_json(audit).get("summary")
        return card

    def _provenance(self) -> Provenance:
        """Which models wrote texts, worded queries and gave labels."""
        notes = self._annotations().values()
        wordings = (wording.by for wording in self._wordings.values() if wording.by is not None)
        return Provenance(
            "made",
            tuple(sorted({note.by for note in notes if note.by is not None and is_model(note.by)})),
            tuple(sorted({name for name in wordings if is_model(name)})),
            tuple(sorted({verdict.judge for verdict in self.verdicts} or {JUDGE})),
        )


def _filled(note: Annotation, flat: Annotation | None) -> Annotation:
    if flat is None or flat is note:
        return note
    return replace(
        note,
        summary=note.summary or flat.summary,
        facets={**flat.facets, **note.facets},
        flags={**flat.flags, **note.flags},
        tags=note.tags or flat.tags,
    )


def read_reviews(path: Path) -> Sequence[Review]:
    """What people decided, from a file as a benchmark has it; the first wrong line is named."""
    table = replace(REVIEWS, name=path.name)
    return tuple(review for _, review in TableSource(path.parent, stop).rows(table))


@dataclass(frozen=True, slots=True)
class AssembleStage:
    """Puts everything together; asks nobody."""

    out: Path | None = None
    "The folder of the benchmark; `benchmark` in the project when not given."
    name: str = "assemble"
    writes: tuple[str, ...] = ()

    def run(self, project: Project) -> StageResult:
        """Write the benchmark, whole or not at all, and look at what was written as `sightline validate` does."""
        if project.calls.plan:
            return StageResult(self.name, price=free_plan(self.name, "nobody"))
        folder = self.out or project.folder / FOLDER
        found = assemble(project, folder)
        _refuse_another(folder, found, is_own=self.out is None)
        kept = read_reviews(folder / OTHER_REVIEWS) if (folder / OTHER_REVIEWS).is_file() else ()
        if found.other_reviews:  # Before the folder is replaced: nobody's word is lost by a kill.
            replace(REVIEWS, name=OTHER_REVIEWS).write(
                (*kept, *(one for one in found.other_reviews if one not in kept)), folder
            )
        keep_baselines(write_benchmark(found.benchmark, folder, force=True), folder)
        problems = validate_benchmark(folder)
        return StageResult(
            self.name,
            (folder,),
            counts_of(found),
            {"problem": len(problems)} if problems else {},
            (*found.warnings, *_aside(found), *map(str, problems[:_SHOWN_PROBLEMS])),
        )


def _refuse_another(folder: Path, found: Assembled, *, is_own: bool) -> None:
    """In a project its queries take the place of those before; elsewhere the ones of another of that name may lie."""
    made = found.benchmark
    reviews = (*made.reviews, *found.other_reviews)
    check_place(folder, made.name, reviews, None if is_own else made.tasks, made.corpus.pictures)


def check_bench(project: Project) -> None:
    """Refuse a project whose benchmark has another name, before anything is made that would take its place."""
    place = project.folder / FOLDER
    if (place / HEADER).is_file():
        said = read_reviews(place / REVIEWS.name) if (place / REVIEWS.name).is_file() else ()
        check_place(place, project.name, said)


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
