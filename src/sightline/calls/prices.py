"""What calls cost: by `[prices]` of the configuration, else by the package genai-prices; None where neither knows."""

from __future__ import annotations

import math
import time
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from typing import Any

from sightline.config.settings import Price, PriceSettings
from sightline.errors import UserError
from sightline.types import Usage

_MILLION = 1e6
_FRESH_SECONDS = 60.0
"""Prices may change with the time of day: look again after a minute."""
_LIST_KEYS = {
    "input": "input_mtok",
    "cached_input": "cache_read_mtok",
    "image_input": "input_image_mtok",
    "output": "output_mtok",
    "reasoning": "output_reasoning_mtok",
    "cache_written": "cache_write_mtok",
    "request": "requests_kcount",
}
_Listed = tuple[float, tuple[tuple[int, float], ...]]


@dataclass(frozen=True, slots=True)
class TokenRates:
    """Dollars per token of each sort, and per request."""

    input: float
    cached: float
    image: float
    output: float
    reasoning: float
    cache_written: float
    request: float = 0.0

    def cost(self, usage: Usage) -> float:
        """Dollars for one call; a token of the input is counted once, as the first of cached, written, image, text."""
        cached = min(usage.cached, usage.input)
        written = min(usage.cache_written, usage.input - cached)
        image = min(usage.image, usage.input - cached - written)
        reasoning = min(usage.reasoning, usage.output)
        return (
            self.request
            + (usage.input - cached - written - image) * self.input
            + cached * self.cached
            + written * self.cache_written
            + image * self.image
            + (usage.output - reasoning) * self.output
            + reasoning * self.reasoning
        )


@dataclass(frozen=True, slots=True)
class Tariff:
    """The rates of one model; those of a step hold for whole requests with more input tokens than its start."""

    base: TokenRates
    steps: tuple[tuple[int, TokenRates], ...] = ()

    @property
    def is_free(self) -> bool:
        """Does nothing here cost anything?"""
        return all(value == 0 for rates in (self.base, *(rates for _, rates in self.steps)) for value in astuple(rates))

    def cost(self, usage: Usage) -> float:
        """Dollars for one call."""
        rates = self.base
        for start, higher in self.steps:
            if usage.input > start:
                rates = higher
        return rates.cost(usage)


class Prices:
    """Prices by model and stage; a stage's own price wins over its model's, and that over the built-in list."""

    def __init__(self, settings: PriceSettings | None = None) -> None:
        self._settings = settings or PriceSettings()
        self._known: dict[tuple[str, str, bool], tuple[float, Tariff | None]] = {}

    def tariff(self, model: str, stage: str = "", *, batch: bool = False) -> Tariff | None:
        """The rates of a model, asked live or in a provider's batch; None when they are not known."""
        key = (model, stage, batch)
        found = self._known.get(key)
        now = time.monotonic()
        if found is None or now - found[0] > _FRESH_SECONDS:
            found = self._known[key] = (now, self._look_up(model, stage, batch))
        return found[1]

    def cost(self, model: str, usage: Usage, stage: str = "", *, batch: bool = False) -> float | None:
        """Dollars for one call; None when the price is not known."""
        tariff = self.tariff(model, stage, batch=batch)
        return None if tariff is None else tariff.cost(usage)

    def needed(self, model: str, stage: str = "") -> Tariff:
        """The rates of a model that a budget has to be kept for."""
        tariff = self.tariff(model, stage)
        if tariff is None:
            raise UserError(
                f"the price of {model} is not known, so a budget can't be kept.",
                f'say what it costs, in dollars per million tokens, in sightline.toml: [prices.models."{model}"] '
                "input = 0.5, output = 1.5 (0 for a server of your own)",
            )
        return tariff

    def _look_up(self, model: str, stage: str, batch: bool) -> Tariff | None:
        said = [price for price in (getattr(self._settings, stage, None), self._settings.models.get(model)) if price]
        given = _merge([price for price in said if isinstance(price, Price)])
        listed = _listed(model, batch)
        starts = sorted({start for value in listed.values() for start, _ in value[1]})
        base = _rates(given, {name: value[0] for name, value in listed.items()})
        if base is None:
            return None
        steps = []
        for start in starts:
            rates = _rates(given, {name: _at(value, start) for name, value in listed.items()})
            if rates is not None:
                steps.append((start, rates))
        return Tariff(base, tuple(steps))


def _merge(prices: list[Price]) -> dict[str, float]:
    """What the user says, dollars per million tokens; the first that says it counts."""
    said: dict[str, float] = {}
    for price in prices:
        for name, value in price.model_dump(exclude_none=True).items():
            said.setdefault(name, value)
    return said


def _rates(given: dict[str, float], listed: dict[str, float]) -> TokenRates | None:
    """What is given, else what is listed; without its own price a token costs as much as other input or output."""

    def pick(name: str, otherwise: float) -> float:
        return given.get(name, listed.get(name, otherwise))

    text, output = pick("input", math.nan), pick("output", math.nan)
    if math.isnan(text + output):
        return None
    return TokenRates(
        input=text / _MILLION,
        cached=pick("cached_input", text) / _MILLION,
        image=pick("image_input", text) / _MILLION,
        output=output / _MILLION,
        reasoning=pick("reasoning", output) / _MILLION,
        cache_written=pick("cache_written", text) / _MILLION,
        request=listed.get("request", 0.0) / 1000,
    )


# --- the built-in list ---------------------------------------------------------------------------------------


def _listed(model: str, batch: bool) -> dict[str, _Listed]:
    """Prices per million tokens (per thousand requests), each with its steps; empty when the model is not listed."""
    provider, slash, name = model.partition("/")
    if provider in ("builtin", "scripted") and slash:
        return {"input": (0.0, ()), "output": (0.0, ())}
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, found = get_snapshot().find_provider_model(name if slash else model, None, provider if slash else None, None)
    except LookupError:
        return {}
    if batch and not found.price_variants:
        return {}
    prices = found.get_prices(datetime.now(UTC), {"processing": "batch"} if batch else None)
    values = {ours: getattr(prices, theirs) for ours, theirs in _LIST_KEYS.items()}
    return {name: _with_steps(value) for name, value in values.items() if value is not None}


def _with_steps(value: Any) -> _Listed:
    tiers = getattr(value, "tiers", None)
    if tiers is None:
        return float(value), ()
    return float(value.base), tuple((tier.start, float(tier.price)) for tier in tiers)


def _at(value: _Listed, start: int) -> float:
    """The price of a request that is just larger than `start`."""
    price = value[0]
    for step, higher in value[1]:
        if start >= step:
            price = higher
    return price
