"""From a benchmark and a plan to a folder of training records, each of them checked first.

Its README says what is in it and how to train with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sightline.benchmark.files import checksum, checksums
from sightline.calls.session import Session
from sightline.display import Shown, html_table, quiet
from sightline.english import counted
from sightline.errors import UserError, require_at_least, require_one_of
from sightline.io.files import PathLike, as_path, optional_path, write_whole
from sightline.io.jsonl import write_json
from sightline.reason.curriculum.checks import CHECKS, CurriculumProof, ProofLimits, Prover
from sightline.reason.curriculum.contamination import SharedPictures, find_shared_pictures
from sightline.reason.curriculum.folder import PLAN, PROOF, README, curriculum_folder
from sightline.reason.curriculum.formats import FORMATS, CompiledCurriculum, CurriculumFormat, FormatName
from sightline.reason.curriculum.lessons import Exercise, Lesson
from sightline.reason.curriculum.measure import (
    MOST,
    NGRAM,
    BlindReader,
    ChatReader,
    CrossfittedReader,
    measured_leakage,
)
from sightline.reason.curriculum.pictures import BRINGING, Bringing, CurriculumPictures
from sightline.reason.curriculum.plan import CurriculumPlan, CurriculumStage, load_plan
from sightline.reason.curriculum.pool import QuestionPool, open_pool
from sightline.reason.curriculum.schedule import Costs, Kept, Schedule, StageLayout, lay_out
from sightline.reason.curriculum.tokens import token_counter


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
            "## Checks",
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
    lines = [f"checked of every record{different}"]
    for check, says in CHECKS.items():
        if not proof.asked(check):
            lines.append(f"{says}: not asked for")
            continue
        failed = f", {proof.failed[check]:,} others left out" if proof.failed[check] else ""
        note = f" ({notes[check]})" if check in notes else ""
        lines.append(f"{says}: {proof.records:,} hold{failed}{note}")
    lines += [f"guessed from the text alone ({proof.reader}), {one.of} {one}" for one in proof.leakage]
    return lines


def _compared(twins: SharedPictures) -> str:
    """Against what the training's pictures were held."""
    alone = f", {twins.by_checksum:,} of them by checksum alone: only the same file" if twins.by_checksum else ""
    return f"{counted(twins.pictures, 'picture')} of it compared{alone}"


@dataclass(frozen=True, slots=True)
class CurriculumSettings:
    """How to compile: `tokens` is the budget that plans are made equal by, `limit_tokens` the most of one record."""

    session: Session
    format: FormatName
    seed: int
    limit: int | None
    tokens: int | None
    limit_tokens: int | None
    tokenizer: str | None
    picture_tokens: int | None
    test: Path | None
    same_bits: int | None
    drop: bool
    pictures: Bringing
    leak_reader: str = NGRAM


@dataclass(frozen=True, slots=True)
class StageSummary:
    """One stage as it is trained."""

    name: str
    phase: str
    records: int
    tokens: int


@dataclass(frozen=True, slots=True, repr=False)
class Compiled(Shown):
    """What was written, and what was checked of it."""

    plan: str
    format: FormatName
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
        """What `--json` prints."""
        found = {**asdict(self), "out": str(self.out)}
        del found["proof_lines"]
        return found

    def _line(self) -> str:
        return f"{self.plan}: {counted(self.records, 'record')} of {counted(self.tasks, 'question')}"

    def _blocks(self) -> Iterable[str]:
        rows = [(one.name, one.phase, f"{one.records:,}", f"{one.tokens:,}") for one in self.stages]
        yield html_table(("stage", "phase", "records", "tokens"), rows, numeric=(2, 3))
        heading, *proved = self.proof_lines
        yield f"{heading}: {'; '.join(proved)}"
        yield quiet(str(self.out))

    def __str__(self) -> str:
        """What was written and what was checked, for a person."""
        heading, *proved = self.proof_lines
        rows = (f"    {one.phase:<10} {one.name:<12} {one.records:>8,} {one.tokens:>12,}" for one in self.stages)
        lines = [
            f"  plan {self.plan} · seed {self.seed} · {counted(self.records, 'record')} of "
            f"{counted(self.tasks, 'question')} · {self.tokens:,} tokens",
            *rows,
            f"  {heading}:",
            *(f"    {line}" for line in proved),
            f"  → {self.out} ({self.format}); {self.out / 'README.md'} has the command to train with",
        ]
        return "\n".join(lines)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The questions that were left out, by why."""
        if not self.left_out:
            return ()
        return (f"left out: {', '.join(f'{why} ({count:,})' for why, count in self.left_out.items())}",)


def curriculum(
    benchmark: PathLike,
    plan: PathLike | CurriculumPlan,
    out: PathLike,
    *,
    format: FormatName = "sightline",  # noqa: A002
    tokens: int | None = None,
    limit_tokens: int | None = None,
    tokenizer: PathLike | None = None,
    picture_tokens: int | None = None,
    test: PathLike | None = None,
    same_bits: int | None = None,
    drop: bool = False,
    pictures: Bringing = "copy",
    leak_reader: str = "ngram",
    limit: int | None = None,
    seed: int | None = None,
    session: Session | None = None,
) -> Compiled:
    """Compile questions with reasoning steps into training data from easy to hard, and measure what leaks.

    Nothing is written, and `FoundError` is raised, when a record fails a check, unless those are to be dropped.

    Parameters
    ----------
    benchmark:
        A benchmark of choose tasks with reasoning steps; most plans also need the label `difficulty`.
    plan:
        mir, plain, full-chain, shuffled, reverse, anti, self-paced, faded, or a TOML file.
    out:
        The folder to write; of a curriculum that is there already the files are replaced, what else lies there stays.
    format:
        The training tool that is to read it.
    tokens:
        Repeat or cut records until the whole has so many tokens: plans become comparable.
    limit_tokens:
        The most tokens that a record may have.
    tokenizer:
        A tokenizer.json, its folder, or a name on the hub; without it tokens are estimated.
    picture_tokens:
        Tokens of one picture; Qwen2.5-VL's rule for its size when not given.
    test:
        A benchmark of which no picture, nor nearly one, may be in the training.
    same_bits:
        Hashes of pictures that differ in at most so many of 64 bits are nearly the same, if their tones agree; as
        configured for duplicates (6) when not given.
    drop:
        Leave out records that fail a check instead of refusing.
    pictures:
        "copy" the pictures into the folder, "link" them (hard links), or "leave" them where they are.
    leak_reader:
        What guesses answers from the text alone: "ngram", trained here, or a chat model (MODEL or MODEL@URL), paid for.
    limit:
        Take only the first questions.
    seed:
        Makes the order repeatable.
    session:
        Brings the settings; see `Session`.

    Returns
    -------
    Compiled
        What was written and checked; `print` shows what the command prints.

    Examples
    --------
    >>> import sightline
    >>> done = sightline.curriculum("reasoned", "full-chain", "course", format="trl")
    >>> done.records, done.proof["checks"]["leak"]["failed"]
    (4, 0)
    """
    session = Session.of(session)
    require_at_least(1, tokens=tokens, limit_tokens=limit_tokens, picture_tokens=picture_tokens, limit=limit)
    require_at_least(0, same_bits=same_bits, seed=seed)
    require_one_of(BRINGING, pictures=pictures)
    if format not in FORMATS:
        raise UserError(f'there is no format "{format}".', f"choose from {', '.join(FORMATS)}")
    settings = CurriculumSettings(
        session,
        format,
        (session.seed or 0) if seed is None else seed,
        limit,
        tokens,
        limit_tokens,
        None if tokenizer is None else os.fspath(tokenizer),
        picture_tokens,
        optional_path(test, "a benchmark"),
        same_bits,
        drop,
        pictures,
        leak_reader,
    )
    source, place = as_path(benchmark, "a benchmark"), as_path(out, "the folder to write")
    planned = plan if isinstance(plan, CurriculumPlan) else load_plan(str(as_path(plan, "a plan")))
    with compiled(source, planned, place, settings) as made:
        _write(made, place, settings)
        return Compiled(
            plan=made.plan.name,
            format=settings.format,
            out=place,
            seed=settings.seed,
            tasks=len(made.rows()),
            records=made.count,
            tokens=made.tokens,
            stages=tuple(
                StageSummary(stage.name, stage.phase, len(stage.entries), stage.tokens) for stage in made.stages
            ),
            left_out=made.pool.left_out,
            proof=made.proof.to_json(),
            proof_lines=tuple(proof_lines(made.proof)),
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
    benchmark: Path, plan: CurriculumPlan, out: Path, settings: CurriculumSettings
) -> Iterator[CompiledCurriculum]:
    """The checked records of a benchmark, ready to be written."""
    counter = token_counter(settings.tokenizer, settings.picture_tokens, local_only=settings.session.calls.local_only)
    with open_pool(benchmark, plan, settings.limit) as pool:
        schedule = Schedule(plan, pool, settings.seed)
        proof = CurriculumProof(_against(benchmark, settings), counter.how)
        prover = Prover(pool, counter, proof.against, settings.session.config.scan.max_pixels)
        keep, costs = _proved(plan, pool, schedule, prover, proof)
        if not settings.drop:
            proof.refuse()
        stages = lay_out(schedule, keep, costs, settings.tokens)
        _refuse_empty(stages, settings.tokens)
        proof.count([stage.entries for stage in stages])
        reader = _leak_reader(settings)
        proof.reader, proof.leakage = reader.name, list(measured_leakage(_trained_on(plan, pool, keep), reader))
        yield CompiledCurriculum(
            plan, settings.seed, stages, proof, pool, counter, CurriculumPictures(pool, out, settings.pictures)
        )


def _leak_reader(settings: CurriculumSettings) -> BlindReader:
    chosen = settings.leak_reader
    return CrossfittedReader() if chosen == NGRAM else ChatReader(chosen, settings.session)


def _trained_on(
    plan: CurriculumPlan, pool: QuestionPool, keep: Kept
) -> Iterator[tuple[CurriculumStage, Sequence[Lesson]]]:
    """The first records of each stage that passed."""
    for form, stage in enumerate(plan.stages):
        yield stage, [pool.lesson(row) for row in np.flatnonzero(keep[form])[:MOST].tolist()]


def _against(benchmark: Path, settings: CurriculumSettings) -> ProofLimits:
    if settings.test is None:
        return ProofLimits(settings.limit_tokens)
    bits = settings.session.config.duplicates.bits if settings.same_bits is None else settings.same_bits
    twins = find_shared_pictures(benchmark, settings.test, bits, settings.session.config)
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
