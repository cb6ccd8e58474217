"""Who may use a picture, and how: benchmaker's `rights_map.json`, resolved for each picture."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import orjson
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from sightline.errors import UserError, did_you_mean
from sightline.types import Rights

_UNKNOWN = ("", "UNKNOWN")
_SHOWN = 5
_EXPECTED = {"string_type": "text", "list_type": "a list", "dict_type": "an object", "model_type": "an object"}


class _Entry(BaseModel):
    """A field that is absent is looked for one level further; null, "" and "UNKNOWN" say that it is not known."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    license: str | None = None
    doi: str | None = None
    dataset_name: str | None = None
    attribution: str | None = Field(None, validation_alias=AliasChoices("attribution", "creator"))


class _Prefix(_Entry):
    prefix: str


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    default: _Entry = _Entry()
    files: dict[str, _Entry] = {}
    prefixes: list[_Prefix] = []


@dataclass(frozen=True, slots=True)
class RightsMap:
    """Rights by exact file, then by prefix from the longest to the shortest, then by default, field by field."""

    default: _Entry = field(default_factory=_Entry)
    files: Mapping[str, _Entry] = field(default_factory=dict)
    prefixes: Mapping[int, Mapping[str, _Entry]] = field(default_factory=dict)
    "By their length, the longest first: a picture is looked up once for each length, however many prefixes there are."

    @classmethod
    def read(cls, path: Path) -> RightsMap:
        """The map in a file; what is wrong with it is a `UserError` that names the field."""
        try:
            return cls.parse(path.read_text("utf-8"), str(path))
        except OSError as error:
            raise UserError(f"{path} can't be read: {error.strerror}.", "check the path after --rights") from error
        except UnicodeDecodeError as error:
            raise UserError(f"{path} is not UTF-8 text.", "save it as UTF-8") from error

    @classmethod
    def parse(cls, text: str, where: str) -> RightsMap:
        """The map in a JSON text; `where` names it in errors."""
        try:
            content = orjson.loads(text.removeprefix("\ufeff"))
        except orjson.JSONDecodeError as error:
            raise UserError(f"{where}, line {error.lineno}: not JSON: {error.msg} (column {error.colno}).") from error
        try:
            file = _File.model_validate(content)
        except ValidationError as error:
            raise _explain(error, where) from error
        prefixes: dict[int, dict[str, _Entry]] = {}
        for number, entry in enumerate(file.prefixes):
            prefix = _normal(entry.prefix)
            if prefix in prefixes.setdefault(len(prefix), {}):
                raise UserError(f'{where}: prefixes[{number}]: the prefix "{prefix}" is there twice.', "remove one")
            prefixes[len(prefix)][prefix] = entry
        files = {_normal(name): entry for name, entry in file.files.items()}
        return cls(file.default, files, dict(sorted(prefixes.items(), reverse=True)))

    def of(self, picture_id: str) -> Rights:
        """The rights of one picture; its data set's name, where unknown, is the first folder of its id."""
        entries = tuple(self._levels(picture_id))
        folder, slash, _ = picture_id.partition("/")
        return Rights(
            license=_first(entries, "license"),
            doi=_first(entries, "doi"),
            source=_first(entries, "dataset_name") or (folder if slash and folder else None),
            attribution=_first(entries, "attribution"),
        )

    def _levels(self, picture_id: str) -> Iterator[_Entry]:
        if picture_id in self.files:
            yield self.files[picture_id]
        for length, group in self.prefixes.items():
            if (prefix := picture_id[:length]) in group:
                yield group[prefix]
        yield self.default


def filled(said: Rights, mapped: Rights) -> Rights:
    """What is said of a picture, and where that leaves something open, what a map says."""
    return Rights(
        said.license or mapped.license,
        said.doi or mapped.doi,
        said.source or mapped.source,
        said.attribution or mapped.attribution,
    )


def _first(entries: tuple[_Entry, ...], name: str) -> str | None:
    for entry in entries:
        if name in entry.model_fields_set:
            value = (getattr(entry, name) or "").strip()
            return None if value.upper() in _UNKNOWN else value
    return None


def _normal(name: str) -> str:
    """As picture ids are written: NFC, and no `./` in front."""
    return unicodedata.normalize("NFC", name).removeprefix("./")


def _explain(error: ValidationError, where: str) -> UserError:
    details = error.errors(include_url=False)
    lines = [_line(detail) for detail in details[:_SHOWN]]
    if len(details) > _SHOWN:
        lines.append(f"and {len(details) - _SHOWN} more")
    return UserError(f"{where}: {'; '.join(lines)}.", _hint(details[0]))


def _line(detail: ErrorDetails) -> str:
    place = _place(detail["loc"])
    if detail["type"] == "extra_forbidden":
        return f"unknown key {place}"
    if detail["type"] == "missing":
        return f"{place} is missing"
    return f"{place or 'the file'} is {detail['input']!r:.60}; expected {_EXPECTED.get(detail['type'], detail['msg'])}"


def _place(location: tuple[int | str, ...]) -> str:
    """`prefixes[3].license`, `files["a b.jpg"].doi`."""
    place = ""
    for part in location:
        if isinstance(part, str) and part.isidentifier():
            place += f".{part}" if place else part
        else:
            place += f"[{orjson.dumps(part).decode()}]"
    return place


def _hint(detail: ErrorDetails) -> str | None:
    if detail["type"] != "extra_forbidden":
        return None
    *above, key = detail["loc"]
    model = _File if not above else _Prefix if above[0] == "prefixes" else _Entry
    return did_you_mean(str(key).lower(), model.model_fields) or f"Known here: {', '.join(model.model_fields)}."
