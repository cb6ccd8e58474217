"""Scores and comparisons as people read them: tables of plain text and of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sightline.display import html_table, interval_bar, quiet
from sightline.english import counted, listed
from sightline.markup import Markup, tag
from sightline.metrics.labels.corrected import CORRECTED
from sightline.plain_text import text_table
from sightline.types import Estimate, ScoreWarning

if TYPE_CHECKING:
    from sightline.metrics.blind_rows import BaselineScore
    from sightline.metrics.comparison import Comparison, PairedComparison
    from sightline.metrics.scores import Scores

_COLUMNS = 4
"""Metrics side by side in a table of systems."""
_HEAD = ("metric", "mean", "interval", "n", "failures", "answered")


def estimates_text(estimates: Mapping[str, Estimate]) -> str:
    """One metric a line, with its interval."""
    return text_table(_HEAD, [_cells(name, found) for name, found in estimates.items()], right={1, 3, 4, 5})


def _cells(name: str, found: Estimate) -> tuple[str, ...]:
    answered = "–" if found.answered is None else f"{found.answered:z.3f}"
    interval = (found.no_interval or f"{found.interval_text()} {found.level:.0%}") if found.n else "–"
    mean = f"{found.mean:z.3f}" if found.n else "–"
    return name, mean, interval, f"{found.n:,}", f"{found.failures:,}", answered


def estimates_html(estimates: Mapping[str, Estimate]) -> Markup:
    """The same with each interval drawn on a line from 0 to 1, or further where a metric goes beyond."""
    ends = [end for found in estimates.values() for end in found.interval or (found.mean,)]
    first, last = min([0.0, *ends]), max([1.0, *ends])
    rows = []
    for name, found in estimates.items():
        metric, mean, interval, *counts = _cells(name, found)
        drawn = interval_bar(found.mean, found.interval, first, last) if found.n else Markup("")
        rows.append((metric, mean, interval, drawn, *counts))
    head = (*_HEAD[:3], f"{first:g} to {last:g}", *_HEAD[3:])
    return html_table(head, rows, numeric={1, 4, 5, 6}, most=100)


def scores_text(scores: Scores, failures: Mapping[str, int], by: str | None = None) -> str:
    """The table of the metrics that were asked for; their slices `by` a label; failures; what an agent missed."""
    shown = scores.shown
    parts = [estimates_text({name: scores.overall[name] for name in shown})] if shown else []
    for value, estimates in scores.slices(by).items() if by is not None else ():
        parts += [f"  {by}: {value}", estimates_text(estimates)]
    parts += [f"  {line}" for line in _hole_lines(scores)]
    parts += corrected_text(scores)
    parts += baselines_text(scores)
    parts += [f"  {line}" for line in _failures(failures)]
    if scores.attribution is not None:
        parts.append(_missed_text(scores.attribution))
    return "\n".join([*parts, *trust_text(scores.grade, scores.warnings)])


def trust_text(grade: str | None, warnings: Iterable[ScoreWarning]) -> list[str]:
    """`labels: rehearsal · warnings: same-source`, where there is something to say: generated labels, or a warning."""
    codes = ", ".join(dict.fromkeys(one.code for one in warnings))
    said = [f"labels: {grade}"] * (grade not in (None, "given")) + [f"warnings: {codes}"] * bool(codes)
    return [f"  {' · '.join(said)}"] if said else []


def grade_blocks(grade: str | None) -> Iterator[str]:
    """What a notebook shows of a grade; the warnings have lines of their own."""
    return (quiet(line.strip()) for line in trust_text(grade, ()))


def _hole_lines(scores: Scores) -> list[str]:
    """How many results nobody judged, and the first metric without them; nothing where all are judged."""
    if not scores.unjudged:
        return []
    beside = "".join(
        f"; {name} without the others: {one} (condensed)" for name, one in scores.condensed.items() if one.n
    )
    return [f"judged@{scores.unjudged_depth}: {1 - scores.unjudged:.1%} of the results{beside}"]


_BASELINES = ("sees no pixel", "metric", "mean", "interval", "system − baseline")
_BY_LABELS = " (by the labels, not corrected)"


def _baseline_head(scores: Scores) -> tuple[str, ...]:
    return (_BASELINES[0] + (_BY_LABELS if _corrected_rows(scores) else ""), *_BASELINES[1:])


def _baseline_rows(scores: Scores) -> list[tuple[str, ...]]:
    """The baselines in the first metric that is shown and that they were scored in, best first."""
    known = {row.metric for row in scores.baselines}
    metric = next((name for name in scores.shown if name in known), None)
    rows = sorted((row for row in scores.baselines if row.metric == metric), key=lambda row: -row.estimate.mean)
    return [
        (row.name, row.metric, f"{row.estimate.mean:.3f}", row.estimate.interval_text(), _less(row)) for row in rows
    ]


def _less(row: BaselineScore) -> str:
    found = row.difference
    spread = found.no_interval or f"[{found.low:+z.3f}, {found.high:+z.3f}]"
    verdict = "" if row.beaten else ", not beaten" if found.reason is None else ", can't be told"
    return f"{found.mean:+z.3f} {spread}{verdict}"


_CORRECTED = ("corrected by people's decisions", "mean", "interval", "decisions")


def _corrected_rows(scores: Scores) -> list[tuple[str, ...]]:
    return [
        (name, f"{one.mean:z.3f}", f"[{one.low:z.3f}, {one.high:z.3f}] {one.level:.0%}", f"{one.decisions:,}")
        for name, one in scores.corrected.items()
        if name in scores.shown
    ]


def corrected_text(scores: Scores) -> list[str]:
    """The corrected scores beside the plain ones; nothing where people have not decided on a draw."""
    rows = _corrected_rows(scores)
    return [text_table(_CORRECTED, rows, right={1, 3})] if rows else []


def baselines_text(scores: Scores) -> list[str]:
    """The table of baselines that see no pixel; nothing where none was scored."""
    rows = _baseline_rows(scores)
    return [text_table(_baseline_head(scores), rows, right={2})] if rows else []


def warning_text(warning: ScoreWarning) -> str:
    """`blind-not-beaten: what is wrong. What to do.`"""
    return f"{warning.code}: {warning.message} {warning.fix}"


def warning_blocks(warnings: Iterable[ScoreWarning]) -> Iterator[str]:
    """What a notebook shows of warnings."""
    return (tag("p", f"Warning: {warning_text(one)}", class_="sl-bad") for one in warnings)


def _failures(failures: Mapping[str, int]) -> list[str]:
    listed = ", ".join(f"{kind} {count:,}" for kind, count in failures.items())
    return [f"failures, counted as zero: {listed}"] if listed else []


def _right(missed: Mapping[str, Any]) -> str:
    attempts = missed["attempts"]
    return f"{missed['right']:,} of {counted(attempts, 'attempt')} {'is' if attempts == 1 else 'are'} right"


_MISSED = ("missed pictures", "", "wrong attempts", "")


def _missed_rows(missed: Mapping[str, Any]) -> list[list[str]]:
    """Why an agent missed pictures, and which errors its attempts made, side by side."""
    sides = [[(name, f"{count:,}") for name, count in missed[what].items()] for what in ("misses", "errors")]
    return [
        [part for side in sides for part in (side[row] if row < len(side) else ("", ""))]
        for row in range(max(map(len, sides)))
    ]


def _missed_text(missed: Mapping[str, Any]) -> str:
    return f"  {_right(missed)}\n{text_table(_MISSED, _missed_rows(missed), right={1, 3})}"


def scores_blocks(scores: Scores, failures: Mapping[str, int], notes: Sequence[str]) -> Iterator[str]:
    """What a notebook shows of scores."""
    if scores.shown:
        yield estimates_html({name: scores.overall[name] for name in scores.shown})
    if rows := _corrected_rows(scores):
        yield html_table(_CORRECTED, rows, numeric={1, 3})
    if rows := _baseline_rows(scores):
        yield html_table(_baseline_head(scores), rows, numeric={2})
    yield from grade_blocks(scores.grade)
    yield from (quiet(line) for line in _hole_lines(scores))
    yield from (tag("p", line, class_="sl-bad") for line in _failures(failures))
    yield from warning_blocks(scores.warnings)
    if scores.attribution is not None:
        yield _right(scores.attribution)
        yield html_table(_MISSED, _missed_rows(scores.attribution), numeric={1, 3})
    yield from (quiet(f"Note: {note}") for note in notes)


def comparison_text(comparison: Comparison) -> str:
    """For each pair a line per metric; before them, for three runs or more, who is in which tie group."""
    lines = [standings_text(comparison), ""] if len(comparison.systems) > 2 else []
    by_systems: dict[tuple[str, str], list[PairedComparison]] = {}
    for pair in comparison.pairs:
        by_systems.setdefault((pair.second, pair.first), []).append(pair)
    width = max((len(metric) for metric in comparison.metrics), default=0)
    for (second, first), pairs in by_systems.items():
        lines.append(f"{second} against {first}")
        for pair in pairs:
            lines += _pair_lines(pair, width, comparison)
    lines += _baseline_lines(comparison)
    lines += [f"note: {note}" for note in comparison.notes]
    return "\n".join([*lines, *trust_text(comparison.grade, comparison.warnings)])


def _baseline_lines(comparison: Comparison) -> list[str]:
    """The baselines that see no pixel, in the first metric that they were scored in."""
    metric = next((name for name in comparison.metrics if name in comparison.baselines), None)
    if metric is None:
        return []
    rows = comparison.baselines[metric]
    width = max(len(row.system) for row in rows)
    said = _BY_LABELS if metric in _corrected_metrics(comparison) else ""
    return [f"see no pixel, {metric}{said}:", *(f"  {row.system:<{width}}  {row.estimate:.2f}" for row in rows)]


def standings_text(comparison: Comparison) -> str:
    """Every system in every metric, with its interval and the letters of its tie groups."""
    lines = _corrected_lines(comparison)
    for start in range(0, len(comparison.metrics), _COLUMNS):
        lines += [_standings_table(comparison, comparison.metrics[start : start + _COLUMNS]), ""]
    return "\n".join([*lines, f"letters: systems that can't be told apart{_withheld(comparison)} share one"])


def _withheld(comparison: Comparison) -> str:
    """Of a legend of letters: tie groups join systems that differ where the better one may not be called better."""
    level = comparison.level
    is_any = any(pair.significant(level) and not pair.is_win(level) for pair in comparison.pairs)
    return ", or may not be called better (no win)," if is_any else ""


def _corrected_metrics(comparison: Comparison) -> list[str]:
    """The metrics in which systems stand by what people decided."""
    return [name for name, rows in comparison.standings.items() if rows[0].estimate.method == CORRECTED]


def _corrected_lines(comparison: Comparison) -> list[str]:
    found = _corrected_metrics(comparison)
    return [f"{listed(found)}: corrected by people's decisions"] if found else []


def _standings_table(comparison: Comparison, metrics: Sequence[str]) -> str:
    """Systems, in the order of the first metric, by metrics."""
    cells = {
        (standing.system, metric): f"{standing.estimate:.2f} {standing.letters}"
        for metric in metrics
        for standing in comparison.standings[metric]
    }
    order = [standing.system for standing in comparison.standings[metrics[0]]]
    rows = [(system, *(cells[system, metric] for metric in metrics)) for system in order]
    return text_table(("system", *metrics), rows)


def _pair_lines(pair: PairedComparison, width: int, comparison: Comparison) -> list[str]:
    found, level = pair.difference, comparison.level
    is_clustered = comparison.clustered_by is not None and found.method in ("cluster-bootstrap", CORRECTED)
    clustered = f", clustered by {comparison.clustered_by}" if is_clustered else ""
    no_win = f"; {pair.no_win_text(level)}" if pair.no_win_text(level) else ""
    lines = [
        f"  {pair.metric:<{width}}  {pair.difference_text()}  {pair.p_text()}  "
        f"({found.n} tasks{clustered}; {found.wins} won, {found.ties} tied, {found.losses} lost){no_win}"
    ]
    if pair.basis:
        lines.append(f"  {'':<{width}}  {pair.basis}")
    for label, values in pair.by_label.items():
        if len(values) > 1:
            parts = ", ".join(f"{value} {part.mean:+z.2f}" for value, part in values.items())
            lines.append(f"  {'':<{width}}  {label}: {parts}")
    return lines


def comparison_blocks(comparison: Comparison) -> Iterator[str]:
    """What a notebook shows of a comparison: who stands where, then every difference with its interval."""
    yield from map(quiet, _corrected_lines(comparison))
    yield _standings(comparison)
    yield from grade_blocks(comparison.grade)
    yield quiet(f"Systems that share a letter can't be told apart{_withheld(comparison).rstrip(',')}.")
    yield _differences(comparison.pairs, comparison.level)
    if any(pair.is_win(comparison.level) for pair in comparison.pairs):
        yield quiet(f"* The two can be told apart at the level of {comparison.level:.0%}, corrected for all pairs.")
    yield from warning_blocks(comparison.warnings)
    yield from (quiet(f"Note: {note}") for note in comparison.notes)


def _standings(comparison: Comparison) -> Markup:
    by_system: dict[str, list[str]] = {}
    first = comparison.metrics[0]
    for standing in comparison.standings[first]:
        by_system[standing.system] = []
    for metric in comparison.metrics:
        for standing in comparison.standings[metric]:
            by_system[standing.system].append(f"{standing.estimate:.3f} {standing.letters}".strip())
    rows = [(system, *cells) for system, cells in by_system.items()]
    names = dict.fromkeys(row.system for metric in comparison.metrics for row in comparison.baselines.get(metric, ()))
    said = _BY_LABELS if _corrected_metrics(comparison) else ""
    for name in names:
        found = {metric: row for metric, of in comparison.baselines.items() for row in of if row.system == name}
        rows.append(
            (
                name + said,
                *(f"{found[metric].estimate:.3f}" if metric in found else "–" for metric in comparison.metrics),
            )
        )
    return html_table(("system", *comparison.metrics), rows, most=100)


def _differences(pairs: Sequence[PairedComparison], level: float) -> Markup:
    intervals = [pair.interval for pair in pairs]
    widest = max([0.01, *(abs(end) for interval in intervals for end in interval or ())])
    rows = [
        (
            pair.metric,
            f"{pair.second} − {pair.first}",
            pair.difference_text(),
            interval_bar(pair.difference.mean, interval, -widest, widest),
            f"{pair.p_text()}{' *' if pair.is_win(level) else ''} {pair.no_win_text(level)}".rstrip(),
            f"{pair.difference.wins:,}/{pair.difference.ties:,}/{pair.difference.losses:,}",
            f"{pair.difference.n:,}",
        )
        for pair, interval in zip(pairs, intervals, strict=True)
    ]
    head = ("metric", "difference", "mean and interval", f"±{widest:.2g}", "p (all pairs)", "won/tied/lost", "n")
    return html_table(head, rows, numeric={4, 5, 6}, most=60)
