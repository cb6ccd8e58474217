"""A task: something to find, answer, choose or describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, cast

from sightline.types.corpus import Json, PictureRef

WEIGHT: Final = "traffic_weight"
"""The key of `Task.extra` for how much traffic a task stands for."""
TaskKind: TypeAlias = Literal["rank", "select", "answer", "choose", "describe"]
FINDING: frozenset[TaskKind] = frozenset(("rank", "select"))
"""Tasks that ask for pictures of the corpus."""
Part: TypeAlias = "str | PictureRef"
"""A piece of a prompt: text, or a picture at that place in it."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a multiple-choice task: its key (usually a letter) and what it says."""

    key: str
    content: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part for part in self.content if isinstance(part, str))


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the corpus that may be searched; all three empty means the whole of it.

    Groups and pictures add up; an owner narrows them to what is theirs. `nowhere` means no picture at all: what is left
    of a scope when nothing of it may be told.
    """

    owner: str | None = None
    groups: tuple[str, ...] = ()
    pictures: tuple[str, ...] = ()
    nowhere: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """One thing asked of a system; `labels` are the slices that a report can break down by."""

    id: str
    kind: TaskKind
    prompt: tuple[Part, ...]
    options: tuple[Option, ...] = ()
    scope: Scope = Scope()
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    translations: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)
    extra: Mapping[str, Json] = field(default_factory=dict)

    @property
    def weight(self) -> float:
        """How much traffic the task stands for, in any unit; 1 where nothing is said."""
        return float(cast("Any", self.extra.get(WEIGHT, 1.0)))

    @property
    def text(self) -> str:
        """The words of the prompt, without its pictures."""
        return "".join(part for part in self.prompt if isinstance(part, str))

    @property
    def pictures(self) -> tuple[PictureRef, ...]:
        """The pictures of the prompt, in order."""
        return tuple(part for part in self.prompt if isinstance(part, PictureRef))

    @property
    def shown(self) -> tuple[PictureRef, ...]:
        """The pictures of the prompt and then of the options, each once."""
        inside = (part for option in self.options for part in option.content if isinstance(part, PictureRef))
        return tuple(dict.fromkeys((*self.pictures, *inside)))
