"""What is installed, what is missing, and the command that adds it."""

from __future__ import annotations

import platform
import re
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata

from sightline.engine import cores
from sightline.models.photos.state import State, photos_state, words_state

_PURPOSES = {
    "heif": "read HEIC pictures",
    "parquet": "read and write Parquet",
    "hub": "public benchmarks by their name on the Hugging Face hub",
    "onnx": "embed pictures and texts with CLIP and SigLIP models",
    "photos": "search your own photographs without a model hub",
    "ocr": "read words in pictures",
    "places": "towns by name in filters",
    "pandas": "tables as data frames",
    "excel": "read predictions from Excel files",
    "charts": "charts as PNG files",
    "providers": "chat models of other providers",
    "transformers": "models of the transformers library, on this machine",
    "ray": "work on a cluster",
    "quantised": "exact search, two to three times as fast",
    "ann": "approximate search with faiss",
    "lance": "vectors in LanceDB",
    "postgres": "vectors in PostgreSQL",
    "qdrant": "vectors in Qdrant",
    "milvus": "vectors in Milvus",
    "weaviate": "vectors in Weaviate",
    "view": "the app in your browser",
    "train": "training by stages (torch, 1 GB and more)",
    "mcp": "the tools for other agents, and other servers' tools",
}
_STATES: Mapping[str, Callable[[], State]] = {"photos": photos_state, "ocr": words_state}
"""Extras whose packages may all be there and still not be enough."""
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+).*?(?:extra\s*==\s*['\"](?P<extra>[^'\"]+)['\"])?\s*$")


@dataclass(frozen=True, slots=True)
class Extra:
    """A set of optional packages: what it is for, what is there, and what to run to have it."""

    name: str
    purpose: str
    installed: dict[str, str]
    missing: tuple[str, ...]
    note: str = ""
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The state of this installation."""

    sightline: str
    python: str
    sqlite: str
    platform: str
    cores: int
    core: dict[str, str]
    missing_core: tuple[str, ...]
    extras: tuple[Extra, ...]

    @property
    def healthy(self) -> bool:
        return not self.missing_core


def diagnose() -> Diagnosis:
    """Look at what is installed; imports none of it."""
    needs = _requirements()
    core, missing_core = _split(needs.pop("", []))
    return Diagnosis(
        sightline=metadata.version("sightline"),
        python=platform.python_version(),
        sqlite=sqlite3.sqlite_version,
        platform=platform.platform(),
        cores=cores(),
        core=core,
        missing_core=missing_core,
        extras=tuple(_extra(name, purpose, needs.get(name, [])) for name, purpose in _PURPOSES.items()),
    )


def _extra(name: str, purpose: str, needs: list[str]) -> Extra:
    installed, missing = _split(needs)
    if missing:
        return Extra(name, purpose, installed, missing, command=f"pip install 'sightline[{name}]'")
    state = _STATES[name]() if name in _STATES else State("")
    return Extra(name, purpose, installed, missing, state.note, state.command)


def _requirements() -> dict[str, list[str]]:
    """Package names by extra, from Sightline's own metadata; the core's under ""."""
    needs: dict[str, list[str]] = {}
    for line in metadata.requires("sightline") or []:
        found = _REQUIREMENT.match(line)
        if found:
            needs.setdefault(found["extra"] or "", []).append(found["name"])
    return needs


def _split(names: list[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    installed, missing = {}, []
    for name in names:
        try:
            installed[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            missing.append(name)
    return installed, tuple(missing)
