"""Alignment, coverage, order and the step metrics by name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UserError
from sightline.metrics.context import Context
from sightline.metrics.registry import metric
from sightline.metrics.steps.alignment import align_steps, token_f1
from sightline.types import Answer, Choice, Failure, PictureSet, Prediction, Step, StepKind, Text, Trace, Truth

KINDS: tuple[StepKind, ...] = ("summary", "caption", "text-to-region", "region-to-region", "conclusion")
TEXTS = (
    "Compare the speed of two cars",
    "A red car beside a blue lorry",
    "The word lorry points to the large vehicle",
    "The lorry stays behind while the wheels turn",
    "Option B is faster",
)
REFERENCE = tuple(Step(kind, text) for kind, text in zip(KINDS, TEXTS, strict=True))
TRUTH = Choice("B", steps=REFERENCE)
words = st.lists(st.sampled_from(["cat", "dog", "red", "left", "house", "tree"]), min_size=1, max_size=6).map(" ".join)
step_lists = st.lists(st.builds(Step, st.sampled_from((*KINDS, "think")), words), max_size=5)


def value(name: str, prediction: Prediction, truth: Truth = TRUTH, context: Context | None = None) -> float | None:
    return metric(name)(truth, prediction, context or Context())


def test_the_same_steps_score_one() -> None:
    for name in ("step_coverage", "step_order", "step_consistency", "step_score"):
        assert value(name, Choice("B", steps=REFERENCE)) == pytest.approx(1.0)
    assert value("step_contradictions", Choice("B", steps=REFERENCE)) == 0.0


def test_half_of_the_steps() -> None:
    prediction = Choice("B", steps=(REFERENCE[0], REFERENCE[4]))
    assert value("step_coverage", prediction) == pytest.approx(0.4)
    assert value("step_order", prediction) == 1.0
    assert value("step_score", prediction) == pytest.approx(4 / 7)
    assert value("step_consistency", prediction) == pytest.approx(0.4)


def test_reversed_steps_are_covered_but_out_of_order() -> None:
    prediction = Choice("B", steps=REFERENCE[::-1])
    assert value("step_coverage", prediction) == 1.0
    assert value("step_order", prediction) == 0.0


def test_one_swap_costs_one_pair_of_ten() -> None:
    swapped = (REFERENCE[1], REFERENCE[0], *REFERENCE[2:])
    assert value("step_order", Choice("B", steps=swapped)) == pytest.approx(0.9)


def test_a_contradiction_is_counted_and_costs_its_step() -> None:
    wrong = (REFERENCE[0], Step("caption", "A green car beside a blue lorry"), *REFERENCE[2:])
    prediction = Choice("B", steps=wrong)
    assert value("step_contradictions", prediction) == 1.0
    assert value("step_coverage", prediction) == 1.0
    assert value("step_consistency", prediction) == pytest.approx(0.8)
    assert value("step_score", prediction) == pytest.approx(0.8)


def test_padding_costs() -> None:
    padded = (*REFERENCE, *(Step("think", f"unrelated words number{place}") for place in range(5)))
    assert value("step_score", Choice("B", steps=padded)) == pytest.approx(10 / 15)


def test_steps_are_read_from_text() -> None:
    tagged = "".join(f"<{step.kind}>{step.text}</{step.kind}>" for step in REFERENCE)
    thought = f"<think>{tagged}</think>The answer is B."
    assert value("step_score", Text(tagged)) == pytest.approx(1.0)
    assert value("step_score", Text(thought)) == pytest.approx(1.0)
    trace = Trace("\n".join(f"{place}. {text}" for place, text in enumerate(TEXTS[:4], start=1)), TEXTS[4])
    assert value("step_score", trace) == pytest.approx(1.0)


def test_nothing_predicted() -> None:
    for nothing in (Choice("B"), Text(""), PictureSet(())):
        assert value("step_coverage", nothing) == 0.0
        assert value("step_score", nothing) == 0.0
        assert value("step_order", nothing) is None
        assert value("step_contradictions", nothing) is None
    failure = Failure("timeout", "no reply")
    assert [value(f"step_{name}", failure) for name in ("coverage", "order", "score", "consistency")] == [0.0] * 4


def test_no_reference_steps_no_score() -> None:
    assert value("step_coverage", Choice("B", steps=REFERENCE), Choice("B")) is None
    assert value("step_coverage", Failure("timeout", "no reply"), Choice("B")) is None
    assert value("step_coverage", Choice("B", steps=REFERENCE), PictureSet(())) is None


def test_answers_have_steps_too() -> None:
    truth = Answer("Paris", steps=REFERENCE)
    assert value("step_coverage", Text("Summary: " + TEXTS[0] + "\nCaption: " + TEXTS[1]), truth) == pytest.approx(0.4)


def test_named_kinds_that_differ_count_half() -> None:
    reference, text = Step("summary", "two red cars"), "two red cars"
    pair = align_steps([reference], [Step("caption", text)]).pairs[0]
    assert pair.similarity == pytest.approx(0.5)
    assert align_steps([reference], [Step("think", text)]).pairs[0].similarity == 1.0


def test_equal_steps_pair_in_order() -> None:
    same = [Step("think", "look again") for _ in range(3)]
    assert [(pair.reference, pair.predicted) for pair in align_steps(same, same).pairs] == [(0, 0), (1, 1), (2, 2)]


def test_below_the_threshold_there_is_no_pair() -> None:
    reference, near = [Step("think", "b c d f cat")], [Step("think", "cat e h g k")]
    assert len(align_steps(reference, near).pairs) == 1
    assert align_steps(reference, [Step("think", "cat e h g k l")]).pairs == ()


def test_token_f1_by_hand() -> None:
    assert token_f1(["the red car"], ["a red bus"])[0, 0] == pytest.approx(0.5)
    assert token_f1(["红色的车"], ["红车"])[0, 0] == pytest.approx(0.8)
    assert token_f1([""], ["red"])[0, 0] == 0.0
    assert token_f1(["the"], ["the"])[0, 0] == 1.0


def test_wrong_options_are_refused() -> None:
    with pytest.raises(UserError, match='no option "sim"'):
        metric("step_score(sim=tokens)")
    with pytest.raises(UserError, match="no cut-off"):
        metric("step_score@5")


@settings(deadline=None, max_examples=100)
@given(step_lists, step_lists)
def test_bounds_and_symmetry(reference: list[Step], predicted: list[Step]) -> None:
    one, other = align_steps(reference, predicted), align_steps(predicted, reference)
    assert sum(pair.similarity for pair in one.pairs) == pytest.approx(sum(pair.similarity for pair in other.pairs))
    assert len(one.pairs) <= min(len(reference), len(predicted))
    truth = Choice("A", steps=tuple(reference))
    for name in ("step_coverage", "step_order", "step_consistency", "step_score"):
        score = value(name, Choice("A", steps=tuple(predicted)), truth)
        assert score is None or 0.0 <= score <= 1.0
