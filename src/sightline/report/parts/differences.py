"""Every pair of runs: by how much they differ, and whether chance could have done it."""

from __future__ import annotations

from sightline.report.blocks import Block, Cell, FileLink, Fold, Part, Row, Table, Tone, numeric
from sightline.report.files import FileNames
from sightline.report.gather import Section
from sightline.report.words import p_value, signed
from sightline.score.compare import Pair

_SHOWN = 60


def differences(section: Section, files: FileNames) -> Part | None:
    """Tables of differences, the first metric of each kind of task unfolded; None when nothing was compared."""
    if section.comparison is None:
        return None
    level = section.comparison.level
    headlines = set(section.headlines.values())
    compared = section.comparison.metrics
    first = [metric for metric in compared if metric in headlines] or [compared[0]]
    rest = [metric for metric in compared if metric not in first]
    blocks: list[Block] = [_table(section, first, level)]
    if rest:
        blocks.append(Fold(f"The other metrics: {', '.join(rest)}", [_table(section, rest, level)]))
    blocks.append(FileLink("Every difference, with effect size and unadjusted p", files.pairs))
    return Part("Differences", blocks)


def _table(section: Section, metrics: list[str], level: float) -> Table:
    pairs = [pair for metric in metrics for pair in section.pairs(metric)]
    more = f"; {_SHOWN} of {len(pairs):,} shown" if len(pairs) > _SHOWN else ""
    caption = f"Difference over all tasks, failures as zero; p corrected by Holm within a metric{more}"
    head = ("metric", "system", "against", "difference", f"{level:.0%} interval", "p", "won", "tied", "lost")
    return Table(caption, head, [_row(pair, level) for pair in pairs[:_SHOWN]], numeric(3, 9))


def _row(pair: Pair, level: float) -> Row:
    found = pair.difference
    spread = "no spread" if found.method == "none" else f"[{signed(found.low)}, {signed(found.high)}]"
    tone: Tone = "" if pair.significant(level) else "quiet"
    return (
        pair.metric,
        pair.second,
        pair.first,
        Cell(signed(found.mean), tone=tone),
        Cell(spread, tone="quiet"),
        Cell(p_value(pair.p_adjusted), tone=tone),
        f"{found.wins:,}",
        f"{found.ties:,}",
        f"{found.losses:,}",
    )
