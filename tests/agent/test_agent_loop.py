"""The loop over real HTTP, against a server that plays good and bad models."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import models_server as wire
from agent_stand_ins import (
    IDS,
    StubTool,
    attempted,
    call,
    calls,
    finder,
    model_at,
    overflow,
    question,
    says,
    view,
    viewer,
)
from sightline.agent.loop import Agent
from sightline.agent.memory import MemorySettings
from sightline.agent.prompts import MemoryForm
from sightline.agent.replay import recorded_settings
from sightline.agent.settings import AgentSettings, TaskLimits
from sightline.agent.tools.base import Observation
from sightline.agent.trajectory import Memory, Recorder
from sightline.errors import StorageError, UserError
from sightline.io.sqlite import ReadOnlyError
from sightline.models.scripted import ScriptedModel
from sightline.types import ChatReply, Choice, Failure, PictureSet, Text, Trace

DONE = says(f"The final answer is: [{IDS[0]}, {IDS[1]}].")


def tool_texts(server: wire.Server, request: int = -1) -> list[str]:
    return [each["content"] for each in server.requests[request].json["messages"] if each["role"] == "tool"]


def a_new_search(received: wire.Received) -> wire.Answer:
    return calls(call("ImageSearch", {"text": f"boat {len(received.json['messages'])}"}))


def run(*args: Any, **more: Any) -> Any:
    return asyncio.run(attempted(*args, **more))


def test_tools_are_called_and_the_answer_is_read(tmp_path: Path) -> None:
    tools = [finder(), viewer()]
    script = [
        calls(call("ImageSearch", {"text": "boat", "save_as": "boats"}), text="I search."),
        calls(call("ViewPhotos", {"photos": [IDS[0]]}, "c2")),
        calls(call("Finish", {"photos": [IDS[0], "ana/99.jpg"], "reason": "seen"}, "c3")),
    ]
    answered, server, recorder = run(script, tmp_path, tools)
    assert answered.end.prediction == PictureSet((IDS[0], "ana/99.jpg"))
    assert answered.end.unknown == ("ana/99.jpg",)
    assert answered.end.ended == "finish" and answered.end.turns == 3 and answered.end.forced is None
    assert answered.end.subsets == {"boats": IDS[:3]}
    assert "Named subsets: boats (3)." in tool_texts(server)[0]
    shown = server.requests[2].json["messages"][-1]
    assert shown["role"] == "user" and [part["type"] for part in shown["content"]] == ["text", "text", "image_url"]
    assert shown["content"][1]["text"] == f"photo_id: {IDS[0]}"
    uses = list(recorder.trajectory().uses)
    assert [use.tool for use in uses] == ["ImageSearch", "ViewPhotos", "Finish"]
    assert uses[1].pictures[0].picture == IDS[0] and uses[1].pictures[0].sha256


def test_parallel_calls_run_in_order_and_each_gets_its_answer(tmp_path: Path) -> None:
    order: list[str] = []

    def noted(name: str) -> StubTool:
        def answer(arguments: Any, state: Any) -> Observation:
            order.append(name)
            return Observation(f"from {name}")

        return StubTool(name, answer)

    # The same id twice, as some servers give: each call must still have its own answer.
    script = [calls(call("B", id_="x"), call("A", id_="x"), call("B", {"q": 2}, id_="y")), DONE]
    _, server, _ = run(script, tmp_path, [noted("A"), noted("B")])
    assert order == ["B", "A", "B"]
    sent = server.requests[1].json["messages"]
    asked = [each["id"] for each in sent[2]["tool_calls"]]
    assert len(set(asked)) == 3 and [each["tool_call_id"] for each in sent if each["role"] == "tool"] == asked


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("ImageSearch", '{"text": "bo', "no JSON"),
        ("ImageSearch", "[1]", "one JSON object"),
        ("ImageSerch", {}, "Did you mean ImageSearch?"),
        ("rm -rf", {}, "there is no tool"),
        ("Finish", {"photos": 7}, "a list of photo ids"),
        ("Broken", {}, "failed with ZeroDivisionError"),
        ("Wrong", {}, "no such owner"),
    ],
)
def test_a_bad_call_is_told_and_the_work_goes_on(tmp_path: Path, name: str, arguments: Any, said: str) -> None:
    def broken(*_: Any) -> Observation:
        raise ZeroDivisionError

    def wrong(*_: Any) -> Observation:
        raise UserError("no such owner")

    tools = [finder(), StubTool("Broken", broken), StubTool("Wrong", wrong)]
    answered, server, recorder = run([calls(call(name, arguments)), DONE], tmp_path, tools)
    assert said in tool_texts(server)[0] and tool_texts(server)[0].startswith("Error: ")
    assert answered.end.prediction == PictureSet(IDS[:2])
    assert next(recorder.trajectory().uses).error


@pytest.mark.parametrize(
    "fault",
    [
        OSError(errno.EIO, "Input/output error"),
        sqlite3.OperationalError("disk I/O error"),
        ReadOnlyError("the workspace can't be written: it is read-only.", "choose another --workspace"),
    ],
)
def test_a_broken_disk_ends_the_work_and_is_not_told_to_the_model(tmp_path: Path, fault: Exception) -> None:
    """The model would answer without the tool, and the score would be another without a word."""

    def broken(*_: Any) -> Observation:
        raise fault

    with pytest.raises(StorageError, match=r"I/O error|Input/output error|read-only") as stopped:
        run([calls(call("Broken", {})), DONE], tmp_path, [finder(), StubTool("Broken", broken)])
    assert stopped.value.fix


def test_a_model_that_never_stops_is_made_to_answer(tmp_path: Path) -> None:
    def script(received: wire.Received) -> wire.Answer:
        return DONE if received.json.get("tool_choice") == "none" else a_new_search(received)

    settings = AgentSettings(TaskLimits(turns=5))
    answered, server, _ = run(script, tmp_path, [finder()], settings=settings)
    assert len(server.requests) == 5 and answered.end.turns == 5
    assert answered.end.forced == "turns" and answered.end.prediction == PictureSet(IDS[:2])
    assert "last turn" in server.requests[-1].json["messages"][-1]["content"]


def test_a_model_that_calls_tools_even_in_the_last_turn_fails_by_name(tmp_path: Path) -> None:
    tool = finder()
    answered, _, _ = run(a_new_search, tmp_path, [tool], settings=AgentSettings(TaskLimits(turns=3)))
    assert isinstance(answered.end.prediction, Failure) and answered.end.prediction.kind == "unparsed"
    assert len(tool.calls) == 2  # That of the last turn is not run.


@pytest.mark.parametrize(
    ("limits", "reached"),
    [
        (TaskLimits(tokens=30), "tokens"),
        (TaskLimits(pictures=2), "pictures"),
        (TaskLimits(seconds=0.0), "seconds"),
        (TaskLimits(usd=0.0), "usd"),
        (TaskLimits(turns=1), "turns"),
    ],
)
def test_each_limit_leaves_one_turn_to_answer(tmp_path: Path, limits: TaskLimits, reached: str) -> None:
    def script(received: wire.Received) -> wire.Answer:
        if received.json.get("tool_choice") == "none":
            return DONE
        return calls(call("ViewPhotos", {"photos": [IDS[len(received.json["messages"])]]}))

    answered, server, _ = run(script, tmp_path, [viewer()], settings=AgentSettings(limits))
    assert answered.end.forced == reached and answered.end.prediction == PictureSet(IDS[:2])
    assert sum(each.json.get("tool_choice") == "none" for each in server.requests) == 1


def test_an_overflow_is_met_by_compressing(tmp_path: Path) -> None:
    seen: list[str] = []

    def script(received: wire.Received) -> wire.Answer:
        words = str(received.json["messages"][-1]["content"])
        if "Compress the conversation" in words:
            seen.append("compress")
            return says("Session memory: ana/00.jpg fits. Working memory: finish.")
        step = len(server_turns)
        server_turns.append(step)
        return [calls(call("ImageSearch", id_="a")), calls(call("ImageSearch", id_="b")), overflow(), DONE][step]

    server_turns: list[int] = []
    answered, server, recorder = run(script, tmp_path, [finder()])
    assert seen == ["compress"] and answered.end.prediction == PictureSet(IDS[:2])
    memory = [step for step in recorder.trajectory().steps if isinstance(step, Memory)]
    assert [each.why for each in memory] == ["overflow"]
    last = server.requests[-1].json["messages"]
    assert "ana/00.jpg fits" in last[2]["content"]
    # The last exchange, which the model has not reacted to yet, is still there.
    assert [each["role"] for each in last] == ["system", "user", "user", "assistant", "tool"]
    assert last[3]["tool_calls"][0]["id"] == "b"


def test_an_overflow_without_compression_is_a_named_failure(tmp_path: Path) -> None:
    settings = AgentSettings(memory=MemorySettings(compress=False))
    answered, server, _ = run([calls(call("ImageSearch")), overflow()], tmp_path, [finder()], settings=settings)
    assert answered.end.prediction.kind == "context-overflow"
    assert "Compress" not in [tool["function"]["name"] for tool in server.requests[0].json["tools"]]


def test_an_endless_overflow_ends(tmp_path: Path) -> None:
    script = iter([calls(call("ImageSearch"))])
    answered, server, recorder = run(lambda _: next(script, overflow()), tmp_path, [finder()])
    assert answered.end.prediction.kind == "context-overflow"
    made_by = {step.made_by for step in recorder.trajectory().steps if isinstance(step, Memory)}
    assert made_by == {"outline"} and len(server.requests) < 12


def test_pictures_in_the_conversation_trigger_compression_and_unseen_ones_stay(tmp_path: Path) -> None:
    def script(received: wire.Received) -> wire.Answer:
        messages = received.json["messages"]
        if "Compress the conversation" in str(messages[-1]["content"]):
            return says("memory")
        turn = next(turns)
        return calls(call("ViewPhotos", {"photos": list(IDS[2 * turn : 2 * turn + 2])})) if turn < 4 else DONE

    turns = iter(range(9))
    settings = AgentSettings(memory=MemorySettings(pictures=4))
    answered, server, recorder = run(script, tmp_path, [viewer()], settings=settings)
    why = [step.why for step in recorder.trajectory().steps if isinstance(step, Memory)]
    assert why == ["pictures"] and answered.end.pictures == 8
    last = server.requests[-1].json["messages"]
    pictures = [p for each in last if isinstance(each["content"], list) for p in each["content"] if "image_url" in p]
    assert 2 <= len(pictures) <= 4


@pytest.mark.parametrize(("form", "words"), [("two-part", "Session memory:"), ("three-tier", "Tool use:")])
def test_a_memory_has_the_form_that_is_wanted(tmp_path: Path, form: MemoryForm, words: str) -> None:
    settings = AgentSettings(memory=MemorySettings(form=form), division="episode-target")
    script = [calls(call("ImageSearch")), calls(call("Compress")), says("memory"), DONE]
    _, server, recorder = run(script, tmp_path, [finder()], settings=settings)
    assert words in server.requests[2].json["messages"][-1]["content"]
    assert recorded_settings(recorder.trajectory()) == settings
    assert "Episode breakdown" in recorder.trajectory().start.system


def test_the_agent_may_compress_by_itself_and_another_model_may_do_it(tmp_path: Path) -> None:
    compressor = ScriptedModel(["short memory"], name="scripted/compressor")
    script = [calls(call("ImageSearch", {"save_as": "boats"})), calls(call("Compress")), DONE]
    _, server, recorder = run(script, tmp_path, [finder()], compressor=compressor)
    memory = next(step for step in recorder.trajectory().steps if isinstance(step, Memory))
    assert memory.made_by == "scripted/compressor" and memory.why == "agent"
    last = server.requests[-1].json["messages"]
    assert len(last) == 3 and "short memory\nNamed subsets: boats (3)." in last[2]["content"]
    # Another model gets words alone: no tools, no pictures.
    assert not compressor.requests[0].tools and all(
        isinstance(part, str) for message in compressor.requests[0].messages for part in message.content
    )


def test_empty_and_aimless_replies_are_answered_with_a_reminder(tmp_path: Path) -> None:
    answered, server, _ = run([says(""), says("Let me think."), DONE], tmp_path)
    assert answered.end.prediction == PictureSet(IDS[:2]) and answered.end.forced is None
    assert "neither a tool call nor a final answer" in server.requests[1].json["messages"][-1]["content"]


def test_a_model_that_says_nothing_at_all_fails_by_name(tmp_path: Path) -> None:
    answered, server, _ = run(lambda _: says(""), tmp_path)
    assert answered.end.prediction.kind == "empty" and answered.end.forced == "no-action"
    assert len(server.requests) == 4


def test_a_dead_server_is_a_failure_of_the_attempt(tmp_path: Path) -> None:
    answered, _, recorder = run([wire.respond_json({"error": {"message": "boom"}}, 500)], tmp_path)
    assert answered.end.prediction == Failure("server-error", answered.end.prediction.message, True)
    assert answered.final is None and recorder.trajectory().turns[0].failure is not None


def test_without_named_subsets_nothing_is_saved(tmp_path: Path) -> None:
    asked = question(subsets_on=False)
    script = [calls(call("ImageSearch", {"save_as": "boats"})), DONE]
    answered, server, _ = run(script, tmp_path, [finder()], asked, AgentSettings(subsets=False))
    assert answered.end.subsets == {} and "Named subsets" not in tool_texts(server)[0]
    assert "save_as" not in server.requests[0].json["messages"][0]["content"]


@pytest.mark.parametrize(
    ("kind", "reply", "expected"),
    [
        ("answer", says("The final answer is: Paris."), Text("Paris")),
        ("answer", calls(call("Finish", {"answer": "Paris"})), Text("Paris")),
        ("choose", says("The final answer is: B."), Choice("B")),
        ("choose", calls(call("Finish", {"answer": "b"})), Choice("B")),
        ("describe", says("The final answer is: A boat at sea."), Trace("", "A boat at sea")),
    ],
)
def test_each_kind_of_task_has_its_form(tmp_path: Path, kind: Any, reply: wire.Answer, expected: Any) -> None:
    answered, _, _ = run([reply], tmp_path, asked=question(kind))
    said = answered.end.prediction
    assert (said.option if isinstance(said, Choice) else said) == (
        expected.option if isinstance(expected, Choice) else expected
    )


def test_pictures_of_the_question_are_sent_with_their_names(tmp_path: Path) -> None:
    asked = question("answer", content=("What is on ", view(3), " and ", view(4), "?"))
    _, server, recorder = run([says("The final answer is: 3")], tmp_path, asked=asked)
    content = server.requests[0].json["messages"][1]["content"]
    assert [part["type"] for part in content] == ["text", "text", "image_url", "text", "text", "image_url", "text"]
    assert IDS[3] in content[1]["text"]
    assert [sight.picture for sight in recorder.trajectory().start.pictures] == [IDS[3], IDS[4]]


def test_nothing_is_paid_twice_and_the_result_is_the_same(tmp_path: Path) -> None:
    async def both() -> tuple[Any, Any, int]:
        script = [calls(call("ImageSearch")), DONE]
        async with model_at(script, tmp_path / "ws") as (caller, server):
            agent = Agent(caller, [finder()])
            first = await agent.attempt(question(), Recorder(tmp_path / "run"))
            second = await agent.attempt(question(), Recorder(tmp_path / "run"))
            return first, second, len(server.requests)

    first, second, asked = asyncio.run(both())
    assert asked == 2 and first.end.prediction == second.end.prediction


def test_attempts_are_other_samples(tmp_path: Path) -> None:
    async def both() -> int:
        async with model_at(lambda _: DONE, tmp_path / "ws") as (caller, server):
            agent = Agent(caller, [])
            await agent.attempt(question())
            await agent.attempt(question(attempt=1))
            return len(server.requests)

    assert asyncio.run(both()) == 2


def test_too_many_calls_in_one_turn_are_refused() -> None:
    from sightline.types import ToolCall

    tool = finder()
    many = tuple(ToolCall(f"c{n}", "ImageSearch", f'{{"text": "{n}"}}') for n in range(40))
    model = ScriptedModel([ChatReply("", tool_calls=many), "The final answer is: []"])
    answered = asyncio.run(Agent(model, [tool]).attempt(question()))
    assert len(tool.calls) == 16 and answered.end.prediction == PictureSet(())


def test_a_call_that_was_answered_is_not_made_again(tmp_path: Path) -> None:
    tools = [finder(), StubTool("GetMetadata", lambda *_: Observation("all of 2024"))]
    asked = calls(call("GetMetadata", {"q": "a", "fields": 1}))
    reordered = calls(call("GetMetadata", '{"fields": 1,  "q": "a"}'))
    other = calls(call("GetMetadata", {"q": "b"}))
    answered, server, recorder = run([asked, other, reordered, DONE], tmp_path, tools)
    assert len(tools[1].calls) == 2 and answered.end.forced is None
    assert "all of 2024" in tool_texts(server)[1] and "made this very call before" in tool_texts(server)[2]
    assert [use.repeated for use in recorder.trajectory().uses] == [False, False, True]


def test_a_call_is_made_again_once_subsets_have_changed_or_its_answer_is_gone(tmp_path: Path) -> None:
    tools = [finder(), StubTool("GetMetadata", lambda *_: Observation("all of 2024"))]
    asked = calls(call("GetMetadata", {"q": "a"}))
    saved = calls(call("ImageSearch", {"save_as": "boats"}))
    answered, _, _ = run([asked, saved, asked, calls(call("Compress")), says("memory"), asked, DONE], tmp_path, tools)
    assert len(tools[1].calls) == 3 and answered.end.forced is None


def test_a_model_that_only_repeats_itself_is_asked_for_its_answer(tmp_path: Path) -> None:
    asked = calls(call("GetMetadata", {"q": "a"}))
    tools = [StubTool("GetMetadata", lambda *_: Observation("all of 2024"))]
    answered, server, recorder = run([asked, asked, asked, asked, DONE], tmp_path, tools)
    assert len(tools[0].calls) == 1 and len(server.requests) == 5
    assert answered.end.forced == "repeated-calls" and answered.final is not None
    assert "This is the last turn" in str(server.requests[-1].json["messages"][-1])
    assert [use.repeated for use in recorder.trajectory().uses] == [False, True, True, True]


def test_other_work_in_between_is_no_repetition(tmp_path: Path) -> None:
    asked, number = calls(call("GetMetadata", {"q": "a"})), iter(range(9))
    other = [calls(call("ImageSearch", {"text": str(each)})) for each in range(3)]
    tools = [finder(), StubTool("GetMetadata", lambda *_: Observation(str(next(number))))]
    answered, _, _ = run([asked, asked, other[0], asked, other[1], asked, asked, other[2], DONE], tmp_path, tools)
    assert answered.end.forced is None and next(number) == 1
