"""Back-ends by name: `exact`, `exact:quantised`, `faiss:nprobe=32`, `lance`, `postgres:ADDRESS#hnsw=true`, …"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from sightline.config.suggest import nearest
from sightline.errors import UserError
from sightline.search.backends.addresses import public
from sightline.search.backends.approximate import ApproximateIndex
from sightline.search.backends.base import VectorIndex
from sightline.search.backends.exact import ExactIndex
from sightline.search.backends.lance import LanceIndex
from sightline.search.backends.milvus import MilvusIndex
from sightline.search.backends.postgres import PostgresIndex
from sightline.search.backends.qdrant import QdrantIndex
from sightline.search.backends.weaviate import WeaviateIndex

DEFAULT = "exact"
GROUP = "sightline.indexes"
"""Entry points of this group are functions of `(rest_of_spec, folder, dim, create=...)` that return a VectorIndex."""
_AFTER_ADDRESS = re.compile(r"#(?P<options>[a-z_]+=[^#\s]*)$")
_SWITCHES: Mapping[str, bool] = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a back-end is opened; `address` is what it takes for one where none is given, None if it takes none."""

    open: Callable[..., VectorIndex]
    options: Mapping[str, type]
    address: str | None = None


_KINDS: Mapping[str, _Kind] = {
    "exact": _Kind(ExactIndex, {"quantised": bool}),
    "faiss": _Kind(ApproximateIndex, {"nlist": int, "nprobe": int, "recall": float, "least": int}),
    "lance": _Kind(LanceIndex, {"least": int}),
    "postgres": _Kind(PostgresIndex, {"hnsw": bool}, address=""),
    "qdrant": _Kind(QdrantIndex, {"hnsw": bool}, address="local"),
    "milvus": _Kind(MilvusIndex, {"hnsw": bool}, address="file"),
    "weaviate": _Kind(WeaviateIndex, {"hnsw": bool, "grpc_port": int}, address="http://localhost:8080"),
}


def open_backend(spec: str, folder: Path, dim: int, *, create: bool) -> VectorIndex:
    """The vectors of an index in a folder, kept by the back-end of that name; `create` makes what is not there yet."""
    name, _, rest = spec.strip().partition(":")
    kind = _KINDS.get(name)
    if kind is None:
        for point in entry_points(group=GROUP, name=name):
            plugged: VectorIndex = point.load()(rest, folder, dim, create=create)
            return plugged
        raise _unknown(name)
    if kind.address is None:
        return kind.open(folder, dim, create=create, **_options(name, kind, rest))
    found = _AFTER_ADDRESS.search(rest)
    address = rest[: found.start()] if found else rest
    options = _options(name, kind, found["options"] if found else "")
    return kind.open(address or kind.address, folder, dim, create=create, **options)


def public_spec(spec: str) -> str:
    """A spec with every password and key taken out: what may stand in a manifest, a report or a log."""
    return public(spec.strip())


def backend_names() -> list[str]:
    """Every name that `open_backend` understands."""
    return [*_KINDS, *(point.name for point in entry_points(group=GROUP))]


def _unknown(name: str) -> UserError:
    names = backend_names()
    near = nearest(name.lower(), names)
    hint = f'Did you mean "{near}"? ' if near else ""
    return UserError(f'unknown back-end "{name}".', f"{hint}Known: {', '.join(names)}")


def _options(name: str, kind: _Kind, text: str) -> dict[str, object]:
    return dict(_option(name, kind, pair.strip()) for pair in text.split(",") if pair.strip())


def _option(name: str, kind: _Kind, pair: str) -> tuple[str, object]:
    key, sign, value = pair.partition("=")
    form = kind.options.get(key)
    if form is None:
        near = nearest(key, kind.options)
        hint = f'Did you mean "{near}"? ' if near else ""
        raise UserError(f'the back-end {name} has no option "{key}".', f"{hint}Options: {', '.join(kind.options)}")
    try:
        return key, _SWITCHES[value.lower() if sign else "true"] if form is bool else form(value)
    except (KeyError, ValueError):
        what = {bool: "true or false", int: "a whole number", float: "a number"}[form]
        raise UserError(f'the back-end {name}: {key}="{value}" is not {what}.', f"for example {name}:{key}=…") from None
