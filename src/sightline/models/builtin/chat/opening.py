"""`builtin/…` names: which chat models are part of Sightline."""

from __future__ import annotations

from sightline.errors import UserError
from sightline.models.builtin.networks import revision_of
from sightline.models.names import ModelName
from sightline.models.protocols import Transport

NAME = "builtin/world"
REVISION = "3"
"""Of the rules; weights have one of their own."""
_NETWORKS = ("reader", "signs", "relations")


def endpoint() -> str:
    """Replies are kept in the journal under this, so that newer rules and other weights answer anew."""
    return f"builtin:world@{REVISION}-{revision_of(*_NETWORKS)}"


def endpoint_of(name: ModelName) -> str:
    """What calls of a built-in model are kept under."""
    if str(name) != NAME:
        raise UserError(f'There is no built-in chat model "{name.model}".', f"use --model {NAME}")
    return endpoint()


def open_builtin(name: ModelName) -> Transport:
    """The model; its networks are opened when the first picture is looked at."""
    endpoint_of(name)
    from sightline.models.builtin.chat.model import WorldChat

    return WorldChat()
