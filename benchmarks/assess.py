"""How many decisions of people until it is known which of two searches is better? On photographs with known truth.

Run: OMP_NUM_THREADS=1 python benchmarks/assess.py [--repetitions 2000] [--medians 400] [--photographs dev]
     [--only SECTION] [--aims]

Captions of Flickr8k are the queries (842, on 1,000 photographs; `caption_truth.py` says what is relevant). Systems are
of known quality: an embedder (ridge regression from picture features to caption vectors), a weaker one (trained on
1,500 pictures instead of 6,000), a hybrid (the embedder and ImageNet classes), the embedder with noise, tuned so that
nDCG@10 differs by 0.02, 0.05 and 0.10, and a blind one. In each repetition one looks after every decision and stops
when the interval of the difference excludes zero. Sections:

- decisions: medians for duels (people alone; with a judge that is right in 85 % and states how sure it is; with one
  that states labels only; with one at chance) and, by the same intervals, for whole queries at depth 10 (classical
  nDCG, and the target of the duels), uniform pairs, and move-to-front (6 pictures of each query; the rest count as not
  relevant, so that it is biased and its intervals are of something else).
- coverage: is the truth inside of the interval at *every* moment? Beside it a normal interval, made for one look.
- score: decisions until every score is known to within 0.05.
- pool: 100,000 queries × 10 systems, in seconds and memory.

At the end stands one table: what was asked, what was measured with its 95 % interval, and whether it holds. "Not sure"
is an aim that lies within the interval.

The photographs are the last 1,000 of Flickr8k's training split (the embedders are trained on the others). Constants of
the method were chosen on the development photographs (`--photographs dev`), on noisy embedders; none on these.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from caption_truth import data_folder, load_caption_queries, load_training_queries
from sightline import Benchmark, Run
from sightline.benchmark.folder import write_benchmark
from sightline.metrics.assessment.betting import Bets, log_wealth
from sightline.metrics.assessment.draws import DrawnPairs, Draws, side_sizes
from sightline.metrics.assessment.estimates import Judge, observations
from sightline.metrics.assessment.inquiry import Inquiry
from sightline.metrics.assessment.pool import QueryItems, RankedPool, discounts
from sightline.metrics.labels.calibration import with_query_mean
from sightline.metrics.statistics.intervals import wilson
from sightline.runs.folder import write_run

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

DEPTH = 10
RICH = np.log(2 / 0.05)
MOST = {0.02: 2600, 0.05: 1500, 0.10: 800}
"""Draws at most, by difference; nearly all are settled before."""
JUDGES = ("none", "sure", "labels", "chance")
ACCURACY = 0.85
HELD_OUT = 1000
"""Photographs at the end of the training split that the second truth is about."""


AIMED = ("noise 0.05", "weaker")
"""Systems that are worse than the embedder by about 0.05."""
RATIOS = (
    ("people alone / depth 10, nDCG", "none", "depth 10, nDCG", 0.5),
    ("people alone / depth 10, same target", "none", "depth 10, same target", 0.7),
    ("judge 85 % / people alone", "sure", "none", 0.6),
    ("judge 85 %, labels only / people alone", "labels", "none", 0.6),
    ("judge at chance / people alone", "chance", "none", 1.05),
)
"""What is asked of medians: words, method, the method that it is held against, the most."""


class Aim(NamedTuple):
    """A row of the table at the end."""

    what: str
    asked: str
    measured: str
    holds: str

    @classmethod
    def ratio(cls, what: str, most: float, ours: list[Stop], theirs: list[Stop]) -> Aim:
        """Of medians over the same repetitions, with a bootstrap interval."""
        both = np.stack([_counts(ours), _counts(theirs)])
        drawn = np.random.default_rng(4).integers(0, len(ours), (2000, len(ours)))
        medians = np.quantile(both[:, drawn], 0.5, axis=2, method="lower")
        low, high = np.quantile(medians[0] / medians[1], [0.025, 0.975])
        mine, other = np.quantile(both, 0.5, axis=1, method="lower")
        measured = f"{mine / other:.2f} [{low:.2f}, {high:.2f}]; {mine:,.0f} / {other:,.0f}"
        return cls(what, f"≤ {most}", measured, _said(None if low <= most < high else high <= most))

    @classmethod
    def share(cls, what: str, inside: int, options: argparse.Namespace) -> Aim:
        """Of repetitions in which the truth was inside at every moment, with Wilson's interval."""
        share = inside / options.repetitions
        low, high, *_ = wilson(share, options.repetitions, 0.95)
        holds = None if low < 0.95 <= high else low >= 0.95
        return cls(f"coverage, {what}", "≥ 95 %", f"{share:.1%} [{low:.1%}, {high:.1%}]", _said(holds))


def _said(holds: bool | None) -> str:
    return "not sure" if holds is None else "yes" if holds else "**no**"


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Relevance (queries × pictures), each system's scores of all pictures, and the names and words of these."""

    relevant: Bools
    systems: dict[str, Floats]
    pictures: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    def ndcg(self, scores: Floats) -> Floats:
        """Classical nDCG@10 of each query."""
        plain = 1 / np.log2(np.arange(2, DEPTH + 2))
        ideal = np.cumsum(plain)[np.minimum(self.relevant.sum(axis=1), DEPTH) - 1]
        found: Floats = (np.take_along_axis(self.relevant, top(scores), axis=1) @ plain) / ideal
        return found


def top(scores: Floats) -> NDArray[np.int32]:
    return np.argsort(-scores, axis=1, kind="stable")[:, :DEPTH].astype(np.int32)


def load_world(photographs: str, seed: int = 1) -> World:
    """On the development photographs, or on the last 1,000 of the training split (then trained on the others)."""
    train, shown = np.load(data_folder() / "train.npz"), np.load(data_folder() / f"{photographs}.npz")
    is_dev = photographs == "dev"
    truth = load_caption_queries("all", files_only=False) if is_dev else load_training_queries(HELD_OUT)
    place = {str(name): at for at, name in enumerate(shown["files"])}
    pictures = [place[name] for name in truth.pictures]
    queries = [5 * place[one.id.split("#")[0]] + int(one.id.split("#")[1]) for one in truth.queries]
    words = shown["caption_minilm"].astype(np.float64)[queries]
    features = train["efficientnet_lite2_pooled"].astype(np.float64)
    texts = train["caption_minilm"].astype(np.float64).reshape(len(features), 5, -1).mean(axis=1)
    features = features[: None if is_dev else -HELD_OUT]
    seen = shown["efficientnet_lite2_pooled"].astype(np.float64)[pictures]

    def embedder(pictures_used: int, inputs: Floats = features, pictures: Floats = seen) -> Floats:
        x = inputs[:pictures_used]
        center, scale = x.mean(axis=0), x.std(axis=0) + 1e-3
        x = (x - center) / scale
        weights = np.linalg.solve(x.T @ x + 300 * np.eye(x.shape[1]), x.T @ texts[:pictures_used])
        found = ((pictures - center) / scale) @ weights
        likeness: Floats = words @ (found / np.linalg.norm(found, axis=1, keepdims=True)).T
        return likeness

    classes = embedder(len(features), _classes(train)[: len(features)], _classes(shown)[pictures])
    best = embedder(len(features))
    systems = {"embedder": best, "weaker": embedder(1500), "hybrid": best + 0.5 * classes}
    systems["blind"] = np.tile(best.mean(axis=0), (len(best), 1))
    world = World(truth.relevant, systems, truth.pictures, tuple(query.text for query in truth.queries))
    noise = np.random.default_rng(seed).normal(size=best.shape)
    for gap in MOST:
        systems[f"noise {gap:.2f}"] = best + tuned(world, best, noise, gap) * noise
    return world


def _classes(data: np.lib.npyio.NpzFile) -> Floats:
    found = np.zeros((len(data["files"]), 1000))
    logits = data["efficientnet_lite2_top32_logit"].astype(np.float64)
    np.put_along_axis(found, data["efficientnet_lite2_top32_class"].astype(np.intp), logits - logits.min(), axis=1)
    return found


def tuned(world: World, best: Floats, noise: Floats, gap: float, shares: Floats | None = None) -> float:
    """How much of this noise makes the system worse by so much in nDCG@10, queries counting by their shares."""
    low, high, whole = 0.0, 0.5, world.ndcg(best)
    for _ in range(30):
        middle = (low + high) / 2
        lost = np.average(whole - world.ndcg(best + middle * noise), weights=shares)
        low, high = (middle, high) if lost < gap else (low, middle)
    return high


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Two systems: their pool, the gain of every pair, and the true difference (second − first) in the target."""

    world: World
    first: Floats
    second: Floats
    pool: RankedPool
    items: QueryItems
    gains: Floats
    truth: float
    sizes: Floats

    @property
    def weights(self) -> Floats:
        found: Floats = self.items.weights @ CONTRAST.T
        return found


CONTRAST = np.array([[-1.0, 1.0]])


def match(world: World, first: str, second: str) -> Match:
    a, b = world.systems[first], world.systems[second]
    pool = RankedPool(np.stack([top(a), top(b)]))
    items = pool.items(0, pool.queries)
    gains = world.relevant[items.query, items.picture].astype(np.float64)
    truth = float((items.weights @ CONTRAST[0]) @ gains)
    return Match(world, a, b, pool, items, gains, truth, side_sizes(pool, [CONTRAST], True)[0][0])


def drawn_duels(one: Match, seed: int, most: int) -> DrawnPairs:
    keys = zip(one.items.query.tolist(), one.items.picture.tolist(), strict=True)
    draws = Draws(one.pool, CONTRAST, True, one.sizes, (7, seed), {key: at for at, key in enumerate(keys)})
    draws.pairs_of(most - 1)
    return draws.upto(most)


def judge(one: Match, kind: str, seed: int) -> Judge | None:
    """A normal deviate behind each label, as in `trust_worlds`: it states log odds, or its label alone."""
    if kind == "none":
        return None
    deviate = NormalDist().inv_cdf(0.5 if kind == "chance" else ACCURACY)
    said = (2 * one.gains - 1) * deviate + np.random.default_rng((9, seed)).normal(size=len(one.gains))
    stated = 2.2 * np.sign(said) if kind == "labels" else 2 * NormalDist().inv_cdf(ACCURACY) * said
    return Judge(with_query_mean(np.clip(stated, -4.6, 4.6), one.items.query, one.pool.queries), one.weights)


@dataclass(frozen=True, slots=True)
class Stop:
    """How many decisions until it was settled (None: never), and whether the better one was named."""

    decisions: int | None
    right: bool


def stopped(bets: Bets, costs: NDArray[np.intp], truth: float) -> Stop:
    """Look after every observation."""
    up, down = log_wealth(bets, 0.0) >= RICH, log_wealth(bets.mirrored, 0.0) >= RICH
    if not (up | down).any():
        return Stop(None, True)
    at = int(np.argmax(up | down))
    return Stop(int(np.cumsum(costs)[at]), bool(up[at]) == (truth > 0))


def whole_queries(one: Match, seed: int, classical: bool, judged: int | None = None) -> tuple[Bets, NDArray[np.intp]]:
    """Queries in random order, each judged whole at depth 10; with `judged` only so many pictures, move-to-front."""
    query = np.random.default_rng((8, seed)).permutation(one.pool.queries)
    count = len(query)
    values: Floats
    costs: NDArray[np.int64]
    if classical and judged is None:
        values = one.world.ndcg(one.second) - one.world.ndcg(one.first)
        costs = np.bincount(one.items.query, minlength=count)
    else:
        known = one.gains if judged is None else one.gains * _moved_to_front(one, judged)
        values = np.bincount(one.items.query, one.weights[:, 0] * known, count).astype(np.float64) * count
        costs = np.minimum(np.bincount(one.items.query, minlength=count), judged or 2 * DEPTH)
    left = 1 - np.arange(count) / count
    before = (np.cumsum(values[query]) - values[query]) / count
    return Bets(before + values[query] * left, before - left, before + left), costs[query]


@cache
def _moved_to_front(one: Match, judged: int) -> Floats:
    """What move-to-front judges: the next of the system whose last picture was relevant (Cormack et al. 1998)."""
    place = {key: at for at, key in enumerate(zip(one.items.query.tolist(), one.items.picture.tolist(), strict=True))}
    found = np.zeros(len(one.gains))
    for query in range(one.pool.queries):
        lists = [one.pool.places[system, query].tolist() for system in range(2)]
        turn, seen = 0, set[int]()
        while len(seen) < judged and any(lists):
            turn = turn if lists[turn] else 1 - turn
            picture = lists[turn].pop(0)
            if picture not in seen:
                seen.add(picture)
                at = place[query, picture]
                found[at] = 1.0
                turn = turn if one.gains[at] else 1 - turn
    return found


def uniform_pairs(one: Match, seed: int, most: int) -> tuple[Bets, NDArray[np.intp]]:
    """Pairs that differ, each as likely as any other, without replacement."""
    worth = one.weights[:, 0]
    differing = np.flatnonzero(np.abs(worth) > 0)
    order = np.random.default_rng((6, seed)).permutation(differing)[:most]
    left = len(differing) - np.arange(len(order))
    told = worth[order] * one.gains[order]
    before, reach = np.cumsum(told) - told, np.abs(worth[differing]).max() * left
    return Bets(before + told * left, before - reach, before + reach), np.ones(len(order), np.intp)


def decisions(world: World, options: argparse.Namespace) -> list[Aim]:
    """Medians, how often the wrong one was named, and aims for the two matches that differ by about 0.05."""
    aims = []
    noisy = [(f"noise {gap:.2f}", "embedder", most) for gap, most in MOST.items()]
    others = [("weaker", "embedder", 2200), ("embedder", "hybrid", 2600), ("blind", "embedder", 400)]
    chosen = [one for one in [*noisy, *others] if not options.aims or one[0] in AIMED]
    for first, second, most in chosen:
        stops = report_match(match(world, first, second), first, second, most, options.medians)
        if first in AIMED:
            aims += [Aim.ratio(f"{second} against {first}: {what}", asked, stops[name], stops[against])
                     for what, name, against, asked in RATIOS]  # fmt: skip
    return aims


def report_match(one: Match, first: str, second: str, most: int, repetitions: int) -> dict[str, list[Stop]]:
    gap = (one.world.ndcg(one.second) - one.world.ndcg(one.first)).mean()
    print(f"\n{second} against {first}: nDCG@10 {gap:+.3f}, target (DCG@10 / ideal of 10) {one.truth:+.4f}")
    print(f"  {'method':<22} {'median':>7} {'90 %':>7}  wrong  not settled")
    stops: dict[str, list[Stop]] = {}
    for seed in range(repetitions):
        drawn = drawn_duels(one, seed, most)
        costs = (drawn.pairs >= 0).sum(axis=1)
        for kind in JUDGES:
            bets = observations(drawn, one.gains, 0, signed=True, judge=judge(one, kind, seed))
            stops.setdefault(kind, []).append(stopped(bets, costs, one.truth))
        others: dict[str, Callable[[], tuple[Bets, NDArray[np.intp]]]] = {
            "depth 10, nDCG": lambda: whole_queries(one, seed, True),  # noqa: B023
            "depth 10, same target": lambda: whole_queries(one, seed, False),  # noqa: B023
            "move-to-front, 6": lambda: whole_queries(one, seed, False, 6),  # noqa: B023
            "uniform pairs": lambda: uniform_pairs(one, seed, 12000),  # noqa: B023
        }
        for name, method in others.items():
            stops.setdefault(name, []).append(stopped(*method(), one.truth))
    for name, found in stops.items():
        _row(name, found)
    return stops


_NAMES = {
    "none": "duels, people alone",
    "sure": "duels, judge 85 %",
    "labels": "duels, 85 %, no conf.",
    "chance": "duels, judge at chance",
}


def _counts(stops: list[Stop]) -> Floats:
    return np.array([np.inf if one.decisions is None else one.decisions for one in stops])


def _row(name: str, stops: list[Stop]) -> None:
    counts = _counts(stops)
    median, most = np.quantile(counts, [0.5, 0.9], method="lower")
    wrong, never = np.mean([not one.right for one in stops]), np.mean(np.isinf(counts))
    print(f"  {_NAMES.get(name, name):<22} {median:>7.0f} {most:>7.0f}  {wrong:5.1%}  {never:.0%}")


def coverage(world: World, options: argparse.Namespace) -> list[Aim]:
    """How often the truth was outside of the interval at any moment, for two systems that differ and for equals."""
    aims = []
    best, noise = world.systems["embedder"], np.random.default_rng(5).normal(size=(2, *world.relevant.shape))
    world.systems["equal 1"], world.systems["equal 2"] = best + 0.05 * noise[0], best + 0.05 * noise[1]
    for first, second in (("noise 0.05", "embedder"), ("weaker", "embedder"), ("equal 1", "equal 2")):
        one = match(world, first, second)
        outside: dict[str, int] = dict.fromkeys([*JUDGES, "normal"], 0)
        for seed in range(options.repetitions):
            drawn = drawn_duels(one, 10**6 + seed, 1000)
            for kind in JUDGES:
                bets = observations(drawn, one.gains, 0, signed=True, judge=judge(one, kind, 10**6 + seed))
                outside[kind] += _excluded(bets, one.truth)
            outside["normal"] += _normal_excludes(observations(drawn, one.gains, 0, signed=True), one.truth)
        print(f"  {second} against {first} ({one.truth:+.4f}), {options.repetitions} repetitions of 1,000 duels: truth")
        for kind, count in outside.items():
            aim = Aim.share(
                f"{second} against {first}: {_NAMES.get(kind, 'normal interval')}", options.repetitions - count, options
            )
            print(f"    at every moment inside: {aim.measured} {_NAMES.get(kind, 'normal interval (not used)')}")
            aims += [aim] if kind != "normal" else []
    return aims


def _excluded(bets: Bets, truth: float) -> bool:
    return bool(max(log_wealth(bets, truth).max(), log_wealth(bets.mirrored, -truth).max()) >= RICH)


def _normal_excludes(bets: Bets, truth: float) -> bool:
    """What looking all the time does to an interval that is made for one look; looked at from 30 duels on."""
    n = np.arange(1, len(bets.values) + 1)
    mean = np.cumsum(bets.values) / n
    spread = np.sqrt(np.maximum(np.cumsum(bets.values**2) / n - mean**2, 1e-12) / n)
    return bool((np.abs(mean - truth) > 1.96 * spread)[30:].any())


def score(world: World, options: argparse.Namespace) -> list[Aim]:
    """Goal "score", through the object that the product uses."""
    names = ("embedder", "weaker", "noise 0.10")
    pool = RankedPool(np.stack([top(world.systems[name]) for name in names]))
    truth = [
        float(np.take_along_axis(world.relevant, top(world.systems[name]), axis=1).mean(axis=0) @ discounts(DEPTH))
        for name in names
    ]
    spent, inside = [], []
    for seed in range(max(5, options.medians // 40)):
        inquiry, count = Inquiry(pool, "score", seed), 0
        while not inquiry.settled(0.05):
            for _, item in zip(range(20), inquiry.undecided(0.05), strict=False):
                inquiry.tell(item, float(world.relevant[item]))
                count += 1
        spent.append(count)
        found = [inquiry.score(system) for system in range(len(names))]
        inside.append(all(one and one.low <= true <= one.high for one, true in zip(found, truth, strict=True)))
    print(f"  {len(names)} systems to within 0.05: {np.median(spent):.0f} decisions (median of {len(spent)}); the pool")
    print(f"  of depth 10 has {len(pool.items(0, pool.queries)):,} pairs. All truths inside: {np.mean(inside):.0%}.")
    return []


def pool_size(world: World, options: argparse.Namespace) -> list[Aim]:
    """Ten runs of 100,000 queries, read from their folders: time until the first picture is shown, and memory."""
    queries, corpus, aims = 100_000, 50_000, []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, __file__, "--write-pool", folder, str(queries), str(corpus)], check=True)
        for goal in ("compare", "score"):
            command = [sys.executable, "-c", _OPEN, folder, goal]
            said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            memory, cpu, wall = float(said[0]) / 2**20, float(said[1]), float(said[2])
            found = f"{wall:.0f} s ({cpu:.0f} s of one core), {memory:.2f} GB"
            print(f"  {goal}: {queries:,} queries × 10 systems in {found} at most")
            what = f"assess, goal {goal}: {queries:,} queries × 10 systems to the first picture"
            aims.append(Aim(what, "≤ 120 s, 2 GB", found, _said(wall <= 120 and memory <= 2)))
    return aims


_OPEN = """
import resource, sys, time
began = time.perf_counter()
import sightline
found = sightline.assess(f"{sys.argv[1]}/bench", [f"{sys.argv[1]}/run{n}" for n in range(10)], goal=sys.argv[2])
assert len(found.next(10)) == 10
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time(), time.perf_counter() - began)
"""


def write_pool(folder: Path, queries: int, corpus: int) -> None:
    """A benchmark, and ten runs that agree in a third of their results."""
    rng = np.random.default_rng(0)
    names, tasks = [f"{number:06}.jpg" for number in range(corpus)], [f"q{number:06}" for number in range(queries)]
    made = Benchmark.from_tables(
        names, {task: f"query {task}" for task in tasks}, {task: {names[0]: 0} for task in tasks}
    )
    write_benchmark(made, folder / "bench")
    common = rng.integers(0, corpus, (queries, 30))
    for number in range(10):
        places = rng.permuted(common, axis=1)[:, :DEPTH].tolist()
        found = {task: [names[place] for place in row] for task, row in zip(tasks, places, strict=True)}
        write_run(Run.from_rankings(found, system=f"run{number}"), folder / f"run{number}")


SECTIONS = {"pool": pool_size, "decisions": decisions, "coverage": coverage, "score": score}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=2000, help="for coverage")
    parser.add_argument("--medians", type=int, default=400, help="repetitions for medians")
    parser.add_argument("--photographs", choices=("dev", "train"), default="train", help="which truth")
    parser.add_argument("--aims", action="store_true", help="medians only of the matches that aims are about")
    parser.add_argument("--only", choices=SECTIONS, help="one section")
    parser.add_argument("--write-pool", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write_pool:
        write_pool(Path(options.write_pool[0]), *map(int, options.write_pool[1:]))
        return 0
    world, aims = load_world(options.photographs), list[Aim]()
    for name, scores in world.systems.items():
        print(f"{name:<12} nDCG@10 {world.ndcg(scores).mean():.3f}")
    for name, section in SECTIONS.items():
        if options.only in (None, name):
            began = time.perf_counter()
            print(f"\n== {name}", flush=True)
            aims += section(world, options)
            print(f"({time.perf_counter() - began:.0f} s)", flush=True)
    print("\n| aim | asked | measured | holds |\n|---|---|---|---|")
    for one in aims:
        print(f"| {' | '.join(one)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
