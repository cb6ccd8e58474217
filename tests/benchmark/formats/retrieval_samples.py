"""A small benchmark and run that use what the retrieval formats can hold, with awkward ids."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from pictures import random_picture
from sightline.types import Attempt, Benchmark, Corpus, Failure, Picture, Ranking, Relevance, Rights, Run, Task, Text

PICTURES = ("a b/100%.jpg", "plain.jpg", "Straße/日本.png", 'quo"te\t.jpg', "unjudged.jpg")


def rank_benchmark(folder: Path, *, files: bool = True) -> Benchmark:
    """Three queries over five pictures."""
    return Benchmark(
        name="small",
        corpus=Corpus("small", {name: _picture(folder, name, number, files) for number, name in enumerate(PICTURES)}),
        tasks={
            "q 1": Task("q 1", "rank", ("a red car",), labels={"skill": ("colour",)}, extra={"note": 7}),
            "q2": Task("q2", "rank", ("猫 on a sofa",)),
            "q%3": Task("q%3", "rank", ("nothing\there",)),
        },
        truth={
            "q 1": Relevance({"a b/100%.jpg": 2, "plain.jpg": 0, "Straße/日本.png": 1}),
            "q2": Relevance({'quo"te\t.jpg': 1, "plain.jpg": 1}),
            "q%3": Relevance({"plain.jpg": 0, "Straße/日本.png": 0}),
        },
    )


def ranked_run() -> Run:
    """Scores with ties, no scores, and a failure."""
    return Run(
        benchmark="small",
        system="our system",
        attempts=(
            Attempt("q 1", Ranking(("plain.jpg", "a b/100%.jpg", "Straße/日本.png"), (0.5, 0.25, 0.25))),
            Attempt("q2", Ranking(('quo"te\t.jpg', "unjudged.jpg", "plain.jpg"))),
            Attempt("q%3", Failure("timeout", "no reply")),
        ),
    )


def other_tasks(benchmark: Benchmark) -> Benchmark:
    """The same tasks and truths, none of which looks for pictures."""
    tasks = {name: Task(name, "answer", task.prompt) for name, task in benchmark.tasks.items()}
    return Benchmark("other", benchmark.corpus, tasks, {})


def text_run() -> Run:
    """A run without any ranking."""
    return Run("small", "speaker", (Attempt("q2", Text("a cat")),))


def _picture(folder: Path, name: str, number: int, files: bool) -> Picture:
    path = folder / name
    if files:
        path.parent.mkdir(parents=True, exist_ok=True)
        random_picture(number, (48, 32)).save(path, "PNG" if name.endswith("png") else "JPEG")
    return Picture(
        name,
        path.absolute().as_uri(),
        width=48,
        height=32,
        taken_at=datetime(2024, 5, 31, 18, 20, tzinfo=UTC) if number == 0 else None,
        lat=52.5 if number == 0 else None,
        lon=13.4 if number == 0 else None,
        rights=Rights("CC BY 4.0", source="made up") if number == 1 else Rights(),
        extra={"title": "A car", "lens": "50 mm"} if number == 0 else {},
    )
