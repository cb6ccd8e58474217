"""The audit's own word index ranks as SQLite does, query by query."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.retrieval.bm25 import TOKENIZER, match_expression, query_words
from sightline.runs.word_ranker import WordRanker

WORD = st.sampled_from(
    ("dog", "dogs", "running", "runs", "café", "CAFE", "a", "the", "x1", "日本", "don't", "-", "red")
)
TEXT = st.lists(WORD, max_size=6).map(" ".join)


class WordTable:
    """Words of pictures as SQLite ranks them."""

    def __init__(self, rows: list[tuple[str, str]]) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute(f"CREATE VIRTUAL TABLE told USING fts5(id UNINDEXED, words, tokenize='{TOKENIZER}')")
        self._database.executemany("INSERT INTO told VALUES (?, ?)", rows)

    def ranked(self, words: list[str], allowed: Collection[str] | None, k: int) -> list[tuple[str, float]]:
        query = "SELECT id, -bm25(told) AS score FROM told WHERE told MATCH ? ORDER BY score DESC, id"
        found = self._database.execute(query, (match_expression(words),)).fetchall()
        return [pair for pair in found if allowed is None or pair[0] in allowed][:k]

    def close(self) -> None:
        self._database.close()


@settings(deadline=None, max_examples=80)
@given(st.lists(TEXT, min_size=1, max_size=12), st.lists(TEXT, min_size=1, max_size=4), st.data())
def test_the_order_is_that_of_sqlite(pictures: list[str], queries: list[str], data: st.DataObject) -> None:
    rows = [(f"p{number:02}", text) for number, text in enumerate(pictures)]
    ranker, table = WordRanker(rows, {str(at): text for at, text in enumerate(queries)}), WordTable(rows)
    allowed = data.draw(st.sets(st.sampled_from([id_ for id_, _ in rows])))
    for at, text in enumerate(queries):
        words = query_words(text)
        for among, k in ((None, 5), (allowed, 20)):
            expected = table.ranked(words, among, k) if words else []
            said = ranker(str(at), among, k)
            found = [id_ for id_, _ in said]
            scores = dict(table.ranked(words, None, 100)) if words else {}
            assert set(found) <= set(scores)
            assert len(found) == len(expected)
            assert all(abs(scores[id_] - score) < 1e-9 for id_, score in said)
            # Scores that differ by rounding alone may swap places.
            assert all(abs(scores[one] - score) < 1e-9 for one, (_, score) in zip(found, expected, strict=True))
    table.close()
