"""What the runs cost, how long answers took, and how long an index took to build."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.english import counted
from sightline.markup import Markup
from sightline.reports.blocks import Block, Cell, ChartsBlock, Fold, NotesBlock, PagePart, Row, TableBlock, numeric
from sightline.reports.charts import Point, cost_plot
from sightline.reports.scored_run import ReportedRun, attempts_by_task, only, spending
from sightline.reports.sections import ReportSection
from sightline.reports.text import DASH, seconds
from sightline.runs.summary import Latency, latency_of

_UNKNOWN = ("unknown", "not recorded")


def costs(section: ReportSection, ident: str) -> PagePart:
    """Money, calls, tokens and time of each run; money that is not known is never shown as zero."""
    blocks: list[Block] = [_table(section)]
    missing = list(_missing(section))
    if missing:
        blocks.append(NotesBlock(missing))
    drawings = list(_drawings(section, ident))
    if drawings:
        blocks.append(ChartsBlock(drawings))
    by_model = _by_model(section)
    if len(by_model) > len(section.runs):
        head = ("system", "stage", "model", "calls", "cost")
        blocks.append(
            Fold("By stage and model", [TableBlock("Calls by stage and model", head, by_model, numeric(3, 5))])
        )
    return PagePart("Cost and time", blocks)


def _table(section: ReportSection) -> TableBlock:
    kinds = _token_kinds(section)
    rows: list[Row] = []
    for run in section.runs:
        spent = run.spending
        tokens = [f"{spent.tokens.get(kind, 0):,}" if spent.calls else DASH for kind in kinds]
        rows.append(
            (
                run.name,
                Cell(spent.usd_text, tone="quiet" if spent.usd_text in _UNKNOWN else ""),
                spent.usd_per_task_text,
                seconds(spent.p50),
                seconds(spent.p95),
                Cell(f"{spent.calls:,}", f"{spent.failed:,} failed" if spent.failed else ""),
                *tokens,
            )
        )
    head = ("system", "cost", "per task", "p50", "p95", "calls", *(f"tokens {kind}" for kind in kinds))
    return TableBlock("Cost, time per task (median and 95th percentile) and tokens", head, rows, numeric(1, len(head)))


def _token_kinds(section: ReportSection) -> list[str]:
    """The kinds of token that some run used."""
    kinds = dict.fromkeys(kind for run in section.runs for kind in run.spending.tokens)
    return [kind for kind in kinds if any(run.spending.tokens.get(kind) for run in section.runs)]


def _missing(section: ReportSection) -> Iterator[str]:
    for run in section.runs:
        spent = run.spending
        if not spent.calls:
            yield f"{run.name}: no ledger, so cost and time are not known"
            continue
        if spent.priced < spent.calls:
            yield f"{run.name}: {counted(spent.calls - spent.priced, 'call')} of {spent.calls:,} have no known price"
        if spent.timed < spent.tasks:
            yield f"{run.name}: time is known for {spent.timed:,} of {counted(spent.tasks, 'task')}"


def _drawings(section: ReportSection, ident: str) -> Iterator[Markup]:
    """For each kind of task: its first metric against the cost of exactly its tasks, where two costs are known."""
    for kind, metric in section.headlines.items():
        points = [
            point for series, run in enumerate(section.runs) if (point := _point(run, series, kind, metric)) is not None
        ]
        if len(points) > 1 and any(point.usd for point in points):
            yield cost_plot(f"{metric} against cost ({kind})", points, f"{ident}-cost-{kind}")


def _point(run: ReportedRun, series: int, kind: str, metric: str) -> Point | None:
    found = run.scores.overall.get(metric)
    of_kind = {row.task_id for row in run.scores.tasks if row.kind == kind}
    attempts = {task: count for task, count in attempts_by_task(run.scores).items() if task in of_kind}
    spent = spending(only(run.run.ledger, of_kind), attempts)
    if found is None or not found.n or spent.usd_per_task is None:
        return None
    return Point(series, run.name, spent.usd_per_task, found)


def _by_model(section: ReportSection) -> list[Row]:
    rows: list[Row] = []
    for run in section.runs:
        for stage, model in dict.fromkeys((entry.stage, entry.model) for entry in run.run.ledger):
            calls = [entry for entry in run.run.ledger if (entry.stage, entry.model) == (stage, model)]
            rows.append((run.name, stage, model, f"{len(calls):,}", spending(calls, {}).usd_text))
    return rows


def latency(section: ReportSection) -> PagePart | None:
    """Percentiles of each run's answers with their number; failures are left out."""
    found = [(run.name, latency_of(run.run.ledger)) for run in section.runs]
    if not any(times.n for _, times in found):
        return None
    rows: list[Row] = [(name, *_times(times), f"{times.n:,}") for name, times in found]
    head = ("system", "p50", "p90", "p99", "slowest", "index built in", "n")
    blocks: list[Block] = [TableBlock("Seconds per answer, failures left out", head, rows, numeric(1, len(head)))]
    few = [name for name, times in found if 0 < times.n < 100]
    notes = ["with fewer than 100 answers the p99 is close to the slowest of them"] if few else []
    if any(not times.index_is_whole for _, times in found):
        notes.append("an index whose vectors were made before takes less time to build than a new one")
    if notes:
        blocks.append(NotesBlock(notes))
    return PagePart("Latency", blocks)


def _times(found: Latency) -> Row:
    times = map(seconds, (found.p50, found.p90, found.p99, found.slowest))
    is_whole = found.index is None or found.index_is_whole
    return (*times, Cell(seconds(found.index), "" if is_whole else "vectors partly made before"))
