"""What a job would cost, before it is made; nothing is sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sightline.engine.journal import Journal
from sightline.engine.ledger import dollars
from sightline.engine.plan import StagePlan, plan_stage
from sightline.engine.prices import Prices
from sightline.errors import StoppedError, UserError
from sightline.types import ChatRequest


def plan_job(
    items: Iterable[tuple[str, ChatRequest]],
    *,
    stage: str,
    endpoint: str,
    wire: str,
    prices: Prices,
    journal: Journal | None = None,
    fresh: bool = False,
    price_factor: float | None = None,
) -> StagePlan:
    """Calls, tokens and money of a job: asked live, and as a batch at the listed price or at a part of the live one."""
    requests = (request for _, request in items)
    found = plan_stage(stage, requests, prices=prices, journal=journal, endpoint=endpoint, wire=wire, fresh=fresh)
    if price_factor is None or found.usd is None:
        return found
    most = None if found.most_usd is None else found.most_usd * price_factor
    return replace(found, batch_usd=found.usd.likely * price_factor, most_batch_usd=most)


def refuse_above(cap: float, plan: StagePlan) -> None:
    """Refuse a job that may cost more than so many dollars; a batch can't be stopped in the middle."""
    if plan.calls == 0:
        return
    if plan.usd is None or plan.batch_usd is None:
        raise UserError(
            f"the price of {plan.model} in a batch is not known, so a budget can't be kept.",
            "say it in sightline.toml, under [prices.models], and give --price-factor 0.5 if a batch costs half",
        )
    most = plan.most_batch_usd
    if most is None:
        raise UserError(
            "nothing limits how long replies are, so no budget can be promised: a batch can't be stopped half-way.",
            "set the longest reply with --max-tokens",
        )
    if most > cap:
        raise StoppedError(
            f"the job of {plan.calls:,} calls may cost up to {dollars(most)}, over the budget of {dollars(cap)}; "
            "nothing was written.",
            "give a larger --budget, or fewer requests with --limit",
        )
