"""The caller and its journal: nothing is asked twice, whoever asks, and nobody's slot is lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from models_calling import MODEL, QUICK, ask, calling, rows, run
from models_server import FaultServer
from sightline.calls.budget import Budget
from sightline.calls.chat import open_chat
from sightline.calls.rate_limit import RateLimits
from sightline.calls.session import CallOptions, Session, purpose
from sightline.config import Config
from sightline.config.settings import Price, PriceSettings
from sightline.errors import UserError
from sightline.models.providers import PictureLimit
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatReply


def test_a_repeated_request_is_answered_from_the_journal(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer() as server:
            async with calling(server, tmp_path) as caller:
                first = await caller.reply(ask("p"))
            async with calling(server, tmp_path) as caller:
                again = await caller.reply(ask("p"))
                assert isinstance(first, ChatReply) and isinstance(again, ChatReply)
                assert again.from_journal and replace(again, from_journal=False) == first
                samples = [await caller.reply(ask("p", sample=number)) for number in (1, 2, 1)]
                assert [s.from_journal for s in samples if isinstance(s, ChatReply)] == [False, False, True]
            assert server.asked["p"] == 3
            async with calling(server, tmp_path, fresh=True) as caller:
                fresh = await caller.reply(ask("p"))
                assert isinstance(fresh, ChatReply) and not fresh.from_journal
            assert server.asked["p"] == 4

    run(main())
    assert rows(tmp_path, "SELECT sample FROM calls ORDER BY id") == [(0,), (1,), (2,), (0,)]
    assert rows(tmp_path, "SELECT count FROM hits") == [(2,)]


def test_the_journal_answers_when_the_server_is_gone(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer() as server, calling(server, tmp_path) as caller:
            await caller.reply(ask("p"))
        async with calling(server, tmp_path) as caller:
            assert isinstance(await caller.reply(ask("p")), ChatReply)

    run(main())


def test_equal_requests_at_once_are_one_call(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer(seconds=0.05) as server, calling(server, tmp_path) as caller:
            replies = await asyncio.gather(*(caller.reply(ask("p")) for _ in range(50)))
            assert server.asked["p"] == 1
            assert sum(isinstance(reply, ChatReply) and not reply.from_journal for reply in replies) == 1
            assert {reply.text for reply in replies if isinstance(reply, ChatReply)} == {"A dog on a beach."}

    run(main())


def test_when_the_one_that_asks_is_cancelled_another_asks(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer(seconds=0.1) as server, calling(server, tmp_path) as caller:
            first, second = (asyncio.create_task(caller.reply(ask("p"))) for _ in range(2))
            while not server.asked["p"]:
                await asyncio.sleep(0.005)
            first.cancel()
            assert isinstance(await second, ChatReply)
            assert server.asked["p"] == 2 and first.cancelled()

    run(main())


def test_a_cancelled_call_gives_its_slot_back(tmp_path: Path) -> None:
    async def main() -> None:
        faults = {f"n{number}": ["never"] for number in range(3)}
        limits = RateLimits.at_once(1)
        async with FaultServer(faults) as server, calling(server, tmp_path, limits=limits) as caller:
            tasks = [asyncio.create_task(caller.reply(ask(prompt))) for prompt in faults]
            await asyncio.sleep(0.05)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert isinstance(await caller.reply(ask("p")), ChatReply)

    run(main())


def test_a_server_that_takes_few_at_once_answers_all(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer(seconds=0.01) as server:
            server.capacity = 5
            retry = replace(QUICK, overload_attempts=50)
            async with calling(server, tmp_path, retry=retry) as caller:
                replies = await asyncio.gather(*(caller.reply(ask(f"p{number}")) for number in range(300)))
            assert all(isinstance(reply, ChatReply) for reply in replies)
            refused = server.asked.total() - 300
            assert refused < 250, "it learns how many are too many"

    run(main())


def test_a_call_is_kept_with_what_it_was_for(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer() as server, calling(server, tmp_path, stage="annotate") as caller:
            with purpose("picture-7"):
                reply = await caller.reply(ask("p"))
            assert isinstance(reply, ChatReply) and reply.usd is None and reply.seconds is not None
            judge = caller.for_stage("judge")
            await judge.reply(ask("q"))
            assert isinstance(await judge.reply(ask("p")), ChatReply)
            assert server.asked.total() == 2

    run(main())
    found = rows(tmp_path, "SELECT stage, task, model, input, output, usd, seconds > 0 FROM calls ORDER BY id")
    assert found == [("annotate", "picture-7", MODEL, 1000, 100, None, 1), ("judge", None, MODEL, 1000, 100, None, 1)]


def test_another_address_is_another_call_unless_it_has_a_name(tmp_path: Path) -> None:
    async def main() -> None:
        ways: list[tuple[dict[str, Any], int]] = [({}, 2), ({"journal_as": "our cluster"}, 1)]
        for options, expected in ways:
            asked = 0
            for _ in range(2):
                async with FaultServer() as server, calling(server, tmp_path, **options) as caller:
                    assert isinstance(await caller.reply(ask("p")), ChatReply)
                    asked += server.asked.total()
            assert asked == expected

    run(main())


def test_a_model_by_its_name_with_journal_and_prices(tmp_path: Path) -> None:
    config = Config(prices=PriceSettings(models={MODEL: Price(input=10.0, output=100.0)}))

    async def main() -> None:
        async with FaultServer() as server:
            asking = CallOptions(base_url=server.url, budget=Budget.usd(9))
            async with open_chat(MODEL, Session(tmp_path, config, asking), stage="s") as model:
                assert model.name == MODEL
                reply = await model.reply(ask("p", max_tokens=10))
                assert isinstance(reply, ChatReply) and reply.usd == pytest.approx(0.02)
        with pytest.raises(UserError, match="--local-only"):
            async with open_chat("openrouter/x/y", Session(tmp_path, calls=CallOptions(local_only=True))):
                raise AssertionError("it must not be opened")

    run(main())
    assert rows(tmp_path, "SELECT stage, usd FROM calls") == [("s", 0.02)]


def test_everything_that_changes_the_wire_is_another_call(tmp_path: Path) -> None:
    settings: list[dict[str, Any]] = [
        {},
        {"extra": {"top_k": 5}},
        {"headers": {"X-Tier": "flex"}},
        {"structured": "prompt"},
        {"max_tokens_field": "max_completion_tokens"},
        {"picture_limit": PictureLimit(side=512)},
    ]

    async def main() -> None:
        async with FaultServer() as server:

            async def once(**fields: Any) -> bool:
                wire = WireSettings(**fields)
                asking = CallOptions(base_url=server.url)
                async with open_chat(MODEL, Session(tmp_path, calls=asking), wire=wire) as model:
                    reply = await model.reply(ask("p"))
                    assert isinstance(reply, ChatReply)
                planned = replace(asking, plan=True)
                async with open_chat(MODEL, Session(tmp_path, calls=planned), wire=wire) as model:
                    assert model.plan([ask("p")]).journaled == 1, "a plan knows the same keys"
                return reply.from_journal

            assert [await once(**fields) for fields in settings] == [False] * len(settings)
            assert [await once(**fields) for fields in settings] == [True] * len(settings)
            same: list[dict[str, Any]] = [
                {"headers": {"Authorization": "Bearer b"}},
                {"quiet_seconds": 7.0},
                {"max_reply_bytes": 10_000},
            ]
            assert [await once(**fields) for fields in same] == [True] * 3, "who asks, and how long we wait, is not"

    run(main())
