from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.models.thinking import _PAIRS, _TAG, Thinking, _Splitter, split_thinking, starts_thinking


@pytest.mark.parametrize(("opening", "closing"), _PAIRS)
def test_every_pair_of_tags(opening: str, closing: str) -> None:
    split = split_thinking(f"{opening}\nIt is red.\n{closing}\n\nA red bicycle.")
    assert (split.thinking, split.answer, split.status) == ("It is red.", "A red bicycle.", "closed")


@pytest.mark.parametrize(
    ("text", "thinking", "answer", "status"),
    [
        ("A red bicycle.", "", "A red bicycle.", "none"),
        ("  kept as it is \n", "", "  kept as it is \n", "none"),
        ("", "", "", "none"),
        ("<think></think>yes", "", "yes", "closed"),
        ("<THINK>so</Think>yes", "so", "yes", "closed"),
        ("<think>cut off in the", "cut off in the", "", "unclosed"),
        ("Well.\n<think>cut off", "cut off", "Well.", "unclosed"),
        ("<s><think>cut off", "cut off", "<s>", "unclosed"),
        # In the middle of a line, and never closed: it is only spoken of.
        ("The sign says <think> in red.", "", "The sign says <think> in red.", "none"),
        ("It says <think> twice: <think>.\nRed.", "", "It says <think> twice: <think>.\nRed.", "none"),
        ("Well. <think>a.\n<answer>b</answer>", "a.", "Well.\n\n<answer>b</answer>", "closed"),
        ("it is red</think>A bicycle.", "it is red", "A bicycle.", "close-only"),
        ("one<think>a</think>two<think>b</think>three", "a\n\nb", "one\n\ntwo\n\nthree", "closed"),
        ("<think>a<think>b</think>c</think>yes", "a\n\nb\n\nc", "yes", "nested"),
        # The opening tag is only spoken of: what follows the one closing tag is still the answer.
        ("<think>the <think> tag opens</think>yes", "the\n\ntag opens", "yes", "nested"),
        ("<think>a</think>yes<think>b", "a\n\nb", "yes", "unclosed"),
        ("<think>a</think>b</think>yes", "a\n\nb", "yes", "close-only"),
        ("<think>a</thinking>b</think>yes", "a</thinking>b", "yes", "closed"),
        ("◁think▷a◁/think▷b", "a", "b", "closed"),
        ('<think mode="deep">a</think>b', "a", "b", "closed"),
        ("<think>a.\n<answer>b</answer>", "a.", "<answer>b</answer>", "closed"),
        ("<think>it goes into <answer> tags", "it goes into <answer> tags", "", "unclosed"),
        ("<|channel|>analysis<|message|>a<|channel|>final<|message|>b<|return|>", "a", "b", "closed"),
        ("<|channel|>analysis<|message|>a<|end|>", "a", "", "closed"),
        ("<|channel|>analysis<|message|>a", "a", "", "unclosed"),
        ("<|channel|>final<|message|>b<|return|>", "", "b", "none"),
        ("analysisWell, a.assistantfinalSo b.", "Well, a.", "So b.", "closed"),
        ("analysis of it, no assistantfinal", "", "analysis of it, no assistantfinal", "none"),
        ("<reasoning>a</reasoning>b", "", "<reasoning>a</reasoning>b", "none"),
        (
            "<|begin_of_thought|>a<|end_of_thought|>\n<|begin_of_solution|>b<|end_of_solution|>",
            "a",
            "b",
            "closed",
        ),
    ],
)
def test_hand_made_cases(text: str, thinking: str, answer: str, status: str) -> None:
    split = split_thinking(text)
    assert (split.thinking, split.answer, split.status) == (thinking, answer, status)


def test_steps_are_thinking_where_that_is_asked_for() -> None:
    text = "<SUMMARY>a</SUMMARY><reasoning>b</reasoning><CONCLUSION>c</CONCLUSION>"
    assert split_thinking(text, steps=True) == Thinking("a\n\nb", "<CONCLUSION>c</CONCLUSION>", "closed")


@pytest.mark.parametrize(("text", "starts"), [(" \n<think>x", True), ("x<think>", False), ("</think>", False)])
def test_starts_thinking(text: str, starts: bool) -> None:
    assert starts_thinking(text) is starts


_PIECES = st.one_of(st.sampled_from([tag for pair in _PAIRS for tag in pair]), st.text(max_size=8))


@settings(deadline=None, max_examples=300)
@given(st.lists(_PIECES, max_size=12).map("".join))
def test_nothing_is_lost_and_nothing_is_made_up(text: str) -> None:
    split = split_thinking(text)
    kept = Counter("".join((split.thinking + split.answer).split()))
    all_of_it = Counter("".join(text.split()))
    assert kept <= all_of_it
    # Without its tags nothing else may be missing; tags of another kind inside a block stay in the text.
    assert Counter("".join(_TAG.sub(" ", text).split())) <= kept
    if _TAG.search(text) is None:
        assert split == Thinking("", text, "none")


def test_a_long_reply_takes_linear_time() -> None:
    text = "<think>a" * 20_000 + "</think>" * 19_999 + "b"
    split = split_thinking(text)
    assert split.status == "nested"
    assert split.answer == "b"


@given(st.lists(st.sampled_from(["<think>", "</think>", "<think a='b'>", "[THINK]", "[/THINK]", "it", " ", "\n"])))
@settings(max_examples=300, deadline=None)
def test_the_short_way_to_thinking_leads_to_the_same(parts: list[str]) -> None:
    text = "".join(parts)
    assert _TAG.search(text) is None or split_thinking(text) == _Splitter(text, _TAG).split()
