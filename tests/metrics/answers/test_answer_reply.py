"""What is read from a reply: thinking, mark-up, and where it states its answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.metrics.answers.reply import (
    _SENTENCE_END,
    Reply,
    Strength,
    concluding,
    plain,
    sentences,
    statements,
    strongest,
    without_thinking,
)


@pytest.mark.parametrize(
    ("text", "shown", "cut"),
    [
        ("B", "B", False),
        ("<think>hm</think> B", "B", False),
        ("<THINKING>hm</THINKING>B", "B", False),
        ("◁think▷hm◁/think▷B", "B", False),
        ("hm</think>B", "B", False),
        ("<think>hm", "", True),
        ("B <think>hm", "B", True),
        ("<think>a</think>B<think>c</think>D", "BD", False),
        ("<think>a<think>b</think>C", "C", False),
        ("", "", False),
    ],
)
def test_thinking_is_set_aside(text: str, shown: str, cut: bool) -> None:
    assert without_thinking(text) == Reply(shown, cut)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("**bold** and *it*", "bold and it"),
        ("# Title\n> said", "Title\nsaid"),
        ("`code` ```json\nx```", "code x"),
        ("$D$ costs $5 or $6", "D costs $5 or $6"),
        ("\\text{B} \\mathrm{m}", "B m"),
        ("\\(x\\) 12\\%", "x 12%"),
        ("3*4*5", "3*4*5"),
        ("zero\u200bwidth", "zerowidth"),
    ],
)
def test_markup_is_unwrapped(text: str, words: str) -> None:
    assert plain(text) == words


@pytest.mark.parametrize(
    ("text", "contents", "strength"),
    [
        ("<answer> B </answer>", ["B"], Strength.STRUCTURE),
        ("<answer></answer>", [], None),
        ("\\boxed{\\frac{1}{2}}", ["\\frac{1}{2}"], Strength.STRUCTURE),
        ('{"final_answer": "a \\"b\\""}', ['a "b"'], Strength.STRUCTURE),
        ('{"answer": 5}', ["5"], Strength.STRUCTURE),
        ("The answer is B.", ["B."], Strength.PHRASE),
        ("So the answer is B.", ["B."], Strength.FINAL_PHRASE),
        ("Final answer: B", ["B"], Strength.FINAL_PHRASE),
        ("The answer is A, no, the answer is B", ["A, no,", "B"], Strength.PHRASE),
        ("最终答案：B", ["B"], Strength.FINAL_PHRASE),
        ("Answer\n\nParis", ["Paris"], Strength.PHRASE),
        ("Which option is correct?", [], None),
        ("The options are: A and B", [], None),
        ("Nothing here.", [], None),
    ],
)
def test_statements(text: str, contents: list[str], strength: Strength | None) -> None:
    found = statements(text)
    assert [statement.content for statement in found] == contents
    assert {statement.strength for statement in found} == ({strength} if strength else set())


def test_only_the_strongest_count_and_a_correction_takes_back() -> None:
    for text, contents in [
        ("The answer is A. Final answer: B", ["B"]),
        ("The answer is A. The answer is B.", ["A.", "B."]),
        ("The answer is A. Wait. The answer is B.", ["B."]),
        ("答案是A。不对，答案是B。", ["B。"]),
    ]:
        assert [statement.content for statement in strongest(statements(text), text)] == contents
    assert strongest((), "") == ()


def test_sentences_and_conclusions() -> None:
    assert sentences("One. Two!\nThree。四。") == ("One.", "Two!", "Three。", "四。")
    assert concluding("It is high. So it is Paris.") == "it is Paris."
    assert concluding("天很高。所以是巴黎") == "是巴黎"
    assert concluding("So it was. It is Paris.") is None
    assert concluding("") is None


@given(st.text(st.sampled_from("ab.!?\"')] \t\r\n。”é"), max_size=40))
@settings(max_examples=300, deadline=None)
def test_the_short_way_to_sentences_leads_to_the_same(text: str) -> None:
    assert sentences(text) == tuple(piece.strip() for piece in _SENTENCE_END.split(text) if piece.strip())
