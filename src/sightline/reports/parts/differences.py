"""Every pair of runs, by how much they differ and whether chance could have done it; and task by task."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from sightline.english import counted
from sightline.metrics.comparison import PairedComparison
from sightline.metrics.scores import TaskScore
from sightline.plain_text import short, signed
from sightline.reports.blocks import Block, Cell, FileLink, Fold, PagePart, Row, TableBlock, Tone, numeric
from sightline.reports.scored_run import ReportedRun
from sightline.reports.sections import FileNames, ReportSection
from sightline.reports.text import DASH, p_value, score

_SHOWN = 60
_PROMPT = 90
ByTask: TypeAlias = Mapping[str, list[TaskScore]]


def differences(section: ReportSection, files: FileNames) -> PagePart | None:
    """Tables of differences, the first metric of each kind of task unfolded; None when nothing was compared."""
    if section.comparison is None:
        return None
    level = section.comparison.level
    headlines = set(section.headlines.values())
    compared = section.comparison.metrics
    first = [metric for metric in compared if metric in headlines] or [compared[0]]
    rest = [metric for metric in compared if metric not in first]
    blocks: list[Block] = [_difference_table(section, first, level)]
    if rest:
        blocks.append(Fold(f"The other metrics: {', '.join(rest)}", [_difference_table(section, rest, level)]))
    blocks.append(FileLink("Every difference, with effect size and unadjusted p", files.pairs))
    return PagePart("Differences", blocks)


def _difference_table(section: ReportSection, metrics: list[str], level: float) -> TableBlock:
    pairs = [pair for metric in metrics for pair in section.pairs(metric)]
    more = f"; {_SHOWN} of {len(pairs):,} shown" if len(pairs) > _SHOWN else ""
    caption = f"Difference over all tasks, failures as zero; p corrected for all pairs of a metric{more}"
    head = ("metric", "system", "against", "difference", f"{level:.0%} interval", "p", "won", "tied", "lost")
    return TableBlock(caption, head, [_difference_row(pair, level) for pair in pairs[:_SHOWN]], numeric(3, 9))


def _difference_row(pair: PairedComparison, level: float) -> Row:
    found = pair.difference
    spread = found.no_interval or f"[{signed(found.low)}, {signed(found.high)}]"
    tone: Tone = "" if pair.is_win(level) else "quiet"
    return (
        Cell(pair.metric, pair.basis),
        pair.second,
        pair.first,
        Cell(signed(found.mean), tone=tone),
        Cell(spread, tone="quiet"),
        Cell(p_value(pair.p_adjusted), pair.no_win_text(level), tone=tone),
        f"{found.wins:,}",
        f"{found.ties:,}",
        f"{found.losses:,}",
    )


def tasks(section: ReportSection, files: FileNames, limit: int) -> PagePart:
    """The first `limit` tasks, those on which the runs differ most first; the file beside the page has all."""
    blocks: list[Block] = [FileLink("Every attempt at every task in every metric", files.per_task)]
    if limit:
        table = _task_table(section, limit)
        blocks.insert(0, Fold(table.caption, [table]))
    return PagePart("Task by task", blocks)


def _task_table(section: ReportSection, limit: int) -> TableBlock:
    runs = [by_task(run) for run in section.runs]
    kinds = {task: rows[0].kind for run in runs for task, rows in run.items()}
    metrics = {task: section.headlines.get(kind, "") for task, kind in kinds.items()}
    order = sorted(kinds, key=lambda task: _rank([mean_score(run.get(task, ()), metrics[task]) for run in runs]))
    prompts = ("prompt",) if section.facts.prompts else ()
    head = ("task", *prompts, "metric", *(run.name for run in section.runs))
    how = "those on which the systems differ most first" if len(runs) > 1 else "the lowest score first"
    return TableBlock(
        caption=f"{min(limit, len(order)):,} of {counted(len(order), 'task')}, {how}",
        head=head,
        rows=[_task_row(section, runs, Cell(task, kinds[task]), metrics[task]) for task in order[:limit]],
        numeric=numeric(len(head) - len(runs), len(head)),
    )


def by_task(run: ReportedRun) -> ByTask:
    """The scores of each task's attempts."""
    found: dict[str, list[TaskScore]] = {}
    for row in run.scores.tasks:
        found.setdefault(row.task_id, []).append(row)
    return found


def mean_score(rows: Iterable[TaskScore], metric: str) -> float | None:
    """The mean over the attempts at a task that have a value."""
    values = [value for row in rows if (value := row.values.get(metric)) is not None]
    return sum(values) / len(values) if values else None


def _rank(values: list[float | None]) -> tuple[float, float]:
    known = [value for value in values if value is not None]
    return (min(known) - max(known), sum(known) / len(known)) if known else (math.inf, 0.0)


def _task_row(section: ReportSection, runs: list[ByTask], task: Cell, metric: str) -> Row:
    prompts = section.facts.prompts
    said = (short(prompts.get(task.text, ""), _PROMPT),) if prompts else ()
    return task, *said, metric or DASH, *(_cell(run, task.text, metric) for run in runs)


def _cell(run: ByTask, task: str, metric: str) -> Cell:
    value = mean_score(run.get(task, ()), metric)
    failed = ", ".join(dict.fromkeys(row.failure for row in run.get(task, ()) if row.failure))
    return Cell(score(value), failed, tone="bad" if failed else "")
