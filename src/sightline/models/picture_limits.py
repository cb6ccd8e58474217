"""How large a picture each provider takes; what is larger is made smaller before it is sent, never the other way."""

from __future__ import annotations

from dataclasses import dataclass


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
