"""What a reader of some metrics is told of failures and notes."""

from __future__ import annotations

from sightline.metrics.scores import Scores, TaskScore, failures_of, missing_note, notes_of

ROWS = (
    TaskScore("a", 0, "rank", "answered", {"rr": 1.0}),
    TaskScore("b", 0, "rank", "failed", {"rr": 0.0}, failure="timeout"),
    TaskScore("c", 0, "describe", "missing", {"tfidf": 0.0}, failure="missing"),
    TaskScore("d", 0, "describe", "missing", {"tfidf": 0.0}, failure="missing"),
)
NOTES = (
    "no prediction, counted as zero: 2 of 4 tasks",
    "tfidf is over the texts of this benchmark",
    "scored on 4 of 9",
)
SCORES = Scores("bench", "system", ("rr", "tfidf"), 0.95, 0, ROWS, {}, {}, notes=NOTES)


def test_of_one_metric() -> None:
    assert failures_of(SCORES, ["rr"]) == {"timeout": 1}
    assert notes_of(SCORES, ["rr"]) == ("scored on 4 of 9",)
    assert failures_of(SCORES, ["tfidf"]) == {"missing": 2}
    assert notes_of(SCORES, ["tfidf"]) == ("no prediction, counted as zero: 2 of 2 tasks", *NOTES[1:])


def test_of_all_metrics_nothing_is_kept_back() -> None:
    assert failures_of(SCORES, SCORES.metrics) == {"missing": 2, "timeout": 1}
    assert notes_of(SCORES, SCORES.metrics) == NOTES
    assert NOTES[0] == missing_note(ROWS, 4)
    assert missing_note(ROWS[:2], 2) is None
