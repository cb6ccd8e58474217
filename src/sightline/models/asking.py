"""How models are asked, whichever verb does it: what the options of a command line say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sightline.models.keys import INSTEAD
from sightline.models.settings import Api

if TYPE_CHECKING:
    from sightline.engine.budget import Purse
    from sightline.engine.limits import Limits


@dataclass(frozen=True, slots=True)
class Asking:
    """How models are asked; a budget may be shared by several of them."""

    base_url: str | None = None
    api: Api | None = None
    budget: Purse | None = None
    limits: Limits | None = None
    plan: bool = False
    "Ask nobody: only plans may be made, and no key is needed."
    fresh: bool = False
    "Ask also for what the journal answers."
    local_only: bool = False
    "Refuse a model elsewhere."
    vouched: bool = True
    "The user named the address, and not a file that may come from anybody: keys of own servers may go there."
    instead: str = INSTEAD
    "What is offered to somebody who has no key."
