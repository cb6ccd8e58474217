"""How much of a step is shown: its runs of words, and the place that is most like it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.reason.curriculum.checks import NEARLY, RUN, overlap, word_similarity

WORDS = ("red", "cup", "on", "a", "table", "near", "the", "old", "green", "lamp")


words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30)


@given(words, words, words)
@settings(max_examples=100, deadline=None)
def test_overlap_is_a_share_and_whole_when_contained(before: list[str], step: list[str], after: list[str]) -> None:
    text = " ".join(step)
    assert 0.0 <= overlap(text, " ".join([*before, *after])) <= 1.0
    assert 0.0 <= word_similarity(text, " ".join([*before, *after])) <= 1.0
    if len(step) >= RUN:
        assert overlap(text, " ".join([*before, *step, *after])) == 1.0
        dropped = step[: len(before) % len(step)] + step[len(before) % len(step) + 1 :]
        assert word_similarity(text, " ".join([*before, *dropped, *after])) >= NEARLY
    assert word_similarity(text, f"{' '.join(before)}. {text.title()}! {' '.join(after)}") == 1.0


def test_overlap_without_spaces_between_words() -> None:
    assert overlap("桌子上有一个红色的杯子", "图中桌子上有一个红色的杯子和灯") == 1.0
    assert overlap("桌子上有一个红色的杯子", "窗边站着两个人在看外面的雨") == 0.0


def test_short_steps_count_as_whole_sentences_only() -> None:
    assert word_similarity("B", "B is near. A bee.") == 0.0
    assert word_similarity("The red cup.", "One sees the red cup: the red cup.") == 1.0
    assert word_similarity("The red cup.", "One sees the red cup there.") == 0.0
    assert word_similarity("The small red cup.", "One sees the small red cup there.") == 1.0


def test_likeness_is_of_one_place_and_its_order() -> None:
    step = "a red cup stands to the left of the old green lamp"
    assert word_similarity(step, "the lamp is old and green; of a cup that stands to the left, red it is") < NEARLY
    assert word_similarity(step, "here a red cup stands just to the left of that old green lamp") >= NEARLY
