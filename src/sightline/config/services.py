"""Settings of what others run for us: where models are asked, with which keys, at which prices."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from sightline.config.section import FilePath, Secret, Section, from_environment


class ModelSettings(Section):
    """`[models]`: which models are used, where they are asked, and with which keys."""

    embedder: str | None = Field(None, description="Who turns pictures and texts into vectors; `photos` when not set.")
    folder: FilePath | None = Field(
        None, description="Where downloaded models are kept; the user's cache when not set."
    )
    base_url: str | None = from_environment("An OpenAI-compatible server, such as your own.", "OPENAI_BASE_URL")
    openai_api_key: Secret | None = from_environment("Key of OpenAI or of the server above.", "OPENAI_API_KEY")
    anthropic_api_key: Secret | None = from_environment("Key of Anthropic.", "ANTHROPIC_API_KEY")
    gemini_api_key: Secret | None = from_environment("Key of Google Gemini.", "GEMINI_API_KEY", "GOOGLE_API_KEY")
    server_api_key: Secret | None = from_environment(
        "Key of a server that `--base-url` names, which is no provider's own.", "SIGHTLINE_API_KEY"
    )
    hosts: dict[str, str] = Field(
        {}, description='Servers that a key may go to: `"gpu-box:8000" = "VLLM_API_KEY"`, host and variable.'
    )
    api: Literal["chat", "responses"] = Field("chat", description="Which of OpenAI's two APIs is spoken.")
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] | None = Field(
        None, description="What the chat API calls the longest reply; what suits the provider when not set."
    )
    structured: Literal["native", "prompt"] | None = Field(
        None, description="Schemas go to the server, or into the prompt; what suits the provider when not set."
    )
    connect_seconds: float = Field(15.0, gt=0, description="Longest wait for a connection.")
    quiet_seconds: float = Field(300.0, gt=0, description="Longest wait for the first byte, and between two.")
    total_seconds: float = Field(900.0, gt=0, description="Longest time for one attempt at a call.")
    max_reply_bytes: int = Field(32 << 20, ge=1, description="Largest reply that is read.")
    headers: dict[str, Secret] = Field({}, description="HTTP headers that are sent with every request.")
    extra: dict[str, Any] = Field({}, description="Fields that are sent with every request; those of the request win.")


class Price(Section):
    """Prices in US dollars per million tokens; what is not set is taken from the built-in price list."""

    input: float | None = Field(None, ge=0, description="Text that is sent.")
    cached_input: float | None = Field(
        None, ge=0, description="Text that is sent again and found in the provider's cache."
    )
    output: float | None = Field(None, ge=0, description="Text that comes back.")
    reasoning: float | None = Field(None, ge=0, description="Thinking that comes back; as other output when not set.")
    image_input: float | None = Field(None, ge=0, description="Pictures that are sent.")
    image_output: float | None = Field(None, ge=0, description="Pictures that come back.")


class PriceSettings(Section):
    """`[prices]`: what calls cost, in US dollars per million tokens; a stage's price wins over its model's."""

    annotate: Price = Price()
    query: Price = Price()
    judge: Price = Price()
    models: dict[str, Price] = Field({}, description='By model: `[prices.models."openai/gpt-5-mini"]`.')
