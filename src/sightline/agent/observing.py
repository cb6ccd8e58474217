"""How a model is told what a tool answered: between marks, as data, with what others wrote marked as such."""

from __future__ import annotations

import re

from sightline.agent.state import State
from sightline.agent.tools.base import Observation
from sightline.types import ImagePart

_MARK = re.compile(r"<(?=\s*/?\s*observation\b)", re.IGNORECASE)
LONGEST = 40_000
"""More characters than this are cut off, whatever a tool says."""


def rendered(tool: str, observation: Observation, state: State | None = None) -> tuple[str | ImagePart, ...]:
    """The content of a tool's message; each picture follows its name. A mistake is told in plain words."""
    text = observation.text if len(observation.text) <= LONGEST else f"{observation.text[:LONGEST]}\n(cut off here)"
    if not observation.error or observation.untrusted:
        trust = ' source="outside, untrusted"' if observation.untrusted else ""
        text = f'<observation tool="{_name(tool)}"{trust}>\n{_harmless(text)}\n</observation>'
    summary = "" if state is None else state.summary()
    parts: list[str | ImagePart] = [f"{text}\n{summary}" if summary else text]
    for view in observation.pictures:
        parts += [f"\nphoto_id: {view.name}\n", view.part]
    return tuple(parts)


def _harmless(text: str) -> str:
    """Words can't end the observation that they stand in, nor begin another."""
    return _MARK.sub("&lt;", text)


def _name(tool: str) -> str:
    return re.sub(r"[^\w.-]", "_", tool)[:64]
