"""From a benchmark and a plan to a folder of training records, each of them checked first.

Written again, the folder replaces its own files alone; its README says what is in it and how to train with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sightline.benchmark.files import checksum, checksums
from sightline.config import Config
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import PathLike, link_or_copy, whole_folder, write_whole
from sightline.io.jsonl import read_json, write_json
from sightline.reason.curriculum.checks import CHECKS, CurriculumProof, ProofLimits, Prover
from sightline.reason.curriculum.contamination import SharedPictures, find_shared_pictures
from sightline.reason.curriculum.formats import FORMATS, CurriculumFormat
from sightline.reason.curriculum.lessons import Exercise
from sightline.reason.curriculum.pictures import Bringing, CurriculumPictures
from sightline.reason.curriculum.plan import CurriculumPlan, load_plan
from sightline.reason.curriculum.pool import QuestionPool, open_pool
from sightline.reason.curriculum.records import CompiledCurriculum
from sightline.reason.curriculum.schedule import Costs, Kept, Schedule, StageLayout, lay_out
from sightline.reason.curriculum.tokens import token_counter

PLAN, PROOF, README, LIST = "plan.json", "proof.json", "README.md", "files.json"
_STAGES = "stages.json"
# What folders may hold that were written before there was a list, beside the files of stages.
_FORMER = (
    PLAN,
    PROOF,
    README,
    _STAGES,
    "train.jsonl",
    "train.yaml",
    "dataset_info.json",
    "messages.jsonl",
    "stepwise.jsonl",
)


@contextmanager
def curriculum_folder(out: PathLike) -> Iterator[Path]:
    """A new folder to write a curriculum into, which takes the place of the one in `out` when the block ends."""
    before = Path(os.path.realpath(out))
    own = _own_files(before)
    with whole_folder(out, marker=PROOF, owned={name.partition("/")[0] for name in own}) as folder:
        yield folder
        written = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()]
        write_json(folder / LIST, sorted({*written, LIST}))
        _refuse_others(before, own, written)
        _keep_others(before, own, folder)


def _own_files(folder: Path) -> set[str]:
    """The files, by their paths from the folder, that an earlier curriculum wrote there."""
    if (folder / LIST).is_file():
        return {LIST, *_strings(read_json(folder / LIST))}
    if not (folder / PROOF).is_file():
        return set()
    stages = read_json(folder / _STAGES) if (folder / _STAGES).is_file() else []
    return {*_FORMER, *_strings([row.get("file") for row in stages if isinstance(row, dict)])}


def _strings(rows: Any) -> list[str]:
    return [row for row in rows if isinstance(row, str)]


def _refuse_others(before: Path, own: set[str], written: list[str]) -> None:
    """A list that is missing says nothing of pictures: then those that are written again are taken for its own."""
    is_listed = LIST in own
    for name in written:
        if name not in own and (is_listed or "/" not in name) and os.path.lexists(before / name):
            raise UserError(
                f"{before / name} is not of the curriculum that lies there, and would be lost.",
                "move it, or choose another --out",
            )


def _keep_others(before: Path, own: set[str], folder: Path) -> None:
    """Bring along what others put into folders that are written anew; the rest of the place stays by itself."""
    for name in {*(name.partition("/")[0] for name in own), *(entry.name for entry in folder.iterdir())}:
        for path in (before / name).rglob("*"):
            kept = folder / path.relative_to(before)
            is_file = path.is_symlink() or not path.is_dir()
            if is_file and path.relative_to(before).as_posix() not in own and not os.path.lexists(kept):
                kept.parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(path, kept)


def readme(curriculum: CompiledCurriculum, format_: CurriculumFormat) -> str:
    """In Markdown."""
    stages = [
        f"| {stage.phase} | {stage.name} | {len(stage.entries):,} | {stage.tokens:,} |" for stage in curriculum.stages
    ]
    heading, *lines = proof_lines(curriculum.proof)
    summary = f": {curriculum.plan.summary}" if curriculum.plan.summary else ""
    return "\n".join(
        [
            f"# A curriculum for {format_.name}",
            "",
            f"Plan `{curriculum.plan.name}`{summary}. Seed {curriculum.seed}, {counted(curriculum.count, 'record')} of "
            f"{counted(len(curriculum.rows()), 'question')}, {curriculum.tokens:,} tokens ({curriculum.counter.how}).",
            "",
            "| phase | stage | records | tokens |",
            "|---|---|---:|---:|",
            *stages,
            "",
            "## Train",
            "",
            format_.usage(curriculum),
            "## Proof",
            "",
            f"{heading[0].upper()}{heading[1:]}:",
            "",
            *(f"- {line}" for line in lines),
            "",
            "`plan.json` has all that the records depend on, `proof.json` the counts, and what was left out.",
            "",
        ]
    )


def proof_lines(proof: CurriculumProof) -> list[str]:
    """A heading, and one line for each check: how many records of the training hold, or that it was not asked for."""
    notes = {
        "leak": f"largest overlap {proof.worst_overlap:.2f}",
        "tokens": f"longest {proof.longest:,}",
        "test": _compared(proof.against.twins),
    }
    different = f" ({proof.different:,} different ones)" if proof.different != proof.records else ""
    lines = [f"proved of every record{different}"]
    for check, says in CHECKS.items():
        if not proof.asked(check):
            lines.append(f"{says}: not asked for")
            continue
        failed = f", {proof.failed[check]:,} others left out" if proof.failed[check] else ""
        note = f" ({notes[check]})" if check in notes else ""
        lines.append(f"{says}: {proof.records:,} hold{failed}{note}")
    return lines


def _compared(twins: SharedPictures) -> str:
    """Against what the training's pictures were held."""
    alone = f", {twins.by_checksum:,} of them by checksum alone: only the same file" if twins.by_checksum else ""
    return f"{counted(twins.pictures, 'picture')} of it compared{alone}"


@dataclass(frozen=True, slots=True)
class CurriculumSettings:
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
    benchmark: PathLike, plan: str | CurriculumPlan, out: PathLike, settings: CurriculumSettings | None = None
) -> Compiled:
    """Compile, prove and write a curriculum; a record that fails a check ends it, unless those are to be dropped."""
    settings = settings or CurriculumSettings()
    if settings.format not in FORMATS:
        raise UserError(f'there is no format "{settings.format}".', f"choose from {', '.join(FORMATS)}")
    with compiled(Path(benchmark), plan, Path(out), settings) as curriculum:
        _write(curriculum, Path(out), settings)
        return Compiled(
            plan=curriculum.plan.name,
            format=settings.format,
            out=Path(out),
            seed=settings.seed,
            tasks=len(curriculum.rows()),
            records=curriculum.count,
            tokens=curriculum.tokens,
            stages=tuple(
                StageSummary(stage.name, stage.phase, len(stage.entries), stage.tokens) for stage in curriculum.stages
            ),
            left_out=curriculum.pool.left_out,
            proof=curriculum.proof.to_json(),
            proof_lines=tuple(proof_lines(curriculum.proof)),
        )


def _write(curriculum: CompiledCurriculum, out: Path, settings: CurriculumSettings) -> None:
    try:
        with curriculum_folder(out) as folder:
            curriculum.pictures.bring(curriculum.lessons(), folder)
            FORMATS[settings.format].write(curriculum, folder)
            write_json(folder / PLAN, _plan(curriculum, settings))
            write_json(folder / PROOF, curriculum.proof.to_json())
            write_whole(folder / README, readme(curriculum, FORMATS[settings.format]).encode())
    except OSError as error:  # A disk that is full does not name its file.
        raise UserError(f"{out} can't be written: {error.strerror}.", "make room, or choose another --out") from error


@contextmanager
def compiled(
    benchmark: Path, plan: str | CurriculumPlan, out: Path, settings: CurriculumSettings
) -> Iterator[CompiledCurriculum]:
    """The proved records of a benchmark, ready to be written."""
    plan = load_plan(plan) if isinstance(plan, str) else plan
    counter = token_counter(settings.tokenizer, settings.picture_tokens, local_only=settings.local_only)
    with open_pool(benchmark, plan, settings.limit) as pool:
        schedule = Schedule(plan, pool, settings.seed)
        proof = CurriculumProof(_against(benchmark, settings), counter.how)
        prover = Prover(pool, counter, proof.against, settings.config.scan.max_pixels)
        keep, costs = _proved(plan, pool, schedule, prover, proof)
        if not settings.drop:
            proof.refuse()
        stages = lay_out(schedule, keep, costs, settings.tokens)
        _refuse_empty(stages, settings.tokens)
        proof.count([stage.entries for stage in stages])
        yield CompiledCurriculum(
            plan, settings.seed, stages, proof, pool, counter, CurriculumPictures(pool, out, settings.pictures)
        )


def _against(benchmark: Path, settings: CurriculumSettings) -> ProofLimits:
    if settings.test is None:
        return ProofLimits(settings.limit_tokens)
    bits = settings.config.duplicates.bits if settings.same_bits is None else settings.same_bits
    twins = find_shared_pictures(benchmark, settings.test, bits, settings.config)
    return ProofLimits(settings.limit_tokens, settings.test, twins, bits)


def _proved(
    plan: CurriculumPlan, pool: QuestionPool, schedule: Schedule, prover: Prover, proof: CurriculumProof
) -> tuple[Kept, Costs]:
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


def _refuse_empty(stages: list[StageLayout], budget: int | None) -> None:
    empty = next((stage.name for stage in stages if not len(stage.entries)), None)
    if empty is not None:
        raise UserError(
            f'{budget or 0:,} tokens are too few: stage "{empty}" would not have a single record.',
            "give more --tokens, or leave it out",
        )


def _plan(curriculum: CompiledCurriculum, settings: CurriculumSettings) -> dict[str, Any]:
    """All that the records depend on."""
    return {
        "schema": 1,
        "benchmark": curriculum.pool.folder.resolve().name,
        "benchmark_checksum": checksum(checksums(curriculum.pool.folder)),
        "plan": asdict(curriculum.plan),
        "seed": settings.seed,
        "format": settings.format,
        "limit": settings.limit,
        "token_budget": settings.tokens,
        "tokens": curriculum.tokens,
        "records": curriculum.count,
    }
