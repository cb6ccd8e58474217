"""How large a picture each provider takes; what is larger is made smaller before it is sent, never the other way."""

from __future__ import annotations

from dataclasses import dataclass

MEBI = 1 << 20


@dataclass(frozen=True, slots=True)
class PictureLimit:
    """Longest side in pixels, most bytes before base64, and the formats that may go out as they are.

    `low_side` is the longest side of a picture asked for with `detail="low"`; None means the same as any other.
    """

    side: int = 2048
    bytes: int = 15 * MEBI
    formats: tuple[str, ...] = ("JPEG", "PNG", "WEBP", "GIF")
    low_side: int | None = None

    def side_for(self, detail: str) -> int:
        """The longest side of a picture of this detail."""
        return self.side if detail != "low" or self.low_side is None else min(self.side, self.low_side)


# More pixels than these are scaled down by the provider or refused; the sources are named in docs/models.md.
_PLAIN = ("JPEG", "PNG")
LIMITS = {
    "openai": PictureLimit(low_side=512),
    "openrouter": PictureLimit(low_side=512),
    "litellm": PictureLimit(low_side=512),
    "azureopenai": PictureLimit(low_side=512),
    "vllm": PictureLimit(formats=("JPEG", "PNG", "WEBP")),
    "sglang": PictureLimit(formats=("JPEG", "PNG", "WEBP")),
    "ollama": PictureLimit(formats=_PLAIN),
    "llamacpp": PictureLimit(formats=_PLAIN),
    "lmstudio": PictureLimit(formats=_PLAIN),
    "anthropic": PictureLimit(side=2000, bytes=3_750_000),
    "bedrock": PictureLimit(side=2000, bytes=3_750_000),
    "gemini": PictureLimit(side=3072, bytes=7 * MEBI, formats=("JPEG", "PNG", "WEBP")),
    "vertexai": PictureLimit(side=3072, bytes=7 * MEBI, formats=("JPEG", "PNG", "WEBP")),
    "mistral": PictureLimit(side=1540, bytes=7 * MEBI, formats=("JPEG", "PNG", "WEBP")),
    "groq": PictureLimit(bytes=3 * MEBI, formats=_PLAIN),
    "xai": PictureLimit(bytes=7 * MEBI, formats=_PLAIN),
    "transformers": PictureLimit(formats=("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")),
    "vllm-local": PictureLimit(formats=("JPEG", "PNG", "WEBP")),
}
DEFAULT = PictureLimit(bytes=3_750_000, formats=_PLAIN)
"""For a provider that is not in the table: what all of them take."""


def limit_of(provider: str) -> PictureLimit:
    """What this provider takes."""
    return LIMITS.get(provider, DEFAULT)
