"""Exactly what was measured with exactly what."""

from __future__ import annotations

from sightline.io import dump
from sightline.report.blocks import Block, Facts, Fold, Part, Row, Table
from sightline.report.gather import Section
from sightline.report.runs import ScoredRun
from sightline.report.words import DASH, moment

_SHORT = 12


def provenance(section: Section) -> Part:
    """Versions, checksums, parameters and times."""
    facts = section.facts
    pairs = [("Benchmark", facts.name), ("Checksum", facts.checksum or "none: it was never on disk")]
    if facts.version is not None:
        pairs.insert(1, ("Version", facts.version))
    blocks: list[Block] = [Facts(pairs)]
    if section.runs:
        head = ("system", "folder", "run", "scored", "benchmark", "seed", "versions", "parameters")
        table = Table("The runs", head, [_row(run) for run in section.runs])
        blocks.append(Fold("Runs: versions, parameters and dates", [table]))
    return Part("Versions and checksums", blocks)


def _row(run: ScoredRun) -> Row:
    made = run.run
    return (
        run.name,
        run.folder.resolve().name,
        moment(run.ran_at),
        moment(run.scored_at),
        (made.benchmark_checksum or DASH)[:_SHORT],
        DASH if made.seed is None else str(made.seed),
        ", ".join(f"{name} {version}" for name, version in made.versions.items()) or DASH,
        dump(made.parameters).decode().strip() if made.parameters else DASH,
    )
