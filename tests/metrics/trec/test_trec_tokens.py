"""Hashing, comparing and ordering texts inside a buffer against Python's bytes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metrics.trec.fields import PAD, FieldTokens
from sightline.metrics.trec.ids import find, hash_ids, ids_of, joined

text_st = st.binary(min_size=1, max_size=90).map(lambda raw: raw.translate(bytes(max(33, i) for i in range(256))))


def tokens(texts: list[bytes], filler: bytes) -> FieldTokens:
    buffer = filler * PAD
    starts = []
    for text in texts:
        starts.append(len(buffer))
        buffer += text + filler
    data = np.frombuffer(buffer + filler * PAD, np.uint8)
    return FieldTokens(data, np.array(starts, np.int64), np.array([len(text) for text in texts], np.int64))


@settings(deadline=None, max_examples=100)
@given(st.lists(text_st, min_size=1, max_size=12), st.lists(text_st, max_size=4))
def test_a_hash_depends_on_the_text_alone(texts: list[bytes], others: list[bytes]) -> None:
    alone = [hash_ids(ids_of(tokens([text], b"x")))[0] for text in texts]
    together = hash_ids(ids_of(tokens([*texts, *others], b" ")))[: len(texts)]
    assert together.tolist() == [int(key) for key in alone]
    assert len(set(alone)) == len(set(texts))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(text_st, text_st), min_size=1, max_size=8), st.data())
def test_same_is_bytewise(pairs: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    pairs = [(a, a if data.draw(st.booleans()) else b) for a, b in pairs]
    ours, theirs = tokens([a for a, _ in pairs], b"x"), tokens([b for _, b in pairs], b"y")
    assert ids_of(ours).same(ids_of(theirs)).tolist() == [a == b for a, b in pairs]


@settings(deadline=None, max_examples=100)
@given(st.lists(text_st, min_size=1, max_size=12))
def test_sort_keys_order_as_bytes_do(texts: list[bytes]) -> None:
    order = np.lexsort(ids_of(tokens(texts, b"x")).sort_keys())
    assert [texts[i] for i in order] == sorted(texts)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.text("aé", min_size=1, max_size=20), max_size=4), max_size=4))
def test_joined_ids_read_back(parts: list[list[str]]) -> None:
    every = joined([ids_of(tokens([text.encode() for text in texts], b"x")) for texts in parts])
    texts = [text for part in parts for text in part]
    assert [every.text_at(row) for row in range(len(texts))] == texts


@settings(deadline=None, max_examples=100)
@given(
    size=st.integers(0, 700),
    repeat=st.booleans(),
    factor=st.sampled_from([1, 0x9E3779B97F4A7C15]),
    wanted=st.sets(st.integers(0, 900)),
    data=st.data(),
)
def test_keys_are_found_and_repeats_noticed(
    size: int, repeat: bool, factor: int, wanted: set[int], data: st.DataObject
) -> None:
    """With factor 1 all keys want the same slot: the worst case."""
    keys = [i * factor % 2**64 for i in range(size)]
    asked = [i * factor % 2**64 for i in wanted]
    if repeat and size > 1:
        keys[data.draw(st.integers(0, size - 2))] = keys[-1]
    found = find(np.array(keys, np.uint64), np.array(asked, np.uint64))
    assert found.repeats == (len(set(keys)) < len(keys))
    if not found.repeats:
        assert sorted(found.at.tolist()) == [i for i, key in enumerate(keys) if key in set(asked)]
        assert [asked[i] for i in found.which] == [keys[i] for i in found.at]
