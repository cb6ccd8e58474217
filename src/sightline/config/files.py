"""A configuration file: found, read as TOML or JSON, with the line of each key for error messages."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.config.schema import PREFIX, KeyPath
from sightline.errors import UserError

DEFAULT = Path("sightline.toml")


@dataclass(frozen=True, slots=True)
class Document:
    """The file's content, and its text to find lines in."""

    path: Path
    data: Mapping[str, Any] = field(repr=False)
    text: str = field(repr=False)

    def place(self, key: KeyPath) -> str:
        """`sightline.toml, line 3`, or only the file where the line can't be told."""
        line = self._line(key)
        return str(self.path) if line is None else f"{self.path}, line {line}"

    def _line(self, key: KeyPath) -> int | None:
        """Where the key is first written below its table's header: a good guess, not a parse."""
        *tables, last = map(re.escape, key)
        start = 0
        if tables:
            header = r"^\s*\[\s*" + r"\s*\.\s*".join(tables) + rf'\s*\]|"{tables[-1]}"\s*:'
            found = re.search(header, self.text, re.MULTILINE)
            start = found.end() if found else 0
        written = re.compile(rf'(?:^|[{{,.])\s*"?{last}"?\s*[=:]|^\s*\[\s*{last}\s*[.\]]', re.MULTILINE)
        found = written.search(self.text, start)
        return self.text.count("\n", 0, found.end()) + 1 if found else None


def find(path: Path | None, environment: Mapping[str, str]) -> Path | None:
    """The file asked for, else `$SIGHTLINE_CONFIG`, else `./sightline.toml`, else none."""
    if path is not None:
        return _existing(Path(path).expanduser(), str(path), "name an existing file, or leave it out for the defaults")
    variable = f"{PREFIX}CONFIG"
    if environment.get(variable):
        named = Path(environment[variable]).expanduser()
        return _existing(named, f"{named} (from {variable})", f"correct {variable}, or unset it")
    return DEFAULT if DEFAULT.is_file() else None


def _existing(path: Path, name: str, fix: str) -> Path:
    if path.is_dir():
        raise UserError(f"{name} is a folder, not a configuration file.", f"name the file in it: {path / DEFAULT}")
    if not path.exists():
        raise UserError(f"{name}: there is no such configuration file.", fix)
    return path


def read(path: Path) -> Document:
    """The file as TOML, or as JSON when it is that; what can't be read is refused with its line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path}, line {line}: this is not UTF-8 text.", "save the file as UTF-8") from None
    except OSError as error:
        raise UserError(f"{path}: can't be read ({error.strerror}).", "check who may read the file") from None
    is_json = path.suffix.lower() == ".json" or text.lstrip().startswith("{")
    data = _json(text, path) if is_json else _toml(text, path)
    return Document(path, data, text)


def _toml(text: str, path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # tomllib ends its message with the line and the column.
        raise UserError(f"{path} is not valid TOML: {error}.", "correct that line") from None


def _json(text: str, path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{path}, line {error.lineno}: not valid JSON: {error.msg}.", "correct that line") from None
    if not isinstance(data, dict):
        raise UserError(f"{path}: the file must hold one JSON object.", 'write it as {"scan": {…}}')
    return data
