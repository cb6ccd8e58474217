"""The word index: its ranking against BM25 written out, and queries that try to be more than words."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.retrieval.bm25 import FIELDS, WEIGHTS, WordFields, name_words, query_words, words_of
from sightline.retrieval.index.table import IndexTable
from sightline.types import Annotation, Picture

Folders = pytest.TempPathFactory
VOCABULARY = ("cat", "dog", "kyoto", "bridge", "blue", "x1")
_TEXT = st.lists(st.sampled_from(VOCABULARY), max_size=6).map(" ".join)
_FIELDS = st.builds(WordFields, **dict.fromkeys(FIELDS, _TEXT))


def reference(documents: list[WordFields], words: list[str]) -> dict[int, float]:
    """BM25 with weighted fields, as it is usually written: k1 = 1.2, b = 0.75, idf at least 1e-6."""
    tokens = [[getattr(document, name).split() for name in FIELDS] for document in documents]
    lengths = [sum(map(len, fields)) for fields in tokens]
    mean = sum(lengths) / len(lengths)
    scores: defaultdict[int, float] = defaultdict(float)
    for word in words:
        holding = [row for row, fields in enumerate(tokens) if any(word in field for field in fields)]
        idf = math.log((len(documents) - len(holding) + 0.5) / (len(holding) + 0.5))
        idf = idf if idf > 0 else 1e-6
        for row in holding:
            count = sum(weight * field.count(word) for weight, field in zip(WEIGHTS, tokens[row], strict=True))
            scores[row] += idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * lengths[row] / mean))
    return scores


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    documents=st.lists(_FIELDS, min_size=1, max_size=12),
    words=st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=4, unique=True),
)
def test_the_ranking_is_bm25(
    documents: list[WordFields], words: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    table = IndexTable(tmp_path_factory.mktemp("words"), whole=True)
    for row, document in enumerate(documents):
        table.index_words(row, document)
    found = dict(table.ranked_words(words, 100))
    wanted = reference(documents, words)
    assert found.keys() == wanted.keys()
    assert np.allclose([found[row] for row in wanted], list(wanted.values()), rtol=1e-6)
    few = [row for row in found if row % 2 == 0]
    assert table.ranked_words(words, 2, np.arange(0, 12, 2)) == [(row, found[row]) for row in few[:2]]
    scores = list(found.values())
    assert scores == sorted(scores, reverse=True)
    table.close()


@pytest.fixture
def table(tmp_path: Path) -> IndexTable:
    table = IndexTable(tmp_path, whole=True)
    for row, text in enumerate(("a cat near water", "NEAR the AND gate", 'quotes " and * stars', "東京の猫", "cafés")):
        table.index_words(row, WordFields(caption=words_of(Picture("p", "u"), Annotation("p", summary=text)).caption))
    return table


@pytest.mark.parametrize(
    "text",
    ['"', '""', "NEAR(", "NEAR(cat, 2)", "caption : cat", "cat*", "cat AND", "^cat", "-cat", "(cat", "cat OR",
     "{a b}: c", "NOT cat", "a;DROP TABLE words", "\x00", "😀", "'", "cat\\", "+", "a\nb", "\ud800x"],
)  # fmt: skip
def test_a_query_is_never_syntax(table: IndexTable, text: str) -> None:
    words = query_words(text)
    assert all(re.fullmatch(r"\w+", word) for word in words)
    if words:
        table.ranked_words(words, 100)
    assert len(table.database.execute("SELECT * FROM words").fetchall()) == 5


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=40))
def test_any_text_can_be_looked_for(table: IndexTable, text: str) -> None:
    words = query_words(text)
    if words:
        table.ranked_words(words, 100)


def rows(table: IndexTable, text: str) -> list[int]:
    return [row for row, _ in table.ranked_words(query_words(text), 100)]


def test_words_are_found_without_case_accents_and_endings(table: IndexTable) -> None:
    assert rows(table, "CATS") == [0] and rows(table, "cafe") == [4] and rows(table, "star") == [2]
    assert rows(table, "猫") == [3] and rows(table, "京") == [3]


def test_words_that_say_nothing_count_only_alone() -> None:
    assert query_words("a dog on the beach") == ["dog", "beach"]
    assert query_words("the of") == ["the", "of"]


def test_names_are_split() -> None:
    assert set(name_words("2021/BeachParty_03.JPG").split()) == {"2021", "BeachParty", "03", "Beach", "Party"}
    assert "HTTP" in name_words("HTTPServer.png").split() and name_words("cat.png") == "cat"


def test_what_can_be_searched() -> None:
    picture = Picture(
        "a/Big-Dog.jpg", "u", address="Kyoto", extra={"title": "Walk", "keywords": ["park"], "query_text": "secret"}
    )
    annotation = Annotation(
        picture.id,
        summary="a big dog",
        tags=("animal",),
        facets={"light": "dusk"},
        flags={"has_people": True, "has_cars": False},
        extra={"words": [{"text": "STOP", "confidence": 0.9}], "query": "secret"},
    )
    words = words_of(picture, annotation, "exit")
    assert words == WordFields("a big dog Walk", "park animal", "dusk has people", "STOP exit", "Kyoto", "a Big Dog")
    assert "secret" not in repr(words)
