"""From a benchmark and a plan to a folder of training records, each of them proved first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sightline.bench.files import checksum, checksums
from sightline.config import Config
from sightline.errors import UserError
from sightline.io import PathLike, write_json, write_whole
from sightline.reason.curriculum.apart import find_twins
from sightline.reason.curriculum.budget import Costs, Laid, lay_out
from sightline.reason.curriculum.course import Course
from sightline.reason.curriculum.formats import FORMATS
from sightline.reason.curriculum.lessons import Exercise
from sightline.reason.curriculum.pictures import Bringing, Pictures
from sightline.reason.curriculum.place import PLAN, PROOF, README, curriculum_folder
from sightline.reason.curriculum.plan import Plan, load_plan
from sightline.reason.curriculum.pool import Pool, open_pool
from sightline.reason.curriculum.proof import Against, Proof, Prover
from sightline.reason.curriculum.readme import proof_lines, readme
from sightline.reason.curriculum.schedule import Kept, Schedule
from sightline.reason.curriculum.tokens import token_counter


@dataclass(frozen=True, slots=True)
class Settings:
    """How to compile: `tokens` is the budget that plans are made equal by, `limit_tokens` the most of one record."""

    format: str = "sightline"
    seed: int = 0
    limit: int | None = None
    tokens: int | None = None
    limit_tokens: int | None = None
    tokenizer: str | None = None
    picture_tokens: int | None = None
    test: Path | None = None
    same_bits: int | None = None
    drop: bool = False
    pictures: Bringing = "copy"
    local_only: bool = False
    config: Config = field(default_factory=Config)


@dataclass(frozen=True, slots=True)
class StageSummary:
    """One stage as it is trained."""

    name: str
    phase: str
    records: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """What was written, and what was proved of it."""

    plan: str
    format: str
    out: Path
    seed: int
    tasks: int
    records: int
    tokens: int
    stages: tuple[StageSummary, ...]
    left_out: Mapping[str, int]
    proof: Mapping[str, Any]
    proof_lines: tuple[str, ...]
    "The first is a heading."

    def to_json(self) -> dict[str, Any]:
        """As `--json` prints it."""
        found = {**asdict(self), "out": str(self.out)}
        del found["proof_lines"]
        return found


def compile_curriculum(
    benchmark: PathLike, plan: str | Plan, out: PathLike, settings: Settings | None = None
) -> Compiled:
    """Compile, prove and write a curriculum; a record that fails a check ends it, unless those are to be dropped."""
    settings = settings or Settings()
    if settings.format not in FORMATS:
        raise UserError(f'there is no format "{settings.format}".', f"choose from {', '.join(FORMATS)}")
    with compiled(Path(benchmark), plan, Path(out), settings) as course:
        _write(course, Path(out), settings)
        return Compiled(
            plan=course.plan.name,
            format=settings.format,
            out=Path(out),
            seed=settings.seed,
            tasks=len(course.rows()),
            records=course.count,
            tokens=course.tokens,
            stages=tuple(
                StageSummary(stage.name, stage.phase, len(stage.entries), stage.tokens) for stage in course.stages
            ),
            left_out=course.pool.left_out,
            proof=course.proof.to_json(),
            proof_lines=tuple(proof_lines(course.proof)),
        )


def _write(course: Course, out: Path, settings: Settings) -> None:
    try:
        with curriculum_folder(out) as folder:
            course.pictures.bring(course.lessons(), folder)
            FORMATS[settings.format].write(course, folder)
            write_json(folder / PLAN, _plan(course, settings))
            write_json(folder / PROOF, course.proof.to_json())
            write_whole(folder / README, readme(course, FORMATS[settings.format]).encode())
    except OSError as error:  # A disk that is full does not name its file.
        raise UserError(f"{out} can't be written: {error.strerror}.", "make room, or choose another --out") from error


@contextmanager
def compiled(benchmark: Path, plan: str | Plan, out: Path, settings: Settings) -> Iterator[Course]:
    """The proved records of a benchmark, ready to be written."""
    plan = load_plan(plan) if isinstance(plan, str) else plan
    counter = token_counter(settings.tokenizer, settings.picture_tokens, local_only=settings.local_only)
    with open_pool(benchmark, plan, settings.limit) as pool:
        schedule = Schedule(plan, pool, settings.seed)
        proof = Proof(_against(benchmark, settings), counter.how)
        prover = Prover(pool, counter, proof.against, settings.config.scan.max_pixels)
        keep, costs = _proved(plan, pool, schedule, prover, proof)
        if not settings.drop:
            proof.refuse()
        stages = lay_out(schedule, keep, costs, settings.tokens)
        _refuse_empty(stages, settings.tokens)
        proof.count([stage.entries for stage in stages])
        yield Course(plan, settings.seed, stages, proof, pool, counter, Pictures(pool, out, settings.pictures))


def _against(benchmark: Path, settings: Settings) -> Against:
    if settings.test is None:
        return Against(settings.limit_tokens)
    bits = settings.config.duplicates.bits if settings.same_bits is None else settings.same_bits
    twins = find_twins(benchmark, settings.test, bits, settings.config)
    return Against(settings.limit_tokens, settings.test, twins, bits)


def _proved(plan: Plan, pool: Pool, schedule: Schedule, prover: Prover, proof: Proof) -> tuple[Kept, Costs]:
    """Every record once, however often it is repeated: which of them hold, and what they cost."""
    keep: Kept = np.zeros((len(plan.stages), len(pool)), dtype=bool)
    costs: Costs = np.zeros(keep.shape, dtype=np.int64)
    for block in schedule.blocks:
        keep[block.entries.forms, block.entries.rows] = True
    for row in np.flatnonzero(keep.any(axis=0)).tolist():
        lesson = pool.lesson(row)
        for form in np.flatnonzero(keep[:, row]).tolist():
            tokens = prover.prove(Exercise(lesson, plan.stages[form]), proof)
            keep[form, row] = tokens is not None
            costs[form, row] = 0 if tokens is None else tokens.total
    return keep, costs


def _refuse_empty(stages: list[Laid], budget: int | None) -> None:
    empty = next((stage.name for stage in stages if not len(stage.entries)), None)
    if empty is not None:
        raise UserError(
            f'{budget or 0:,} tokens are too few: stage "{empty}" would not have a single record.',
            "give more --tokens, or leave it out",
        )


def _plan(course: Course, settings: Settings) -> dict[str, Any]:
    """All that the records depend on."""
    return {
        "schema": 1,
        "benchmark": course.pool.folder.resolve().name,
        "benchmark_checksum": checksum(checksums(course.pool.folder)),
        "plan": asdict(course.plan),
        "seed": settings.seed,
        "format": settings.format,
        "limit": settings.limit,
        "token_budget": settings.tokens,
        "tokens": course.tokens,
        "records": course.count,
    }
