"""`sightline doctor`: what is installed, what is missing, and the command that adds it."""

from __future__ import annotations

import platform
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata

from sightline.cli.options import Common
from sightline.engine.worker_pool import cores
from sightline.models.photos.networks import PhotosState, photos_state, words_state
from sightline.plugins import PluginState

_PURPOSES = {
    "heif": "read HEIC pictures",
    "raw": "read camera RAW pictures",
    "video": "make pictures of videos, key frame by key frame",
    "watch": "take in new pictures as they arrive",
    "parquet": "read and write Parquet",
    "hub": "public benchmarks by their name on the Hugging Face hub",
    "storage": "pictures, benchmarks and runs on s3://, gs:// and hf://",
    "onnx": "embed pictures and texts with CLIP and SigLIP models",
    "photos": "search your own photographs without a model hub",
    "ocr": "read words in pictures",
    "places": "towns by name in filters",
    "pandas": "tables as data frames",
    "polars": "tables as polars data frames",
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
_STATES: Mapping[str, Callable[[], PhotosState]] = {"photos": photos_state, "ocr": words_state}
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
    state = _STATES[name]() if name in _STATES else PhotosState("")
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


def doctor(*, common: Common = Common()) -> None:
    """Say what is installed, what is missing, and the command that adds it."""
    from sightline import plugins
    from sightline.errors import FoundError

    common.ignores_limit()
    found, plugged = diagnose(), plugins.survey()
    if common.json:
        common.print_json(asdict(found) | {"plugins": [_row(state) for state in plugged], "healthy": found.healthy})
    else:
        from rich.markup import escape
        from rich.table import Table

        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2))
        table.add_row(
            "Sightline", found.sightline, f"Python {found.python}, SQLite {found.sqlite}, {found.cores} cores"
        )
        for name, version in found.core.items():
            table.add_row(name, version, "")
        for extra in found.extras:
            state = [f"{name} {version}" for name, version in extra.installed.items()]
            state += [f"{name} missing" for name in extra.missing]
            table.add_row(f"\\[{extra.name}]", escape(", ".join(state)), extra.purpose)
        for package, version in _split(["sightline-world"])[0].items():
            table.add_row(package, version, "a synthetic world: a demo, and benchmarks with exact ground truth")
        common.console.print(table)
        if plugins.is_elsewhere("commands", "world"):
            common.print(str(plugins.unknown("commands", "world", "")))
        for line in _advice(found.extras):
            common.print(line)
        _print_plugins(plugged, common)
    common.warn(dict.fromkeys(str(state) for state in plugged if state.problem is not None))
    if not found.healthy:
        raise FoundError(
            f"missing packages of the core: {', '.join(found.missing_core)}.", "pip install --force-reinstall sightline"
        )


def _row(state: PluginState) -> dict[str, str | None]:
    plugin = state.plugin
    return {
        "group": plugin.group,
        "name": plugin.name,
        "package": plugin.package,
        "target": plugin.target,
        "problem": state.problem,
        "fix": state.fix,
    }


def _print_plugins(plugged: Iterable[PluginState], common: Common) -> None:
    """One line for each plug-in; why one can't be used is said in full below, as a warning."""
    from rich.table import Table

    table = Table("plug-in", "group", "package", "", box=None, pad_edge=False, header_style="bold", padding=(0, 2))
    for state in plugged:
        plugin = state.plugin
        ready = "ready" if state.problem is None else "not usable"
        table.add_row(plugin.name, f"sightline.{plugin.group}", plugin.package or "", ready)
    if table.rows:
        common.console.print()
        common.console.print(table)


def _advice(extras: Sequence[Extra]) -> Iterator[str]:
    """How extras are added, once for all, and what else there is to say, with commands on lines that can be copied."""
    lacking = [extra.name for extra in extras if extra.missing]
    if lacking:
        yield f"To add what is missing, name the extra, or several: pip install 'sightline[{','.join(lacking[:2])}]'"
    for extra in extras:
        if extra.note:
            yield f"[{extra.name}] {extra.note}"
            yield from [f"  {extra.command}"] if extra.command else []
