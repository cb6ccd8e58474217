"""`builtin/…` names: which chat models are part of Sightline."""

from __future__ import annotations

from sightline.errors import UserError
from sightline.models.names import ModelName
from sightline.models.protocols import Transport

NAME = "builtin/world"
REVISION = "2"
ENDPOINT = f"builtin:world@{REVISION}"
"""Replies are kept in the journal under this, so that a newer model answers anew."""


def endpoint_of(name: ModelName) -> str:
    """What calls of a built-in model are kept under."""
    if str(name) != NAME:
        raise UserError(f'There is no built-in chat model "{name.model}".', f"use --model {NAME}")
    return ENDPOINT


def open_builtin(name: ModelName) -> Transport:
    """The model; its networks are opened when the first picture is looked at."""
    endpoint_of(name)
    from sightline.models.builtin.chat.model import WorldChat

    return WorldChat()
