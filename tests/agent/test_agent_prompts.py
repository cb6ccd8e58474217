"""What an agent is told, and how much it may use."""

from __future__ import annotations

from typing import get_args

import pytest

from sightline.agent.memory import is_overflow
from sightline.agent.prompts import Language, last_turn, once_more, system_prompt
from sightline.agent.settings import AgentUsage, TaskLimits
from sightline.agent.state import MOST_SUBSETS, AgentState
from sightline.types import ChatReply, Failure, PictureRef, Task, TaskKind, Usage


@pytest.mark.parametrize("language", get_args(Language))
@pytest.mark.parametrize("kind", get_args(TaskKind))
def test_every_prompt_says_how_to_end_and_what_is_data(kind: TaskKind, language: Language) -> None:
    task = Task("t", kind, ("q",))
    prompt = system_prompt(task, language, extra=("Mind the gap.",))
    assert "The final answer is:" in prompt and "<observation>" in prompt and "Mind the gap." in prompt
    assert ("[id1, id2]" in prompt) == (kind in ("rank", "select"))
    assert "last turn" in last_turn(task, language) and "The final answer is:" in once_more(task, language)
    assert ("save_as" in prompt) and "save_as" not in system_prompt(task, language, subsets=False)


@pytest.mark.parametrize("language", get_args(Language))
def test_requests_for_pictures_are_divided_as_the_paper_does_where_that_is_wanted(language: Language) -> None:
    finding, asking = Task("t", "select", ("q",)), Task("t", "answer", ("q",))
    word = "Episode breakdown" if language == "en" else "情节线索"
    assert word in system_prompt(finding, language, "episode-target")
    assert word not in system_prompt(finding, language)
    assert system_prompt(asking, language, "episode-target") == system_prompt(asking, language)


def test_a_journalled_reply_counts_like_the_first_time() -> None:
    now = [0.0]
    spent = AgentUsage(clock=lambda: now[0])
    spent.add(ChatReply("x", usage=Usage(100, output=10), usd=0.5, seconds=7.0, from_journal=True))
    spent.add(ChatReply("x", usage=Usage(100, output=10), usd=None, seconds=9.0))
    now[0] = 3.0
    assert (spent.tokens, spent.usd, spent.unpriced, spent.seconds) == (220, 0.5, 1, 10.0)
    assert TaskLimits(seconds=10.0).reached(spent) == "seconds" and TaskLimits(seconds=11.0).reached(spent) is None


@pytest.mark.parametrize(
    ("kind", "message", "is_one"),
    [
        ("bad-request", "This model's maximum context length is 8192 tokens", True),
        ("bad-request", "prompt is too long: 210000 tokens > 200000 maximum", True),
        ("bad-request", "HTTP 413, no reason given (the request is too large: fewer or smaller pictures help)", True),
        ("server-error", "the input exceeds the context size (4096)", True),
        ("bad-request", "unknown parameter: seed", False),
        ("auth", "context length exceeded", False),
    ],
)
def test_overflows_are_told_from_other_refusals(kind: str, message: str, is_one: bool) -> None:
    assert is_overflow(Failure(kind, message)) == is_one


def test_subsets_have_names_and_limits() -> None:
    state = AgentState(allowed=frozenset({"a"}), given=(PictureRef("b"),))
    assert state.summary() == "" and state.save("two words", ["a", "a", "b"]) is None
    assert state.subsets == {"two words": ("a", "b")} and state.summary() == "Named subsets: two words (2)."
    assert state.save("", []) and state.save("x" * 65, []) and state.save("../etc", []) and state.save("a\nb", [])
    for number in range(MOST_SUBSETS - 1):
        assert state.save(f"s{number}", []) is None
    assert state.save("one more", []) is not None and state.save("s0", ["a"]) is None
    assert [state.may_see(name) for name in "abc"] == [True, True, False]
    assert AgentState(subsets_on=False).save("x", ["a"]) is not None
