"""What is written down of an attempt, read back, exported and replayed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from agent_stand_ins import IDS, StubTool, attempted, call, calls, finder, overflow, question, says, view, viewer
from sightline.agent.memory import MemorySettings
from sightline.agent.replay import recorded_question, recorded_tools, replay
from sightline.agent.settings import AgentSettings, TaskLimits
from sightline.agent.tools.base import Observation
from sightline.agent.trajectory import Recorder, Trajectory, read_trajectory, trajectories_of, trajectory_path
from sightline.agent.trajectory_export import to_atif, to_swift
from sightline.errors import UserError

DONE = says(f"The final answer is: [{IDS[0]}].")


def made(tmp_path: Path, script: Any = None, tools: Any = None, **more: Any) -> Trajectory:
    script = script or [
        calls(call("ImageSearch", {"save_as": "boats"}), call("ViewPhotos", {"photos": [IDS[0]]}, "c2"), text="Look."),
        DONE,
    ]
    asyncio.run(attempted(script, tmp_path, tools or [finder(), viewer()], recorder=Recorder(tmp_path / "run"), **more))
    return read_trajectory(tmp_path / "run", "t1")


def test_what_is_written_is_read_back_and_pictures_are_blobs(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run")
    asked = question("answer", content=("Which? ", view(5)))
    script = [calls(call("ViewPhotos", {"photos": [IDS[1]]})), says("The final answer is: this one")]
    asyncio.run(attempted(script, tmp_path, [viewer()], asked, recorder=recorder))
    found = read_trajectory(tmp_path / "run", "t1")
    assert found == recorder.trajectory() and list(trajectories_of(tmp_path / "run")) == [found]
    blobs = {path.name for path in (tmp_path / "run" / "blobs").iterdir()}
    assert blobs == {found.start.pictures[0].sha256, next(found.uses).pictures[0].sha256}
    raw = trajectory_path(tmp_path / "run", "t1").read_text()
    assert "base64" not in raw and found.turns[0].cost.input == 12


def test_a_stopped_attempt_is_readable_and_begun_anew(tmp_path: Path) -> None:
    whole = made(tmp_path)
    path = trajectory_path(tmp_path / "run", "t1")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:40])
    cut = read_trajectory(tmp_path / "run", "t1")
    assert cut.end is None and cut.steps == whole.steps[:1]
    again = made(tmp_path)
    assert again.end is not None and [t.cost.from_journal for t in again.turns] == [True, True]


def test_names_of_files_are_safe_and_apart(tmp_path: Path) -> None:
    names = {
        trajectory_path(tmp_path, task, number) for task in ("a/b", "a", "a@1", "..", "x" * 400) for number in (0, 1)
    }
    assert len(names) == 10 and all(path.parent == tmp_path / "trajectories" and len(path.name) < 255 for path in names)
    with pytest.raises(UserError, match="no trajectory"):
        read_trajectory(tmp_path, "a")


def test_a_wrong_line_is_told_with_its_number(tmp_path: Path) -> None:
    made(tmp_path)
    path = trajectory_path(tmp_path / "run", "t1")
    path.write_bytes(path.read_bytes().replace(b'"number":1', b'"number":"one"'))
    with pytest.raises(UserError, match=r"line 2: turn\.number"):
        read_trajectory(tmp_path / "run", "t1")


def test_atif_holds_every_step(tmp_path: Path) -> None:
    made_of = made(tmp_path)
    found = to_atif(made_of, tmp_path / "run")
    assert found["schema_version"] == "ATIF-v1.6"
    assert [step["source"] for step in found["steps"]] == ["system", "user", "agent", "agent"]
    assert [step["step_id"] for step in found["steps"]] == [1, 2, 3, 4]
    acted = found["steps"][2]
    assert [each["function_name"] for each in acted["tool_calls"]] == ["ImageSearch", "ViewPhotos"]
    results = acted["observation"]["results"]
    assert [each["source_call_id"] for each in results] == ["c1", "c2"]
    image = next(part for part in results[1]["content"] if part["type"] == "image")
    assert image["source"]["media_type"] == "image/png"
    assert (tmp_path / "run" / image["source"]["path"]).is_file()
    assert found["final_metrics"]["total_prompt_tokens"] == 24
    orjson.dumps(found)


def test_swift_rows_have_an_image_for_each_mark(tmp_path: Path) -> None:
    def sly(*_: Any) -> Observation:
        return Observation("a page that says <image>", untrusted=True)

    script = [
        calls(call("ViewPhotos", {"photos": list(IDS[:2])}), call("Sly", "{broken", "c2"), call("Sly", {}, "c3")),
        DONE,
    ]
    row = to_swift(made(tmp_path, script, [viewer(), StubTool("Sly", sly)]), tmp_path / "run")
    roles = [message["role"] for message in row["messages"]]
    assert roles == ["system", "user", *["tool_call"] * 3, *["tool_response"] * 3, "assistant"]
    assert sum(message["content"].count("<image>") for message in row["messages"]) == len(row["images"]) == 2
    assert all(Path(image).is_file() for image in row["images"])
    assert orjson.loads(row["messages"][2]["content"])["name"] == "ViewPhotos"
    assert [tool["function"]["name"] for tool in orjson.loads(row["tools"])] == [
        "ViewPhotos",
        "Sly",
        "Finish",
        "Compress",
    ]


def again(recorded: Trajectory, tmp_path: Path, tools: Any = None) -> Any:
    folder = tmp_path / "run"
    return asyncio.run(replay(recorded, tools or recorded_tools(recorded, folder), recorded_question(recorded, folder)))


def test_a_replay_is_the_same(tmp_path: Path) -> None:
    done = again(made(tmp_path), tmp_path)
    assert done.same, done.differences
    assert done.now.end.answer == done.recorded.end.answer and done.now.end.subsets == {"boats": IDS[:3]}


def test_a_replay_with_overflow_memory_mistakes_and_limits_is_the_same(tmp_path: Path) -> None:
    answers = iter(
        [
            calls(call("ImageSearch", id_="a"), call("Nothing", id_="b"), call("ImageSearch", "{", "c")),
            calls(call("ViewPhotos", {"photos": [IDS[1]]})),
            overflow(),
            says("a memory"),
            says(""),
            calls(call("Compress")),
            says(""),  # The compressor fails: an outline takes its place.
            calls(call("ViewPhotos", {"photos": list(IDS[:4])})),
            DONE,
        ]
    )
    settings = AgentSettings(TaskLimits(pictures=5), MemorySettings(pictures=50))
    recorded = made(tmp_path, lambda _: next(answers), settings=settings)
    assert recorded.end is not None and recorded.end.forced == "pictures"
    assert [step.type for step in recorded.steps] == [
        "turn",
        "turn",
        "turn",
        "memory",
        "turn",
        "turn",
        "memory",
        "turn",
        "turn",
    ]
    done = again(recorded, tmp_path)
    assert done.same, done.differences


def test_a_replay_of_an_agent_that_repeated_itself_is_the_same(tmp_path: Path) -> None:
    asked = calls(call("GetMetadata", {"q": "a"}))
    number = iter(range(9))
    tool = StubTool("GetMetadata", lambda *_: Observation(f"answer {next(number)}"))
    recorded = made(tmp_path, [asked, asked, asked, asked, DONE], [tool])
    assert recorded.end is not None and recorded.end.forced == "repeated-calls"
    assert again(recorded, tmp_path).same


def test_records_of_agents_that_made_calls_again_are_replayed_as_they_were(tmp_path: Path) -> None:
    asked = calls(call("GetMetadata", {"q": "a"}))
    number = iter(range(9))
    tool = StubTool("GetMetadata", lambda *_: Observation(f"answer {next(number)}"))
    recorded = made(tmp_path, [asked] * 5 + [DONE], [tool], settings=AgentSettings(repeats=True))
    assert next(number) == 5 and recorded.start.settings.pop("repeats")
    assert again(recorded, tmp_path).same


def test_a_replay_says_where_a_tool_answers_otherwise(tmp_path: Path) -> None:
    done = again(made(tmp_path), tmp_path, [finder(IDS[4:6]), viewer()])
    what = [(each.turn, each.what) for each in done.differences]
    assert (1, "observation of ImageSearch") in what and (1, "found of ImageSearch") in what
    assert (2, "request") in what and not done.same


@pytest.mark.parametrize("field", ["thought", "text"])
def test_a_replay_says_where_words_were_changed(tmp_path: Path, field: str) -> None:
    """Thoughts are in no later request, and the last words neither."""
    recorded = made(tmp_path)
    last = recorded.turns[-1]
    changed: dict[str, Any] = {field: "another"}
    steps = tuple(replace(step, **changed) if step is last else step for step in recorded.steps)
    (found,) = (each for each in again(replace(recorded, steps=steps), tmp_path).differences if "hash" in each.what)
    assert found.turn == last.number and found.recorded != found.now


def test_a_replay_says_where_the_record_was_changed(tmp_path: Path) -> None:
    recorded = made(tmp_path)
    first = recorded.turns[0]
    changed = replace(recorded, steps=(replace(first, uses=first.uses[:1]), *recorded.steps[1:]))
    assert not again(changed, tmp_path).same
    shorter = replace(recorded, steps=recorded.steps[:1])
    differences: Mapping[str, Any] = {each.what: each for each in again(shorter, tmp_path).differences}
    assert "a call more than recorded" in differences
