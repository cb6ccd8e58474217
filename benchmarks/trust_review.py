"""How many decisions does the grade `checked` take, and does what the review says of label precision hold?

A benchmark shaped like one of `builtin/photos` on 160 photographs (83 queries, 40 labels each in seven tiers, one in
nine relevant). A label that says relevant is right with the stated precision, more or less by query and by tier; of
those that say not relevant, one in 25 is wrong. A person decides on the draw of 100, then on 50 more at a time, until
the grade is `checked`. Printed: how often the 95 % interval of precision holds the true share at 100 decisions and
where the person stops, and the decisions that it took. Run: python benchmarks/trust.py review
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import product, repeat
from typing import TYPE_CHECKING

import numpy as np

from sightline.benchmark.grade import Grade, grade_of
from sightline.benchmark.provenance import CARD_FIELD, Provenance
from sightline.benchmark.review_decisions import Pair, labels_of
from sightline.benchmark.review_sample import SAMPLE, STEP, sample_of
from sightline.types import Benchmark, Candidate, Corpus, Judgment, Picture, Relevance, Review, Task, Tier

if TYPE_CHECKING:
    from trust import Options

QUERIES, MOST = 83, 600
TIERS: Mapping[Tier, tuple[int, float]] = {
    "seed": (1, 1.0), "positive": (9, 0.30), "neutral": (5, 0.04), "hard": (10, 0.06), "near": (5, 0.03),
    "easy": (5, 0.01), "random": (5, 0.01),
}  # fmt: skip
"""Labels of each tier in a query, and the share that says relevant."""
MISSED = 0.04


@dataclass(frozen=True, slots=True)
class Trial:
    """Whether the interval held the truth at the first draw and at the last, and how many decisions were made."""

    first: bool
    last: bool
    decisions: int


def world(precision: float, spread: float, seed: int) -> tuple[Benchmark, dict[Pair, bool]]:
    """A benchmark, and what is true of each label; `spread` is the sd of precision between queries."""
    rng = np.random.default_rng(seed)
    size = max(1e-6, precision * (1 - precision) / max(spread, 1e-6) ** 2 - 1)
    pictures = [f"p{at}" for at in range(sum(count for count, _ in TIERS.values()))]
    tiers = [(tier, share) for tier, (count, share) in TIERS.items() for _ in range(count)]
    grades: dict[str, dict[str, int]] = {}
    truth: dict[Pair, bool] = {}
    for task in (f"{seed}-{number}" for number in range(QUERIES)):
        right = rng.beta(precision * size, (1 - precision) * size)
        grades[task] = {id_: int(rng.random() < share) for id_, (_, share) in zip(pictures, tiers, strict=True)}
        for id_, grade in grades[task].items():
            truth[task, id_] = bool(rng.random() < (right if grade else MISSED))
    made = Benchmark(
        "review",
        Corpus("review", {id_: Picture(id_, f"{id_}.jpg") for id_ in pictures}),
        {task: Task(task, "rank", (task,)) for task in grades},
        {task: Relevance(held) for task, held in grades.items()},
        card={CARD_FIELD: Provenance("made").to_json()},
        candidates=tuple(
            Candidate(task, id_, tier) for task in grades for id_, (tier, _) in zip(pictures, tiers, strict=True)
        ),
        judgments=tuple(
            Judgment(task, id_, "a/judge", grade) for task, of in grades.items() for id_, grade in of.items()
        ),
    )
    return made, truth


def trial(precision: float, spread: float, seed: int) -> Trial:
    """One person, until the grade is `checked`."""
    made, truth = world(precision, spread, seed)
    labels, at = labels_of(made), datetime(2026, 1, 1, tzinfo=UTC)
    said = [truth[pair] for pair, grade in labels.now.items() if grade > 0]
    real = sum(said) / len(said)

    def graded(size: int) -> Grade:
        reviews = tuple(
            Review(task, "me", "relevant" if truth[task, id_] else "not relevant", at, id_)
            for task, id_ in sample_of(made, labels, size)
        )
        return grade_of(replace(made, reviews=reviews))

    def holds(found: Grade) -> bool:
        return found.precision is not None and found.precision.low <= real <= found.precision.high

    size, found = SAMPLE, graded(SAMPLE)
    first = holds(found)
    while found.name != "checked" and size < MOST:
        size += STEP
        found = graded(size)
    return Trial(first, holds(found), size)


def review(options: Options) -> list[str]:
    """Print the table; intervals below 0.93 over all cells miss their aim."""
    print("precision  sd between queries  holds at 100  holds at the end  decisions: median  90 %")
    held: list[bool] = []
    cells = list(product((0.5, 0.7, 0.85, 0.95), (0.0, 0.2)))
    repetitions = max(20, options.repetitions // 10)
    with ProcessPoolExecutor(options.processes) as pool:
        for precision, spread in cells:
            if spread**2 >= precision * (1 - precision):
                continue
            seeds = range(options.seed, options.seed + repetitions)
            found = list(pool.map(trial, repeat(precision), repeat(spread), seeds, chunksize=8))
            first, last = (np.mean([getattr(one, name) for one in found]) for name in ("first", "last"))
            held += [one.last for one in found]
            made = [one.decisions for one in found]
            print(
                f"{precision:9.2f}  {spread:18.1f}  {first:12.3f}  {last:16.3f}  {np.median(made):17.0f}  "
                f"{np.quantile(made, 0.9):4.0f}"
            )
    print(f"{repetitions} repetitions a cell; held at the end on average: {np.mean(held):.3f}")
    return [] if np.mean(held) >= 0.93 else [f"intervals of label precision hold {np.mean(held):.3f}"]
