"""The scores: what to conclude, systems by metrics, a drawing for each metric, and every estimate in full."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.english import counted, listed
from sightline.report.blocks import Block, Cell, Charts, Fold, Notes, Part, Row, Table, numeric
from sightline.report.charts import Band, Dot, dot_plot
from sightline.report.gather import Section
from sightline.report.markup import Markup
from sightline.report.runs import ScoredRun
from sightline.report.words import DASH, estimate, interval, p_value, score, short, signed
from sightline.types import Estimate

_NAME = 40


def results(section: Section, ident: str) -> Part:
    """What the runs scored, best first in the first metric."""
    if not section.runs:
        return Part("Results", [Notes(["no run on this benchmark was given"])])
    blocks: list[Block] = [
        Notes(findings(section)),
        _table(section),
        Charts(list(_drawings(section, ident))),
        Fold("Every estimate, with the mean over answered tasks", [_estimates(section)]),
    ]
    return Part("Results", blocks)


def findings(section: Section) -> list[str]:
    """For each kind of task: who leads in its first metric, and whether that can be told from chance."""
    return [_finding(section, metric, kind) for kind, metric in section.headlines.items()]


def _finding(section: Section, metric: str, kind: str) -> str:
    found = {run.name: run.scores.overall[metric] for run in section.runs if metric in run.scores.overall}
    ranked = sorted(found, key=lambda name: -found[name].mean)
    best = ranked[0]
    tasks, value = f"{kind} ({counted(found[best].n, 'task')})", estimate(found[best])
    letters = section.letters(metric)
    if len(ranked) == 1 or not letters:
        return f"{tasks}: {short(best, _NAME)} scored {value} in {metric}."
    tied = [short(name, _NAME) for name in ranked[1:] if set(letters[name]) & set(letters[best])]
    if not tied:
        lead = _lead(section, metric, best, ranked[1])
        return f"{tasks}: {short(best, _NAME)} leads in {metric} with {value}, {lead}."
    several = listed(tied if len(tied) <= 4 else [*tied[:3], f"{len(tied) - 3} more"])
    return f"{tasks}: {short(best, _NAME)} is highest in {metric} with {value}, but can't be told apart from {several}."


def _lead(section: Section, metric: str, best: str, second: str) -> str:
    pair = next(pair for pair in section.pairs(metric) if {pair.first, pair.second} == {best, second})
    p = p_value(pair.p_adjusted)
    lead = pair.difference.mean if pair.second == best else -pair.difference.mean
    return f"{signed(lead)} against {short(second, _NAME)} (p {p if p.startswith('<') else f'= {p}'})"


def _table(section: Section) -> Table:
    metrics = section.metrics
    letters = {metric: section.letters(metric) for metric in metrics}
    rows: list[Row] = []
    for run in section.runs:
        cells = [_cell(run.scores.overall.get(metric), letters[metric].get(run.name, "")) for metric in metrics]
        rows.append((run.name, *cells, _failures(run)))
    lettered = "; systems that share a letter can't be told apart" if section.comparison else ""
    caption = f"Mean and {section.runs[0].scores.level:.0%} interval{lettered}"
    return Table(caption, ("system", *metrics, "failures"), rows, numeric(1, len(metrics) + 2))


def _cell(found: Estimate | None, letters: str) -> Cell:
    if found is None or not found.n:
        return Cell(DASH, tone="quiet")
    return Cell(score(found.mean), interval(found), letters)


def _failures(run: ScoredRun) -> Cell:
    failed = sum(run.scores.failures.values())
    return Cell(f"{failed:,}", f"of {len(run.scores.tasks):,}", tone="bad" if failed else "")


def _drawings(section: Section, ident: str) -> Iterator[Markup]:
    """One for each metric that some task has a value in."""
    for number, metric in enumerate(section.metrics):
        bands = [
            Band(run.name, [Dot(series, run.name, found)])
            for series, run in enumerate(section.runs)
            if (found := run.scores.overall.get(metric)) is not None and found.n
        ]
        if bands:
            yield dot_plot(metric, bands, f"{ident}-m{number}")


def _estimates(section: Section) -> Table:
    head = ("metric", "system", "mean", "interval", "n", "failures", "answered", "chance", "interval by")
    rows: list[Row] = []
    for metric in section.metrics:
        for run in section.runs:
            found = run.scores.overall.get(metric)
            if found is None:
                continue
            chance = run.scores.chance.get(metric)
            rows.append(
                (
                    metric,
                    run.name,
                    score(found.mean),
                    interval(found),
                    f"{found.n:,}",
                    f"{found.failures:,}",
                    DASH if found.answered is None else score(found.answered),
                    DASH if chance is None else score(chance),
                    found.method,
                )
            )
    return Table("Every estimate; chance is what texts of unrelated tasks score", head, rows, numeric(2, 9))
