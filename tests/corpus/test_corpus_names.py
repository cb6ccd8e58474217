"""Ids are readable and stable whatever the file is called."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.corpus.names import file_uri, owner_of, owner_reader, path_of, picture_id
from sightline.errors import UserError


def test_ids_are_nfc() -> None:
    decomposed = unicodedata.normalize("NFD", "été/é.jpg")
    assert picture_id(decomposed.encode()) == "été/é.jpg"


def test_bytes_that_are_no_text_are_percent_encoded() -> None:
    assert picture_id(b"a\xff/b.jpg") == "a%FF/b.jpg"


@given(st.binary(min_size=1).filter(lambda name: b"\0" not in name))
def test_every_name_gives_a_valid_id_and_an_exact_address(name: bytes) -> None:
    picture_id(name).encode("utf-8")
    path = b"/root/" + name.replace(b"/", b"_")
    assert os.fsencode(path_of(file_uri(path))) == os.fsencode(Path(os.fsdecode(path)))


@pytest.mark.parametrize(
    ("pattern", "id_", "owner"),
    [
        ("{owner}/*", "ana/2023/a.jpg", "ana"),
        ("{owner}/*", "a.jpg", None),
        ("images/{owner}/*.jpg", "images/10287726@N02/1.jpg", "10287726@N02"),
        ("images/{owner}/*.jpg", "other/x/1.jpg", None),
        ("**/{owner}/raw/*", "a/b/ana/raw/x.jpg", "ana"),
        ("{owner}_*.jpg", "ben_1.jpg", "ben"),
    ],
)
def test_owner_from_the_path(pattern: str, id_: str, owner: str | None) -> None:
    assert owner_of(id_, owner_reader(pattern)) == owner


@pytest.mark.parametrize("pattern", ["*/x", "{owner}/{owner}"])
def test_a_pattern_needs_one_owner(pattern: str) -> None:
    with pytest.raises(UserError, match="exactly once"):
        owner_reader(pattern)
