"""Where settings come from: the configuration file, the environment, the command line.

Each source gives values by path, with the place to name in an error; later sources win over earlier ones. Variables are
named `SIGHTLINE_<SECTION>__<KEY>`; well-known ones such as OPENAI_API_KEY count too.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from sightline.config.schema import PREFIX, KeyPath, SettingField, dotted, leaves, shape, subsection
from sightline.config.section import StrictModel
from sightline.config.settings import Config
from sightline.errors import UserError, nearest

Place: TypeAlias = Callable[[KeyPath], str]
"""Where a key stands, for an error message: `sightline.toml, line 3`."""
DEFAULT_FILE = Path("sightline.toml")
# Read elsewhere: the folder that Sightline keeps its knowledge in, the default configuration file, and tokens: of our
# own MCP server, and for somebody else's.
OTHER_VARIABLES = (
    f"{PREFIX}WORKSPACE",
    f"{PREFIX}CONFIG",
    f"{PREFIX}MCP_TOKEN",
    f"{PREFIX}WEB_TOKEN",
    f"{PREFIX}PROGRESS",
)


def unknown_key(key: str, table: str, shape: Mapping[str, Collection[str]], place: str) -> UserError:
    """The error for `key` in `table`, with the nearest right key, or the table that it belongs to."""
    name = f"{table}.{key}" if table else key
    return UserError(f'{place}: unknown key "{name}".', suggest(key, table, shape))


def suggest(key: str, table: str, shape: Mapping[str, Collection[str]]) -> str:
    """Right spelling elsewhere, then nearest spelling here, then nearest elsewhere, then all that is known here."""
    key = key.lower().replace("-", "_")
    homes = [f"[{other}]" for other, keys in shape.items() if other not in ("", table) and key in keys]
    if homes:
        return f'"{key}" belongs in {" or ".join(homes)}.'
    near = nearest(key, shape[table])
    if near is not None:
        return f'Did you mean "{near}"?'
    near = nearest(key, {known for keys in shape.values() for known in keys})
    if near is not None:
        home = next(other for other, keys in shape.items() if near in keys)
        return f'Did you mean "{near}" {f"in [{home}]" if home else "at the top of the file"}?'
    return f"Known {f'in [{table}]' if table else 'at the top of the file'}: {', '.join(shape[table])}."


@dataclass(frozen=True, slots=True)
class GivenValue:
    """A value, where it came from, how its key is spelt there, and the place to name in an error."""

    value: Any = field(repr=False)
    source: str
    name: str
    place: str


@dataclass(frozen=True, slots=True)
class Unmapped:
    """A benchmaker key with no counterpart here, and why."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class SettingsLayer:
    """The values of one source, and what there is to say about them."""

    values: Mapping[KeyPath, GivenValue] = field(default_factory=dict)
    mapped: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unmapped: tuple[Unmapped, ...] = ()
    warnings: tuple[str, ...] = ()


def flatten(
    data: Mapping[str, Any], source: str, place: Place, tops: Sequence[str] = ()
) -> tuple[dict[KeyPath, GivenValue], list[UserError]]:
    """Tables inside tables → values by path, and what is wrong with the keys; `tops` are more words for the top."""
    known = {**shape(), "": (*shape()[""], *tops)}
    values: dict[KeyPath, GivenValue] = {}
    problems: list[UserError] = []

    def visit(table: Mapping[str, Any], model: type[StrictModel], prefix: KeyPath) -> None:
        for key, value in table.items():
            path = (*prefix, key)
            found = model.model_fields.get(key)
            inner = None if found is None else subsection(found)
            if found is None:
                problems.append(unknown_key(key, dotted(prefix), known, place(path)))
            elif inner is None:
                if leaves()[path].given(value):
                    values[path] = GivenValue(value, source, dotted(path), place(path))
            elif isinstance(value, Mapping):
                visit(value, inner, path)
            elif value is not None:
                problems.append(not_a_table(dotted(path), place(path)))

    visit(data, Config, ())
    return values, problems


def not_a_table(name: str, place: str) -> UserError:
    """The error for a single value where a table must be; the value is not shown, it may be a secret."""
    return UserError(f'{place}: "{name}" must be a table.', f"write [{name}] and its keys below it")


def join_errors(problems: Sequence[UserError]) -> UserError:
    """All that is wrong, in one error."""
    distinct = list({problem.message: problem for problem in reversed(problems)}.values())[::-1]
    return distinct[0] if len(distinct) == 1 else UserError("\n".join(map(str, distinct)))


def from_overrides(overrides: Mapping[str, Any]) -> SettingsLayer:
    """What the command line says; keys are nested or dotted, and None means that nothing was said."""
    tree: dict[str, Any] = {}
    for key, value in overrides.items():
        _put(tree, key.split("."), value)
    values, problems = flatten(tree, "command line", lambda _: "command line")
    if problems:
        raise join_errors(problems)
    return SettingsLayer(values)


def _put(tree: dict[str, Any], path: Sequence[str], value: Any) -> None:
    head, *rest = path
    if rest:
        _put(tree.setdefault(head, {}), rest, value)
    elif isinstance(value, Mapping):
        table = tree.setdefault(head, {})
        for key, inner in value.items():
            _put(table, [key], inner)
    else:
        tree[head] = value


@dataclass(frozen=True, slots=True)
class ConfigDocument:
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


def find_config_file(path: Path | None, environment: Mapping[str, str]) -> Path | None:
    """The file asked for, else `$SIGHTLINE_CONFIG`, else `./sightline.toml`, else none."""
    if path is not None:
        return _existing(Path(path).expanduser(), str(path), "name an existing file, or leave it out for the defaults")
    variable = f"{PREFIX}CONFIG"
    if environment.get(variable):
        named = Path(environment[variable]).expanduser()
        return _existing(named, f"{named} (from {variable})", f"correct {variable}, or unset it")
    return DEFAULT_FILE if DEFAULT_FILE.is_file() else None


def _existing(path: Path, name: str, fix: str) -> Path:
    if path.is_dir():
        raise UserError(f"{name} is a folder, not a configuration file.", f"name the file in it: {path / DEFAULT_FILE}")
    if not path.exists():
        raise UserError(f"{name}: there is no such configuration file.", fix)
    return path


def read_config_file(path: Path) -> ConfigDocument:
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
    return ConfigDocument(path, data, text)


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


def from_environment(environment: Mapping[str, str]) -> SettingsLayer:
    """An empty variable counts as not set; an unknown `SIGHTLINE_` one is worth a warning, not an error."""
    values: dict[KeyPath, GivenValue] = {}
    for leaf in leaves().values():
        for name in (leaf.variable, *leaf.well_known_variables):
            if environment.get(name):
                values[leaf.path] = GivenValue(
                    parse_variable(environment[name], leaf), f"environment {name}", name, "environment"
                )
                break
    known = {leaf.variable for leaf in leaves().values()} | set(OTHER_VARIABLES)
    known.update(name for leaf in leaves().values() for name in leaf.well_known_variables if name.startswith(PREFIX))
    strange = sorted(name for name in environment if name.startswith(PREFIX) and name not in known)
    return SettingsLayer(values, warnings=tuple(_warning(name, known) for name in strange))


def parse_variable(text: str, leaf: SettingField) -> Any:
    """The text as a TOML value where the setting wants one, else as it is."""
    if leaf.secret:
        return text
    value = _toml_value(text)
    return value if isinstance(value, str) or not leaf.is_text else text


def _toml_value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return parsed["value"] if len(parsed) == 1 else text


def _warning(name: str, known: set[str]) -> str:
    words = {other.removeprefix(PREFIX) for other in known}
    word = name.removeprefix(PREFIX)
    # The key may be right where the section is missing or wrong.
    same_key = sorted(other for other in words if other.endswith(f"__{word.rpartition('__')[2]}"))
    near = same_key[0] if same_key else nearest(word, words)
    hint = f"did you mean {PREFIX}{near}?" if near else f"they are named {PREFIX}<SECTION>__<KEY>"
    return f"environment: {name} sets nothing; {hint}"
