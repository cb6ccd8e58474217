"""How long a summary of 100,000 judged pairs takes: 2,500 queries over 20,000 pictures, PNG files included."""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from make_publishing import make_project
from sightline.authoring.summary import SummaryStage


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = make_project(Path(folder) / "p", pictures=20_000, queries=2_500, pool=40, files=False)
        wall, processor = time.perf_counter(), time.process_time()
        result = SummaryStage().run(project)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    for line in result.warnings:
        print(line)
    counts = result.counts
    print(f"{counts['pairs']:,} pairs, {counts['charts']} PNG files: {wall:.1f} s, {processor:.1f} s of CPU")


if __name__ == "__main__":
    main()
