"""A made-up benchmark and runs of known strength for the tests of reports: no picture is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.metrics.evaluation import evaluate
from sightline.metrics.scores import write_scores
from sightline.runs.folder import read_run, write_run
from sightline.types import (
    Answer,
    Attempt,
    Benchmark,
    Corpus,
    Failure,
    Group,
    LedgerEntry,
    Picture,
    PictureSet,
    Prediction,
    Ranking,
    Relevance,
    Run,
    Scope,
    Task,
    TaskKind,
    Text,
    Truth,
)

OWNERS = 12
PICTURES = 20
SKILLS = {"agent": 0.9, "hybrid": 0.7, "embedder": 0.66, "text only": 0.25}


@dataclass(frozen=True)
class Folders:
    """A benchmark and its runs on disk."""

    benchmark: Path
    runs: list[Path]

    @property
    def all(self) -> list[Path]:
        return [self.benchmark, *self.runs]


def make_benchmark(name: str = "harbour", tasks: int = 48) -> Benchmark:
    """Finding, selecting and answering over the pictures of twelve owners, with labels."""
    owned = {f"owner {number}": [f"{number}/{place}.jpg" for place in range(PICTURES)] for number in range(OWNERS)}
    pictures = {picture: Picture(picture, f"file:///{picture}") for several in owned.values() for picture in several}
    posed = [_pose(number, owned) for number in range(tasks)]
    return Benchmark(
        name=name,
        corpus=Corpus(name, pictures, tuple(Group(owner, "owner", tuple(owned[owner])) for owner in owned)),
        tasks={task.id: task for task, _ in posed},
        truth={task.id: truth for task, truth in posed},
        metrics=("ndcg@10", "rr@10", "f1", "em", "answer"),
        card={"description": "A made-up benchmark for tests.", "languages": ["en"], "license": "CC0-1.0"},
    )


def _pose(number: int, owned: dict[str, list[str]]) -> tuple[Task, Truth]:
    rng = Random(f"task {number}")
    owner = f"owner {number // 3 % OWNERS}"
    wanted = rng.sample(owned[owner], 4)
    kinds: tuple[TaskKind, ...] = ("rank", "select", "answer")
    kind = kinds[number % 3]
    labels = {"query_type": (rng.choice(["intra-event", "inter-event"]),), "light": (rng.choice(["day", "night"]),)}
    prompt = (f"the {rng.choice(['red', 'blue'])} boat, number {number}",)
    task = Task(f"{kind}-{number:03}", kind, prompt, scope=Scope(owner), labels=labels)
    match kind:
        case "rank":
            return task, Relevance({owned[owner][0]: 0, **dict.fromkeys(wanted, 1), wanted[0]: 2})
        case "select":
            return task, PictureSet(tuple(wanted))
        case _:
            return task, Answer(str(number))


def make_run(benchmark: Benchmark, system: str, skill: float, failing: float = 0.0, usd: float = 0.001) -> Run:
    """A run that is right as often as its skill says."""
    attempts, ledger = [], []
    for task in benchmark.tasks.values():
        rng = Random(f"{system}/{task.id}")
        said = _say(benchmark, task, skill, rng)
        if rng.random() < failing:
            said = Failure("timeout", "no reply within 60 s", retryable=True)
        attempts.append(Attempt(task.id, said))
        ledger.append(
            LedgerEntry(
                stage="run",
                model=system,
                task_id=task.id,
                tokens_in=400,
                tokens_out=90,
                usd=usd * rng.uniform(0.5, 1.5),
                seconds=rng.uniform(1, 3),
                ok=not isinstance(said, Failure),
            )
        )
    return Run(
        benchmark=benchmark.name,
        system=system,
        attempts=tuple(attempts),
        benchmark_checksum=benchmark.checksum,
        parameters={"made_up": True},
        versions={"sightline": "0.1.0"},
        seed=0,
        ledger=tuple(ledger),
    )


def _say(benchmark: Benchmark, task: Task, skill: float, rng: Random) -> Prediction:
    owned = next(group.pictures for group in benchmark.corpus.groups if group.id == task.scope.owner)
    match benchmark.truth[task.id]:
        case Relevance(grades):
            noise = {picture: rng.gauss(0, 1.2 - skill) for picture in owned}
            return Ranking(tuple(sorted(owned, key=lambda picture: noise[picture] - skill * grades.get(picture, 0))))
        case PictureSet(wanted):
            chance = {picture: skill if picture in wanted else 0.3 * (1 - skill) for picture in owned}
            return PictureSet(tuple(picture for picture in owned if rng.random() < chance[picture]))
        case Answer(text):
            return Text(text if rng.random() < skill else "something else")
        case other:
            raise AssertionError(other)


def write_all(
    folder: Path, name: str = "harbour", tasks: int = 48, systems: Sequence[str] = tuple(SKILLS)
) -> tuple[Path, list[Path]]:
    """The benchmark and a run for each system, not scored yet."""
    benchmark = write_benchmark(make_benchmark(name, tasks), folder / name)
    runs = []
    for number, system in enumerate(systems):
        runs.append(folder / "runs" / f"{name}-{system.replace(' ', '-')}")
        write_run(make_run(benchmark, system, SKILLS[system], 0.05 * number, 0.02 / 6**number), runs[-1])
    return folder / name, runs


def with_prices(run: Run, usd: float | None, count: int | None = None) -> Run:
    """The same run with another price for its first `count` calls, or for all."""
    priced = tuple(replace(entry, usd=usd) for entry in run.ledger[:count])
    return replace(run, ledger=priced + run.ledger[len(priced) :])


def score_only(benchmark: Path, run: Path, metrics: list[str]) -> None:
    """Leave scores of just these metrics with a run, as another version or another tool might."""
    write_scores(evaluate(read_benchmark(benchmark), read_run(run), metrics), run)
