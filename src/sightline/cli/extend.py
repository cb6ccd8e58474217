"""`sightline extend BENCH RUN… --out BENCH2`."""

from __future__ import annotations

from pathlib import Path

from sightline.authoring.extend import extend as extend_benchmark
from sightline.cli.options import Common, Positive, described_by


@described_by(extend_benchmark)
def extend(benchmark: Path, /, *runs: Path, out: Path, depth: Positive = 10, common: Common = Common()) -> None:
    """Make the next version of a benchmark, in which what new runs found and nobody judged is to be judged.

    Labels and tasks stay, so runs of the version before keep their scores. Says for each system how much is judged,
    its score with and without unjudged results, and whether its rank hangs on labels that it alone brought.

    Parameters
    ----------
    runs:
        New runs: folders, files of results (TREC, ranx, CSV), or folders of these.
    """
    common.ignores_limit()
    done = extend_benchmark(benchmark, runs, out, depth=depth)
    common.warn(done.warnings)
    common.show(done)
