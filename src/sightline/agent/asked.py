"""What an attempt is made from: how the agent is set, and the question with a fresh state."""

from __future__ import annotations

from dataclasses import dataclass, field

from sightline.agent.finish import Names
from sightline.agent.limits import TaskLimits
from sightline.agent.memory import MemorySettings
from sightline.agent.prompts import Language
from sightline.agent.state import State, View
from sightline.types import Json, Task


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How an agent works, whatever it is asked; sampling as in `types.ChatRequest`."""

    limits: TaskLimits = field(default_factory=TaskLimits)
    memory: MemorySettings = field(default_factory=MemorySettings)
    language: Language = "en"
    subsets: bool = True
    extra: tuple[str, ...] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    seed: int | None = None

    def to_json(self) -> dict[str, Json]:
        return {
            "compress": self.memory.compress,
            "context_tokens": self.memory.tokens,
            "context_pictures": self.memory.pictures,
            "language": self.language,
            "subsets": self.subsets,
            "extra": list(self.extra),
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "reasoning_effort": self.reasoning_effort,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True)
class Question:
    """One attempt at one task: the prompt with its pictures at hand, a fresh state, and the ids that may be named."""

    task: Task
    content: tuple[str | View, ...]
    state: State
    names: Names
    attempt: int = 0
