"""Prices agree with the built-in list's own arithmetic, give way to what the user says, and are never guessed."""

from __future__ import annotations

import genai_prices
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.calls.prices import Prices
from sightline.config.settings import Price, PriceSettings
from sightline.errors import UserError
from sightline.types import Usage

MODELS = [
    "openai/gpt-5-mini",
    "openai/gpt-4o",
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-2.5-pro",
    "gemini/gemini-2.5-flash",
    "mistral/mistral-small-latest",
    "deepseek/deepseek-chat",
]
counts = st.integers(0, 400_000)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(MODELS), counts, st.floats(0, 1), st.floats(0, 1), counts, st.booleans())
def test_the_same_as_the_price_lists_own_arithmetic(
    model: str, sent: int, cached: float, written: float, came: int, writes: bool
) -> None:
    usage = Usage(sent, round(cached * sent), came)
    if writes and model.startswith("anthropic"):
        usage = Usage(sent, 0, came, cache_written=round(written * sent))
    provider, _, name = model.partition("/")
    theirs = genai_prices.Usage(
        input_tokens=usage.input,
        cache_read_tokens=usage.cached,
        cache_write_tokens=usage.cache_written,
        output_tokens=usage.output,
    )
    expected = genai_prices.calc_price(theirs, name, provider_id=provider).total_price
    assert Prices().cost(model, usage) == pytest.approx(float(expected), rel=1e-9, abs=1e-12)


def test_more_than_a_step_costs_more_for_all_of_it() -> None:
    prices = Prices()
    below = prices.cost("gemini/gemini-2.5-pro", Usage(200_000, output=10))
    above = prices.cost("gemini/gemini-2.5-pro", Usage(200_001, output=10))
    assert below is not None and above is not None and above > 1.5 * below


def test_a_batch_costs_less_where_the_list_says_so() -> None:
    usage = Usage(1000, output=1000)
    live, batch = (Prices().cost("openai/gpt-5-mini", usage, batch=batch) for batch in (False, True))
    assert live is not None and batch == pytest.approx(live / 2)
    assert Prices().cost("deepseek/deepseek-chat", usage, batch=True) is None


@pytest.mark.parametrize("model", ["vllm/my-own", "openai/no-such-model-at-all", "nobody/gpt-5", "my-model"])
def test_an_unknown_price_is_none_and_never_zero(model: str) -> None:
    prices = Prices()
    assert prices.cost(model, Usage(1000, output=10)) is None
    with pytest.raises(UserError, match="is not known") as refused:
        prices.needed(model)
    assert f'[prices.models."{model}"]' in (refused.value.fix or "")


def test_what_the_user_says_wins_and_a_stage_wins_over_its_model() -> None:
    settings = PriceSettings(
        judge=Price(output=100.0),
        models={"openai/gpt-5-mini": Price(input=10.0, output=20.0), "vllm/own": Price(input=0.0, output=0.0)},
    )
    prices = Prices(settings)
    million = Usage(1_000_000, output=1_000_000)
    assert prices.cost("openai/gpt-5-mini", million) == pytest.approx(30.0)
    assert prices.cost("openai/gpt-5-mini", million, "judge") == pytest.approx(110.0)
    assert prices.cost("openai/gpt-5-mini", Usage(1_000_000, cached=1_000_000)) == pytest.approx(0.025)
    assert prices.cost("vllm/own", million) == 0.0 and prices.needed("vllm/own").is_free


def test_cached_image_and_reasoning_tokens_have_their_own_prices() -> None:
    price = Price(input=1.0, cached_input=0.1, image_input=3.0, output=5.0, reasoning=7.0)
    prices = Prices(PriceSettings(models={"vllm/own": price}))
    usage = Usage(input=1_000_000, cached=200_000, image=300_000, output=1_000_000, reasoning=400_000)
    expected = 0.5 * 1 + 0.2 * 0.1 + 0.3 * 3 + 0.6 * 5 + 0.4 * 7
    assert prices.cost("vllm/own", usage) == pytest.approx(expected)


def test_half_a_price_is_no_price() -> None:
    assert Prices(PriceSettings(models={"vllm/own": Price(input=1.0)})).cost("vllm/own", Usage(1)) is None


@given(st.integers(0, 1000), st.integers(0, 2000), st.integers(0, 2000), st.integers(0, 2000))
def test_no_token_is_paid_twice_whatever_a_server_reports(sent: int, cached: int, image: int, written: int) -> None:
    price = Price(input=1e6, cached_input=1e6, image_input=1e6, output=1e6)
    prices = Prices(PriceSettings(models={"vllm/own": price}))
    usage = Usage(sent, cached, 0, 0, image, written)
    assert prices.cost("vllm/own", usage) == pytest.approx(sent)
