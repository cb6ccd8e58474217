"""The key of a request: the same for the same request, and for no other."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.calls.request_key import UnreadablePictureError, canonical, has_pictures_on_disk, request_key
from sightline.types import ChatRequest, ImagePart, Message, ToolCall, ToolSpec

REQUEST = ChatRequest("openai/gpt-5-mini", (Message("user", ("What is this?",)),))


def picture_request(part: ImagePart) -> ChatRequest:
    return replace(REQUEST, messages=(Message("user", ("What is this?", part)),))


CHANGES: list[dict[str, Any]] = [
    {"model": "openai/gpt-5"},
    {"messages": (Message("user", ("What is that?",)),)},
    {"messages": (Message("system", ("What is this?",)),)},
    {"messages": (Message("user", ("What is ", "this?")),)},
    {"messages": (*REQUEST.messages, Message("assistant", ("A dog.",)))},
    {"messages": (Message("assistant", ("x",), (ToolCall("1", "zoom", "{}"),)),)},
    {"messages": (Message("assistant", ("x",), (ToolCall("2", "zoom", "{}"),)),)},
    {"messages": (Message("tool", ("x",), (), "1"),)},
    {"tools": (ToolSpec("zoom", "looks closer", {"type": "object"}),)},
    {"tools": (ToolSpec("zoom", "looks closer", {"type": "string"}),)},
    {"tool_choice": "auto"},
    {"schema": {"type": "object"}},
    {"schema_name": "verdict"},
    {"temperature": 0.0},
    {"temperature": 1.0},
    {"top_p": 0.5},
    {"max_tokens": 10},
    {"seed": 0},
    {"seed": 1},
    {"reasoning_effort": "low"},
    {"stop": ("\n",)},
    {"sample": 1},
    {"extra": {"top_k": 5}},
]


def test_every_part_of_a_request_counts() -> None:
    keys = [request_key(REQUEST), *(request_key(replace(REQUEST, **change)) for change in CHANGES)]
    assert len(set(keys)) == len(keys)
    assert request_key(REQUEST, "http://a/v1") != request_key(REQUEST, "http://b/v1")


def test_equal_requests_have_one_key_however_they_were_written() -> None:
    plain = replace(REQUEST, temperature=1.0, extra={"a": 1, "b": {"c": [1, 2]}}, schema={"type": "object", "x": 1})
    other = replace(
        REQUEST,
        temperature=1,
        extra=MappingProxyType[str, Any]({"b": MappingProxyType({"c": [1, 2]}), "a": 1}),
        schema=MappingProxyType({"x": 1, "type": "object"}),
    )
    assert request_key(plain) == request_key(other)


def test_the_key_is_known_so_that_it_stays_the_same_in_later_versions() -> None:
    assert canonical(REQUEST, "e") == (
        b'{"endpoint":"e","messages":[{"content":["What is this?"],"role":"user"}],"model":"openai/gpt-5-mini",'
        b'"v":2,"wire":""}'
    )
    assert request_key(REQUEST, "e") == hashlib.sha256(canonical(REQUEST, "e")).digest()


def test_what_else_changes_what_is_sent_changes_the_key() -> None:
    assert len({request_key(REQUEST, "e", wire) for wire in ("", "a", "b")}) == 3


def test_a_picture_counts_by_its_content_and_not_by_its_name(tmp_path: Path) -> None:
    one, two, other = (tmp_path / name for name in ("a b.jpg", "two.jpg", "other.jpg"))
    one.write_bytes(b"pixels")
    two.write_bytes(b"pixels")
    other.write_bytes(b"Pixels")
    same = {
        request_key(picture_request(part))
        for part in (
            ImagePart(str(one)),
            ImagePart(str(two)),
            ImagePart(one.as_uri()),
            ImagePart("anything", data=b"pixels"),
        )
    }
    different = {
        request_key(picture_request(part))
        for part in (
            ImagePart(str(other)),
            ImagePart(str(one), detail="low"),
            ImagePart("https://x/a.jpg"),
            ImagePart("https://x/b.jpg"),
        )
    }
    assert len(same) == 1 and len(different) == 4 and not same & different


def test_a_changed_file_is_another_picture(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(b"before")
    before = request_key(picture_request(ImagePart(str(path))))
    path.write_bytes(b"after it was edited")
    assert request_key(picture_request(ImagePart(str(path)))) != before


def test_a_missing_picture_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadablePictureError, match=r"gone\.jpg: No such file"):
        request_key(picture_request(ImagePart(str(tmp_path / "gone.jpg"))))


def test_only_files_have_to_be_read() -> None:
    assert has_pictures_on_disk(picture_request(ImagePart("a.jpg")))
    assert not has_pictures_on_disk(picture_request(ImagePart("a.jpg", data=b"x")))
    assert not has_pictures_on_disk(picture_request(ImagePart("https://x/a.jpg")))
    assert not has_pictures_on_disk(REQUEST)


def test_what_json_cannot_hold_is_no_key() -> None:
    with pytest.raises(TypeError):
        request_key(replace(REQUEST, messages=(Message("user", ("\ud800",)),)))


texts = st.lists(st.text(st.characters(codec="utf-8"), max_size=8), max_size=3).map(tuple)


@settings(max_examples=200, deadline=None)
@given(texts, texts, texts, texts)
def test_texts_can_not_be_shifted_between_messages(a: Any, b: Any, c: Any, d: Any) -> None:
    first = replace(REQUEST, messages=(Message("user", a), Message("user", b)))
    second = replace(REQUEST, messages=(Message("user", c), Message("user", d)))
    assert (request_key(first) == request_key(second)) == ((a, b) == (c, d))
