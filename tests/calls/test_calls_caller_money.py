"""What the caller spends: within the budget, with every attempt that may have been billed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from models_calling import MODEL, QUICK, ask, calling, rows, run
from models_server import FaultServer
from sightline.calls.budget import Budget
from sightline.calls.caller import Caller
from sightline.calls.journal import Journal
from sightline.calls.ledger import read_ledger
from sightline.calls.prices import Prices
from sightline.calls.retry import RetryPolicy
from sightline.config.settings import Price, PriceSettings
from sightline.errors import StoppedError, UserError
from sightline.models.failures import failure
from sightline.models.protocols import CallOutcome
from sightline.types import ChatReply, ChatRequest, Usage

DEAR = Prices(PriceSettings(models={MODEL: Price(input=1000.0, output=1000.0)}))
SPENT = "SELECT failure, usd, at_least, attempts FROM calls ORDER BY id"


class Counting:
    """A transport that answers by a list: a kind of failure, or the tokens of a reply."""

    endpoint = "http://x/v1"

    def __init__(self, *answers: str | int, sent: bool = True) -> None:
        self._answers, self._sent = iter(answers), sent

    async def send(self, request: ChatRequest) -> CallOutcome:
        answer = next(self._answers)
        if isinstance(answer, str):
            return CallOutcome(failure(answer, "x"), sent=self._sent)
        return CallOutcome(ChatReply("ok", usage=Usage(input=answer, output=0)))

    async def close(self) -> None:
        """Nothing is open."""


async def count(workspace: Path, budget: Budget, transport: Counting, calls: int = 1) -> list[Any]:
    with Journal(workspace) as journal:
        caller = Caller(transport, journal, budget=budget, prices=DEAR, name=MODEL, retry=QUICK)
        requests = [ask(f"{number}" + "x" * 395, max_tokens=100) for number in range(calls)]
        return [await caller.reply(request) for request in requests]


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


def test_no_price_is_not_a_price_of_zero_for_a_server_that_counts_no_tokens(tmp_path: Path) -> None:
    prices = Prices(PriceSettings(models={MODEL: Price(input=10.0, output=100.0)}))

    async def main() -> None:
        faults = {"p": ["no usage"]}
        async with FaultServer(faults) as server, calling(server, tmp_path, prices=prices) as caller:
            reply = await caller.reply(ask("p"))
            assert isinstance(reply, ChatReply) and reply.usd is None and not reply.usage.reported

    run(main())


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
    slow = RetryPolicy(attempts=3, first_seconds=600.0, longest_seconds=600.0)

    async def main() -> None:
        async with FaultServer({"p": [fault]}) as server:
            options: dict[str, Any] = {"prices": DEAR, "budget": budget, "retry": slow}
            async with calling(server, tmp_path, **options) as caller:
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(caller.reply(ask("p", max_tokens=100)), 0.5)
                assert budget.reserved == 0 and budget.spent > 0.1
            assert server.asked["p"] == 1

    run(main())
    assert rows(tmp_path, SPENT) == [("cancelled", None, 0.0, 1)]
    assert rows(tmp_path, "SELECT count(*) FROM claims") == [(0,)]
    assert read_ledger(tmp_path).total.money == "unknown"
