"""Settings of the wire: timeouts, sizes, and what a server wants spelt differently."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

import orjson

from sightline.config.settings import ModelSettings
from sightline.models.providers import MaxTokens, PictureLimit, Provider, limit_of
from sightline.types import Json

Api: TypeAlias = Literal["chat", "responses"]
Structure: TypeAlias = Literal["native", "prompt"]
_WHO_ASKS = frozenset({"authorization", "proxy-authorization", "api-key", "x-api-key", "cookie", "user-agent"})


@dataclass(frozen=True, slots=True)
class WireSettings:
    """Everything about a transport that is not the request; None means what suits the provider."""

    connect_seconds: float = 15.0
    "Longest wait for a connection."
    quiet_seconds: float = 300.0
    "Longest wait for the first byte of a reply (beside that for a connection), and between any two."
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
            max_reply_bytes=models.max_reply_bytes,
            headers={name: value.get_secret_value() for name, value in models.headers.items()},
            extra=models.extra,
        )

    def limit_for(self, provider: str) -> PictureLimit:
        """How large pictures may be that go to this provider."""
        return self.picture_limit or limit_of(provider)

    def fingerprint(self, provider: Provider, api: Api = "chat") -> str:
        """What of these changes what is sent to a provider, for the journal's keys; headers by their hash.

        Who asks is no part of it: a new key, or another name of the program, changes no reply.
        """
        limit = self.limit_for(provider.name)
        content = {
            "api": api,
            "structured": self.structured or "native",
            "max_tokens_field": self.max_tokens_field or provider.max_tokens,
            "pictures": [limit.side, limit.bytes, limit.formats, limit.low_side],
            "extra": dict(self.extra),
            "headers": {
                name.lower(): hashlib.sha256(value.encode()).hexdigest()
                for name, value in self.headers.items()
                if name.lower() not in _WHO_ASKS
            },
        }
        return orjson.dumps(content, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS).decode()
