"""From TREC files on disk to five metrics: Sightline beside pytrec_eval and ranx, on the same files in one run.

    python benchmarks/score_trec.py [--queries 10000] [--depth 1000] [--rounds 3] [--scores fixed|repr] [--shuffle]

Every contender runs in a process of its own, the contenders in turn, so that a busy machine slows all of them alike.
Time runs from the first byte read to the means of nDCG@10, MAP, RR, P@10 and recall@100; imports, and ranx's
compilation, are not in it. `SIGHTLINE_RANX_PYTHON` names an interpreter that has ranx, where this one hasn't.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

N = TypeVar("N", int, float)
Means = dict[str, float]
Contender = Callable[[Path, Path], Means]

METRICS = ("ndcg@10", "map", "rr", "p@10", "recall@100")
TREC_EVAL = ("ndcg_cut_10", "map", "recip_rank", "P_10", "recall_100")


@dataclass(frozen=True)
class Figures:
    """What one contender took: seconds by the clock and of the processor, peak memory, seconds to get ready."""

    wall: float
    cpu: float
    megabytes: float
    ready: float
    means: Means


def make_files(folder: Path, options: argparse.Namespace) -> tuple[Path, Path]:
    """A run of `depth` results a query in falling order, and 100 judgments a query, half of them on results."""
    import numpy as np

    rng = np.random.default_rng(options.seed)
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    write = (lambda score: f"{score:.6f}") if options.scores == "fixed" else repr
    with qrels.open("w") as qrels_file, run.open("w") as run_file:
        for query in range(options.queries):
            documents = (rng.permutation(200 * options.depth)[: options.depth + 50]).tolist()
            scores = np.sort(rng.random(options.depth) * 20)[::-1].tolist()
            judged = [documents[i] for i in rng.choice(options.depth, min(50, options.depth), replace=False)]
            judged += documents[options.depth :]
            grades = rng.integers(0, 4, len(judged)).tolist()
            qrels_file.writelines(f"q{query} 0 img{d:07d} {g}\n" for d, g in zip(judged, grades, strict=True))
            lines = [
                f"q{query} Q0 img{d:07d} {rank} {write(score)} base\n"
                for rank, (d, score) in enumerate(zip(documents, scores, strict=False), 1)
            ]
            run_file.writelines(rng.permutation(lines) if options.shuffle else lines)
    return qrels, run


def sightline(threads: int | None) -> Contender:
    from sightline.metrics.ranked_formula import formula
    from sightline.metrics.trec.files import read_qrels, read_run
    from sightline.metrics.trec.scoring import score_trec

    formula("map")  # loads every metric, which is part of importing

    def work(qrels: Path, run: Path) -> Means:
        judged, results = read_qrels(qrels, threads=threads), read_run(run, threads=threads)
        scores = score_trec(judged, results, METRICS, threads=threads)
        return {name: scores.mean(name) for name in METRICS}

    return work


def pytrec_eval() -> Contender:
    """pytrec_eval on dicts, read by a plain loop; its own parser was about a sixth faster in the one trial made."""
    import pytrec_eval as reference

    def read(path: Path, column: int, number: Callable[[str], N]) -> dict[str, dict[str, N]]:
        table: dict[str, dict[str, N]] = {}
        last = None
        row: dict[str, N] = {}
        with path.open() as file:
            for line in file:
                fields = line.split()
                if fields[0] != last:
                    last = fields[0]
                    row = table.setdefault(last, {})
                row[fields[2]] = number(fields[column])
        return table

    def work(qrels: Path, run: Path) -> Means:
        gc.disable()  # a third faster: there are millions of objects, and no cycles
        judged, results = read(qrels, 3, int), read(run, 4, float)
        measures = {"ndcg_cut.10", "map", "recip_rank", "P.10", "recall.100"}
        scores = reference.RelevanceEvaluator(judged, measures).evaluate(results).values()
        return {
            ours: sum(row[theirs] for row in scores) / len(scores)
            for ours, theirs in zip(METRICS, TREC_EVAL, strict=True)
        }

    return work


def ranx() -> Contender:
    from ranx import Qrels, Run, evaluate

    names = ["ndcg@10", "map", "mrr", "precision@10", "recall@100"]

    def work(qrels: Path, run: Path) -> Means:
        judged, results = Qrels.from_file(str(qrels), kind="trec"), Run.from_file(str(run), kind="trec")
        scores = evaluate(judged, results, names)
        return {ours: float(scores[theirs]) for ours, theirs in zip(METRICS, names, strict=True)}

    return work


def child(name: str, qrels: Path, run: Path) -> None:
    """Measure one contender, in this process."""
    begin = time.perf_counter()
    contenders = {"sightline": lambda: sightline(None), "sightline-1": lambda: sightline(1)}
    work = {**contenders, "pytrec_eval": pytrec_eval, "ranx": ranx}[name]()
    if name == "ranx":
        _warm_up(work)
    ready = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF)
    means = work(qrels, run)
    wall, after = time.perf_counter() - ready, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps(asdict(Figures(wall, cpu, after.ru_maxrss / 1024, ready - begin, means))))


def _warm_up(work: Contender) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tiny = argparse.Namespace(queries=2, depth=5, seed=0, scores="fixed", shuffle=False)
        work(*make_files(Path(folder), tiny))


def measure(name: str, python: str, qrels: Path, run: Path) -> Figures:
    command = [python, __file__, "--child", name, str(qrels), str(run)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--depth", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scores", choices=["fixed", "repr"], default="fixed")
    parser.add_argument("--shuffle", action="store_true", help="put the lines of each query in random order")
    options = parser.parse_args()
    ranx_python = sys.executable if importlib.util.find_spec("ranx") else os.environ.get("SIGHTLINE_RANX_PYTHON")
    pythons = dict.fromkeys(("sightline", "sightline-1", "pytrec_eval"), sys.executable)
    if ranx_python:
        pythons["ranx"] = ranx_python
    with tempfile.TemporaryDirectory() as folder:
        qrels, run = make_files(Path(folder), options)
        size = (qrels.stat().st_size + run.stat().st_size) / 1e6
        print(f"{options.queries:,} queries x {options.depth:,} results, {size:.0f} MB of text, {os.cpu_count()} cores")
        rounds = [
            {name: measure(name, python, qrels, run) for name, python in pythons.items()} for _ in range(options.rounds)
        ]
    report(rounds, list(pythons))
    if not ranx_python:
        print("ranx is left out: not installed (pip install ranx, or set SIGHTLINE_RANX_PYTHON)")


def report(rounds: list[dict[str, Figures]], names: list[str]) -> None:
    print(f"median of {len(rounds)} rounds; ratios to sightline by the clock, and to sightline-1 (one thread) per core")
    print(f"{'':14}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}{'import+compile s':>18}{'ratio':>9}{'per core':>10}")
    for name in names:
        mine = [each[name] for each in rounds]
        ratio = median(each[name].wall / each["sightline"].wall for each in rounds)
        per_core = median(each[name].cpu / each["sightline-1"].cpu for each in rounds)
        wall, cpu, peak, ready = (median(getattr(f, x) for f in mine) for x in ("wall", "cpu", "megabytes", "ready"))
        print(f"{name:14}{wall:9.2f}{cpu:9.2f}{peak:9.0f}{ready:18.2f}{ratio:8.1f}x{per_core:9.1f}x")
    ours = rounds[0]["sightline"].means
    apart = max(abs(rounds[0][name].means[m] - ours[m]) for name in names for m in METRICS)
    print("means:", ", ".join(f"{m} {ours[m]:.6f}" for m in METRICS))
    print(f"largest difference between contenders: {apart:.1e}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
    else:
        main()
