"""What the learned shortcut test says, in words: for the terminal, the list of problems and the card."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sightline.english import counted
from sightline.metrics.statistics.auc import WithinAuc
from sightline.runs.shortcuts.report import ShortcutReport

_SHOWN = 5


def shortcut_lines(report: ShortcutReport | None) -> Iterator[str]:
    """For a terminal: the AUC of all facts, and each kind of fact that tells labels."""
    if report is None:
        return
    if report.auc is None:
        yield f"Labels told without content: not measured, because {report.unmeasured}"
        return
    yield (
        f"Labels told without content: AUC {auc_text(report.auc)} within "
        f"{counted(report.queries, 'query', 'queries')}, {report.pairs:,} pairs; 0.5 is chance"
    )
    for one in report.given_away:
        yield f"  {one.facts:<32} {auc_text(one.auc)}  {one.by}"


def shortcut_problem(report: ShortcutReport | None) -> Iterator[str]:
    """One line where labels can be told without content, with what gives them away."""
    if report is None or report.auc is None or not report.alarms:
        return
    said = [f"{one.facts} (AUC {auc_text(one.auc)}, {one.by})" for one in report.given_away[:_SHOWN]]
    by = f" What gives them away: {'; '.join(said)}." if said else ""
    yield f"Labels can be told without looking at content: AUC {auc_text(report.auc)} with all facts together.{by}"


def shortcut_summary(report: ShortcutReport | None) -> dict[str, Any]:
    """For a card: the figure with its interval, and the kinds of facts that tell labels."""
    if report is None or report.auc is None:
        return {"auc": None, "unmeasured": None if report is None else report.unmeasured}
    auc = report.auc
    return {
        "auc": {"value": auc.value, "low": auc.low, "high": auc.high, "queries": auc.queries},
        "alarm": report.alarms,
        "given_away_by": [one.facts for one in report.given_away],
    }


def auc_text(auc: WithinAuc) -> str:
    """`0.84 (0.79–0.89)`."""
    return f"{auc.value:.2f} ({auc.low:.2f}–{auc.high:.2f})"
