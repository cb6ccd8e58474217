"""What requests will take, judged by their sizes alone: tokens, and money with its range and its upper bound.

`CostEstimator` is for one call, before money is set aside for it; `RequestSizes` adds up the calls of a plan.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from sightline.calls.prices import Tariff
from sightline.calls.tokens import (
    BYTES_PER_TOKEN,
    FEWEST_BYTES_PER_TOKEN,
    MOST_BYTES_PER_TOKEN,
    PICTURE_DOUBT,
    TokenEstimate,
    request_tokens,
)
from sightline.types import ChatRequest, Usage

USUAL_OUTPUT = 4096
"""Tokens that are set aside for a reply without `max_tokens`, until a longer one was seen."""
UNKNOWN_OUTPUT = (50, 300)
"""Tokens of a reply when none was seen: few, likely; how many there are at most only `max_tokens` says."""


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """Tokens as they are likely, and dollars at their high end."""

    tokens: int = 0
    usd: float = 0.0


NO_COST = CallEstimate()


class CostEstimator:
    """Estimates for the calls of one model."""

    def __init__(self) -> None:
        self._longest_output = USUAL_OUTPUT

    def of(self, request: ChatRequest, tariff: Tariff | None) -> CallEstimate:
        """What an attempt at this request may take; without a tariff no money."""
        sent = request_tokens(request)
        output = self._longest_output if request.max_tokens is None else request.max_tokens
        usd = 0.0 if tariff is None else highest_cost(tariff, sent, output)
        return CallEstimate(sent.total + output, usd)

    def saw(self, usage: Usage) -> None:
        """A reply was so long: the next may be, too."""
        self._longest_output = max(self._longest_output, usage.output)


def highest_cost(tariff: Tariff, sent: TokenEstimate, output: int) -> float:
    """Dollars for the high end of the input and all of the output, whether it is thinking or not."""
    text = math.ceil(sent.text * BYTES_PER_TOKEN / FEWEST_BYTES_PER_TOKEN)
    image = math.ceil(sent.image * (1 + PICTURE_DOUBT))
    usage = Usage(input=text + image, image=image, output=output)
    return max(tariff.cost(usage), tariff.cost(replace(usage, reasoning=output)))


@dataclass(frozen=True, slots=True)
class Range:
    """What is likely, and between what it will most probably be; `high` is infinite where nothing limits it."""

    likely: float
    low: float
    high: float

    def __add__(self, other: Range) -> Range:
        return Range(self.likely + other.likely, self.low + other.low, self.high + other.high)

    def times(self, factor: float) -> Range:
        if factor == 0:
            return Range(0.0, 0.0, 0.0)
        return Range(self.likely * factor, self.low * factor, self.high * factor)


class HighestCost:
    """Adds up what requests can cost at most; None when nothing limits one of them, or a price is not known."""

    def __init__(self, tariff: Callable[[str], Tariff | None]) -> None:
        self._tariff = tariff
        self._usd: float | None = 0.0

    def add(self, request: ChatRequest, tokens: TokenEstimate) -> None:
        tariff = self._tariff(request.model)
        if self._usd is None or tariff is None or (request.max_tokens is None and not tariff.is_free):
            self._usd = None
        else:
            self._usd += highest_cost(tariff, tokens, request.max_tokens or 0)

    def times(self, factor: float) -> float | None:
        return None if self._usd is None else self._usd * factor


class RequestSizes:
    """Adds up requests without keeping them: the text, the pictures, and what may come back."""

    def __init__(self, tokens: Callable[[ChatRequest], TokenEstimate], live: HighestCost, batch: HighestCost) -> None:
        self._tokens, self._live, self._batch = tokens, live, batch
        self.count = self._text = self._image = 0
        self._output: list[float] = [0, 0, 0]

    def add(self, request: ChatRequest) -> None:
        tokens = self._tokens(request)
        self.count += 1
        self._text += tokens.text
        self._image += tokens.image
        self._live.add(request, tokens)
        self._batch.add(request, tokens)
        few, likely = UNKNOWN_OUTPUT
        most = math.inf if request.max_tokens is None else request.max_tokens
        for place, amount in enumerate((min(few, most), min(likely, most), most)):
            self._output[place] += amount

    def ranges(self, scale: float, tariff: Tariff | None) -> tuple[Range, Range, Range | None]:
        """Tokens in, tokens out, and money."""
        fewest, most = BYTES_PER_TOKEN / MOST_BYTES_PER_TOKEN, BYTES_PER_TOKEN / FEWEST_BYTES_PER_TOKEN
        sent = Range(
            self._text + self._image,
            self._text * fewest + self._image * (1 - PICTURE_DOUBT),
            self._text * most + self._image * (1 + PICTURE_DOUBT),
        )
        low, likely, high = self._output
        came = Range(likely, low, high)
        usd = None if tariff is None else self._money(tariff, sent, came).times(scale)
        return sent.times(scale), came.times(scale), usd

    def _money(self, tariff: Tariff, sent: Range, came: Range) -> Range:
        count = max(1, self.count)

        def cost(tokens_in: float, tokens_out: float) -> float:
            if math.isinf(tokens_out):
                return 0.0 if tariff.is_free else math.inf
            image = self._image * tokens_in / max(1.0, sent.likely)
            one = Usage(round(tokens_in / count), image=round(image / count), output=round(tokens_out / count))
            return self.count * tariff.cost(one)

        return Range(cost(sent.likely, came.likely), cost(sent.low, came.low), cost(sent.high, came.high))
