"""Settings of the wire: timeouts, sizes, what a server wants spelt differently, and how large a picture it takes.

A picture that is larger than its provider takes is made smaller before it is sent, never the other way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

import orjson

from sightline.config.settings import ModelSettings
from sightline.models.providers import MaxTokens, Provider
from sightline.types import Json


@dataclass(frozen=True, slots=True)
class PictureLimit:
    """Longest side in pixels, most bytes before base64, and the formats that may go out as they are.

    `low_side` is the longest side of a picture asked for with `detail="low"`; None means the same as any other.
    """

    side: int = 2048
    bytes: int = 15_000_000
    formats: tuple[str, ...] = ("JPEG", "PNG", "WEBP", "GIF")
    low_side: int | None = None

    def side_for(self, detail: str) -> int:
        """The longest side of a picture of this detail."""
        return self.side if detail != "low" or self.low_side is None else min(self.side, self.low_side)


# Looked up on 2026-11-15 in stored copies of the providers' own pages, unless a line says otherwise. More pixels are
# scaled down by the provider or refused; bytes are three quarters of what it takes, because base64 makes four of three.
_PLAIN = ("JPEG", "PNG")
_EVERYWHERE = 3_750_000
"""Bytes that all take; used where no limit was found."""
_OPENAI = PictureLimit(low_side=512)
LIMITS = {
    # 20 MB a picture, 50 MB a request; JPEG, PNG, WebP, still GIF; 2048 pixels for detail, 512 for low detail.
    "openai": _OPENAI,
    # 20 MB a picture, the same four formats.
    "azureopenai": _OPENAI,
    # They pass pictures on to anybody; limits vary with who that is.
    "openrouter": PictureLimit(bytes=_EVERYWHERE, formats=_PLAIN, low_side=512),
    "litellm": PictureLimit(bytes=_EVERYWHERE, formats=_PLAIN, low_side=512),
    # 5 MB after base64; 8000 pixels, 2000 in a request with more than 20 pictures.
    "anthropic": PictureLimit(side=2000, bytes=_EVERYWHERE),
    # 3.75 MB and 8000 pixels; Claude's own limit holds there too.
    "bedrock": PictureLimit(side=2000, bytes=_EVERYWHERE),
    # 7 MB inline (Vertex AI); the side is that of earlier models, and was not found for later ones.
    "gemini": PictureLimit(side=3072, bytes=7_000_000, formats=("JPEG", "PNG", "WEBP")),
    "vertexai": PictureLimit(side=3072, bytes=7_000_000, formats=("JPEG", "PNG", "WEBP")),
    # The published models see at most 1540 pixels; bytes and formats were not found.
    "mistral": PictureLimit(side=1540, bytes=_EVERYWHERE, formats=_PLAIN),
    # 4 MB for a whole request with base64 in it, 33 megapixels; formats were not found.
    "groq": PictureLimit(bytes=2_900_000, formats=_PLAIN),
    # 20 MiB; JPEG and PNG.
    "xai": PictureLimit(formats=_PLAIN),
    # No limits of their own were found; formats by the decoders that they use.
    "vllm": PictureLimit(formats=("JPEG", "PNG", "WEBP")),
    "sglang": PictureLimit(formats=("JPEG", "PNG", "WEBP")),
    "vllm-local": PictureLimit(formats=("JPEG", "PNG", "WEBP")),
    "ollama": PictureLimit(formats=_PLAIN),
    "llamacpp": PictureLimit(formats=_PLAIN),
    "lmstudio": PictureLimit(formats=_PLAIN),
    "transformers": PictureLimit(formats=("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")),
}
DEFAULT = PictureLimit(bytes=_EVERYWHERE, formats=_PLAIN)
"""For a provider that is not in the table: what all of them take."""


def limit_of(provider: str) -> PictureLimit:
    """What this provider takes."""
    return LIMITS.get(provider, DEFAULT)


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

    def fingerprint(self, provider: Provider, api: Api = "chat") -> str:
        """What of these changes what is sent to a provider, for the journal's keys; headers by their hash.

        Who asks is no part of it: a new key, or another name of the program, changes no reply.
        """
        limit = self.picture_limit or limit_of(provider.name)
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
