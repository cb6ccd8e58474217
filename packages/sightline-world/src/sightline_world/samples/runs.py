"""Made-up runs over the sample benchmark: no system was asked, the predictions are the truth with noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from sightline.types import (
    Answer,
    Attempt,
    Benchmark,
    Choice,
    Failure,
    LedgerEntry,
    PictureSet,
    Prediction,
    Ranking,
    Relevance,
    Run,
    Task,
    Text,
    Trace,
    Traces,
    Truth,
)
from sightline_world.draw import COLOURS

_DEPTH = 20
_FAILURES = (
    Failure("timeout", "no reply within 60 s", retryable=True),
    Failure("refusal", "the model declined to answer"),
)


@dataclass(frozen=True, slots=True)
class _System:
    """How often it is right, the share of tasks that it fails, and what a call costs."""

    name: str
    skill: float
    failing: float
    usd: float
    seconds: float


_SYSTEMS = (
    _System("sample-strong", 0.92, 0.0, 0.004, 3.1),
    _System("sample-middling", 0.65, 0.05, 0.0011, 1.4),
    _System("sample-weak", 0.35, 0.20, 0.0002, 0.5),
)


def sample_runs(benchmark: Benchmark, seed: int = 0) -> tuple[Run, ...]:
    """Three made-up runs of different strength, the last with a fair share of failures.

    They stand in for real systems in the demo and in tests: each prediction is derived from the truth with
    noise, and costs and times are invented. The names ("sample-strong" …) and `parameters` say so.
    """
    return tuple(_run(benchmark, system, seed) for system in _SYSTEMS)


def _run(benchmark: Benchmark, system: _System, seed: int) -> Run:
    ids = list(benchmark.tasks)
    lot = Random(f"{seed}/{system.name}")
    failing = frozenset(lot.sample(ids, round(system.failing * len(ids))))
    attempts, ledger = [], []
    for task in benchmark.tasks.values():
        rng = Random(f"{seed}/{system.name}/{task.id}")
        failed = task.id in failing
        prediction = rng.choice(_FAILURES) if failed else _predict(benchmark, task, system.skill, rng)
        attempts.append(Attempt(task.id, prediction))
        ledger.append(_entry(task, system, rng, failed))
    return Run(
        benchmark=benchmark.name,
        system=system.name,
        attempts=tuple(attempts),
        benchmark_checksum=benchmark.checksum,
        parameters={"made_up": True, "skill": system.skill},
        seed=seed,
        ledger=tuple(ledger),
    )


def _entry(task: Task, system: _System, rng: Random, failed: bool) -> LedgerEntry:
    tokens = 200 + len(task.text) // 4
    return LedgerEntry(
        stage="run",
        model=system.name,
        task_id=task.id,
        tokens_in=tokens,
        tokens_out=0 if failed else rng.randint(20, 300),
        tokens_image=765 * len(task.pictures),
        usd=system.usd * rng.uniform(0.7, 1.3),
        seconds=system.seconds * rng.uniform(0.6, 1.8),
        ok=not failed,
    )


def _predict(benchmark: Benchmark, task: Task, skill: float, rng: Random) -> Prediction:
    truth: Truth = benchmark.truth[task.id]
    match truth:
        case Relevance(grades):
            return _ranking(benchmark, grades, skill, rng)
        case PictureSet(pictures):
            return _selection(_in_scope(benchmark, task), pictures, skill, rng)
        case Answer(text):
            return Text(text if rng.random() < skill else _wrong(text, rng))
        case Choice(option, steps=steps):
            keys = [choice.key for choice in task.options if choice.key != option]
            right = rng.random() < skill
            return Choice(option if right else rng.choice(keys), steps=tuple(s for s in steps if rng.random() < skill))
        case Traces(references):
            reference = rng.choice(references)
            return Trace(_forgetful(reference.thinking, skill, rng), _forgetful(reference.answer, skill, rng))


def _ranking(benchmark: Benchmark, grades: Mapping[str, int], skill: float, rng: Random) -> Ranking:
    """Pictures by grade plus noise that outweighs the grade when there is little skill."""
    spread = 2.2 * (1.0 - skill)
    scored = [(skill * grades.get(name, 0) + rng.gauss(0, spread), name) for name in benchmark.corpus.pictures]
    best = sorted(scored, reverse=True)[:_DEPTH]
    return Ranking(tuple(name for _, name in best), tuple(round(score, 4) for score, _ in best))


def _in_scope(benchmark: Benchmark, task: Task) -> Sequence[str]:
    owned = [group.pictures for group in benchmark.corpus.groups_of("owner") if group.id == task.scope.owner]
    return owned[0] if owned else tuple(benchmark.corpus.pictures)


def _selection(scope: Sequence[str], wanted: tuple[str, ...], skill: float, rng: Random) -> PictureSet:
    slip = (1.0 - skill) * 0.15
    return PictureSet(tuple(name for name in scope if rng.random() < (skill if name in wanted else slip)))


def _wrong(text: str, rng: Random) -> str:
    """Another answer of the same form."""
    if text in COLOURS:
        return rng.choice([colour for colour in COLOURS if colour != text])
    if text.isdigit():
        return str(int(text) + rng.choice((-1, 1, 2)))
    return "5:4" if ":" in text else "Atlantis"


def _forgetful(text: str, skill: float, rng: Random) -> str:
    """The text with some of its words left out."""
    return " ".join(word for word in text.split() if rng.random() < 0.3 + 0.7 * skill)
