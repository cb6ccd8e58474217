"""The scores: what to conclude, systems by metrics, a drawing for each metric, and every estimate in full.

Then recall against the cut-off, repeated attempts, and tasks with nothing to find.
"""

from __future__ import annotations

from collections.abc import Iterator

from sightline.english import counted, listed
from sightline.markup import Markup
from sightline.plain_text import short, signed
from sightline.reports.blocks import (
    Block,
    Cell,
    ChartsBlock,
    Fold,
    Legend,
    NotesBlock,
    PagePart,
    Row,
    TableBlock,
    numeric,
)
from sightline.reports.charts import Band, Curve, PlotDot, curve_plot, dot_plot
from sightline.reports.scored_run import ReportedRun
from sightline.reports.sections import ReportSection
from sightline.reports.text import DASH, LETTERS, estimate, interval, p_value, score
from sightline.runs.trust import CHECK_FIX, REHEARSAL, is_circular, is_rehearsal
from sightline.types import Estimate, TaskKind

_NAME = 40


def results(section: ReportSection, ident: str) -> PagePart:
    """What the runs scored, best first in the first metric."""
    if not section.runs:
        return PagePart("Results", [NotesBlock(["no run on this benchmark was given"])])
    blocks: list[Block] = [
        NotesBlock(findings(section)),
        _score_table(section),
        *_baselines(section),
        ChartsBlock(list(_drawings(section, ident))),
        Fold("Every estimate, with the mean over answered tasks", [_estimates(section)]),
    ]
    return PagePart("Results", blocks)


def findings(section: ReportSection) -> list[str]:
    """For each kind of task: who leads in its first metric, and whether that can be told from chance."""
    return [_finding(section, metric, kind) for kind, metric in section.headlines.items()]


def _finding(section: ReportSection, metric: str, kind: str) -> str:
    found = {run.name: run.scores.overall[metric] for run in section.runs if metric in run.scores.overall}
    letters = section.letters(metric)
    if not letters:
        return _uncompared(section, metric, kind)
    ranked = sorted(found, key=lambda name: -found[name].mean)
    best = ranked[0]
    tasks, value = f"{kind} ({counted(found[best].n, 'task')})", estimate(found[best])
    tied = [short(name, _NAME) for name in ranked[1:] if set(letters[name]) & set(letters[best])]
    if not tied:
        lead = _lead(section, metric, best, ranked[1])
        return f"{tasks}: {short(best, _NAME)} leads in {metric} with {value}, {lead}."
    withheld = _withheld(section, metric, best)
    if withheld is not None:
        return (
            f"{tasks}: {short(best, _NAME)} is highest in {metric} with {value}, but is not called better: {withheld}."
        )
    several = listed(tied if len(tied) <= 4 else [*tied[:3], f"{len(tied) - 3} more"])
    return f"{tasks}: {short(best, _NAME)} is highest in {metric} with {value}, but can't be told apart from {several}."


def _uncompared(section: ReportSection, metric: str, kind: str) -> str:
    """The highest score of a system that is independent of the labels; none on labels for trying things out."""
    runs = [run for run in section.runs if metric in run.scores.overall]
    tasks = f"{kind} ({counted(runs[0].scores.overall[metric].n, 'task')})"
    if any(is_rehearsal(run.scores) for run in runs):
        return f"{tasks}: no score in {metric} is a result, because {REHEARSAL}. {CHECK_FIX}"
    own = [run for run in runs if not is_circular(run.scores)]
    best = max(own or runs, key=lambda run: run.scores.overall[metric].mean)
    but = "" if own else ", by labels that it is not independent of (same-source)"
    return f"{tasks}: {short(best.name, _NAME)} scored {estimate(best.scores.overall[metric])} in {metric}{but}."


def _withheld(section: ReportSection, metric: str, best: str) -> str | None:
    """The warning for which the first one is not a winner although it can be told apart from another."""
    level = 0.95 if section.comparison is None else section.comparison.level
    pairs = [pair for pair in section.pairs(metric) if best in (pair.first, pair.second)]
    return next((pair.no_win for pair in pairs if pair.significant(level) and pair.no_win is not None), None)


def _lead(section: ReportSection, metric: str, best: str, second: str) -> str:
    pair = next(pair for pair in section.pairs(metric) if {pair.first, pair.second} == {best, second})
    p = p_value(pair.p_adjusted)
    lead = pair.difference.mean if pair.second == best else -pair.difference.mean
    return f"{signed(lead)} against {short(second, _NAME)} (p {p if p.startswith('<') else f'= {p}'})"


def _score_table(section: ReportSection) -> TableBlock:
    metrics = section.metrics
    letters = {metric: section.letters(metric) for metric in metrics}
    rows: list[Row] = []
    for run in section.runs:
        cells = [_cell(run.scores.overall.get(metric), letters[metric].get(run.name, "")) for metric in metrics]
        rows.append((run.name, *cells, _failures(run)))
    compared = () if section.comparison is None else section.comparison.pairs
    lettered = f"; {LETTERS}" if compared else ""
    basis = ", by corrected differences" if any(pair.as_labelled is not None for pair in compared) else ""
    caption = f"Mean and {section.runs[0].scores.level:.0%} interval{', by the labels' * bool(basis)}{lettered}{basis}"
    return TableBlock(caption, ("system", *metrics, "failures"), rows, numeric(1, len(metrics) + 2))


def _baselines(section: ReportSection) -> list[TableBlock]:
    """Systems that see no pixel, best first in the first metric that they were scored in."""
    found = {metric: {row.name: row.estimate for row in section.baselines(metric)} for metric in section.metrics}
    metrics = [metric for metric, rows in found.items() if rows]
    names = dict.fromkeys(name for metric in metrics for name in found[metric])
    rows: list[Row] = [(name, *(_cell(found[metric].get(name), "") for metric in metrics)) for name in names]
    caption = "Baselines that see no pixel; a system that is not above all of them is not called better than another"
    return [TableBlock(caption, ("system", *metrics), rows, numeric(1, len(metrics) + 1))] if rows else []


def _cell(found: Estimate | None, letters: str) -> Cell:
    if found is None or not found.n:
        return Cell(DASH, tone="quiet")
    return Cell(score(found.mean), interval(found), letters)


def _failures(run: ReportedRun) -> Cell:
    failed = sum(run.scores.failures.values())
    return Cell(f"{failed:,}", f"of {len(run.scores.tasks):,}", tone="bad" if failed else "")


def _drawings(section: ReportSection, ident: str) -> Iterator[Markup]:
    """One for each metric that some task has a value in."""
    for number, metric in enumerate(section.metrics):
        bands = [
            Band(run.name, [PlotDot(series, run.name, found)])
            for series, run in enumerate(section.runs)
            if (found := run.scores.overall.get(metric)) is not None and found.n
        ]
        if bands:
            yield dot_plot(metric, bands, f"{ident}-m{number}")


def _estimates(section: ReportSection) -> TableBlock:
    head = ("metric", "system", "mean", "interval", "n", "failures", "answered", "chance", "interval by")
    rows: list[Row] = []
    for metric in section.metrics:
        for run in section.runs:
            found = run.scores.overall.get(metric)
            if found is None:
                continue
            rows.append(
                (
                    metric,
                    run.name,
                    score(found.mean),
                    interval(found),
                    f"{found.n:,}",
                    f"{found.failures:,}",
                    score(found.answered),
                    score(run.scores.chance.get(metric)),
                    found.method,
                )
            )
    return TableBlock("Every estimate; chance is what texts of unrelated tasks score", head, rows, numeric(2, 9))


def recall(section: ReportSection, ident: str) -> PagePart | None:
    """A drawing and a table for each kind of task that some run answers with rankings."""
    blocks: list[Block] = []
    kinds = dict.fromkeys(kind for run in section.runs for kind in run.scores.recall)
    curves = {kind: _curves(section, kind) for kind in kinds}
    if not curves:
        return None
    if len(section.runs) > 1:
        blocks.append(Legend([run.name for run in section.runs]))
    drawings = [
        curve_plot(f"Recall against cut-off ({kind})", of_kind, "results looked at", f"{ident}-recall-{kind}")
        for kind, of_kind in curves.items()
    ]
    blocks.append(ChartsBlock(drawings))
    blocks += [_recall_table(kind, of_kind) for kind, of_kind in curves.items()]
    return PagePart("Recall against cut-off", blocks)


def _curves(section: ReportSection, kind: TaskKind) -> list[Curve]:
    return [
        Curve(series, run.name, {point.k: point.found for point in run.scores.recall[kind]})
        for series, run in enumerate(section.runs)
        if kind in run.scores.recall
    ]


def _recall_table(kind: TaskKind, curves: list[Curve]) -> TableBlock:
    cuts = sorted({k for curve in curves for k in curve.points})
    rows: list[Row] = []
    for curve in curves:
        points = [curve.points.get(k) for k in cuts]
        cells = [Cell(DASH) if found is None else Cell(score(found.mean), interval(found)) for found in points]
        tasks = max(found.n for found in curve.points.values())
        rows.append((curve.name, *cells, f"{tasks:,}"))
    head = ("system", *(f"@{k:,}" for k in cuts), "n")
    return TableBlock(f"Recall of {kind} tasks that have something to find", head, rows, numeric(1, len(head)))


def beside(section: ReportSection) -> PagePart | None:
    """Tables for runs with repeated attempts and for tasks with nothing to find; None when there are neither."""
    blocks: list[Block] = [*_repeats(section), *_abstentions(section)]
    return PagePart("Beside the scores", blocks) if blocks else None


def _repeats(section: ReportSection) -> list[TableBlock]:
    rows: list[Row] = [
        (
            metric,
            run.name,
            f"{found.runs:,}",
            ", ".join(map(score, found.run_means)),
            score(found.between_run_sd),
            score(found.intraclass),
            ", ".join(map(score, run.scores.best_of.get(metric, ()))) or DASH,
        )
        for metric in section.metrics
        for run in section.runs
        if (found := run.scores.repeated.get(metric)) is not None
    ]
    head = ("metric", "system", "attempts", "mean of each", "sd between", "variance by task", "best of 1, 2, …")
    return [TableBlock("Repeated attempts", head, rows, numeric(2, 7))] if rows else []


def _abstentions(section: ReportSection) -> list[TableBlock]:
    found = [(run.name, run.scores.abstention) for run in section.runs]
    rows: list[Row] = [
        (
            name,
            f"{seen.empty:,} of {seen.tasks:,}",
            f"{seen.right:,}",
            f"{seen.false_answers:,}",
            score(seen.precision),
            score(seen.recall),
        )
        for name, seen in found
        if seen is not None
    ]
    head = ("system", "tasks with nothing to find", "rightly empty", "something returned", "precision", "recall")
    return [TableBlock("Tasks with nothing to find", head, rows, numeric(1, 6))] if rows else []
