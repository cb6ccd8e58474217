"""The README of a curriculum's folder: what is in it, what was proved, and the command that trains with it."""

from __future__ import annotations

from sightline.english import counted
from sightline.reason.curriculum.apart import Twins
from sightline.reason.curriculum.course import Course
from sightline.reason.curriculum.formats import Format
from sightline.reason.curriculum.proof import CHECKS, Proof


def readme(course: Course, format_: Format) -> str:
    """In Markdown."""
    stages = [
        f"| {stage.phase} | {stage.name} | {len(stage.entries):,} | {stage.tokens:,} |" for stage in course.stages
    ]
    heading, *lines = proof_lines(course.proof)
    summary = f": {course.plan.summary}" if course.plan.summary else ""
    return "\n".join(
        [
            f"# A curriculum for {format_.name}",
            "",
            f"Plan `{course.plan.name}`{summary}. Seed {course.seed}, {counted(course.count, 'record')} of "
            f"{counted(len(course.rows()), 'question')}, {course.tokens:,} tokens ({course.counter.how}).",
            "",
            "| phase | stage | records | tokens |",
            "|---|---|---:|---:|",
            *stages,
            "",
            "## Train",
            "",
            format_.usage(course),
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


def proof_lines(proof: Proof) -> list[str]:
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


def _compared(twins: Twins) -> str:
    """Against what the training's pictures were held."""
    alone = f", {twins.by_checksum:,} of them by checksum alone: only the same file" if twins.by_checksum else ""
    return f"{counted(twins.pictures, 'picture')} of it compared{alone}"
