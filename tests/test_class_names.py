"""What models are sent, and what is hashed or kept on disk, holds no class name that could change.

`fixed_names.json` was written before any class was renamed. A difference means that replies are paid for again, or that
files on disk are made again: mend the code, not the file.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest
from pydantic import BaseModel

from fixed_names import Sent, hashed, sent_schemas, sent_tools
from sightline.class_names import known_as, name_of
from sightline.models.structured_output import ReplySchema
from sightline.types import Benchmark, Corpus, Failure, PictureSet, Ranking, Run, Text

FIXED: dict[str, Any] = orjson.loads(Path(__file__).with_name("fixed_names.json").read_bytes())


def as_sent(found: Sent) -> dict[str, bytes]:
    """Down to the order of keys, which servers see."""
    return {purpose: orjson.dumps(dict(one), default=dict) for purpose, one in found.items()}


def test_schemas_that_models_are_sent() -> None:
    assert as_sent(sent_schemas()) == as_sent(FIXED["schemas"])


def test_tools_that_models_are_told_of() -> None:
    assert as_sent(sent_tools()) == as_sent(FIXED["tools"])


def test_what_is_hashed_or_kept(tmp_path: Path) -> None:
    assert hashed(tmp_path) == FIXED["hashed"]


def test_forms_that_errors_and_tables_name() -> None:
    kinds = (Ranking, PictureSet, Text, Failure, Benchmark, Run, Corpus)
    assert [name_of(kind) for kind in kinds] == [
        "Ranking", "PictureSet", "Text", "Failure", "Benchmark", "Run", "Corpus"
    ]  # fmt: skip


@known_as("Once")
@dataclass(frozen=True, slots=True)
class Renamed:
    number: int


@dataclass(frozen=True, slots=True)
class Later(Renamed):
    more: str


@known_as("Setting")
class RenamedSetting(BaseModel):
    number: int = 1


@known_as("System")
class RenamedSystem:
    pass


def test_a_renamed_class_keeps_its_name_and_can_be_pickled() -> None:
    assert repr(Renamed(1)) == "Once(number=1)" and repr(RenamedSetting()) == "Setting(number=1)"
    assert repr((Renamed(1), {"a": Renamed(2)})) == "(Once(number=1), {'a': Once(number=2)})"
    assert pickle.loads(pickle.dumps(Renamed(1))) == Renamed(1)
    assert [name_of(kind) for kind in (Renamed, RenamedSetting, RenamedSystem)] == ["Once", "Setting", "System"]


def test_other_classes_are_called_as_they_are() -> None:
    assert repr(Later(1, "a")) == "Later(number=1, more='a')" and name_of(Later) == "Later" and name_of(int) == "int"
    assert "RenamedSystem object" in repr(RenamedSystem())


class Part(BaseModel):
    """A part."""

    parts: list[Part | Leaf]


class Leaf(BaseModel):
    leaf: int


class Zed(BaseModel):
    """A part."""

    parts: list[Zed | Bare]


class Bare(BaseModel):
    leaf: int


@pytest.mark.parametrize("kind", [list[Part], Part])
def test_a_schema_says_the_names_that_it_is_given(kind: Any) -> None:
    other = list[Zed] if kind is not Part else Zed
    found, wanted = ReplySchema.of(other, {Zed: "Part", Bare: "Leaf"}), ReplySchema.of(kind)
    assert orjson.dumps(found.schema) == orjson.dumps(wanted.schema)
    schema: Any = found.schema
    assert found.name == wanted.name and list(schema["$defs"]) == ["Leaf", "Part"]
