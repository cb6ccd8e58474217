"""A server that fails at some questions, and one that fails at all: the first run ends, the second is stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from models_calling import LIMITS, ask, calling, rows, run
from models_server import FaultServer
from sightline.calls.caller import Caller
from sightline.calls.circuit_breaker import CircuitBreaker
from sightline.calls.rate_limit import RateLimits
from sightline.calls.session import purpose
from sightline.errors import StoppedError
from sightline.types import ChatReply, Failure

GOOD = [f"good {number}" for number in range(60)]
BAD = [f"bad {number}" for number in range(25)]
MANY_BAD = [f"bad {number}" for number in range(75)]
AT_MOST = 30
"""Questions that may fail in a row before the work is stopped."""


def failing(prompts: Sequence[str], fault: str = "500") -> dict[str, list[str]]:
    return {prompt: [fault] for prompt in prompts}


class Came(NamedTuple):
    answered: list[str]
    failed: list[str]
    stopped: list[str]
    error: StoppedError | None


async def ask_all(caller: Caller, prompts: Sequence[str]) -> Came:
    """What came of each; a verb keeps the answered and the failed."""
    done = await asyncio.gather(*(caller.reply(ask(prompt)) for prompt in prompts), return_exceptions=True)
    pairs = list(zip(prompts, done, strict=True))
    errors = [result for result in done if isinstance(result, StoppedError)]
    came = Came(
        [prompt for prompt, result in pairs if isinstance(result, ChatReply)],
        [prompt for prompt, result in pairs if isinstance(result, Failure)],
        [prompt for prompt, result in pairs if isinstance(result, StoppedError)],
        errors[0] if errors else None,
    )
    assert sum(map(len, came[:3])) == len(prompts), done
    return came


@asynccontextmanager
async def new_caller(server: FaultServer, workspace: Path, limits: RateLimits = LIMITS) -> AsyncIterator[Caller]:
    breaker = CircuitBreaker(server.url, patience=0.3, first_probe=0.02)
    async with calling(server, workspace, limits=limits, breaker=breaker) as caller:
        yield caller


async def one_run(server: FaultServer, workspace: Path, prompts: Sequence[str], limits: RateLimits = LIMITS) -> Came:
    async with new_caller(server, workspace, limits) as caller:
        return await ask_all(caller, prompts)


def test_a_run_with_some_bad_questions_ends(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer(failing(BAD)) as server:
            first = await one_run(server, tmp_path, [*GOOD, *BAD])
            assert (first.answered, first.failed) == (GOOD, BAD)
            assert all(server.asked[prompt] == 3 for prompt in BAD), "all attempts, and no more"
            again = await one_run(server, tmp_path, [*GOOD, *BAD])
            assert (again.answered, again.failed) == (GOOD, BAD)
            assert all(server.asked[prompt] == 1 for prompt in GOOD)

    run(main())
    failed = rows(tmp_path, "SELECT DISTINCT failure, attempts, usd, reusable FROM calls WHERE failure IS NOT NULL")
    assert failed == [("server-error", 3, 0.0, 0)]


@pytest.mark.parametrize("fresh", [False, True])
def test_a_resumed_run_in_which_only_bad_questions_are_left_ends(tmp_path: Path, fresh: bool) -> None:
    """Where `fresh`, they were never asked before, as after a `kill -9`; else the first run was stopped at them."""

    async def main() -> None:
        async with FaultServer(failing(BAD)) as server:
            async with new_caller(server, tmp_path) as caller:
                assert (await ask_all(caller, GOOD)).answered == GOOD
                if not fresh:
                    tasks = [asyncio.create_task(caller.reply(ask(prompt))) for prompt in BAD]
                    while server.asked["bad 0"] == 0:
                        await asyncio.sleep(0.01)
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)
            came = await one_run(server, tmp_path, BAD)
            assert came.failed == BAD

    run(main())


def test_samples_of_one_bad_question_count_as_one(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer(failing(BAD)) as server, new_caller(server, tmp_path) as caller:
            await ask_all(caller, GOOD)

            async def samples(prompt: str) -> list[ChatReply | Failure]:
                with purpose(prompt):
                    return await asyncio.gather(*(caller.reply(ask(prompt, sample=number)) for number in range(10)))

            for came in await asyncio.gather(*map(samples, BAD[:8])):
                assert [result.kind for result in came if isinstance(result, Failure)] == ["server-error"] * 10

    run(main())


def test_each_run_comes_further_where_many_questions_are_bad(tmp_path: Path) -> None:
    async def main() -> None:
        left, runs = MANY_BAD, 0
        async with FaultServer(failing(MANY_BAD)) as server:
            await one_run(server, tmp_path, GOOD)
            while left:  # As `think` does, which does not ask again for what failed.
                came = await one_run(server, tmp_path, left)
                assert len(came.failed) >= min(AT_MOST, len(left)) and not came.answered
                left, runs = came.stopped, runs + 1
            assert runs <= 3
            calls = server.asked.total()
            came = await one_run(server, tmp_path, MANY_BAD)
            assert came.failed == MANY_BAD, "what was given up before says nothing of the server"
            assert server.asked.total() - calls == 3 * len(MANY_BAD)

    run(main())


@pytest.mark.parametrize("fault", ["500", "502", "dropped", "HTML page"])
@pytest.mark.parametrize("few", [True, False])
def test_a_server_that_fails_at_everything_from_the_beginning_stops_the_run(
    tmp_path: Path, fault: str, few: bool
) -> None:
    prompts = GOOD[:12] if few else [f"p{number}" for number in range(500)]

    async def main() -> None:
        async with FaultServer(failing(prompts, fault)) as server:
            for _ in range(2):
                calls = server.asked.total()
                came = await one_run(server, tmp_path, prompts, RateLimits.at_once(8))
                # At most those that had used up their attempts before it opened.
                assert not came.answered and len(came.failed) <= 5 and came.error is not None
                assert "answer" in came.error.message and "--base-url" in (came.error.fix or "")
                assert server.asked.total() - calls <= 40

    run(main())


@pytest.mark.parametrize(("fault", "most"), [("500", AT_MOST), ("502", 0), ("dropped", 0)])
def test_a_server_that_breaks_in_the_middle_stops_the_run(tmp_path: Path, fault: str, most: int) -> None:
    prompts = [f"p{number}" for number in range(600)]

    async def main() -> None:
        async with FaultServer(failing(prompts[100:], fault)) as server:
            first = await one_run(server, tmp_path, prompts)
            assert first.answered == prompts[:100] and first.error is not None
            assert "run the same command again" in (first.error.fix or "")
            calls = server.asked.total()
            second = await one_run(server, tmp_path, first.stopped)
            assert not second.answered and second.error is not None
            # Those that had used up their attempts before it opened have failed, too.
            assert max(len(first.failed), len(second.failed)) <= most + 10
            in_flight, probes = LIMITS.most, 20
            assert max(calls - 100, server.asked.total() - calls) <= in_flight + 3 * most + probes

    run(main())


def test_a_server_that_goes_away_while_it_fails_stops_the_run(tmp_path: Path) -> None:
    """The first error is of its own, and all that follow are a gateway's."""
    faults = {prompt: ["500", "500", "502"] for prompt in BAD}

    async def main() -> None:
        async with FaultServer(faults) as server, new_caller(server, tmp_path) as caller:
            await ask_all(caller, GOOD)
            came = await ask_all(caller, BAD)
            assert len(came.stopped) > len(BAD) // 2

    run(main())


def test_a_server_that_recovers_answers_all(tmp_path: Path) -> None:
    """Two errors each, which is more in a row than the breaker bears, and then a reply."""
    faults = {prompt: ["500", "500", "ok"] for prompt in MANY_BAD}

    async def main() -> None:
        async with FaultServer(faults) as server, new_caller(server, tmp_path) as caller:
            await ask_all(caller, GOOD)
            assert (await ask_all(caller, MANY_BAD)).answered == MANY_BAD

    run(main())
