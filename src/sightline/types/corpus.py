"""A corpus: pictures, and groups of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from sightline.class_names import known_as
from sightline.types.picture import Picture

GroupKind: TypeAlias = Literal["owner", "event", "dataset", "burst", "duplicate"]


@dataclass(frozen=True, slots=True)
class Group:
    """Pictures that belong together, in order; a hidden group is never shown to a system under test."""

    id: str
    kind: GroupKind
    pictures: tuple[str, ...]
    hidden: bool = False


@known_as("Corpus")
@dataclass(frozen=True, slots=True)
class Corpus:
    """Pictures by id (held in memory, or read from a workspace one at a time) and their groups."""

    name: str
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    groups: Sequence[Group] = ()

    def groups_of(self, kind: GroupKind) -> tuple[Group, ...]:
        return tuple(group for group in self.groups if group.kind == kind)
