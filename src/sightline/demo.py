"""The flow on built-in samples, as far as its stages have landed: pictures, corpus, benchmark, runs, scores, report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sightline import bench
from sightline.config import Config
from sightline.corpus.scan import ScanSummary, scan
from sightline.errors import UserError
from sightline.io import PathLike, write_whole
from sightline.run import write_run
from sightline.samples import sample_benchmark, sample_runs, write_samples
from sightline.score.compare import Comparison
from sightline.verbs import compare, report, score

_MARK = ".sightline-demo"
_OWNERS = {"scan": {"owner_pattern": "{owner}/*"}}


@dataclass(frozen=True, slots=True)
class Demo:
    """What the demo made, and where; without a benchmark of one's own there is only the scan."""

    folder: Path
    scanned: ScanSummary
    tasks: int = 0
    comparison: Comparison | None = None
    page: Path | None = None


def _own_folder(out: Path, seed: int) -> None:
    """An empty folder, or one that an earlier demo with the same seed made; nobody else's."""
    mark = out / _MARK
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not mark.is_file())):
        raise UserError(f"{out} holds other things; the demo leaves it as it is.", "choose another place: --out DIR")
    if mark.is_file() and mark.read_text("utf-8") != str(seed):
        raise UserError(f"{out} holds a demo with another seed.", "choose another place: --out DIR")
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(mark, str(seed).encode())
    except OSError as error:
        raise UserError(f"{out} can't be written: {error.strerror}.", "choose another place: --out DIR") from None


def run_demo(folder: PathLike, *, pictures: PathLike | None = None, seed: int = 0) -> Demo:
    """Show the flow in a folder; with `pictures`, on the user's own, as far as that goes without a benchmark."""
    out = Path(folder)
    if pictures is not None:
        return Demo(out, scan(pictures, workspace=out / "workspace"))
    _own_folder(out, seed)
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
