"""The flow on built-in samples, as far as its stages have landed: pictures, corpus, benchmark, runs, scores, report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sightline import bench
from sightline.config import Config
from sightline.corpus.scan import ScanSummary, scan
from sightline.demo.places import own_folder
from sightline.io import PathLike
from sightline.run import write_run
from sightline.samples import sample_benchmark, sample_runs, write_samples
from sightline.score.compare import Comparison
from sightline.verbs import compare, report, score

_OWNERS = {"scan": {"owner_pattern": "{owner}/*"}}


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demo made, and where."""

    folder: Path
    scanned: ScanSummary
    tasks: int
    comparison: Comparison
    page: Path


def run_demo(folder: PathLike, *, seed: int = 0) -> Demo:
    """Show the flow in a folder."""
    out = Path(folder)
    own_folder(out, seed)
    samples = write_samples(out / "pictures", seed=seed)
    scanned = scan(out / "pictures", workspace=out / "workspace", config=Config.model_validate(_OWNERS))
    benchmark = bench.write(sample_benchmark(samples), out / "benchmark")
    folders = []
    for run in sample_runs(benchmark, seed=seed):
        folders.append(out / "runs" / run.system)
        write_run(run, folders[-1])
        score(out / "benchmark", folders[-1], seed=seed)
    comparison = compare(folders, allow_failures_differ=True, seed=seed)
    page = report([out / "benchmark", *folders], out / "report.html")
    return Demo(out, scanned, len(benchmark.tasks), comparison, page)
