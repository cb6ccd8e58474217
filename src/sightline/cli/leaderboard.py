"""`sightline leaderboard DIR`."""

from __future__ import annotations

from pathlib import Path

from sightline.cli.options import Common, Switch


def leaderboard(
    directory: Path,
    /,
    *,
    metric: str | None = None,
    out: Path | None = None,
    rehearsal: Switch = False,
    common: Common = Common(),
) -> None:
    """Rank all runs below a folder, by benchmark; writes leaderboard.md, .csv and .json.

    Parameters
    ----------
    directory:
        A folder that holds the folders of runs, at any depth.
    metric:
        What to rank by; the first metric of the benchmark when not given.
    out:
        Where to write the three files; the folder itself when not given.
    rehearsal:
        Rank also on benchmarks whose labels are by built-in models and nobody checked.
    """
    from sightline.metrics.tables import warning_text
    from sightline.reports.leaderboard import leaderboard as rank_runs

    found = rank_runs(directory, metric, out=out, rehearsal=rehearsal)
    common.show(found)
    if not common.json:
        common.warn(map(warning_text, found.warnings))
