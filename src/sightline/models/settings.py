"""How the wire is used: how long to wait, how much to take, and what a server wants spelt differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from sightline.config.services import ModelSettings
from sightline.models.names import MaxTokens
from sightline.models.picture_limits import PictureLimit
from sightline.types import Json

Api: TypeAlias = Literal["chat", "responses"]
Structure: TypeAlias = Literal["native", "prompt"]


@dataclass(frozen=True, slots=True)
class WireSettings:
    """Everything about a transport that is not the request; None means what suits the provider."""

    connect_seconds: float = 15.0
    "Longest wait for a connection."
    quiet_seconds: float = 300.0
    "Longest wait for the first byte of a reply, and between any two."
    total_seconds: float = 900.0
    "Longest time for one whole attempt."
    max_reply_bytes: int = 32 << 20
    max_tokens_field: MaxTokens | None = None
    "What `max_tokens` is called in chat completions (responses: always `max_output_tokens`)."
    structured: Structure | None = None
    "Give a schema to the server (native), or tell it in the prompt and check the reply here."
    picture_limit: PictureLimit | None = None
    picture_folder: Path | None = None
    "Where pictures that were made smaller are kept."
    picture_memory: int = 64 << 20
    "Bytes of encoded pictures that are remembered."
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    extra: Mapping[str, Json] = field(default_factory=dict)
    "Fields that are sent with every request; those of the request win."

    @classmethod
    def of(cls, models: ModelSettings) -> WireSettings:
        """From the `[models]` table of the configuration."""
        return cls(
            connect_seconds=models.connect_seconds,
            quiet_seconds=models.quiet_seconds,
            total_seconds=models.total_seconds,
            max_tokens_field=models.max_tokens_field,
            structured=models.structured,
        )
