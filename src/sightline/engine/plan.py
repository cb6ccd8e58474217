"""A price before anything is spent: calls, tokens and money, each with a range."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sightline.engine.journal import Journal
from sightline.engine.keys import UnreadablePictureError, request_key
from sightline.engine.ledger import dollars
from sightline.engine.prices import Prices, Tariff
from sightline.engine.tokens import (
    BYTES_PER_TOKEN,
    FEWEST_BYTES_PER_TOKEN,
    MOST_BYTES_PER_TOKEN,
    TokenEstimate,
    request_tokens,
)
from sightline.types import ChatRequest, Usage

FEWEST_PILOT_CALLS = 5
"""Fewer finished calls of a stage than this say too little about the next ones."""
UNKNOWN_OUTPUT = (50, 300, 1200)
"""Tokens of a reply when nothing limits it and none was seen: few, likely, many."""
_95_PERCENT = 1.96
_NEXT_TO_NOTHING = 0.0001
"""Dollars below which nobody wants to know how many."""
_PICTURE_DOUBT = 0.2
"""Providers resize before they count."""


@dataclass(frozen=True, slots=True)
class Range:
    """What is likely, and between what it will most probably be."""

    likely: float
    low: float
    high: float

    def __add__(self, other: Range) -> Range:
        return Range(self.likely + other.likely, self.low + other.low, self.high + other.high)

    def times(self, factor: float) -> Range:
        return Range(self.likely * factor, self.low * factor, self.high * factor)


@dataclass(frozen=True, slots=True)
class StagePlan:
    """What a stage will take; `usd` None means that its price is not known. `basis` says what it was judged from."""

    stage: str
    model: str
    calls: int
    journaled: int
    input: Range
    output: Range
    usd: Range | None
    batch_usd: float | None
    basis: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What all stages together will take; nothing has been spent to know it."""

    stages: tuple[StagePlan, ...]

    @property
    def usd(self) -> Range | None:
        """The money; None when the price of a stage with calls to make is not known."""
        total = Range(0.0, 0.0, 0.0)
        for stage in self.stages:
            if stage.usd is None:
                return None
            total += stage.usd
        return total

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        usd = self.usd
        return {
            "stages": [asdict(stage) for stage in self.stages],
            "calls": sum(stage.calls for stage in self.stages),
            "usd": None if usd is None else asdict(usd),
        }

    def __str__(self) -> str:
        """A line for each stage, the total, and how to go on."""
        rows = [_cells(stage) for stage in self.stages]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
        lines = ["  " + "   ".join(map(_align, row, widths, range(len(row)))).rstrip() for row in rows]
        usd = self.usd
        if usd is None:
            lines.append("  the price of a model is not known: say it in sightline.toml, under [prices.models]")
        elif len(self.stages) > 1:
            lines.append(f"  together {_money(usd)}")
        start = "" if usd is None or usd.high == 0 else f" · start it with --budget {_round_up(usd.high)}usd"
        return "\n".join([*lines, f"  nothing has been spent{start}"])


def plan_stage(
    stage: str,
    requests: Iterable[ChatRequest],
    *,
    prices: Prices,
    journal: Journal | None = None,
    endpoint: str = "",
    calls: int | None = None,
    fresh: bool = False,
    count: Callable[[ChatRequest], TokenEstimate] = request_tokens,
) -> StagePlan:
    """Say what a stage will take, from its requests (or from a sample of them, when there will be `calls`).

    Requests that are in the journal cost nothing, unless they are to be asked `fresh`. When enough calls of this stage
    and model are there, tokens and money of the rest follow from them; otherwise from the sizes of texts and pictures,
    and from `max_tokens`.
    """
    sizes = _Sizes(count)
    seen = journaled = 0
    model = ""
    for request in requests:
        seen += 1
        model = request.model
        if journal is not None and not fresh and _is_known(journal, request, endpoint):
            journaled += 1
        else:
            sizes.add(request)
    scale = calls / seen if calls is not None and seen else 1.0
    left = round(sizes.count * scale)
    pilot = journal.pilot(stage, model) if journal is not None else []
    tariff = prices.tariff(model, stage)
    if len(pilot) >= FEWEST_PILOT_CALLS:
        sent, came, usd = _from_pilot(pilot, left, tariff)
        basis = f"{len(pilot):,} calls of this stage"
    else:
        sent, came, usd = sizes.ranges(scale, tariff)
        basis = "sizes of texts and pictures"
    if left == 0:
        usd = Range(0.0, 0.0, 0.0)  # Also where the price is not known.
    batch = prices.tariff(model, stage, batch=True)
    batch_usd = None if batch is None or left == 0 else left * batch.cost(_mean(sent, came, left))
    return StagePlan(stage, model, left, round(journaled * scale), sent, came, usd, batch_usd, basis)


def _is_known(journal: Journal, request: ChatRequest, endpoint: str) -> bool:
    try:
        return journal.find(request_key(request, endpoint)) is not None
    except UnreadablePictureError:  # The call will fail, and cost nothing; it is planned as if it would not.
        return False


def _mean(sent: Range, came: Range, calls: int) -> Usage:
    return Usage(input=round(sent.likely / calls), output=round(came.likely / calls))


class _Sizes:
    """Adds up requests without keeping them: the text, the pictures, and what may come back."""

    def __init__(self, tokens: Callable[[ChatRequest], TokenEstimate]) -> None:
        self._tokens = tokens
        self.count = self._text = self._image = 0
        self._output = [0, 0, 0]

    def add(self, request: ChatRequest) -> None:
        tokens = self._tokens(request)
        self.count += 1
        self._text += tokens.text
        self._image += tokens.image
        few, likely, many = UNKNOWN_OUTPUT
        most = many if request.max_tokens is None else request.max_tokens
        for place, amount in enumerate((min(few, most), min(likely, most), most)):
            self._output[place] += amount

    def ranges(self, scale: float, tariff: Tariff | None) -> tuple[Range, Range, Range | None]:
        """Tokens in, tokens out, and money."""
        fewest, most = BYTES_PER_TOKEN / MOST_BYTES_PER_TOKEN, BYTES_PER_TOKEN / FEWEST_BYTES_PER_TOKEN
        sent = Range(
            self._text + self._image,
            self._text * fewest + self._image * (1 - _PICTURE_DOUBT),
            self._text * most + self._image * (1 + _PICTURE_DOUBT),
        )
        low, likely, high = self._output
        came = Range(likely, low, high)
        usd = None if tariff is None else self._money(tariff, sent, came).times(scale)
        return sent.times(scale), came.times(scale), usd

    def _money(self, tariff: Tariff, sent: Range, came: Range) -> Range:
        count = max(1, self.count)

        def cost(tokens_in: float, tokens_out: float) -> float:
            image = self._image * tokens_in / max(1.0, sent.likely)
            one = Usage(round(tokens_in / count), image=round(image / count), output=round(tokens_out / count))
            return self.count * tariff.cost(one)

        return Range(cost(sent.likely, came.likely), cost(sent.low, came.low), cost(sent.high, came.high))


def _from_pilot(pilot: Sequence[Usage], calls: int, tariff: Tariff | None) -> tuple[Range, Range, Range | None]:
    """Tokens in, tokens out, and money, of so many more calls like these."""
    sent = _sum_of(calls, [usage.input for usage in pilot])
    came = _sum_of(calls, [usage.output for usage in pilot])
    return sent, came, None if tariff is None else _sum_of(calls, [tariff.cost(usage) for usage in pilot])


def _sum_of(calls: int, sample: Sequence[float]) -> Range:
    """The sum of so many more values like these: a 95 % prediction interval, which the sample's own error widens."""
    mean = sum(sample) / len(sample)
    variance = sum((value - mean) ** 2 for value in sample) / (len(sample) - 1)
    half = _95_PERCENT * math.sqrt(calls * variance + calls * calls * variance / len(sample))
    return Range(calls * mean, max(0.0, calls * mean - half), calls * mean + half)


# --- for people ----------------------------------------------------------------------------------------------


def _cells(stage: StagePlan) -> tuple[str, ...]:
    known = f", {stage.journaled:,} answered already" if stage.journaled else ""
    money = "price unknown" if stage.usd is None else _money(stage.usd)
    return (
        stage.stage,
        f"{stage.calls:,} {'call' if stage.calls == 1 else 'calls'}{known}",
        f"{_tokens(stage.input.likely)} tokens in",
        f"{_tokens(stage.output.likely)} out",
        money,
        "" if stage.batch_usd is None else f"by batch: {_about(stage.batch_usd)}, within 24 h",
        f"from {stage.basis}",
    )


def _align(cell: str, width: int, column: int) -> str:
    return cell.rjust(width) if column in (1, 2, 3) else cell.ljust(width)


def _money(usd: Range) -> str:
    if 0 < usd.high < _NEXT_TO_NOTHING:
        return _about(usd.high)
    low, high = dollars(usd.low).removeprefix("$"), dollars(usd.high).removeprefix("$")
    return f"{dollars(usd.likely)} ({low}–{high})"


def _about(usd: float) -> str:
    return f"under {dollars(_NEXT_TO_NOTHING)}" if 0 < usd < _NEXT_TO_NOTHING else dollars(usd)


def _tokens(count: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f}"


def _round_up(usd: float) -> str:
    """An amount that is enough, with two digits that count; no less than a cent."""
    usd = max(usd, 0.01)
    step = 10.0 ** (math.floor(math.log10(usd)) - 1)
    return f"{math.ceil(usd / step) * step:.{max(0, -math.floor(math.log10(step)))}f}"
