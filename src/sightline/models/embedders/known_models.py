"""Models that are known by a short name: where each of their files comes from, and what it must be.

Files are found in the models' folder, or downloaded into it once; anything else than the pinned bytes is refused.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from sightline.errors import SightlineError, UserError, explained, needs_extra
from sightline.io.files import sha256_of
from sightline.io.jsonl import read_json, write_json

_HUB = "https://huggingface.co"
_PATIENCE_SECONDS = 10.0
_CHECKED = "checked.json"
"""Which files were hashed, by size and date, so that a second start need not read them."""


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file of a model, by its path in the repository; anything else than these bytes is refused."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model at one revision; `settings` are its small JSON files by name."""

    name: str
    repo: str
    revision: str
    licence: str
    files: tuple[PinnedFile, ...]
    precision: str = ""
    aliases: tuple[str, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def url(self, file: PinnedFile) -> str:
        """Where a person can fetch it."""
        return f"{_HUB}/{self.repo}/resolve/{self.revision}/{file.path}"


def _read_known() -> dict[str, KnownModel]:
    found: dict[str, KnownModel] = {}
    for name, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items():
        row |= {"files": tuple(PinnedFile(**file) for file in row["files"]), "aliases": tuple(row["aliases"])}
        like = row.pop("like", None)
        found[name] = KnownModel(name, **row) if like is None else replace(found[like], name=name, **row)
    return found


KNOWN: Mapping[str, KnownModel] = _read_known()


def find_known(name: str) -> KnownModel | None:
    """The model of this short name, or of the name that it has on the hub."""
    return KNOWN.get(name) or next((model for model in KNOWN.values() if name in model.aliases), None)


def models_folder(configured: Path | None) -> Path:
    """Where downloaded models are kept: the configured folder, else the user's cache."""
    if configured is not None:
        return configured.expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "sightline" / "models"


def fetch(model: KnownModel, folder: Path, *, local_only: bool = False) -> Path:
    """The folder with all files of the model, each the pinned one; what is missing is downloaded."""
    target = folder / model.name
    missing = [file for file in model.files if not (target / file.path).is_file()]
    if missing:
        if local_only or (os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")):
            why = "--local-only allows no download" if local_only else "HF_HUB_OFFLINE is set"
            raise _not_here(model, missing, target, why)
        _download(model, missing, target)
    _check(model, target)
    return target


def _download(model: KnownModel, missing: Iterable[PinnedFile], target: Path) -> None:
    with needs_extra(f"downloading {model.name}", "hub"):
        from huggingface_hub import hf_hub_download
    endpoint = os.environ.get("HF_ENDPOINT") or _HUB
    missing = list(missing)
    unreachable = _unreachable(endpoint)
    if unreachable is not None:
        raise _not_here(model, missing, target, f"{endpoint}: {unreachable}")
    _make(target)
    for file in missing:
        try:
            hf_hub_download(
                model.repo,
                file.path,
                revision=model.revision,
                local_dir=target,
                endpoint=endpoint,
                tqdm_class=_bar(),
            )
        except (OSError, ValueError, RuntimeError) as error:
            first = str(error).strip().partition("\n")[0]
            left = [file for file in missing if not (target / file.path).is_file()]
            raise _not_here(model, left, target, f"{type(error).__name__}: {first}"[:300]) from None


def _unreachable(endpoint: str) -> str | None:
    """Why nothing answers there; the hub's own code would try for half a minute before it says so."""
    try:
        with urlopen(Request(endpoint, method="HEAD"), timeout=_PATIENCE_SECONDS):
            return None
    except HTTPError:
        return None
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error)) or type(error).__name__


def _make(target: Path) -> None:
    with explained(f"{target} can't be written", "name another folder in the configuration: [models] folder"):
        target.mkdir(parents=True, exist_ok=True)


def _bar() -> type[Any]:
    """The hub's own progress bar, silent when nobody is watching."""
    from tqdm import tqdm

    class _Bar(tqdm):  # type: ignore[misc]
        def __init__(self, *arguments: Any, **options: Any) -> None:
            # An option of the hub's own class.
            options.pop("name", None)
            super().__init__(*arguments, **{**options, "disable": not sys.stderr.isatty()})

    return _Bar


def _not_here(model: KnownModel, missing: Iterable[PinnedFile], target: Path, why: str) -> UserError:
    lines = [
        f"  {target / file.path}\n    from {model.url(file)}\n    {file.size:,} bytes, sha256 {file.sha256}"
        for file in missing
    ]
    return UserError(
        f"{model.name} is not on this machine, and could not be downloaded ({why}).",
        "fetch these files where there is a network, put them here, and run the same command again:\n"
        + "\n".join(lines),
    )


def _check(model: KnownModel, target: Path) -> None:
    """Hash what was not hashed before; the wrong bytes are never used."""
    known = _remembered(target)
    seen: dict[str, list[Any]] = {}
    for file in model.files:
        path = target / file.path
        found = path.stat()
        seen[file.path] = [found.st_size, found.st_mtime_ns, file.sha256]
        if known.get(file.path) == seen[file.path]:
            continue
        actual = sha256_of(path) if found.st_size == file.size else f"that of {found.st_size:,} bytes"
        if actual != file.sha256:
            raise UserError(
                f"{path} is not the expected file: its SHA-256 is {actual}, not {file.sha256}.",
                f"delete it and run the same command again; the right one is at {model.url(file)}",
            )
    if seen != known:
        _remember(target, seen)


def _remembered(target: Path) -> dict[str, Any]:
    try:
        found = read_json(target / _CHECKED)
    except UserError:  # Not there, or broken: everything is hashed again.
        return {}
    return found if isinstance(found, dict) else {}


def _remember(target: Path, seen: dict[str, list[Any]]) -> None:
    try:
        write_json(target / _CHECKED, seen)
    except (SightlineError, OSError):  # A folder that can only be read: hash again next time.
        return
