"""A paired bootstrap of 10,000 resamples over 10,000 tasks on one core: Sightline, a plain numpy loop, scipy.

    python benchmarks/score_bootstrap.py [--tasks N] [--resamples N] [--rounds N]

Each prints its best time of several rounds, taken in turns, its interval, and its time as a multiple of ours. What is
timed is all of it: differences, resampling, BCa interval (the plain loop: percentiles only).
"""

from __future__ import annotations

import os

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import argparse  # noqa: E402
import resource  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

from sightline.metrics.statistics.paired import PairedDifference, paired_difference, paired_differences  # noqa: E402

Floats = NDArray[np.float64]
Ends = tuple[float, float]
METRICS = 7


def ours(first: Floats, second: Floats, resamples: int) -> Ends:
    return ends(paired_difference(first, second, resamples=resamples, test=False))


def ours_with_test(first: Floats, second: Floats, resamples: int) -> Ends:
    return ends(paired_difference(first, second, resamples=resamples, flips=resamples))


def ours_many(first: Floats, second: Floats, resamples: int) -> Ends:
    """Several metrics at once share their resamples."""
    names = [str(number) for number in range(METRICS)]
    before = {name: np.roll(first, int(name)) for name in names}
    after = {name: np.roll(second, int(name)) for name in names}
    return ends(paired_differences(before, after, resamples=resamples, test=False)["0"])


def plain_loop(first: Floats, second: Floats, resamples: int) -> Ends:
    rng = np.random.default_rng(0)
    n = len(first)
    means = np.empty(resamples)
    for row in range(resamples):
        drawn = rng.integers(0, n, n)
        means[row] = second[drawn].mean() - first[drawn].mean()
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def by_scipy(first: Floats, second: Floats, resamples: int) -> Ends:
    from scipy.stats import bootstrap

    found = bootstrap(
        (second, first),
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=resamples,
        batch=50,
        rng=np.random.default_rng(0),
    ).confidence_interval
    return float(found.low), float(found.high)


def ends(found: PairedDifference) -> Ends:
    return found.low, found.high


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--resamples", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    rng = np.random.default_rng(1)
    first = rng.beta(1, 2, asked.tasks)
    second = np.clip(first + rng.normal(0.01, 0.2, asked.tasks), 0, 1)
    right_first, right_second = (first > 0.3).astype(float), (second > 0.3).astype(float)

    contenders: dict[str, tuple[Callable[[Floats, Floats, int], Ends], Floats, Floats]] = {
        "sightline": (ours, first, second),
        "sightline, with randomisation test": (ours_with_test, first, second),
        f"sightline, {METRICS} metrics at once": (ours_many, first, second),
        "sightline, 0/1 metric": (ours, right_first, right_second),
        "plain numpy loop": (plain_loop, first, second),
        "scipy.stats.bootstrap(paired=True)": (by_scipy, first, second),
    }
    ours(first, second, asked.resamples)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    best = dict.fromkeys(contenders, float("inf"))
    found: dict[str, Ends] = {}
    for _ in range(asked.rounds):
        for name, (call, before, after) in contenders.items():
            started = time.perf_counter()
            found[name] = call(before, after, asked.resamples)
            best[name] = min(best[name], time.perf_counter() - started)
    print(f"{asked.resamples:,} resamples of {asked.tasks:,} tasks, one core, best of {asked.rounds} rounds")
    for name, seconds in best.items():
        low, high = found[name]
        print(f"  {name:<38} {seconds:7.2f} s  {seconds / best['sightline']:7.2f}×  [{low:+.5f}, {high:+.5f}]")
    print(f"  most memory that the process held after ours had run once: {memory:.0f} MB")


if __name__ == "__main__":
    main()
