"""What a reader of the numbers should know first."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.english import counted
from sightline.report.blocks import Block, Fold, Notes, Part, Row, Table, numeric
from sightline.report.gather import Section
from sightline.report.runs import ScoredRun, failures_differ
from sightline.report.words import DASH, share


def notes(section: Section) -> Part | None:
    """Warnings, then what was noticed in each run and in comparing them; None when there is nothing to say."""
    said = list(_about_runs(section))
    if failures_differ(section.runs):
        said.append("the runs failed on different tasks; each failure counts as zero")
    blocks: list[Block] = [Notes(section.warnings, warning=True)] if section.warnings else []
    blocks += [Notes(said)] if said else []
    blocks += _returned(section)
    if section.comparison and section.comparison.notes:
        blocks.append(Fold("Failures and gaps, pair by pair", [Notes(section.comparison.notes)]))
    return Part("Notes", blocks) if blocks else None


def _about_runs(section: Section) -> Iterator[str]:
    """What is true of several runs is said once."""
    of_runs = {run.name: list(_about(run)) for run in section.runs}
    for note in dict.fromkeys(note for of_run in of_runs.values() for note in of_run):
        names = [name for name, of_run in of_runs.items() if note in of_run]
        yield f"{'every run' if len(names) == len(of_runs) > 1 else ', '.join(names)}: {note}"


def _about(run: ScoredRun) -> Iterator[str]:
    if run.run.parameters.get("made_up") is True:
        yield "the predictions are made up; no system was asked"
    if run.scores.clustered_by is not None:
        yield f"tasks are clustered by {run.scores.clustered_by}"
    yield from run.scores.notes
    for metric, count in run.scores.undefined.items():
        yield f"{metric} is not defined for {counted(count, 'task')}, left out of its mean"


def _returned(section: Section) -> list[Table]:
    """Returned pictures that say more about the judgments or the prompt than about the system."""
    rows: list[Row] = []
    for run in section.runs:
        scores = run.scores
        unjudged = DASH if scores.unjudged is None else f"{share(scores.unjudged)} of the first {scores.unjudged_depth}"
        rows.append((run.name, unjudged, f"{scores.outside_scope:,}"))
    if not any(run.scores.unjudged or run.scores.outside_scope for run in section.runs):
        return []
    caption = "Returned pictures that nobody judged count as not relevant, those outside a task's scope as wrong"
    return [Table(caption, ("system", "unjudged", "outside the scope"), rows, numeric(1, 3))]
