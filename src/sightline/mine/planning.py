"""What mining would cost, before anything is known of the pictures."""

from __future__ import annotations

from collections.abc import Sequence

from sightline.calls.ask_many import price_many
from sightline.calls.session import Session
from sightline.engine.plan import Plan
from sightline.mine import confirming, parsing, verifying, writing
from sightline.mine.drafting import OVERSAMPLED
from sightline.mine.settings import Settings
from sightline.types import Picture

_LOOKS_EACH = 2
"""Calls of a second look at a usual request."""


def plan_mining(pictures: Sequence[Picture], settings: Settings, session: Session) -> Plan:
    """What all stages would cost, if every picture has as many clues as are followed and all drafts pass."""
    model, writer = settings.model, settings.writer
    parse = (parsing.ask_for(picture, model).request for picture in pictures)
    compared = [verifying.typical(pictures, settings.near, model)]
    stages = [
        price_many(parse, model, parsing.STAGE, session),
        price_many(compared, model, verifying.STAGE, session, len(pictures) * settings.clues),
    ]
    if writer is not None:
        stages.append(
            price_many([writing.typical(writer)], writer, writing.STAGE, session, writing.calls_for(settings))
        )
    if settings.confirm:
        looked, calls = [confirming.typical(pictures, model)], _LOOKS_EACH * OVERSAMPLED * settings.queries
        stages.append(price_many(looked, model, confirming.STAGE, session, calls))
    return Plan(tuple(stages))
