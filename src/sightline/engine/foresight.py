"""What an attempt at a call may take: its tokens, and the high end of its money, to be set aside before it is made."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sightline.engine.prices import Tariff
from sightline.engine.tokens import (
    BYTES_PER_TOKEN,
    FEWEST_BYTES_PER_TOKEN,
    PICTURE_DOUBT,
    TokenEstimate,
    request_tokens,
)
from sightline.types import ChatRequest, Usage

USUAL_OUTPUT = 4096
"""Tokens that are set aside for a reply without `max_tokens`, until a longer one was seen."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens as they are likely, and dollars at their high end."""

    tokens: int = 0
    usd: float = 0.0


NOTHING = Estimate()


class Foresight:
    """Estimates for the calls of one model."""

    def __init__(self) -> None:
        self._longest_output = USUAL_OUTPUT

    def of(self, request: ChatRequest, tariff: Tariff | None) -> Estimate:
        """What an attempt at this request may take; without a tariff no money."""
        sent = request_tokens(request)
        output = self._longest_output if request.max_tokens is None else request.max_tokens
        usd = 0.0 if tariff is None else highest_cost(tariff, sent, output)
        return Estimate(sent.total + output, usd)

    def saw(self, usage: Usage) -> None:
        """A reply was so long: the next may be, too."""
        self._longest_output = max(self._longest_output, usage.output)


def highest_cost(tariff: Tariff, sent: TokenEstimate, output: int) -> float:
    """Dollars for the high end of the input and all of the output, whether it is thinking or not."""
    text = math.ceil(sent.text * BYTES_PER_TOKEN / FEWEST_BYTES_PER_TOKEN)
    image = math.ceil(sent.image * (1 + PICTURE_DOUBT))
    usage = Usage(input=text + image, image=image, output=output)
    return max(tariff.cost(usage), tariff.cost(replace(usage, reasoning=output)))
