"""Attempts on a cluster: each worker opens the benchmark and the system, and its models by what all workers share.

The run's folder is written on the machine where the run was started.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sightline.calls.session import Session, purpose, reused_keys
from sightline.calls.stages import SharedServices, StageSpec, run_spread
from sightline.engine.async_map import Stage
from sightline.runs.system_loader import load_system
from sightline.runs.systems.base import Closing, Preparing, SystemReply, numbered
from sightline.types import Failure


class AttemptKey(NamedTuple):
    """A task's id, and which of several attempts at it, from 0."""

    task: str
    number: int


@dataclass(frozen=True, slots=True)
class RemoteReply:
    """What a system said on a worker, how long it took, and which requests the journal answered."""

    said: SystemReply
    seconds: float
    reused: tuple[bytes, ...]


def attempts_on_cluster(
    todo: Sequence[AttemptKey],
    again: Collection[tuple[str, int]],
    loading: dict[str, Any],
    concurrency: int,
) -> Iterator[tuple[AttemptKey, RemoteReply]]:
    """Each attempt with its reply, in order; `loading` is what `load_system` takes, as values that can be pickled."""
    session: Session = loading["session"]
    plain = replace(session.with_calls(budget=None), engine="local")
    told = {"loading": {**loading, "session": plain}, "again": frozenset(again)}
    spec: StageSpec[AttemptKey, RemoteReply] = StageSpec("run", _stage, told)
    options = {"engine": session.engine, "budget": session.calls.budget, "concurrency": concurrency}
    for key, reply in run_spread(todo, spec, session.workspace, **options):
        assert not isinstance(reply, Failure)
        yield key, reply


def _stage(
    shared: SharedServices, *, loading: dict[str, Any], again: frozenset[tuple[str, int]]
) -> Stage[AttemptKey, RemoteReply]:
    opened = load_system(**{**loading, "session": loading["session"].with_calls(shared=shared)})
    system, benchmark = opened.system, opened.benchmark
    try:
        if isinstance(system, Preparing):
            tuple(system.prepare())
    except BaseException:
        opened.close()
        raise

    async def one(key: AttemptKey) -> RemoteReply:
        with purpose(key.task, afresh=key in again), numbered(key.number):
            started = time.perf_counter()
            said = await system.attempt(benchmark.tasks[key.task], benchmark)
            return RemoteReply(said, time.perf_counter() - started, reused_keys())

    return Stage("run", one, system.close if isinstance(system, Closing) else None)
