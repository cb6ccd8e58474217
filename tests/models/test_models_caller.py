"""The caller over real HTTP: every fault is retried or named, nothing is paid twice, nothing hangs."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from models_server import FaultServer
from sightline.config import Config
from sightline.config.services import Price, PriceSettings
from sightline.engine import Budget, Journal, Limits, Prices, purpose, read_ledger
from sightline.engine.breaker import Breaker
from sightline.engine.journal import FILE_NAME
from sightline.engine.retry import Retry
from sightline.errors import StoppedError, UserError
from sightline.models.asking import Asking
from sightline.models.caller import Caller
from sightline.models.chat import open_chat
from sightline.models.failures import failure
from sightline.models.opening import open_transport
from sightline.models.picture_limits import PictureLimit
from sightline.models.protocols import Outcome
from sightline.models.settings import WireSettings
from sightline.models.structured import Structured, ask_structured
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Message, Usage

T = TypeVar("T")
MODEL = "vllm/m"
QUICK = Retry(attempts=3, overload_attempts=4, first_seconds=0.01, longest_seconds=0.02)
LIMITS = Limits(start=64, most=64, first_rest=0.02)


class Dog(BaseModel):
    dog: bool


def run(main: Coroutine[Any, Any, T]) -> T:
    """Nothing here may take long; what hangs fails."""
    return asyncio.run(asyncio.wait_for(main, 60))


@asynccontextmanager
async def calling(
    server: FaultServer, workspace: Path, patience: float = 30.0, **options: Any
) -> AsyncIterator[Caller]:
    settings = WireSettings(quiet_seconds=patience, total_seconds=1.5 * patience, max_reply_bytes=20_000)
    transport = open_transport(MODEL, base_url=server.url, settings=settings)
    breaker = Breaker(server.url, patience=1.0, first_probe=0.05)
    with Journal(workspace) as journal:
        caller = Caller(transport, journal, **({"limits": LIMITS, "retry": QUICK, "breaker": breaker} | options))
        try:
            yield caller
        finally:
            await caller.close()


def ask(prompt: str, **fields: Any) -> ChatRequest:
    return ChatRequest(MODEL, (Message("user", (prompt,)),), **fields)


def rows(workspace: Path, query: str) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(workspace / FILE_NAME)
    try:
        return database.execute(query).fetchall()
    finally:
        database.close()


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
            await asyncio.sleep(0.05)
            first.cancel()
            assert isinstance(await second, ChatReply)
            assert server.asked["p"] == 2 and first.cancelled()

    run(main())


def test_a_cancelled_call_gives_its_slot_back(tmp_path: Path) -> None:
    async def main() -> None:
        faults = {f"n{number}": ["never"] for number in range(3)}
        limits = Limits.at_once(1)
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
        breaker = Breaker(server.url, patience=30.0, first_probe=0.05)
        breaker.replied()
        async with calling(server, tmp_path, breaker=breaker) as caller:
            tasks = [asyncio.create_task(caller.reply(ask(f"p{number}"))) for number in range(100)]
            await asyncio.sleep(0.5)
            assert breaker.is_open
            async with server:
                replies = await asyncio.gather(*tasks)
                assert not breaker.is_open
        answered = sum(isinstance(reply, ChatReply) for reply in replies)
        assert answered >= 90, "those that had used up their attempts before it opened have failed"
        assert all(isinstance(reply, ChatReply) or reply.kind == "connection" for reply in replies)

    run(main())


def test_the_budget_holds_with_calls_in_flight_and_the_end_is_clean(tmp_path: Path) -> None:
    prices = Prices(PriceSettings(models={MODEL: Price(input=10.0, output=100.0)}))  # $0.02 a call
    budget = Budget.usd(1.0)

    async def main() -> int:
        async with (
            FaultServer(seconds=0.005) as server,
            calling(server, tmp_path, prices=prices, budget=budget) as caller,
        ):
            requests = (ask("p" * 3990 + str(number), max_tokens=150) for number in range(200))
            done = await asyncio.gather(*map(caller.reply, requests), return_exceptions=True)
            answered = sum(isinstance(result, ChatReply) for result in done)
            assert {type(result) for result in done} == {ChatReply, StoppedError}
            assert server.asked.total() == answered
            return answered

    answered = run(main())
    assert answered == pytest.approx(49, abs=1) and budget.spent == pytest.approx(0.02 * answered) and budget.spent <= 1
    assert budget.reserved == 0
    assert rows(tmp_path, "SELECT count(*), round(sum(usd), 6) FROM calls") == [(answered, round(0.02 * answered, 6))]


def test_a_budget_needs_a_price(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer() as server, calling(server, tmp_path, budget=Budget.usd(5)) as caller:
            with pytest.raises(UserError, match="the price of vllm/m is not known"):
                await caller.reply(ask("p"))
            assert server.asked.total() == 0

    run(main())


def test_answers_from_the_journal_need_no_budget(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer() as server:
            async with calling(server, tmp_path) as caller:
                await caller.reply(ask("p"))
            async with calling(server, tmp_path, budget=Budget.usd(0)) as caller:
                assert isinstance(await caller.reply(ask("p")), ChatReply)

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
        for options, expected in (({}, 2), ({"journal_as": "our cluster"}, 1)):
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
            asking = Asking(base_url=server.url, budget=Budget.usd(9))
            async with open_chat(MODEL, config, workspace=tmp_path, asking=asking, stage="s") as model:
                assert model.name == MODEL
                reply = await model.reply(ask("p", max_tokens=10))
                assert isinstance(reply, ChatReply) and reply.usd == pytest.approx(0.02)
        with pytest.raises(UserError, match="--local-only"):
            async with open_chat("openrouter/x/y", workspace=tmp_path, asking=Asking(local_only=True)):
                raise AssertionError("it must not be opened")

    run(main())
    assert rows(tmp_path, "SELECT stage, usd FROM calls") == [("s", 0.02)]


def test_what_cannot_be_sent_is_a_failure(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer() as server, calling(server, tmp_path) as caller:
            gone = ChatRequest(MODEL, (Message("user", (ImagePart(str(tmp_path / "gone.jpg")),)),))
            for request, kind in ((gone, "bad-picture"), (ask("\ud800"), "bad-request")):
                failure = await caller.reply(request)
                assert isinstance(failure, Failure) and failure.kind == kind
            assert server.asked.total() == 0

    run(main())


def test_no_price_is_not_a_price_of_zero_for_a_server_that_counts_no_tokens(tmp_path: Path) -> None:
    prices = Prices(PriceSettings(models={MODEL: Price(input=10.0, output=100.0)}))

    async def main() -> None:
        faults = {"p": ["no usage"]}
        async with FaultServer(faults) as server, calling(server, tmp_path, prices=prices) as caller:
            reply = await caller.reply(ask("p"))
            assert isinstance(reply, ChatReply) and reply.usd is None and not reply.usage.reported

    run(main())


# --- money -------------------------------------------------------------------------------------------------------

DEAR = Prices(PriceSettings(models={MODEL: Price(input=1000.0, output=1000.0)}))
SPENT = "SELECT failure, usd, at_least, attempts FROM calls ORDER BY id"


class Counting:
    """A transport that answers by a list: a kind of failure, or the tokens of a reply."""

    endpoint = "http://x/v1"

    def __init__(self, *answers: str | int, sent: bool = True) -> None:
        self._answers, self._sent = iter(answers), sent

    async def send(self, request: ChatRequest) -> Outcome:
        answer = next(self._answers)
        if isinstance(answer, str):
            return Outcome(failure(answer, "x"), sent=self._sent)
        return Outcome(ChatReply("ok", usage=Usage(input=answer, output=0)))

    async def close(self) -> None:
        """Nothing is open."""


async def count(workspace: Path, budget: Budget, transport: Counting, calls: int = 1) -> list[Any]:
    with Journal(workspace) as journal:
        caller = Caller(transport, journal, budget=budget, prices=DEAR, name=MODEL, retry=QUICK)
        requests = [ask(f"{number}" + "x" * 395, max_tokens=100) for number in range(calls)]
        return [await caller.reply(request) for request in requests]


@pytest.mark.parametrize("kind", ["timeout", "cut-off-body", "connection", "bad-json"])
def test_what_may_have_been_billed_counts_with_what_was_set_aside(kind: str, tmp_path: Path) -> None:
    budget = Budget.usd(100)
    (reply,) = run(count(tmp_path, budget, Counting(kind, kind, 50)))
    assert isinstance(reply, ChatReply) and reply.usd is None and reply.attempts == 3
    assert rows(tmp_path, SPENT) == [(None, None, pytest.approx(0.05), 3)]
    each = (budget.spent - 0.05) / 2
    assert 0.2 < each < 0.3 and budget.reserved == 0


@pytest.mark.parametrize(("kind", "sent"), [("connection", False), ("timeout", False), ("server-error", True)])
def test_what_was_never_sent_or_refused_costs_nothing(kind: str, sent: bool, tmp_path: Path) -> None:
    budget = Budget.usd(100)
    (reply,) = run(count(tmp_path, budget, Counting(kind, kind, 50, sent=sent)))
    assert isinstance(reply, ChatReply) and reply.usd == pytest.approx(0.05)
    assert budget.spent == pytest.approx(0.05)
    assert rows(tmp_path, SPENT) == [(None, pytest.approx(0.05), 0.0, 3)]


def test_money_is_set_aside_for_each_attempt(tmp_path: Path) -> None:
    """Every attempt bills $1.10, which leaves nothing for a second one."""
    budget = Budget.usd(1.5)

    async def main() -> int:
        async with FaultServer({"p": ["empty answer"]}) as server:
            prices = Prices(PriceSettings(models={MODEL: Price(input=1000.0, output=1000.0)}))
            async with calling(server, tmp_path, prices=prices, budget=budget) as caller:
                with pytest.raises(StoppedError, match="is used up"):
                    await caller.reply(ask("p", max_tokens=100))
            return server.asked["p"]

    assert run(main()) == 1
    assert budget.spent == pytest.approx(1.1) and budget.reserved == 0
    assert rows(tmp_path, SPENT) == [("empty", pytest.approx(1.1), 0.0, 1)]


def test_a_server_that_counts_more_than_we_do_is_believed(tmp_path: Path) -> None:
    """Each call is estimated at some $0.24 and billed $5: the second one waits for money that is not there."""
    budget = Budget.usd(8)
    with pytest.raises(StoppedError, match=r"\$5\.00 spent on 1 call, and the next may cost \$5"):
        run(count(tmp_path, budget, Counting(5000, 5000, 5000), calls=3))
    assert budget.spent == pytest.approx(5.0)


@pytest.mark.parametrize("when", ["sent", "between"])
def test_a_cancelled_call_is_written_down_and_counted(when: str, tmp_path: Path) -> None:
    budget = Budget.usd(100)
    fault = "never" if when == "sent" else "half-sent"
    slow = Retry(attempts=3, first_seconds=600.0, longest_seconds=600.0)

    async def main() -> None:
        async with FaultServer({"p": [fault]}) as server:
            options = {"prices": DEAR, "budget": budget, "retry": slow}
            async with calling(server, tmp_path, **options) as caller:
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(caller.reply(ask("p", max_tokens=100)), 0.5)
                assert budget.reserved == 0 and budget.spent > 0.1
            assert server.asked["p"] == 1

    run(main())
    assert rows(tmp_path, SPENT) == [("cancelled", None, 0.0, 1)]
    assert rows(tmp_path, "SELECT count(*) FROM claims") == [(0,)]
    assert read_ledger(tmp_path).total.money == "unknown"


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


# --- what is in the key ------------------------------------------------------------------------------------------


def test_everything_that_changes_the_wire_is_another_call(tmp_path: Path) -> None:
    settings = [
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
                asking = Asking(base_url=server.url)
                async with open_chat(MODEL, workspace=tmp_path, asking=asking, wire=wire) as model:
                    reply = await model.reply(ask("p"))
                    assert isinstance(reply, ChatReply)
                planned = replace(asking, plan=True)
                async with open_chat(MODEL, workspace=tmp_path, asking=planned, wire=wire) as model:
                    assert model.plan([ask("p")]).journaled == 1, "a plan knows the same keys"
                return reply.from_journal

            assert [await once(**fields) for fields in settings] == [False] * len(settings)
            assert [await once(**fields) for fields in settings] == [True] * len(settings)
            same = [{"headers": {"Authorization": "Bearer b"}}, {"quiet_seconds": 7.0}, {"max_reply_bytes": 10_000}]
            assert [await once(**fields) for fields in same] == [True] * 3, "who asks, and how long we wait, is not"

    run(main())
