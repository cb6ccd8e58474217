"""What a system under test is, what it is opened with, and what it may say beside its prediction.

At the end, what systems that find pictures share: a task's words, and results as the prediction that the task asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from pydantic import ConfigDict

from sightline import plugins
from sightline.calls.plan import CostPlan
from sightline.calls.session import Session
from sightline.config.section import StrictModel
from sightline.retrieval.bm25 import words_of
from sightline.types import (
    Benchmark,
    Failure,
    Json,
    LedgerEntry,
    PictureSet,
    Prediction,
    Ranking,
    Task,
    TaskKind,
    Truth,
)

ALL_KINDS: frozenset[TaskKind] = frozenset(("rank", "select", "answer", "choose", "describe"))
_NUMBER: ContextVar[int] = ContextVar("sightline_attempt", default=0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A prediction, and what it took: `seconds` where the system knows better than the clock around it.

    `entries` are calls that were made for it, with their price; `usd` is what the attempt cost beside them, None when
    that is not known.
    """

    prediction: Prediction
    seconds: float | None = None
    usd: float | None = None
    entries: tuple[LedgerEntry, ...] = ()


SystemReply: TypeAlias = Prediction | Outcome


class System(Protocol):
    """Whatever is being evaluated; `bench` is the benchmark without its truth and its hidden groups.

    A system may also have: `name`; `parameters` (known after `prepare`, and kept in run.json); `kinds`, the kinds of
    task that it can do; `concurrency`, how many attempts it takes at once; `Preparing`, `Closing` and `Pricing`.
    """

    async def attempt(self, task: Task, bench: Benchmark) -> SystemReply: ...


@runtime_checkable
class Preparing(Protocol):
    """A system with work to do before the first task, such as an index to build; gives what that took."""

    def prepare(self) -> Iterable[LedgerEntry]: ...


@runtime_checkable
class Closing(Protocol):
    """A system that holds something open; `close` is awaited where the attempts were."""

    async def close(self) -> None: ...


@runtime_checkable
class Pricing(Protocol):
    """A system that asks chat models, and says beforehand what attempts at tasks would take, each with its number."""

    async def price(self, attempts: Sequence[tuple[Task, int]]) -> CostPlan: ...


class Options(StrictModel):
    """What a kind of system can be told in a SPEC; text is read as the type that the option has."""

    model_config = ConfigDict(strict=False)


@dataclass(frozen=True, slots=True)
class SystemSetting:
    """What a system is opened with.

    `benchmark` is what it may see; `truth` is empty but for the oracle and for ours that are fitted on other tasks.
    `base` is where relative addresses of pictures begin, `folder` the run's own, for trajectories and blobs.
    `hides_texts`: the benchmark has texts that a model wrote, which systems are not shown.
    """

    benchmark: Benchmark
    truth: Mapping[str, Truth] = field(default_factory=dict)
    base: Path | None = None
    session: Session = field(default_factory=Session)
    seed: int = 0
    folder: Path | None = None
    hides_texts: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of system: its options, and how it is opened. Entry points of `sightline.systems` are of this type."""

    name: str
    summary: str
    options: type[Options]
    open: Callable[[Any, SystemSetting], System]


def attempt_number() -> int:
    """Which of several attempts at a task is under way, from 0: for systems that leave something to chance."""
    return _NUMBER.get()


@contextmanager
def numbered(number: int) -> Iterator[None]:
    """`attempt_number()` inside is `number`."""
    token = _NUMBER.set(number)
    try:
        yield
    finally:
        _NUMBER.reset(token)


def parameters_of(system: System) -> dict[str, Json]:
    """What a system says of itself."""
    return dict(getattr(system, "parameters", {}))


def kinds_of(system: System) -> frozenset[TaskKind]:
    """The kinds of task that a system can do: all, unless it says otherwise."""
    return frozenset(getattr(system, "kinds", ALL_KINDS))


def concurrency_of(system: System) -> int:
    """How many attempts a system takes at once: one, unless it says otherwise, so that times are its own."""
    return int(getattr(system, "concurrency", 1))


def lacking_words(setting: SystemSetting, *, annotations: bool = True) -> str | None:
    """That no picture has words about it beside its file name, and why; None where one has."""
    held = setting.benchmark
    said = {one.picture_id: one for one in held.annotations} if annotations else {}
    found = (words_of(one, said.get(one.id)) for one in held.corpus.pictures.values())
    if any(word for one in found for word in (one.caption, one.tags, one.facets, one.seen, one.place)):
        return None
    hidden = "; those that a model wrote are hidden without --show-annotations" if setting.hides_texts else ""
    return f"no picture has words that describe it{hidden}"


def words_of_task(task: Task, language: str | None = None) -> str | Failure:
    """The words of the prompt, in another language where one is asked for."""
    if language is None:
        return " ".join(task.text.split())
    if language not in task.translations:
        known = ", ".join(sorted(task.translations)) or "none"
        return Failure("no-translation", f'the task is not told in "{language}" (translations: {known})')
    parts = task.translations[language]
    return " ".join("".join(part for part in parts if isinstance(part, str)).split())


def own_pictures(task: Task, allowed: bool) -> frozenset[str]:
    """The pictures of the prompt, which are no answers unless they are `allowed` to be; none of them then."""
    return frozenset() if allowed else frozenset(ref.id for ref in task.pictures)


def as_prediction(
    task: Task, found: Sequence[tuple[str, float]], select: Literal["ranking"] | int, scored: bool = True
) -> Prediction:
    """A ranking; for a select task the first `select` as a set, where a number is given."""
    if task.kind == "select" and select != "ranking":
        return PictureSet(tuple(picture for picture, _ in found[:select]))
    return Ranking(tuple(picture for picture, _ in found), tuple(score for _, score in found) if scored else None)


def kind_names() -> tuple[str, ...]:
    """Every kind that a SPEC can name."""
    return plugins.names("systems")


def sees_truth(kind: Kind, options: Options) -> bool:
    """Is it the oracle, or fitted on other tasks? Only ours may be: nothing from elsewhere ever gets the truth."""
    if not is_built_in(kind.name) or find_kind(kind.name) is not kind:
        return False
    fitted = kind.name == "blind" and getattr(options, "by", None) in ("majority", "learned")
    return fitted or kind.name in ("oracle", "cut")


def is_built_in(name: str) -> bool:
    """Is it one of ours, whose faults are our own?"""
    return plugins.is_built_in("systems", name)


def find_kind(name: str) -> Kind:
    """The kind of that name."""
    plugin = plugins.find("systems", name)
    if plugin is None:
        raise plugins.unknown("systems", name, f'unknown kind of system "{name}".')
    kind: Kind = plugin.load(Kind)
    return kind
