"""Small benchmarks of drawn pictures whose labels are generated, and runs on them."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from sightline.benchmark.folder import write_benchmark
from sightline.benchmark.provenance import CARD_FIELD, SHOW_ANNOTATIONS, Provenance
from sightline.runs.folder import write_run
from sightline.types import (
    Annotation,
    Attempt,
    Benchmark,
    Corpus,
    Judgment,
    Picture,
    Ranking,
    Relevance,
    Run,
    Task,
)

COUNT = 24
WORDS = [
    f"{first}{second}" for first in ("ba", "du", "ki", "lo", "mi") for second in ("ren", "sap", "tov", "wun", "xil")
]


def benchmark_in(folder: Path, judge: str = "openai/gpt-5-mini", *, captions: bool = False) -> Benchmark:
    """A query for each picture; with `captions`, the judge also wrote what the queries ask for."""
    lot = random.Random(7)
    drawn = folder.with_name("pictures")
    drawn.mkdir(parents=True, exist_ok=True)
    pictures = {}
    for _ in range(COUNT):
        name = f"{lot.getrandbits(40):x}.png"
        Image.frombytes("RGB", (16, 16), lot.randbytes(16 * 16 * 3)).resize((64, 64)).save(drawn / name)
        pictures[name] = Picture(name, f"../pictures/{name}")
    ids = list(pictures)
    tasks = {f"q{at:02}": Task(f"q{at:02}", "rank", (f"a {WORDS[at]}",)) for at in range(COUNT)}
    truth = {
        task: Relevance({ids[at]: 1, **{ids[(at + step) % COUNT]: 0 for step in range(1, 5)}})
        for at, task in enumerate(tasks)
    }
    wrote = (Annotation(id_, f"a {WORDS[at]}", by=judge) for at, id_ in enumerate(ids))
    made = Benchmark(
        "colors",
        Corpus("colors", pictures),
        tasks,
        truth,
        metrics=("ndcg@10", "rr@10"),
        card={CARD_FIELD: Provenance("made", (judge,) if captions else (), (), (judge,)).to_json()},
        annotations=tuple(wrote) if captions else (),
        judgments=tuple(
            Judgment(task, id_, judge, grade) for task, found in truth.items() for id_, grade in found.grades.items()
        ),
    )
    return write_benchmark(made, folder)


def run_in(folder: Path, benchmark: Benchmark, system: str, place: Callable[[int], int], **limits: Any) -> Path:
    """A run that puts the relevant picture of the n-th query at `place(n)`, from 0 on."""
    ids = list(benchmark.corpus.pictures)
    attempts = []
    for at, task in enumerate(benchmark.tasks):
        others = [ids[(at + step) % COUNT] for step in range(1, 12)]
        attempts.append(Attempt(task, Ranking((*others[: place(at)], ids[at], *others[place(at) :]))))
    write_run(Run(benchmark.name, system, tuple(attempts), benchmark.checksum, limits=limits), folder)
    return folder


def shown() -> dict[str, bool]:
    return {SHOW_ANNOTATIONS: True}
