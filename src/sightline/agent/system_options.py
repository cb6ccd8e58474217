"""What `agent` and `chat` can be told in a SPEC."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from sightline.agent.asked import AgentSettings
from sightline.agent.limits import TaskLimits
from sightline.agent.memory import MemorySettings
from sightline.run.systems.base import Options

Positive: TypeAlias = Annotated[int, Field(ge=1)]


def _split(value: object) -> object:
    """`ImageSearch+ViewPhotos` → both: commas part the options of a SPEC."""
    return [name for part in value.split("+") if (name := part.strip())] if isinstance(value, str) else value


Listed: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_split)]


class ChatOptions(Options):
    """A model, asked once.

    `no_text`, `no_image`, `one_image`, `no_options` and `shuffle_images` are ablations. `language` asks a task's
    translation, and (zh) in Chinese. `base_url` is where a server is asked, when not at its usual address. `seed` is
    the server's own; many take none.
    """

    model: str
    base_url: str | None = None
    language: str | None = None
    no_text: bool = False
    no_image: bool = False
    one_image: bool = False
    no_options: bool = False
    shuffle_images: bool = False
    temperature: Annotated[float, Field(ge=0)] | None = None
    max_tokens: Positive | None = None
    reasoning_effort: str | None = None
    seed: int | None = None
    concurrency: Positive = 4


class AgentOptions(ChatOptions):
    """A model with tools.

    `tools` are those that it gets (`ImageSearch+ViewPhotos`; those that suit the task when not given), `without` leaves
    some out. `subsets=false` and `compression=false` switch the two memories off. `annotations` lets searches read what
    the benchmark says about its pictures, which makes it DISBench's Open track. `web` is where web tools look.
    """

    tools: Listed = ()
    without: Listed = ()
    embedder: str | None = None
    backend: str = "exact"
    annotations: bool = False
    web: str | None = None
    turns: Positive = 30
    tokens: Positive | None = None
    pictures: Positive | None = None
    seconds: Annotated[float, Field(gt=0)] | None = None
    usd: Annotated[float, Field(gt=0)] | None = None
    subsets: bool = True
    compression: bool = True
    compressor: str | None = None
    context_tokens: Positive = 128_000
    context_pictures: Positive = 60

    @property
    def track(self) -> Literal["Standard", "Open"]:
        """DISBench's: Standard embeds pictures before the questions are known, and prepares nothing else."""
        return "Open" if self.annotations else "Standard"

    def settings(self) -> AgentSettings:
        """What the loop takes."""
        return AgentSettings(
            limits=TaskLimits(self.turns, self.tokens, self.pictures, self.seconds, self.usd),
            memory=MemorySettings(self.compression, self.context_tokens, self.context_pictures),
            language="zh" if self.language == "zh" else "en",
            subsets=self.subsets,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            reasoning_effort=self.reasoning_effort,
            seed=self.seed,
        )
