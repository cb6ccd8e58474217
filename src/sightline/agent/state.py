"""What an agent remembers outside its messages: named subsets, what it found and saw, crops with their lineage."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sightline.agent.outgoing import Outgoing
from sightline.types import Box, ImagePart, PictureRef, Scope

if TYPE_CHECKING:
    from sightline.agent.tools.base import Observation

MOST_SUBSETS = 64
LONGEST_NAME = 64
WRAPS = "\"'`*“”‘’「」 \t\r\n"
"""What models put around names."""
_NAME = re.compile(rf"\w[\w .-]{{0,{LONGEST_NAME - 1}}}")


@dataclass(frozen=True, slots=True)
class PictureView:
    """A picture that a model is shown, and where it comes from.

    `name` is what the model calls it: a picture's id, `id#left,top,right,bottom` for a region of it (always of the
    original, whatever was cut from what), or a name of its own (`web-1`, `a.jpg~rotate-90`). `picture` is the picture
    of the corpus that it was made from, `region` the part of that; `made_by` is the tool that made it.
    """

    name: str
    part: ImagePart
    picture: str | None = None
    region: Box | None = None
    made_by: str = ""


def as_named(name: str) -> str:
    """A name that a model read in an observation, where marks in it are shown with `&lt;`, as it really is."""
    return name.replace("&lt;", "<")


class PictureNames:
    """Pictures that tools and answers may name: by id, by file name alone, without suffix, or in other letters."""

    def __init__(self, pictures: Collection[str]) -> None:
        self._pictures = pictures
        self._others: dict[str, str | None] | None = None

    def find(self, name: str) -> str | None:
        """The id that is meant; None where there is none, or more than one."""
        plain = unicodedata.normalize("NFC", name.strip(WRAPS))
        for each in (name, plain, as_named(plain)):
            if each in self._pictures:
                return each
        if self._others is None:
            self._others = _other_names(self._pictures)
        return self._others.get(plain.casefold()) if plain else None


def _other_names(pictures: Iterable[str]) -> dict[str, str | None]:
    """Other names of each picture; one that two of them share means neither."""
    found: dict[str, str | None] = {}
    for picture in pictures:
        last = picture.rpartition("/")[2]
        for name in {picture.casefold(), last.casefold(), picture.rpartition(".")[0].casefold(), _stem(last)} - {""}:
            found[name] = picture if found.get(name, picture) == picture else None
    return found


def _stem(name: str) -> str:
    return (name.rpartition(".")[0] or name).casefold()


@dataclass(slots=True)
class AgentState:
    """The explicit memory of one attempt at one task; fresh for each.

    `allowed` are the pictures that may be searched and seen (None: all of the corpus), beside the `given` ones of the
    prompt. Without `subsets_on` nothing is saved, which is what an ablation of named subsets means.
    """

    scope: Scope = field(default_factory=Scope)
    allowed: frozenset[str] | None = None
    given: tuple[PictureRef, ...] = ()
    subsets_on: bool = True
    names: PictureNames | None = None
    """Finds the picture that a short name means."""
    subsets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    found: dict[str, None] = field(default_factory=dict)
    """Picture ids that tools named, in order of their first mention."""
    viewed: dict[str, None] = field(default_factory=dict)
    """Picture ids that the model was shown, whole or in part."""
    views: dict[str, PictureView] = field(default_factory=dict)
    """Everything that was shown or made, by name."""
    in_view: set[str] | None = None
    """Names of pictures that the conversation holds, and that need not be shown again; None: nobody keeps count."""
    outgoing: Outgoing = field(default_factory=Outgoing)
    """What may be sent to the web."""

    def may_see(self, picture: str) -> bool:
        """Is the picture within the scope, or one of the prompt's own?"""
        return self.allowed is None or picture in self.allowed or any(ref.id == picture for ref in self.given)

    def save(self, name: str, pictures: Iterable[str]) -> str | None:
        """Keep a subset under a name, each picture once; what is wrong with the name, or None."""
        if not self.subsets_on:
            return "subsets can't be saved in this session"
        if _NAME.fullmatch(name) is None:
            return f"a name of a subset is up to {LONGEST_NAME} letters, digits, spaces, dots and dashes"
        if name not in self.subsets and len(self.subsets) >= MOST_SUBSETS:
            return f"there are {MOST_SUBSETS} subsets already; save over one of them"
        self.subsets[name] = tuple(dict.fromkeys(pictures))
        return None

    def note(self, observation: Observation) -> None:
        """Remember what a tool found and showed, and what may be sent out after it."""
        self.note_found(observation.found)
        self.note_views(observation.pictures)
        self.outgoing.hear(observation)

    def note_found(self, pictures: Iterable[str]) -> None:
        self.found.update(dict.fromkeys(pictures))

    def note_views(self, views: Iterable[PictureView]) -> None:
        for view in views:
            self.views[view.name] = view
            if self.in_view is not None:
                self.in_view.add(view.name)
            if view.picture is not None:
                self.viewed[view.picture] = None

    def summary(self) -> str:
        """The named subsets with their sizes, as the model is told them; nothing where there is none."""
        if not self.subsets:
            return ""
        return "Named subsets: " + ", ".join(f"{name} ({len(ids)})" for name, ids in self.subsets.items()) + "."
