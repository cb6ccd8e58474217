"""How samples are drawn: the settings of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sightline.models.names import parse_name
from sightline.types import Json

# Those whose API has a word for it; others refuse what they don't know.
_REPETITION = frozenset(("vllm", "vllm-local", "sglang", "openrouter", "transformers"))


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings of every sample; `repetition` is a penalty (1: none), `most_pictures` what a question may show."""

    name: str
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = 512
    repetition: float | None = None
    most_pictures: int | None = None

    def parameters(self, model: str) -> dict[str, Any]:
        """Fields of a request to this model."""
        extra: dict[str, Json] = {}
        if self.repetition is not None and takes_repetition(model):
            extra["repetition_penalty"] = self.repetition
        return {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "extra": extra,
        }

    def notes(self, model: str) -> tuple[str, ...]:
        """What of it can't be asked of this model."""
        if self.repetition is None or takes_repetition(model):
            return ()
        return (f"{model} takes no repetition penalty: {self.repetition:g} is left out",)


def takes_repetition(model: str) -> bool:
    """Has this model's server a word for a repetition penalty?"""
    return parse_name(model).provider.name in _REPETITION


PRESETS: Mapping[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("mir", temperature=0.7, top_p=0.8, max_tokens=512, repetition=1.05, most_pictures=20),
        Preset("own"),
    )
}
"""`mir` is how MIR drew its samples; `own` leaves all but the length to the model."""
