"""The budget: what is in flight counts, the cap holds, and the end is clean."""

from __future__ import annotations

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.calls.budget import Budget
from sightline.errors import StoppedError, UserError
from virtual_time import run_virtual


@pytest.mark.parametrize(
    ("text", "usd"),
    [
        ("5usd", 5.0),
        ("$5", 5.0),
        ("0.50", 0.5),
        ("2,5 USD", 2.5),
        ("3 dollars", 3.0),
        ("0", 0.0),
        ("12,50", 12.5),
        ("0,125", 0.125),
        ("1,0000", 1.0),
        ("1,234.50 usd", 1234.5),
        ("$1,234,567", 1234567.0),
    ],
)
def test_amounts_are_read(text: str, usd: float) -> None:
    assert Budget.parse(text).cap == usd


@pytest.mark.parametrize("text", ["", "five", "5eur", "-1", "1e3", "5 5", "1.2.3", "1,2,3", "1.000,50"])
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is not an amount in dollars"):
        Budget.parse(text)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.01, 5), st.integers(0, 10_000), st.integers(1, 50))
def test_the_cap_holds_and_nearly_all_of_it_is_used(cap: float, seed: int, at_once: int) -> None:
    """Every call sets aside 0.02 and costs at most that."""
    rng = random.Random(seed)
    budget = Budget.usd(cap)
    spent: list[float] = []

    async def work() -> None:
        while True:
            await budget.reserve(0.02)
            assert budget.spent + budget.reserved <= cap + 1e-9
            await asyncio.sleep(rng.random())
            cost = rng.choice([0.001, 0.02, 0.01, 0.0])
            spent.append(cost)
            budget.settle(0.02, cost)

    async def main() -> None:
        done = await asyncio.gather(*(work() for _ in range(at_once)), return_exceptions=True)
        assert all(isinstance(result, StoppedError) for result in done), done

    run_virtual(main())
    assert budget.spent == pytest.approx(sum(spent)) and budget.spent <= cap + 1e-9
    assert cap - budget.spent < 0.02 + 1e-9


def test_a_call_that_does_not_fit_waits_for_those_in_flight() -> None:
    async def main() -> None:
        budget = Budget.usd(1)
        await budget.reserve(0.8)
        waiting = asyncio.create_task(budget.reserve(0.5))
        await asyncio.sleep(1)
        assert not waiting.done()
        budget.settle(0.8, 0.1)
        await waiting
        assert budget.left == pytest.approx(0.4)

    run_virtual(main())


def test_a_small_budget_is_told_with_digits_that_count() -> None:
    async def main() -> None:
        with pytest.raises(StoppedError, match=r"budget of \$0\.0040 is used up"):
            await Budget.usd(0.004).reserve(0.005)

    run_virtual(main())


def test_after_the_stop_everybody_is_stopped_with_what_was_spent() -> None:
    async def main() -> None:
        budget = Budget.usd(0.10)
        await budget.reserve(0.06)
        budget.settle(0.06, 0.06)
        for _ in range(2):
            with pytest.raises(StoppedError, match=r"\$0\.10 is used up: \$0\.060 spent on 1 call,") as stopped:
                await budget.reserve(0.05)
            assert stopped.value.exit_code == 3
        with pytest.raises(StoppedError):
            await budget.reserve(0.0001)

    run_virtual(main())


def test_a_cancelled_wait_sets_nothing_aside() -> None:
    async def main() -> None:
        budget = Budget.usd(1)
        await budget.reserve(1.0)
        waiting = asyncio.create_task(budget.reserve(0.5))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        budget.settle(1.0, 0.2)
        assert budget.reserved == 0 and budget.left == pytest.approx(0.8)
        await budget.reserve(0.8)

    run_virtual(main())


def test_a_comma_that_may_mean_two_things_is_refused() -> None:
    with pytest.raises(UserError, match=r'"1,000usd" may mean 1.000 or 1000 dollars') as refused:
        Budget.parse("1,000usd")
    assert refused.value.fix == "write it without the comma: --budget 1000usd, or --budget 1.000usd"


def test_what_a_model_really_costs_is_learnt_and_the_first_goes_alone() -> None:
    """Estimated at 0.1, each costs 1.0: without learning, fifty would go out at once."""

    async def call(budget: Budget) -> None:
        await budget.reserve(0.1, "m")
        await asyncio.sleep(1)
        budget.settle(0.1, 1.0, "m")

    async def main() -> None:
        budget = Budget.usd(5)
        done = await asyncio.gather(*(call(budget) for _ in range(50)), return_exceptions=True)
        assert sum(isinstance(result, StoppedError) for result in done) == 45
        assert budget.spent == pytest.approx(5.0) and budget.reserved == 0

    run_virtual(main())


def test_what_is_in_flight_grows_with_what_was_learnt() -> None:
    async def main() -> None:
        budget = Budget.usd(100)
        await budget.reserve(1.0, "m")
        budget.settle(1.0, 1.0, "m")
        for _ in range(3):
            await budget.reserve(1.0, "m")
        await budget.reserve(1.0, "other")
        budget.settle(1.0, 4.0, "m")
        assert budget.reserved == pytest.approx(2 * 4.0 + 1.0)

    run_virtual(main())


def test_an_attempt_of_unknown_cost_counts_with_what_was_set_aside() -> None:
    async def main() -> None:
        budget = Budget.usd(10)
        await budget.reserve(1.0, "m")
        budget.settle(1.0, 2.0, "m")
        await budget.reserve(1.0, "m")
        budget.settle(1.0, None, "m")
        assert (budget.spent, budget.calls) == (4.0, 2)

    run_virtual(main())


def test_what_costs_nothing_is_not_held_back() -> None:
    async def main() -> None:
        budget = Budget.usd(0)
        await asyncio.gather(*(budget.reserve(0.0, "free") for _ in range(100)))

    run_virtual(main())


@pytest.mark.parametrize("seed", range(8))
def test_when_a_servers_counts_rise_the_overrun_is_at_most_a_call_for_each_connection(seed: int) -> None:
    rng = random.Random(seed)
    at_once, cap = rng.choice((1, 4, 16)), 1.0
    budget, dearest, done = Budget.usd(cap), 0.0, 0

    async def work() -> None:
        nonlocal dearest, done
        while True:
            await budget.reserve(0.01, "m")
            await asyncio.sleep(rng.random() / 1000)
            done += 1
            cost = 0.01 * rng.uniform(0.3, 1.0) * (1 if done < 40 else 4)
            dearest = max(dearest, cost)
            budget.settle(0.01, cost, "m")

    async def main() -> None:
        found = await asyncio.gather(*(work() for _ in range(at_once)), return_exceptions=True)
        assert all(isinstance(one, StoppedError) for one in found)

    asyncio.run(main())
    assert done > 40 and budget.spent <= cap + at_once * dearest
