"""Any subset of the settings comes back as it was given, from each source; any other key is refused."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.config import load
from sightline.config.benchmaker import COUNTERPARTS, NO_COUNTERPART
from sightline.config.schema import KeyPath, SettingField, leaves, members, nested, shape
from sightline.config.section import Hidden
from sightline.errors import UserError

quick = settings(deadline=None, max_examples=150)
# Printable, so that one text can stand in TOML, JSON and the environment without escapes that differ.
WORDS = st.text("abc ÄßØ日本☃#'=[]{}%$", min_size=1, max_size=12)
TABLES_OF_WORDS = (("models", "hosts"), ("models", "headers"), ("models", "extra"))
LISTS = st.lists(WORDS, max_size=4, unique=True)


def values(leaf: SettingField) -> st.SearchStrategy[Any]:
    """Values that a file may hold for this setting."""
    kind = members(leaf.field.annotation)[0]
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    if get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        if get_origin(inner) is Literal:
            return st.lists(st.sampled_from(get_args(inner)), min_size=1, unique=True)
        return LISTS
    if leaf.path == ("prices", "models"):
        return st.dictionaries(WORDS, st.fixed_dictionaries({"input": st.floats(0, 9)}), max_size=2)
    if leaf.path in TABLES_OF_WORDS:
        return st.dictionaries(WORDS, WORDS, max_size=3)
    if get_origin(kind) is dict:
        return st.dictionaries(WORDS, LISTS, max_size=3)
    if leaf.path == ("judge", "coverage"):
        return st.floats(0.5, 1)
    small = leaf.path[-1] == "min_tags"  # It has to stay below the smallest possible max_tags.
    numbers = st.integers(1, 3) if small else st.integers(3, 16)
    return {bool: st.booleans(), int: numbers, float: st.floats(0.5, 1e6), str: WORDS, Path: WORDS, Hidden: WORDS}[kind]


@st.composite
def subsets(draw: st.DrawFn) -> dict[KeyPath, Any]:
    # min_tags without max_tags would be checked against the default; that is tested elsewhere.
    chosen = draw(st.lists(st.sampled_from(list(leaves().values())), unique_by=lambda leaf: leaf.path, max_size=12))
    chosen = [leaf for leaf in chosen if leaf.path[-1] not in ("min_tags", "max_tags")]
    if draw(st.booleans()):
        chosen += [leaves()["annotate", "min_tags"], leaves()["annotate", "max_tags"]]
    return {leaf.path: draw(values(leaf)) for leaf in chosen}


def check(loaded: Any, given: dict[KeyPath, Any], source: str) -> None:
    shown = loaded.config.model_dump(mode="json")
    for path, leaf in leaves().items():
        held: Any = loaded.config
        printed = shown
        for part in path:
            held, printed = getattr(held, part), printed[part]
        if path not in given:
            assert loaded.sources[leaf.dotted] == "default"
        elif leaf.secret:
            assert held.get_secret_value() == given[path]
            assert printed == "***"
        else:
            expected = given[path]
            if path == ("prices", "models"):
                printed = {name: {"input": price["input"]} for name, price in printed.items()}
            if path == ("models", "headers"):
                expected = dict.fromkeys(expected, "***")
            assert printed == (str(Path(expected)) if Path in members(leaf.field.annotation) else expected)
            assert loaded.sources[leaf.dotted].startswith(source)


def toml_text(given: dict[KeyPath, Any]) -> str:
    def literal(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{literal(key)} = {literal(inner)}" for key, inner in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(literal, value)) + "]"
        return json.dumps(value, ensure_ascii=False)

    return "".join(f"{'.'.join(path)} = {literal(value)}\n" for path, value in given.items())


@quick
@given(subsets())
def test_any_subset_comes_back_from_toml_and_json(chosen: dict[KeyPath, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("a.toml", toml_text(chosen)), ("a.json", json.dumps(nested(chosen)))):
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            check(load(path, environment={}), chosen, f"file {path}")


@quick
@given(subsets())
def test_any_subset_comes_back_from_overrides(chosen: dict[KeyPath, Any]) -> None:
    check(load(environment={}, overrides=nested(chosen)), chosen, "command line")
    check(
        load(environment={}, overrides={".".join(path): value for path, value in chosen.items()}),
        chosen,
        "command line",
    )


@quick
@given(subsets())
def test_any_subset_comes_back_from_the_environment(chosen: dict[KeyPath, Any]) -> None:
    variables = {}
    for path, value in chosen.items():
        leaf = leaves()[path]
        literal = toml_text({("x",): value}).removeprefix("x = ").rstrip("\n")
        variables[leaf.variable] = value if leaf.secret else literal
    check(load(environment=variables), chosen, "environment SIGHTLINE_")


@quick
@given(st.sampled_from(sorted(shape())), st.from_regex(r"[a-z_]{1,16}", fullmatch=True), st.integers() | WORDS)
def test_any_other_key_is_refused(table: str, key: str, value: Any) -> None:
    if key in shape()[table] or (not table and key in {*COUNTERPARTS, *NO_COUNTERPART}):
        return
    path = (*filter(None, table.split(".")), key)
    with pytest.raises(UserError, match=f'unknown key "{".".join(path)}"') as caught:
        load(environment={}, overrides=nested({path: value}))
    assert caught.value.fix


@quick
@given(st.sampled_from(sorted(leaves())), st.data())
def test_one_wrong_letter_finds_the_right_key(path: KeyPath, data: st.DataObject) -> None:
    position = data.draw(st.integers(1, len(path[-1]) - 1))
    typo = f"{path[-1][:position]}q{path[-1][position:]}"
    with pytest.raises(UserError) as caught:
        load(environment={}, overrides=nested({(*path[:-1], typo): 1}))
    assert f'Did you mean "{path[-1]}"?' in str(caught.value)
