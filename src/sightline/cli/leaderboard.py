"""`sightline leaderboard DIR`."""

from __future__ import annotations

from pathlib import Path

from sightline.cli.options import Common, Switch, described_by
from sightline.reports.leaderboard import leaderboard as rank_runs


@described_by(rank_runs)
def leaderboard(
    directory: Path,
    /,
    *,
    metric: str | None = None,
    benchmark: Path | None = None,
    out: Path | None = None,
    rehearsal: Switch = False,
    common: Common = Common(),
) -> None:
    """Rank all runs below a folder, by benchmark; writes leaderboard.md, .csv and .json.

    Parameters
    ----------
    directory:
        A folder that holds the folders of runs, at any depth.
    """
    from sightline.metrics.tables import warning_text

    found = rank_runs(directory, metric, benchmark=benchmark, out=out, rehearsal=rehearsal)
    common.show(found)
    if not common.json:
        common.warn(map(warning_text, found.warnings))
