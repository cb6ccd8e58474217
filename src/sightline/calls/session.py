"""How models are called: the options of a run, the session that holds them, and the task that a call is made for.

The task is held in context variables, so that it need not be handed down through every function.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.config import Config
from sightline.models.providers import NO_KEY_HINT
from sightline.models.wire_settings import Api

if TYPE_CHECKING:
    from sightline.calls.budget import BudgetLike
    from sightline.calls.rate_limit import RateLimits


@dataclass(frozen=True, slots=True)
class CallOptions:
    """How models are asked; a budget may be shared by several of them."""

    base_url: str | None = None
    api: Api | None = None
    budget: BudgetLike | None = None
    limits: RateLimits | None = None
    plan: bool = False
    "Ask nobody: only plans may be made, and no key is needed."
    fresh: bool = False
    "Ask also for what the journal answers."
    local_only: bool = False
    "Refuse a model elsewhere."
    vouched: bool = True
    "The user named the address, and not a file that may come from anybody: keys of own servers may go there."
    instead: str = NO_KEY_HINT
    "What is offered to somebody who has no key."


@dataclass(frozen=True, slots=True)
class Session:
    """Where work is done and how models are asked, instead of four arguments through every function."""

    workspace: Path = Path(".sightline")
    config: Config = field(default_factory=Config)
    asking: CallOptions = field(default_factory=CallOptions)
    "Budget, rate limits, endpoint; whether cached replies are used, and whether calls may leave this machine."
    engine: str = "local"
    "Where many calls are made: on this machine, or on a cluster (`ray`, `ray:ADDRESS`)."


_TASK: ContextVar[str | None] = ContextVar("sightline_task", default=None)
_AFRESH: ContextVar[bool] = ContextVar("sightline_afresh", default=False)
_REUSED: ContextVar[list[bytes] | None] = ContextVar("sightline_reused", default=None)


@contextmanager
def purpose(task: str | None, *, afresh: bool = False) -> Iterator[None]:
    """`with purpose("q17"): await model.reply(…)`: calls made inside are kept in the journal as made for that task.

    With `afresh` they are made also where the journal has an answer: it is the one that was not good enough.
    """
    tokens = _TASK.set(task), _AFRESH.set(afresh), _REUSED.set([])
    try:
        yield
    finally:
        _TASK.reset(tokens[0])
        _AFRESH.reset(tokens[1])
        _REUSED.reset(tokens[2])


def current_task() -> str | None:
    """The task that calls made here are for."""
    return _TASK.get()


def is_fresh_wanted() -> bool:
    """Are calls made here to be made although the journal has an answer?"""
    return _AFRESH.get()


def note_reuse(key: bytes) -> None:
    """The journal answered this request."""
    reused = _REUSED.get()
    if reused is not None:
        reused.append(key)


def reused_keys() -> tuple[bytes, ...]:
    """The requests that the journal answered for this purpose so far."""
    return tuple(_REUSED.get() or ())
