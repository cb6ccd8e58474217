"""A price before: from sizes alone, and from a pilot; what is in the journal costs nothing."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from journal_tools import record_all
from sightline.calls.journal import Journal
from sightline.calls.journal_tables import Call
from sightline.calls.plan import CostPlan, plan_stage
from sightline.calls.prices import Prices
from sightline.calls.request_key import request_key
from sightline.config.settings import Price, PriceSettings
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Message, Usage

PRICES = Prices(PriceSettings(models={"vllm/own": Price(input=1.0, output=2.0)}))


def request(number: int, model: str = "vllm/own", max_tokens: int | None = None) -> ChatRequest:
    return ChatRequest(model, (Message("user", (f"{number:04d}" + "x" * 396,)),), max_tokens=max_tokens)


def answered(number: int, usage: Usage, stage: str = "annotate") -> Call:
    return Call(request_key(request(number)), stage, "vllm/own", "", 1.0, ChatReply("x"), usage=usage)


def test_from_sizes_alone() -> None:
    found = plan_stage("annotate", (request(n, max_tokens=200) for n in range(1000)), prices=PRICES)
    assert (found.calls, found.journaled, found.basis) == (1000, 0, "sizes of texts and pictures")
    assert found.input.likely == 104_000
    assert found.input.low < 104_000 < found.input.high < 150_000
    assert (found.output.low, found.output.likely, found.output.high) == (50_000, 200_000, 200_000)
    assert found.usd is not None
    assert found.usd.likely == pytest.approx(0.104 + 0.4)
    assert found.usd.low < found.usd.likely < found.usd.high


def test_models_that_are_asked_in_one_stage_are_named() -> None:
    one, other = (plan_stage("think", [request(1, model)], prices=PRICES) for model in ("vllm/own", "vllm/other"))
    names = [line.split("   ")[0] for line in str(CostPlan((one, other))).splitlines()[:2]]
    assert names == ["  think vllm/own", "  think vllm/other"]
    assert str(CostPlan((one,))).startswith("  think   1 call")


def test_a_sample_stands_for_all() -> None:
    whole = plan_stage("s", (request(n) for n in range(1000)), prices=PRICES)
    sample = plan_stage("s", (request(n) for n in range(10)), prices=PRICES, calls=1000)
    assert sample.calls == 1000 and sample.usd is not None and whole.usd is not None
    assert sample.usd.likely == pytest.approx(whole.usd.likely)


def test_from_a_pilot_and_the_range_holds_what_it_costs(tmp_path: Path) -> None:
    rng = random.Random(0)

    def usage() -> Usage:
        return Usage(rng.randrange(500, 1500), output=rng.randrange(10, 400))

    inside = 0
    for trial in range(40):
        with Journal(tmp_path / str(trial)) as journal:
            record_all(journal, [answered(n, usage()) for n in range(30)])
            found = plan_stage("annotate", (request(n) for n in range(330)), prices=PRICES, journal=journal)
        assert (found.calls, found.journaled, found.basis) == (300, 30, "30 calls of this stage")
        assert found.usd is not None
        cost = sum((used.input + 2 * used.output) / 1e6 for used in (usage() for _ in range(300)))
        inside += found.usd.low <= cost <= found.usd.high
        assert found.usd.high < 1.35 * found.usd.low
    assert inside >= 34


def test_repairs_and_turns_are_learnt_with_the_request_that_they_follow_from(tmp_path: Path) -> None:
    def asked(task: int, turn: int) -> Call:
        key = bytes([task, turn]) * 16
        usage = Usage(1000 * (1 + turn), output=100)
        return Call(key, "steps", "vllm/own", "", 1.0, ChatReply("x"), task=f"t{task}", usage=usage, turn=turn)

    with Journal(tmp_path) as journal:
        record_all(journal, [asked(task, turn) for task in range(10) for turn in range(1 + task % 2 * 2)])
        found = plan_stage("steps", (request(n) for n in range(100)), prices=PRICES, journal=journal)
    # Half of the tasks take one call (1,000 tokens in), half three (1,000 + 2,000 + 3,000).
    assert found.calls == 100 and found.is_learnt
    assert found.input.likely == pytest.approx(100 * (1000 + 6000) / 2)
    assert found.output.likely == pytest.approx(100 * 200)
    assert found.basis == "20 calls of this stage, 2.0 for each request"


def test_several_requests_of_one_task_are_not_taken_for_repairs(tmp_path: Path) -> None:
    def sample(task: int, number: int) -> Call:
        key = bytes([task, number]) * 16
        return Call(
            key, "think", "vllm/own", "", 1.0, ChatReply("x"), task=f"t{task}", usage=Usage(1000), sample=number
        )

    with Journal(tmp_path) as journal:
        record_all(journal, [sample(task, number) for task in range(6) for number in range(4)])
        found = plan_stage("think", (request(n) for n in range(100)), prices=PRICES, journal=journal)
    assert found.input.likely == pytest.approx(100 * 1000)


def test_a_pilot_of_another_stage_says_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        record_all(journal, [answered(n, Usage(10**6), "judge") for n in range(30)])
        found = plan_stage("annotate", (request(n) for n in range(100, 110)), prices=PRICES, journal=journal)
    assert found.basis == "sizes of texts and pictures" and found.input.likely < 2000


def test_nothing_left_to_ask_costs_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        record_all(journal, [answered(n, Usage(100, output=10)) for n in range(30)])
        found = plan_stage("annotate", (request(n) for n in range(30)), prices=PRICES, journal=journal)
    assert found.calls == 0 and found.usd is not None and found.usd.high == 0
    assert "0 calls, 30 answered already" in str(CostPlan((found,)))


def test_the_table_for_people() -> None:
    stages = (
        plan_stage("annotate", (request(n, "openai/gpt-5-mini", 200) for n in range(1000)), prices=PRICES),
        plan_stage("judge", (request(n, "openai/gpt-5-mini", 200) for n in range(7)), prices=PRICES, calls=6400),
    )
    text = str(CostPlan(stages))
    lines = text.splitlines()
    assert "annotate   1,000 calls   104.0 k tokens in   200.0 k out   $0.43 (" in lines[0]
    assert "by batch: $0.21" in lines[0]
    assert lines[1].startswith("  judge      6,400 calls   665.6 k tokens in")
    assert lines[2].startswith("  together $3.15 (")
    assert lines[3].startswith("  nothing has been spent · start it with --budget ")
    amount = float(lines[3].rpartition("--budget ")[2].removesuffix("usd"))
    usd = CostPlan(stages).usd
    assert usd is not None and usd.high <= amount <= 1.1 * usd.high


def test_an_unknown_price_is_said_to_be_unknown() -> None:
    found = CostPlan((plan_stage("s", [request(1, "vllm/other")], prices=PRICES),))
    assert found.usd is None and found.to_json()["usd"] is None
    assert "price unknown" in str(found) and "[prices.models]" in str(found) and "$" not in str(found)


def test_for_machines() -> None:
    found = CostPlan((plan_stage("s", [request(1)], prices=PRICES),)).to_json()
    assert found["calls"] == 1 and found["stages"][0]["stage"] == "s"
    assert set(found["usd"]) == {"likely", "low", "high"}


def test_small_pilots_get_wider_ranges_as_students_t_says() -> None:
    from sightline.calls.plan import _t_95

    for freedom, exact in ((4, 2.7764), (5, 2.5706), (9, 2.2622), (29, 2.0452), (999, 1.9623)):
        assert _t_95(freedom) == pytest.approx(exact, abs=0.001)


def test_calls_that_failed_and_were_paid_for_count_in_a_pilot(tmp_path: Path) -> None:
    def failed(number: int, usage: Usage) -> Call:
        key = request_key(request(number))
        return Call(key, "annotate", "vllm/own", "", 1.0, Failure("length", "cut off"), usage=usage)

    with Journal(tmp_path) as journal:
        record_all(journal, [answered(n, Usage(100, output=100)) for n in range(5)])
        record_all(journal, [failed(n, Usage(100, output=1000)) for n in range(5, 10)])
        record_all(journal, [failed(n, Usage(reported=False)) for n in range(10, 15)])
        found = plan_stage("annotate", (request(n) for n in range(100, 200)), prices=PRICES, journal=journal)
    assert found.basis == "10 calls of this stage" and found.output.likely == pytest.approx(100 * 550)


def test_without_a_longest_reply_the_most_is_not_known() -> None:
    found = CostPlan((plan_stage("s", [request(1)], prices=PRICES),))
    assert found.usd is not None and found.usd.high == math.inf and found.stages[0].most_usd is None
    assert "the most is unknown: set --max-tokens" in str(found) and "--budget" not in str(found)
    told = found.to_json()
    assert told["usd"]["high"] is None and told["stages"][0]["output"]["high"] is None
    limited = plan_stage("s", [request(1, max_tokens=200)] * 3, prices=PRICES)
    assert limited.usd is not None and limited.most_usd is not None and limited.most_usd >= limited.usd.high > 0


def test_requests_with_pictures_that_cannot_be_read_are_counted_apart(tmp_path: Path) -> None:
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    sources = [str(tmp_path / "none.jpg"), str(tmp_path / "broken.jpg"), "https://example.org/a.jpg"]
    requests = [ChatRequest("vllm/own", (Message("user", (ImagePart(source),)),), max_tokens=9) for source in sources]
    found = plan_stage("s", requests, prices=PRICES)
    assert (found.calls, found.unreadable) == (1, 2)
    assert "2 more will fail and cost nothing: their pictures can't be read" in str(CostPlan((found,)))
