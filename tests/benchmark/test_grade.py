"""Grades, provenance and the warnings that follow from them."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sightline.benchmark.grade import drawn_decisions, grade_of, label_warnings
from sightline.benchmark.provenance import (
    CARD_FIELD,
    SHOW_ANNOTATIONS,
    Provenance,
    provenance_of,
    same_source,
    without_model_texts,
)
from sightline.benchmark.review_decisions import labels_of
from sightline.benchmark.review_sample import sample_of
from sightline.types import (
    Annotation,
    Benchmark,
    Candidate,
    Corpus,
    Judgment,
    Picture,
    Relevance,
    Review,
    Run,
    Task,
)

QUERIES, POOL = 60, 10


def made(judge: str = "openai/gpt-5-mini", *, coverage: tuple[float, float, float] | None = None) -> Benchmark:
    """A generated benchmark: 60 queries, each with 10 labels, of which half say relevant."""
    pictures = {f"p{number}": Picture(f"p{number}", f"p{number}.jpg") for number in range(POOL)}
    grades = {picture: int(place < POOL // 2) for place, picture in enumerate(pictures)}
    tasks = {f"q{number}": Task(f"q{number}", "rank", (f"query {number}",)) for number in range(QUERIES)}
    judging: dict[str, Any] = (
        {} if coverage is None else {"missed": {"coverage": dict(zip(("value", "low", "high"), coverage, strict=True))}}
    )
    return Benchmark(
        "made",
        Corpus("made", pictures),
        tasks,
        {task: Relevance(grades) for task in tasks},
        card={CARD_FIELD: Provenance("made").to_json(), "judging": judging},
        annotations=(Annotation("p0", "a dog", by=judge), Annotation("p1", "a cat")),
        candidates=tuple(Candidate(task, picture, "positive") for task in tasks for picture in pictures),
        judgments=tuple(Judgment(task, picture, judge, grade) for task in tasks for picture, grade in grades.items()),
    )


def decided(benchmark: Benchmark, size: int, *, wrong: float = 0.0) -> Benchmark:
    """The benchmark after a person decided on the draw of this size, disagreeing with a share of the labels."""
    labels, lot = labels_of(benchmark), random.Random(1)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    reviews = [
        Review(task, "me", str(int((labels.now[task, picture] > 0) != (lot.random() < wrong))), at, picture)
        for task, picture in sample_of(benchmark, labels, size)
    ]
    times = (replace(one, when=at + timedelta(seconds=place)) for place, one in enumerate(reviews))
    return replace(benchmark, reviews=tuple(times))


def test_labels_of_built_in_models_are_a_rehearsal_and_of_others_a_draft() -> None:
    assert grade_of(made("builtin/photos")).name == "rehearsal"
    assert grade_of(made()).name == "draft"
    mixed = made("builtin/photos")
    mixed = replace(mixed, judgments=(*mixed.judgments, Judgment("q0", "p0", "openai/gpt-5-mini", 1)))
    assert grade_of(mixed).name == "draft"


def test_labels_that_came_with_an_import_are_given() -> None:
    plain = replace(made(), card={}, judgments=())
    assert grade_of(plain).name == "given" and label_warnings(plain, grade_of(plain)) == ()


def test_a_drawn_sample_of_enough_decisions_makes_it_checked() -> None:
    few, enough = decided(made(), 50), decided(made(), 300, wrong=0.1)
    assert grade_of(few).name == "draft" and grade_of(few).decisions == 50
    found = grade_of(enough)
    assert found.name == "checked" and found.decisions == 300 and found.precision is not None
    assert found.precision.low < 0.9 < found.precision.high and "0.90 is needed" in found.why


def test_an_interval_that_is_too_wide_says_how_many_decisions_are_needed() -> None:
    found = grade_of(decided(made(), 100, wrong=0.4))
    assert found.name == "draft" and found.decisions == 100
    assert "decisions in all" in found.why


def test_what_somebody_chose_is_no_draw() -> None:
    benchmark = made()
    labels = labels_of(benchmark)
    drawn = set(sample_of(benchmark, labels, 100))
    at = datetime(2026, 1, 1, tzinfo=UTC)
    chosen = [pair for pair in labels.now if pair not in drawn][:400]
    picked = replace(benchmark, reviews=tuple(Review(task, "me", "1", at, picture) for task, picture in chosen))
    assert drawn_decisions(picked) is None and grade_of(picked).name == "draft"


def test_warranted_needs_precision_coverage_and_beaten_baselines() -> None:
    right = decided(made(coverage=(0.9, 0.85, 0.95)), 300)
    assert grade_of(right).name == "checked"
    assert grade_of(right, blind_beaten=True).name == "warranted"
    assert grade_of(decided(made(coverage=(0.8, 0.6, 0.9)), 300), blind_beaten=True).name == "checked"
    assert grade_of(decided(made(), 300), blind_beaten=True).name == "checked"


def test_warnings_of_generated_labels() -> None:
    unchecked = made(coverage=(0.7, 0.5, 0.9))
    assert [one.code for one in label_warnings(unchecked, grade_of(unchecked))] == ["labels-unchecked", "coverage-low"]
    wide = decided(made(), 100, wrong=0.4)
    assert [one.code for one in label_warnings(wide, grade_of(wide))] == ["judge-error"]
    good = decided(made(coverage=(0.9, 0.85, 0.95)), 300)
    assert label_warnings(good, grade_of(good)) == ()


def test_texts_by_models_are_hidden_and_those_of_people_are_not() -> None:
    kept = without_model_texts(made())
    assert [note.picture_id for note in kept.annotations] == ["p1"]


@pytest.mark.parametrize(
    ("parameters", "limits", "conflict"),
    [
        ({"model": "openai/gpt-5-mini"}, {}, True),
        ({"options": {"rerank": "openai/gpt-5-mini@http://localhost:1"}}, {}, True),
        ({"model": "openai/gpt-5"}, {}, False),
        ({}, {SHOW_ANNOTATIONS: True}, True),
        ({}, {}, False),
    ],
)
def test_a_system_that_is_or_reads_the_judge_is_named(
    parameters: dict[str, object], limits: dict[str, object], conflict: bool
) -> None:
    run = Run("made", "mine", (), parameters=parameters, limits=limits)  # type: ignore[arg-type]
    found = same_source(made(), run)
    assert (found is not None) == conflict and (found is None or found.code == "same-source")


def test_the_embedder_of_a_built_in_judge_is_the_judge() -> None:
    run = Run("made", "retriever", (), parameters={"embedder": "photos"})
    assert same_source(made("builtin/photos"), run) is not None
    assert same_source(made(), run) is None


def test_the_card_says_who_made_it() -> None:
    known = provenance_of(replace(made(), card={CARD_FIELD: {"origin": "made", "worded_by": ["templates"]}}))
    assert known == Provenance("made", ("openai/gpt-5-mini",), ("templates",), ("openai/gpt-5-mini",))
