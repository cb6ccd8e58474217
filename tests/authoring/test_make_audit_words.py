"""The audit's own word index ranks as SQLite does, query by query."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.retrieval.bm25 import query_words
from sightline.runs.systems.blind import WordTable
from sightline.runs.word_ranker import WordRanker

WORD = st.sampled_from(
    ("dog", "dogs", "running", "runs", "café", "CAFE", "a", "the", "x1", "日本", "don't", "-", "red")
)
TEXT = st.lists(WORD, max_size=6).map(" ".join)


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
            found = ranker(str(at), among, k)
            scores = dict(table.ranked(words, None, 100)) if words else {}
            assert set(found) <= set(scores)
            assert len(found) == len(expected)
            # Scores that differ by rounding alone may swap places.
            assert all(abs(scores[one] - score) < 1e-9 for one, (_, score) in zip(found, expected, strict=True))
    table.close()
