"""A price before anything is spent: calls, tokens and money, each with a range."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import sightline
from sightline.calls.estimate import HighestCost, Range, RequestSizes
from sightline.calls.journal import Journal, PilotChain
from sightline.calls.prices import Prices, Tariff
from sightline.calls.request_key import UnreadablePictureError, request_key, turn_of
from sightline.calls.tokens import TokenEstimate, has_unreadable_pictures, request_tokens
from sightline.display import Table, html_table, quiet
from sightline.errors import SightlineError, UserError
from sightline.plain_text import dollars
from sightline.types import ChatRequest, Usage

if TYPE_CHECKING:
    from sightline.calls.session import Session

P = ParamSpec("P")
Verb = TypeVar("Verb", bound=Callable[..., object])

FEWEST_PILOT_CALLS = 5
"""Fewer finished calls of a stage than this say too little about the next ones."""
_FOR_SKEWNESS = 6.0
_NEXT_TO_NOTHING = 0.0001
"""Dollars below which nobody wants to know how many."""


@dataclass(frozen=True, slots=True)
class StagePlan:
    """What a stage will take; `usd` None means that its price is not known. `basis` says what it was judged from.

    `most_usd` and `most_batch_usd` are what it can cost at most, live or in a batch, with each call asked once (the
    high end of its input, all of `max_tokens`); None when that is not known. `unreadable` requests have a picture that
    can't be read: they will fail, and cost nothing.
    """

    stage: str
    model: str
    calls: int
    journaled: int
    input: Range
    output: Range
    usd: Range | None
    batch_usd: float | None
    basis: str
    most_usd: float | None = None
    most_batch_usd: float | None = None
    unreadable: int = 0

    @property
    def is_learnt(self) -> bool:
        """Was it judged from calls of before, with what followed from them?"""
        return self.basis.endswith((" of this stage", " for each request"))


@dataclass(frozen=True, slots=True, repr=False)
class CostPlan(Table[StagePlan]):
    """What all stages together will take; nothing has been spent to know it."""

    stages: tuple[StagePlan, ...]
    notes: tuple[str, ...] = ()
    "What else there is to say before it starts, such as which tasks will be left out."

    @property
    def usd(self) -> Range | None:
        """The money; None when the price of a stage with calls to make is not known."""
        total = Range(0.0, 0.0, 0.0)
        for stage in self.stages:
            if stage.usd is None:
                return None
            total += stage.usd
        return total

    def to_json(self) -> dict[str, Any]:
        """What `--plan --json` prints."""
        usd = self.usd
        return {
            "stages": [_finite(asdict(stage)) for stage in self.stages],
            "calls": sum(stage.calls for stage in self.stages),
            "usd": None if usd is None else _finite(asdict(usd)),
        }

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each stage: model, calls, tokens in and out, dollars with their range."""
        return [_record(stage) for stage in self.stages]

    def _rows(self) -> Sequence[StagePlan]:
        return self.stages

    def _line(self) -> str:
        if not self.stages:
            return "no chat model would be called: there is nothing to price"
        usd = self.usd
        money = "price unknown" if usd is None else _money(usd)
        return f"{sum(stage.calls for stage in self.stages):,} calls, {money}"

    def _blocks(self) -> Iterable[str]:
        head = ("stage", "model", "calls", "tokens in", "tokens out", "money")
        rows = [
            (
                stage.stage,
                stage.model,
                f"{stage.calls:,}",
                _tokens(stage.input.likely),
                _tokens(stage.output.likely),
                "price unknown" if stage.usd is None else _money(stage.usd),
            )
            for stage in self.stages
        ]
        table = (html_table(head, rows, numeric=(2, 3, 4)),) if rows else ()
        return (*table, *map(quiet, self.notes))

    def __str__(self) -> str:
        """A line for each stage, the total, and how to go on."""
        if not self.stages:
            return f"  {self._line()}"
        one_each = len({stage.stage for stage in self.stages}) == len(self.stages)
        rows = [_cells(stage, "" if one_each else f" {stage.model}") for stage in self.stages]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
        lines = ["  " + "   ".join(map(_align, row, widths, range(len(row)))).rstrip() for row in rows]
        usd = self.usd
        if usd is None:
            lines.append("  the price of a model is not known: set it in sightline.toml, under [prices.models]")
        elif len(self.stages) > 1:
            lines.append(f"  together {_money(usd)}")
        unreadable = sum(stage.unreadable for stage in self.stages)
        if unreadable:
            lines.append(f"  {unreadable:,} more will fail and cost nothing: their pictures can't be read")
        return "\n".join([*lines, f"  nothing has been spent{_how_to_go_on(usd)}"])


class DryRunError(SightlineError):
    """The end of a dry run: nobody was asked, and `plan` says what the work would take."""

    exit_code = 0

    def __init__(self, plan: CostPlan) -> None:
        super().__init__("This is a dry run: no model was called.")
        self.plan = plan

    def again(self) -> DryRunError:
        """The same error, new."""
        return DryRunError(self.plan)


def priced(verb: Verb) -> Verb:
    """Mark a verb that can be priced: with `session.calls.plan` it raises `DryRunError` before it asks or writes."""
    verb.__dict__["priced"] = True
    return verb


def dry_run(verb: Callable[P, object], /, *args: P.args, **kwargs: P.kwargs) -> CostPlan:
    """Estimate how many calls and tokens a verb would take, and how much money, without calling a model.

    Parameters
    ----------
    verb:
        A function that calls models, such as `sightline.think` or `sightline.make`, or that method of a session.
    *args, **kwargs:
        What the verb would be called with.

    Returns
    -------
    CostPlan
        The table that `--plan` prints; `usd` is the money with its range, None when a price is not known.

    Raises
    ------
    UserError
        When the verb calls no model.

    Examples
    --------
    >>> import sightline
    >>> plan = sightline.dry_run(sightline.think, "pictures", teachers="openai/gpt-5-mini", workspace="ws")
    >>> sum(stage.calls for stage in plan.stages)
    12
    """
    given: object = verb
    if not callable(given):
        fix = f"Give it with its arguments: dry_run(sightline.{given if given in sightline.VERBS else 'make'}, …)."
        raise UserError(f"dry_run takes a function, not {given!r:.60}.", fix)
    session = _session_of(verb, kwargs)
    name = getattr(verb, "__name__", str(verb))
    if not getattr(verb, "priced", False):
        raise UserError(f"sightline.{name} calls no model: there is nothing to price.", "Call it without dry_run.")
    planning: Any = {**kwargs, "session": replace(session, calls=replace(session.calls, plan=True))}
    try:
        verb(*args, **planning)
    except DryRunError as done:
        return done.plan
    raise UserError(f"sightline.{name} called no model: there was nothing to price.")


def _session_of(verb: Callable[..., object], given: dict[str, Any]) -> Session:
    """The session that a verb would work with: the one given, else that whose method it is, else a default one."""
    from sightline.calls.session import Session

    bound = getattr(verb, "keywords", {})
    session: Session | None = given.get("session") or bound.get("session")
    return Session.of(session)


def plan_stage(
    stage: str,
    requests: Iterable[ChatRequest],
    *,
    prices: Prices,
    journal: Journal | None = None,
    endpoint: str = "",
    wire: str = "",
    calls: int | None = None,
    fresh: bool = False,
    count: Callable[[ChatRequest], TokenEstimate] = request_tokens,
) -> StagePlan:
    """Say what a stage will take, from its requests (or from a sample of them, when there will be `calls`).

    Requests that are in the journal cost nothing, unless they are to be asked `fresh`. When enough calls of this stage
    and model are there, tokens and money of the rest follow from them; otherwise from the sizes of texts and pictures,
    and from `max_tokens`.
    """
    live = HighestCost(lambda model: prices.tariff(model, stage))
    batched = HighestCost(lambda model: prices.tariff(model, stage, batch=True))
    sizes = RequestSizes(count, live, batched)
    seen = journaled = unreadable = 0
    model, turn = "", 0
    for request in requests:
        seen += 1
        model, turn = request.model, turn_of(request)
        if has_unreadable_pictures(request):
            unreadable += 1
        elif journal is not None and not fresh and _is_known(journal, request, endpoint, wire):
            journaled += 1
        else:
            sizes.add(request)
    scale = calls / seen if calls is not None and seen else 1.0
    left = round(sizes.count * scale)
    pilot = journal.pilot(stage, model, turn) if journal is not None else []
    tariff = prices.tariff(model, stage)
    if len(pilot) >= FEWEST_PILOT_CALLS:
        sent, came, usd = _from_pilot(pilot, left, tariff)
        basis = _basis(pilot)
    else:
        sent, came, usd = sizes.ranges(scale, tariff)
        basis = "sizes of texts and pictures"
    if left == 0:
        usd = Range(0.0, 0.0, 0.0)  # Also where the price is not known.
    batch = prices.tariff(model, stage, batch=True)
    batch_usd = None if batch is None or left == 0 else left * batch.cost(_mean(sent, came, left))
    return StagePlan(
        stage=stage,
        model=model,
        calls=left,
        journaled=round(journaled * scale),
        input=sent,
        output=came,
        usd=usd,
        batch_usd=batch_usd,
        basis=basis,
        most_usd=live.times(scale),
        most_batch_usd=batched.times(scale),
        unreadable=round(unreadable * scale),
    )


def _is_known(journal: Journal, request: ChatRequest, endpoint: str, wire: str) -> bool:
    try:
        return journal.find(request_key(request, endpoint, wire)) is not None
    except UnreadablePictureError:  # Gone since we looked; it is planned as if it were there.
        return False


def _mean(sent: Range, came: Range, calls: int) -> Usage:
    return Usage(input=round(sent.likely / calls), output=round(came.likely / calls))


def _basis(pilot: Sequence[PilotChain]) -> str:
    firsts, others = sum(len(chain.first) for chain in pilot), sum(len(chain.following) for chain in pilot)
    each = f", {1 + others / firsts:.1f} for each request" if others else ""
    return f"{firsts + others:,} calls of this stage{each}"


def _from_pilot(pilot: Sequence[PilotChain], calls: int, tariff: Tariff | None) -> tuple[Range, Range, Range | None]:
    """Tokens in, tokens out, and money, of so many more requests like these, with the repairs and turns that follow."""

    def total(value: Callable[[Usage], float]) -> Range:
        return _sum_of(calls, [sum(map(value, chain.first + chain.following)) / len(chain.first) for chain in pilot])

    return total(lambda one: one.input), total(lambda one: one.output), None if tariff is None else total(tariff.cost)


def _sum_of(calls: int, sample: Sequence[float]) -> Range:
    """The sum of so many more values like these: a 95 % prediction interval, which the sample's own error widens.

    Costs are skewed, and the mean of few of them misses the dear ones: the interval is wider by 6|g| / n, with g the
    skewness of the n values (benchmarks/plans.py measures how often it holds).
    """
    n, mean = len(sample), sum(sample) / len(sample)
    variance = sum((value - mean) ** 2 for value in sample) / (n - 1)
    skewness = sum((value - mean) ** 3 for value in sample) / n / variance**1.5 if variance else 0.0
    wider = 1 + abs(skewness) * _FOR_SKEWNESS / n
    half = wider * _t_95(n - 1) * math.sqrt(calls * variance + calls * calls * variance / n)
    return Range(calls * mean, max(0.0, calls * mean - half), calls * mean + half)


def _t_95(freedom: int) -> float:
    """Student's t at 97.5 % for four or more degrees of freedom, within 0.001: the expansion around the normal's."""
    z = 1.959964
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / float(freedom) ** power for power, term in enumerate(terms, 1))


def _record(stage: StagePlan) -> dict[str, Any]:
    usd = stage.usd
    return {
        "stage": stage.stage,
        "model": stage.model,
        "calls": stage.calls,
        "journaled": stage.journaled,
        "tokens_in": stage.input.likely,
        "tokens_out": stage.output.likely,
        "usd": None if usd is None else usd.likely,
        "usd_low": None if usd is None else usd.low,
        "usd_high": None if usd is None else usd.high,
    }


def _finite(value: Any) -> Any:
    """For JSON, which has no infinity: null."""
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    return None if isinstance(value, float) and math.isinf(value) else value


# --- for people ----------------------------------------------------------------------------------------------


def _cells(stage: StagePlan, model: str) -> tuple[str, ...]:
    """The columns of a line; the model is named where several are asked in one stage."""
    known = f", {stage.journaled:,} answered already" if stage.journaled else ""
    money = "price unknown" if stage.usd is None else _money(stage.usd)
    return (
        f"{stage.stage}{model}",
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
    if math.isinf(usd.high):
        return (
            f"{dollars(usd.likely)} (from {dollars(usd.low).removeprefix('$')}; the most is unknown: set --max-tokens)"
        )
    low, high = dollars(usd.low).removeprefix("$"), dollars(usd.high).removeprefix("$")
    return f"{dollars(usd.likely)} ({low}–{high})"


def _how_to_go_on(usd: Range | None) -> str:
    if usd is None or usd.high == 0:
        return ""
    if math.isinf(usd.high):
        return " · what it costs at most is unknown: set --max-tokens"
    return f" · start it with --budget {_round_up(usd.high)}usd"


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
