"""What was measured, exactly with what, and what a reader of the numbers should know first."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.benchmark.grade import GRADES
from sightline.english import counted, some
from sightline.io.jsonl import dump
from sightline.metrics.tables import warning_text
from sightline.reports.blocks import Block, FactsBlock, Fold, NotesBlock, PagePart, Row, TableBlock, numeric
from sightline.reports.scored_run import ReportedRun, failures_differ
from sightline.reports.sections import ReportSection
from sightline.reports.text import DASH, moment, share
from sightline.types import Json

_VALUES_SHOWN = 12
_SHORT = 12


def notes(section: ReportSection) -> PagePart | None:
    """Warnings, then what was noticed in each run and in comparing them; None when there is nothing to say."""
    said = list(_about_runs(section))
    if failures_differ(section.runs) and not any(one.code == "failures-differ" for one in section.trust):
        said.append("the runs failed on different tasks; each failure counts as zero")
    warned = (*map(warning_text, section.trust), *section.warnings)
    blocks: list[Block] = [NotesBlock(warned, warning=True)] if warned else []
    blocks += [NotesBlock(said)] if said else []
    blocks += _returned(section)
    if section.comparison and section.comparison.notes:
        blocks.append(Fold("Failures and gaps, pair by pair", [NotesBlock(section.comparison.notes)]))
    return PagePart("Notes", blocks) if blocks else None


def _about_runs(section: ReportSection) -> Iterator[str]:
    """What is true of several runs is said once."""
    of_runs = {run.name: list(_about(run)) for run in section.runs}
    for note in dict.fromkeys(note for of_run in of_runs.values() for note in of_run):
        names = [name for name, of_run in of_runs.items() if note in of_run]
        yield f"{'every run' if len(names) == len(of_runs) > 1 else ', '.join(names)}: {note}"


def _about(run: ReportedRun) -> Iterator[str]:
    if run.run.parameters.get("made_up") is True:
        yield "the predictions are made up; no system was asked"
    if run.scores.clustered_by is not None:
        yield f"tasks are clustered by {run.scores.clustered_by}"
    yield from run.scores.notes
    for metric, count in run.scores.undefined.items():
        yield f"{metric} is not defined for {counted(count, 'task')}, left out of its mean"


def _returned(section: ReportSection) -> list[TableBlock]:
    """Returned pictures that say more about the judgments or the prompt than about the system."""
    rows: list[Row] = []
    for run in section.runs:
        scores = run.scores
        unjudged = DASH if scores.unjudged is None else f"{share(scores.unjudged)} of the first {scores.unjudged_depth}"
        rows.append((run.name, unjudged, f"{scores.outside_scope:,}"))
    if not any(run.scores.unjudged or run.scores.outside_scope for run in section.runs):
        return []
    caption = "Returned pictures that nobody judged count as not relevant, those outside a task's scope as wrong"
    return [TableBlock(caption, ("system", "unjudged", "outside the scope"), rows, numeric(1, 3))]


def measured(section: ReportSection) -> PagePart:
    """The benchmark that the numbers are about."""
    facts = section.facts
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in facts.kinds.items())
    pairs = [("Tasks", f"{facts.tasks:,}: {kinds}" if len(facts.kinds) > 1 else kinds or "none")]
    if facts.pictures is None:
        pairs.append(("Pictures", "not known: the benchmark's folder was not among the sources"))
    else:
        groups = ", ".join(counted(count, kind) for kind, count in sorted((facts.groups or {}).items()))
        pairs.append(("Pictures", f"{facts.pictures:,}{f' ({groups})' if groups else ''}"))
        pairs.append(("Judged pictures", f"{facts.judgments or 0:,}"))
    if facts.grade is not None:
        pairs.append(("Grade of the labels", f"{facts.grade}: {GRADES[facts.grade]} {facts.grade_why}".rstrip()))
    nested = {name: value for name, value in facts.card.items() if isinstance(value, dict)}
    pairs += [(_title(name), _plain(value)) for name, value in facts.card.items() if name not in nested]
    blocks: list[Block] = [FactsBlock(pairs)]
    if facts.labels:
        blocks.append(Fold(f"Labels: {', '.join(facts.labels)}", [_labels(section)]))
    for name, value in nested.items():
        rows = list(_flat(_without_baselines(value) if any(run.scores.baselines for run in section.runs) else value))
        table = TableBlock(f"What the card says under {name}", ("field", "value"), rows)
        blocks.append(Fold(f"{_title(name)}: {counted(len(rows), 'figure')}", [table]))
    return PagePart("What was measured", blocks)


def _without_baselines(card: dict[str, Json]) -> dict[str, Json]:
    """What the card says, less the baselines of its audit: the results show them as they are now."""
    return {name: value for name, value in card.items() if name != "blind"}


def _labels(section: ReportSection) -> TableBlock:
    rows = []
    for label, values in section.facts.labels.items():
        rows.append((label, some((f"{value} ({count:,})" for value, count in values.items()), _VALUES_SHOWN)))
    return TableBlock("Labels and how many tasks have each value", ("label", "values"), rows)


def _flat(value: Json, name: str = "") -> Iterator[tuple[str, str]]:
    """An object's fields and those of the objects in it, each on a line of its own."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _flat(part, f"{name} · {key}" if name else key)
    else:
        yield name, _plain(value)


def _title(name: str) -> str:
    return name[:1].upper() + name[1:].replace("_", " ")


def _plain(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return ", ".join(map(str, value))
    return dump(value).decode().strip()


def provenance(section: ReportSection) -> PagePart:
    """Versions, checksums, parameters and times."""
    facts = section.facts
    pairs = [("Benchmark", facts.name), ("Checksum", facts.checksum or "none: it was never on disk")]
    if facts.version is not None:
        pairs.insert(1, ("Version", facts.version))
    blocks: list[Block] = [FactsBlock(pairs)]
    if section.runs:
        head = ("system", "folder", "run", "scored", "benchmark", "seed", "versions", "parameters")
        table = TableBlock("The runs", head, [_row(run) for run in section.runs])
        blocks.append(Fold("Runs: versions, parameters and dates", [table]))
    return PagePart("Versions and checksums", blocks)


def _row(run: ReportedRun) -> Row:
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
