"""How long a leaderboard of many scored runs takes: reading them, telling them apart, writing the files.

    python benchmarks/leaderboard.py [--runs 1000] [--tasks 500] [--clusters 0]
    python benchmarks/leaderboard.py --errors [--rounds 1000]

Scores are drawn: each run has a skill, tasks share their difficulty. The folders hold what a run leaves: predictions,
a ledger with an entry for each task, `scores.json` with two metrics. As a yardstick, the test of one pair as `compare`
does it is timed in the same process.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from sightline.metrics.scores import Scores, TaskScore, write_scores
from sightline.metrics.statistics.estimates import estimate
from sightline.metrics.statistics.paired import paired_difference
from sightline.metrics.statistics.significance import holm, max_t
from sightline.reports.leaderboard import leaderboard
from sightline.runs.folder import write_run
from sightline.types import Attempt, LedgerEntry, Ranking, Run

METRICS = ("ndcg@10", "rr")
CHECKSUM = "0" * 64


def write_runs(folder: Path, runs: int, tasks: int, clusters: int, seed: int = 0) -> None:
    """Scored runs `folder/0000` and so on."""
    rng = np.random.default_rng(seed)
    ease, skills = rng.normal(0, 0.2, tasks), rng.uniform(0.3, 0.6, runs)
    names = [f"task-{number:04}" for number in range(tasks)]
    owners = [f"owner-{number % clusters}" if clusters else None for number in range(tasks)]
    attempts = tuple(Attempt(name, Ranking(tuple(f"{name}/{place}.jpg" for place in range(10)))) for name in names)
    ledger = tuple(LedgerEntry(stage="attempt", model="drawn", task_id=name, seconds=0.01) for name in names)
    for number, skill in enumerate(skills):
        values = np.clip(skill + ease + rng.normal(0, 0.2, tasks), 0, 1)
        found = dict.fromkeys(METRICS, estimate(values, clusters=owners if clusters else None, resamples=100))
        rows = tuple(
            TaskScore(name, 0, "rank", "answered", dict.fromkeys(METRICS, value), cluster=owner)
            for name, owner, value in zip(names, owners, values.tolist(), strict=True)
        )
        scores = Scores("drawn", f"run {number}", METRICS, 0.95, 0, rows, found, {}, checksum=CHECKSUM)
        run = Run(
            "drawn", scores.system, attempts, benchmark_checksum=CHECKSUM, parameters={}, versions={}, ledger=ledger
        )
        write_run(run, folder / f"{number:04}")
        write_scores(replace(scores, clustered_by="owner" if clusters else None), folder / f"{number:04}")


CASES = (
    # Runs, tasks, clusters, share of runs that are better, skewed 0/1 scores?
    (3, 100, 0, 0.0, False),
    (10, 100, 0, 0.0, False),
    (50, 100, 0, 0.0, False),
    (10, 100, 0, 0.0, True),
    (10, 200, 20, 0.0, False),
    (10, 200, 20, 0.0, True),
    (10, 100, 0, 0.5, False),
    (10, 200, 20, 0.5, False),
)


def errors(rounds: int) -> None:
    """Of simulated boards: how many show any false difference, and the share of true ones that is found."""
    for runs, tasks, clusters, share, binary in CASES:
        any_false, found, by_holm = 0, [], []
        for seed in range(rounds):
            rng, signs = np.random.default_rng([seed, tasks]), rounds + seed
            skill = np.where(np.arange(runs) < share * runs, 0.12, 0.0)
            codes = rng.permutation(np.minimum(rng.geometric(3 / clusters, tasks), clusters) - 1) if clusters else None
            chance = 0.35 + skill + rng.normal(0, 0.15, (tasks, 1)) + rng.normal(0, 0.15, (tasks, runs))
            if codes is not None:
                chance += rng.normal(0, 0.1, (clusters, runs))[codes]
            values = (rng.random((tasks, runs)) < chance - 0.2).astype(float) if binary else chance
            dense = None if codes is None else np.unique(codes, return_inverse=True)[1]
            test = max_t(values, dense, seed=signs, flips=2_000)
            equal = skill[test.first] == skill[test.second]
            any_false += bool((test.p[equal] < 0.05).any())
            if not equal.all():
                pairs = (values[:, [i, j]] for i, j in zip(test.first, test.second, strict=True))
                alone = [float(max_t(pair, dense, seed=signs, flips=2_000).p[0]) for pair in pairs]
                found.append((test.p[~equal] < 0.05).mean())
                by_holm.append((np.array(holm(alone))[~equal] < 0.05).mean())
        power = f", true ones found {np.mean(found):.1%} (Holm {np.mean(by_holm):.1%})" if found else ""
        kind = "0/1" if binary else "graded"
        print(f"{runs} runs, {tasks} {kind} tasks, {clusters} clusters: any false {any_false / rounds:.1%}{power}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--tasks", type=int, default=500)
    parser.add_argument("--clusters", type=int, default=0)
    parser.add_argument("--errors", action="store_true", help="how often equal runs are told apart, by simulation")
    parser.add_argument("--rounds", type=int, default=1000)
    options = parser.parse_args()
    if options.errors:
        errors(options.rounds)
        return
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as name:
        write_runs(Path(name), options.runs, options.tasks, options.clusters)
        started, used = time.perf_counter(), time.process_time()
        board = leaderboard(name, "ndcg@10").boards[0]
        wall, cpu = time.perf_counter() - started, time.process_time() - used
    started = time.perf_counter()
    paired_difference(rng.random(options.tasks), rng.random(options.tasks))
    pair = time.perf_counter() - started
    pairs = options.runs * (options.runs - 1) // 2
    alone = sum(place.best == place.worst for place in board.places)
    print(f"{options.runs:,} runs x {options.tasks:,} tasks: {wall:.1f} s by the clock, {cpu:.1f} s of CPU")
    print(f"one pair by itself {pair * 1000:.0f} ms, {pairs:,} pairs {pair * pairs / 3600:.1f} h")
    print(f"runs with a rank of their own: {alone}")


if __name__ == "__main__":
    main()
