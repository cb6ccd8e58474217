"""Back-ends by name: `exact`, `exact:quantised`, `faiss:nprobe=32`, `lance`, `postgres:ADDRESS#hnsw=true`, …"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from sightline import plugins
from sightline.errors import UserError, did_you_mean
from sightline.retrieval.vector_stores.base import BackendKind, VectorIndex
from sightline.retrieval.vector_stores.service import public

DEFAULT = "exact"
_AFTER_ADDRESS = re.compile(r"#(?P<options>[a-z_]+=[^#\s]*)$")
_SWITCHES: Mapping[str, bool] = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def open_vector_store(spec: str, folder: Path, dim: int, *, create: bool) -> VectorIndex:
    """The vectors of an index in a folder, kept by the back-end of that name; `create` makes what is not there yet.

    A plug-in of the group `indexes` is a `BackendKind`, or a function of `(rest_of_spec, folder, dim, create=...)`.
    """
    name, _, rest = spec.strip().partition(":")
    plugin = plugins.find("indexes", name)
    if plugin is None:
        raise plugins.unknown("indexes", name, f'unknown back-end "{name}".')
    kind = plugin.load()
    if not isinstance(kind, BackendKind):
        plugged: VectorIndex = kind(rest, folder, dim, create=create)
        return plugged
    if kind.address is None:
        return kind.open(folder, dim, create=create, **_options(name, kind, rest))
    found = _AFTER_ADDRESS.search(rest)
    address = rest[: found.start()] if found else rest
    options = _options(name, kind, found["options"] if found else "")
    return kind.open(address or kind.address, folder, dim, create=create, **options)


def public_spec(spec: str) -> str:
    """A spec with every password and key taken out: what may stand in a manifest, a report or a log."""
    return public(spec.strip())


def vector_store_names() -> list[str]:
    """Every name that `open_vector_store` understands."""
    return list(plugins.names("indexes"))


def _options(name: str, kind: BackendKind, text: str) -> dict[str, object]:
    return dict(_option(name, kind, pair.strip()) for pair in text.split(",") if pair.strip())


def _option(name: str, kind: BackendKind, pair: str) -> tuple[str, object]:
    key, sign, value = pair.partition("=")
    form = kind.options.get(key)
    if form is None:
        hint = did_you_mean(key, kind.options, f"Options: {', '.join(kind.options)}")
        raise UserError(f'the back-end {name} has no option "{key}".', hint)
    try:
        return key, _SWITCHES[value.lower() if sign else "true"] if form is bool else form(value)
    except (KeyError, ValueError):
        what = {bool: "true or false", int: "a whole number", float: "a number"}[form]
        raise UserError(f'the back-end {name}: {key}="{value}" is not {what}.', f"for example {name}:{key}=…") from None
