"""`kind[:key=value,…]` or a TOML file → a system's kind and its options, checked.

A comma inside a value is kept where the value itself has options: `retriever:backend=faiss:nlist=64,nprobe=8,k=50`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from sightline.config.section import Hidden
from sightline.errors import UserError, did_you_mean
from sightline.io.files import PathLike
from sightline.retrieval.vector_stores.registry import public_spec
from sightline.runs.systems.base import Kind, Options, System, SystemSetting, find_kind
from sightline.types import Json

_SECRET = re.compile(r"(?:^|_)(?:key|token|secret|password|authorization)$", re.I)
_MASK = "***"
_EXAMPLE = "write it as kind:key=value,key=value, for example retriever:embedder=photos,k=50"


@dataclass(frozen=True, slots=True)
class Spec:
    """A declared system: its kind, and all of its options with the defaults filled in."""

    kind: Kind
    options: Options
    given_name: str | None = None

    @property
    def name(self) -> str:
        """The given name, else kind and what differs from the defaults; never a secret."""
        if self.given_name is not None:
            return self.given_name
        said = masked(self.options.model_dump(mode="json", exclude_defaults=True))
        return self.kind.name + "".join(f"{':' if not at else ','}{pair}" for at, pair in enumerate(_pairs(said)))

    @property
    def parameters(self) -> dict[str, Json]:
        """Kind and all options, for run.json; secrets are masked."""
        return {"kind": self.kind.name, **masked(self.options.model_dump(mode="json"))}

    def open(self, setting: SystemSetting) -> System:
        """The system; nothing is built or sent yet."""
        return self.kind.open(self.options, setting)


def parse_spec(spec: PathLike) -> Spec:
    """The system that a SPEC declares; a typo is told with the option that was probably meant."""
    text = str(spec).strip()
    path = Path(text).expanduser()
    if text.endswith(".toml") or ((isinstance(spec, Path) or "/" in text or os.sep in text) and path.is_file()):
        return _from_file(path)
    name, _, rest = text.partition(":")
    if not name.strip():
        raise UserError("the system is empty.", _EXAMPLE)
    kind = find_kind(name.strip())
    return make_spec(kind, _split(kind, rest))


def make_spec(kind: Kind, given: Mapping[str, Any], where: str = "") -> Spec:
    """Check options that came from a SPEC, a file or a program."""
    options = dict(given)
    called = options.pop("name", None)
    if called is not None and not str(called).strip():
        raise UserError(f"{where}the system's name is empty.", "leave it out, or give one")
    name = None if called is None else str(called).strip()
    return Spec(kind, _checked(kind, options, where), name)


def masked(values: Mapping[str, Any]) -> dict[str, Json]:
    """Values without what is secret: by the name of the key, and inside addresses."""
    return {key: _MASK if value and _SECRET.search(key) else _masked(value) for key, value in values.items()}


def _masked(value: Any) -> Json:
    if isinstance(value, str):
        return public_spec(value)
    if isinstance(value, dict):
        return masked(value)
    if isinstance(value, list | tuple):
        return [_masked(item) for item in value]
    return _MASK if isinstance(value, Hidden) else value


def _pairs(values: Mapping[str, Json]) -> list[str]:
    return [f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in values.items()]


def _from_file(path: Path) -> Spec:
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise UserError(f"there is no file {path}.", _EXAMPLE) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{path} is not TOML: {error}.", 'the first line could be: kind = "retriever"') from error
    table = content.get("system", content)
    if not isinstance(table, dict) or not isinstance(table.get("kind"), str):
        raise UserError(f"{path} names no kind of system.", 'add a line such as: kind = "retriever"')
    options = {key: value for key, value in table.items() if key != "kind"}
    return make_spec(find_kind(table["kind"]), options, f"{path}: ")


def _split(kind: Kind, text: str) -> dict[str, str]:
    """Options by key; a part that is not an option belongs to the value before it, if that value has options itself."""
    known = {*kind.options.model_fields, "name"}
    found: dict[str, str] = {}
    last: str | None = None
    for part in text.split(",") if text.strip() else ():
        key, equals, value = part.partition("=")
        key = key.strip()
        if key in known:
            if key in found:
                raise UserError(f'the system "{kind.name}" is given {key} twice.', "say it once")
            if not equals and not _is_switch(kind, key):
                raise UserError(f'"{key}" of the system "{kind.name}" has no value.', f"Write {kind.name}:{key}=VALUE.")
            last, found[key] = key, value.strip() if equals else "true"
        elif last is not None and ":" in found[last]:
            found[last] += f",{part}"
        else:
            raise _unknown_option(kind.name, key, known)
    return found


def _is_switch(kind: Kind, key: str) -> bool:
    """May the option be named alone, for `true`?"""
    field = kind.options.model_fields.get(key)
    return field is not None and bool in (field.annotation, *get_args(field.annotation))


def _checked(kind: Kind, given: Mapping[str, Any], where: str) -> Options:
    try:
        return kind.options.model_validate(dict(given))
    except ValidationError as error:
        wrong = error.errors()[0]
    key = str(wrong["loc"][0]) if wrong["loc"] else ""
    if wrong["type"] == "extra_forbidden":
        raise _unknown_option(kind.name, key, kind.options.model_fields, where)
    if wrong["type"] == "missing":
        raise UserError(f'{where}the system "{kind.name}" needs {key}.', f"for example {kind.name}:{key}=…")
    said = wrong["msg"].removeprefix("Value error, ")
    raise UserError(f'{where}option {key} of the system "{kind.name}": {said[:1].lower()}{said[1:]}.', _options(kind))


def _unknown_option(kind: str, key: str, known: Collection[str], where: str = "") -> UserError:
    hint = did_you_mean(key, known, f"Options: {', '.join(sorted(known))}")
    return UserError(f'{where}the system "{kind}" has no option "{key}".', hint)


def _options(kind: Kind) -> str:
    return f"Options: {', '.join(kind.options.model_fields)}"
