"""`sightline report RUN… BENCH… --out PAGE`."""

from __future__ import annotations

from pathlib import Path

from sightline.cli.options import Common, Switch, described_by
from sightline.reports.report import report as write_report


@described_by(write_report)
def report(
    *sources: Path,
    out: Path = Path("report.html"),
    md: Switch = False,
    rehearsal: Switch = False,
    common: Common = Common(),
) -> None:
    """Write one page over runs and benchmarks, with CSV files beside it.

    Parameters
    ----------
    out:
        The page: .html (one file, nothing loaded from anywhere) or .md. With --limit N it lists N tasks.
    md:
        Write the page as Markdown, too.
    """
    from sightline.reports.report import ROWS

    rows = ROWS if common.limit is None else common.limit
    written = write_report(sources, out, format="both" if md else None, rows=rows, rehearsal=rehearsal)
    common.show(written)
    if not common.json:
        common.warn(written.warnings)
