"""The caller over real HTTP: every fault is retried or named, and nothing hangs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from models_calling import MODEL, ask, calling, rows, run
from models_server import FaultServer
from sightline.calls.circuit_breaker import CircuitBreaker
from sightline.calls.prices import Prices
from sightline.config.settings import Price, PriceSettings
from sightline.errors import StoppedError, UserError
from sightline.models.structured_output import Structured, ask_structured
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Message


class Dog(BaseModel):
    dog: bool


PASSING = {
    "429": "rate-limited",
    "429 with Retry-After": "rate-limited",
    "503": "overloaded",
    "529": "overloaded",
    "500": "server-error",
    "502": "server-error",
    "dropped": "connection",
    "half a header": "connection",
    "half-sent": "cut-off-body",
    "never": "timeout",
    "slow body": "timeout",
    "invalid JSON": "bad-json",
    "truncated JSON": "cut-off-body",
    "empty body": "empty",
    "empty choices": "empty",
    "empty answer": "empty",
    "HTML page": "html",
    "HTML page as JSON": "html",
    "wrong content type": "bad-content-type",
}
LASTING = {
    "content filter": "content-filter",
    "refused": "refused",
    "length": "length",
    "endless newlines": "endless",
    "endless body": "endless",
    "400": "bad-request",
}


@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_that_passes_is_retried(fault: str, tmp_path: Path) -> None:
    async def main() -> None:
        patience = 0.2 if PASSING[fault] == "timeout" else 30.0
        async with FaultServer({"p": [fault, "ok"]}) as server, calling(server, tmp_path, patience) as caller:
            reply = await caller.reply(ask("p"))
            assert isinstance(reply, ChatReply), reply
            assert reply.text == "A dog on a beach." and reply.attempts == 2 and server.asked["p"] == 2

    run(main())
    assert rows(tmp_path, "SELECT attempts, failure FROM calls") == [(2, None)]


@pytest.mark.parametrize("fault", PASSING)
def test_a_fault_that_stays_becomes_a_named_failure(fault: str, tmp_path: Path) -> None:
    async def main() -> None:
        patience = 0.2 if PASSING[fault] == "timeout" else 30.0
        async with FaultServer({"p": [fault]}) as server, calling(server, tmp_path, patience) as caller:
            failure = await caller.reply(ask("p"))
            assert isinstance(failure, Failure), failure
            assert failure.kind == PASSING[fault] and failure.message
            expected = 4 if PASSING[fault] in ("rate-limited", "overloaded") else 3
            assert server.asked["p"] == expected
            assert await caller.reply(ask("p")) == failure, "a failure that may pass is asked again"
            assert server.asked["p"] == 2 * expected

    run(main())
    assert rows(tmp_path, "SELECT failure, reusable, reply FROM calls") == [(PASSING[fault], 0, None)] * 2


@pytest.mark.parametrize("fault", LASTING)
def test_a_fault_that_would_come_again_is_not_retried(fault: str, tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer({"p": [fault]}) as server, calling(server, tmp_path) as caller:
            failure = await caller.reply(ask("p"))
            assert isinstance(failure, Failure) and failure.kind == LASTING[fault]
            assert server.asked["p"] == 1
            again = await caller.reply(ask("p"))
            assert again == failure
            kept = failure.kind in ("content-filter", "refused", "length")
            assert server.asked["p"] == (1 if kept else 2), "what the model itself said is not paid twice"

    run(main())


def test_a_reply_of_the_wrong_shape_is_asked_for_exactly_once_more_with_what_was_wrong(tmp_path: Path) -> None:
    prices = Prices(PriceSettings(models={MODEL: Price(input=10.0, output=100.0)}))

    async def ask_for_a_dog(faults: list[str], workspace: Path) -> tuple[Structured[Dog] | Failure, list[Any]]:
        async with FaultServer({"p": faults}) as server, calling(server, workspace, prices=prices) as caller:
            found = await ask_structured(caller, ask("p"), Dog)
            return found, [request.json["messages"] for request in server.requests]

    got, asked = run(ask_for_a_dog(["wrong schema", "json"], tmp_path / "a"))
    assert isinstance(got, Structured) and got.value == Dog(dog=True) and got.asked == 2
    assert [len(messages) for messages in asked] == [1, 2]
    assert asked[0] == asked[1][:1] and "dog" in asked[1][1]["content"]
    got, asked = run(ask_for_a_dog(["wrong schema", "wrong schema"], tmp_path / "b"))
    assert isinstance(got, Failure) and got.kind == "wrong-schema" and len(asked) == 2
    paid = "SELECT attempts, input, output, usd, failure FROM calls ORDER BY id"
    assert rows(tmp_path / "b", paid) == [(1, 1000, 100, pytest.approx(0.02), "wrong-schema")] * 2


@pytest.mark.parametrize(
    ("fault", "error", "says"),
    [("401", UserError, "key is refused"), ("404", UserError, "there is no model"), ("402", StoppedError, "no credit")],
)
def test_what_cannot_work_stops_at_once(fault: str, error: type[Exception], says: str, tmp_path: Path) -> None:
    async def main() -> None:
        prompts = [f"p{number}" for number in range(1000)]
        async with FaultServer({prompt: [fault] for prompt in prompts}) as server, calling(server, tmp_path) as caller:
            done = await asyncio.gather(*(caller.reply(ask(prompt)) for prompt in prompts), return_exceptions=True)
            assert all(isinstance(result, error) for result in done)
            assert says in str(done[0])
            assert server.asked.total() <= 64, "only what was already on its way"

    run(main())


def test_what_cannot_be_sent_is_a_failure(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer() as server, calling(server, tmp_path) as caller:
            gone = ChatRequest(MODEL, (Message("user", (ImagePart(str(tmp_path / "gone.jpg")),)),))
            for request, kind in ((gone, "bad-picture"), (ask("\ud800"), "bad-request")):
                failure = await caller.reply(request)
                assert isinstance(failure, Failure) and failure.kind == kind
            assert server.asked.total() == 0

    run(main())


def test_an_endpoint_that_is_not_there_stops_with_a_message(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer() as server:
            url = server.url
        async with calling(server, tmp_path) as caller:
            done = await asyncio.gather(*(caller.reply(ask(f"p{n}")) for n in range(500)), return_exceptions=True)
            assert all(isinstance(result, StoppedError | Failure) for result in done)
            stopped = [result for result in done if isinstance(result, StoppedError)]
            assert len(stopped) > 400
            assert url in stopped[0].message and "does not answer" in stopped[0].message

    run(main())
    assert rows(tmp_path, "SELECT DISTINCT failure, usd FROM calls") == [("connection", 0.0)]


def test_a_server_that_restarts_loses_no_call(tmp_path: Path) -> None:
    async def main() -> None:
        server = FaultServer()
        async with server:
            pass
        breaker = CircuitBreaker(server.url, patience=30.0, first_probe=0.05)
        breaker.replied()
        async with calling(server, tmp_path, breaker=breaker) as caller:
            tasks = [asyncio.create_task(caller.reply(ask(f"p{number}"))) for number in range(100)]
            await asyncio.sleep(0.5)
            was_open = breaker.is_open
            assert was_open
            async with server:
                replies = await asyncio.gather(*tasks)
                assert not breaker.is_open
        answered = sum(isinstance(reply, ChatReply) for reply in replies)
        assert answered >= 90, "those that had used up their attempts before it opened have failed"
        assert all(isinstance(reply, ChatReply) or reply.kind == "connection" for reply in replies)

    run(main())


def test_a_probe_that_the_server_refuses_ends_the_pause(tmp_path: Path) -> None:
    """Ten dropped connections open the breaker; a 400 to the probe shows that somebody is there."""
    faults = {f"p{number}": ["dropped", "400" if number == 0 else "ok"] for number in range(12)}

    async def main() -> None:
        async with FaultServer(faults) as server, calling(server, tmp_path) as caller:
            await caller.reply(ask("first"))
            replies = await asyncio.wait_for(asyncio.gather(*(caller.reply(ask(prompt)) for prompt in faults)), 30)
        kinds = [reply.kind if isinstance(reply, Failure) else "ok" for reply in replies]
        assert kinds.count("ok") == 11 and kinds.count("bad-request") == 1

    run(main())
