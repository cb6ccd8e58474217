"""`agent`, `chat` and `vote` as systems under test: SPEC, run folder, resume, ablations."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

import models_server as wire
import sightline
from agent_bench import ANA, BO, small_bench
from agent_stand_ins import call, calls, says
from sightline.agent.replay import replay_task
from sightline.agent.trajectory import read_trajectory
from sightline.cli import main
from sightline.errors import UserError
from sightline.runs.folder import read_run, write_run
from sightline.types import Attempt, Benchmark, Failure, PictureSet, Run, Text

FIND = "the photos of the boat"


def words(received: wire.Received) -> str:
    return orjson.dumps([message for message in received.json["messages"] if message["role"] != "system"]).decode()


def helpful(received: wire.Received) -> wire.Answer:
    """Looks once, then answers; in words or by Finish."""
    said = words(received)
    used = any(message["role"] == "tool" for message in received.json["messages"])
    if FIND in said:
        if not used:
            return calls(call("ViewPhotos", {"photos": [ANA[0], ANA[1], BO[0]]}))
        return says(f"The final answer is: [{ANA[0]}, {ANA[1]}, {BO[0]}].")
    return says("The final answer is: B.") if "then" in said else says("The final answer is: a boat.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small_bench(tmp_path / "bench")
    return tmp_path


@pytest.fixture
def server() -> Iterator[wire.Server]:
    with wire.serving_in_thread(helpful) as serving:
        yield serving


def run(folder: Path, spec: str, out: str = "run", **more: Any) -> Run:
    sightline.run(folder / "bench", spec, folder / out, workspace=folder / more.pop("workspace", "ws"), **more)
    return read_run(folder / out)


def said(run: Run) -> dict[str, Any]:
    return {attempt.task_id: attempt.prediction for attempt in run.attempts}


def pictures_of(received: wire.Received) -> list[str]:
    return [
        part["image_url"]["url"]
        for message in received.json["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]


def test_scoring_says_why_pictures_were_missed(
    folder: Path, server: wire.Server, capsys: pytest.CaptureFixture[str]
) -> None:
    run(folder, f"agent:model=vllm/stub,base_url={server.base_url},tools=ViewPhotos+GetMetadata")
    paths = [str(folder / "bench"), str(folder / "run")]
    main(["score", *paths, "--json"])
    told = orjson.loads(capsys.readouterr().out)["attribution"]
    # All was found, and one id was made up.
    assert (told["attempts"], told["right"], sum(told["misses"].values())) == (1, 0, 0)
    assert {name for name, count in told["errors"].items() if count} == {"Hallucination & Bookkeeping"}
    kept = orjson.loads((folder / "run" / "attribution.json").read_bytes())
    assert kept["attributions"][0]["wrong"] == [BO[0]]
    main(["score", *paths])
    shown = capsys.readouterr().out
    assert "0 of 1 attempt is right" in shown and "viewed not recognised" in shown
    main(["report", *paths, "--out", str(folder / "page.md")])
    page = (folder / "page.md").read_text()
    assert "Why agents missed" in page and "Clue Mislocalization" in page


def test_a_tool_without_what_it_needs_is_left_out_and_the_reason_is_told(folder: Path, server: wire.Server) -> None:
    made = run(folder, f"agent:model=vllm/stub,base_url={server.base_url},without=ImageSearch+SimilarTo,backend=exact")
    assert made.parameters["left_out_tools"] == {
        "People": "no picture's metadata names people",
        "WebSearch": "there is no web: web=…",
        "WebImageSearch": "there is no web: web=…",
        "OpenPage": "there is no web: web=…",
    }
    offered = read_trajectory(folder / "run", "find").start.tools
    fields = next(tool.parameters["properties"]["fields"] for tool in offered if tool.name == "GetMetadata")
    assert fields["items"]["enum"] == ["time", "address"]  # All that the Standard track tells.
    with pytest.raises(UserError, match=r"WebSearch \(there is no web"):
        run(folder, f"agent:model=vllm/stub,base_url={server.base_url},tools=WebSearch", "other")


def test_an_agent_runs_over_a_benchmark(folder: Path, server: wire.Server) -> None:
    spec = f"agent:model=vllm/stub,base_url={server.base_url},tools=ViewPhotos+GetMetadata"
    made = run(folder, spec)
    found = said(made)
    # The other owner's picture is outside the scope: it counts as wrong, and that is said.
    assert found["find"] == PictureSet((*ANA[:2], BO[0]))
    assert found["say"] == Text("a boat") and found["pick"].option == "B"
    trajectory = read_trajectory(folder / "run", "find")
    assert trajectory.end is not None and trajectory.end.unknown == (BO[0],)
    scores = sightline.score(folder / "bench", folder / "run", ("f1", "set_precision"))
    row = next(row for row in scores.tasks if row.task_id == "find")
    assert row.values["set_precision"] == pytest.approx(2 / 3) and row.values["f1"] == pytest.approx(0.8)
    assert row.outside_scope == scores.outside_scope == 1
    assert any("counted as wrong: 1" in note for note in scores.notes)
    assert {sight.picture for use in trajectory.uses for sight in use.pictures} <= set(ANA)
    assert made.parameters["track"] == "Standard" and made.parameters["offered_tools"] == ["ViewPhotos", "GetMetadata"]
    asked = [entry for entry in made.ledger if entry.stage == "agent"]
    assert len(asked) == len(server.requests) == 4 and asked[0].tokens_in == 12
    assert all(
        replay_task(folder / "run", task, benchmark=folder / "bench", workspace=folder / "ws").same for task in found
    )


def test_what_is_noted_is_of_the_whole_run(folder: Path, server: wire.Server) -> None:
    """Also when it went on after a stop, and when nothing was left to do."""
    spec = f"agent:model=vllm/stub,base_url={server.base_url},tools=ViewPhotos+GetMetadata"
    for limit in (1, None, None):
        done = sightline.run(folder / "bench", spec, folder / "run", limit=limit, workspace=folder / "ws")
        assert done.notes == ("1 id in an answer is not a picture of its task, and counts as wrong",)
    assert done.made == 0


def test_a_run_goes_on_where_it_stopped_and_pays_nothing_twice(folder: Path, server: wire.Server) -> None:
    spec = f"agent:model=vllm/stub,base_url={server.base_url},tools=ViewPhotos,concurrency=1"
    run(folder, spec, limit=2)
    asked = len(server.requests)
    # A kill after the calls and before the prediction: the line is gone, the journal is not.
    path = folder / "run" / "predictions.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:1]))
    made = run(folder, spec)
    assert len(made.attempts) == 3 and len(server.requests) == asked + 1


@pytest.mark.world
def test_tools_are_checked_before_anything_is_asked(folder: Path, server: wire.Server) -> None:
    base = f"agent:model=vllm/stub,base_url={server.base_url}"
    with pytest.raises(UserError, match='there is no tool "ViewPhoto"') as wrong:
        run(folder, f"{base},without=ViewPhoto")
    assert "ViewPhotos" in str(wrong.value)
    with pytest.raises(UserError, match="can't be used here"):
        run(folder, f"{base},tools=WebSearch")
    with pytest.raises(UserError, match="no web"):
        run(folder, f"{base},tools=ViewPhotos,web=world")
    with pytest.raises(UserError, match="model"):
        run(folder, "agent:tools=ViewPhotos")
    assert not server.requests


def test_a_tool_can_be_left_out(folder: Path, server: wire.Server) -> None:
    run(folder, f"agent:model=vllm/stub,base_url={server.base_url},tools=ViewPhotos+GetMetadata,without=ViewPhotos")
    offered = {tool["function"]["name"] for tool in server.requests[0].json["tools"]}
    assert offered == {"GetMetadata", "Finish", "Compress"}
    told = [m["content"] for r in server.requests for m in r.json["messages"] if m["role"] == "tool"]
    assert told and all("there is no tool" in each for each in told)


def test_a_chat_model_is_asked_once_for_each_task_that_it_can_do(folder: Path, server: wire.Server) -> None:
    made = run(folder, f"chat:model=vllm/stub,base_url={server.base_url}")
    assert said(made) == {"say": Text("a boat"), "pick": said(made)["pick"]} and said(made)["pick"].option == "B"
    assert sorted(len(pictures_of(each)) for each in server.requests) == [1, 2]
    assert all("tools" not in each.json for each in server.requests)
    pick = next(each for each in server.requests if "then" in words(each))
    assert "A. " in words(pick) and "a dog" in words(pick)
    assert read_trajectory(folder / "run", "say").start.pictures[0].picture == ANA[0]


def test_the_ablations_of_chat(folder: Path, server: wire.Server) -> None:
    base = f"chat:model=vllm/stub,base_url={server.base_url}"
    run(folder, f"{base},no_image", "blind")
    assert not any(pictures_of(each) for each in server.requests)
    server.requests.clear()
    run(folder, f"{base},no_options", "open")
    assert not any("a dog" in words(each) for each in server.requests)
    server.requests.clear()
    run(folder, base, "plain", workspace="ws2")
    plain = {len(pictures_of(each)): pictures_of(each) for each in server.requests}
    server.requests.clear()
    run(folder, f"{base},shuffle_images", "shuffled", workspace="ws2")
    mixed = {len(pictures_of(each)): pictures_of(each) for each in server.requests}
    assert mixed[2] == plain[2][::-1]  # Several pictures: in another order.
    assert mixed[1] != plain[1] and mixed[1][0] in plain[2]  # A single one: that of another task.


def test_a_language_asks_the_translation(folder: Path, server: wire.Server) -> None:
    run(folder, f"chat:model=vllm/stub,base_url={server.base_url},language=zh")
    assert any(
        "这是什么" in orjson.loads(words(each).encode())[0]["content"][1]["text"]
        for each in server.requests
        if "这是" in words(each)
    )
    server.requests.clear()
    run(folder, f"agent:model=vllm/stub,base_url={server.base_url},tools=ViewPhotos,language=zh", "agent")
    assert "你的任务" in server.requests[0].json["messages"][0]["content"]


def test_a_missing_picture_is_a_failure_of_its_task(folder: Path, server: wire.Server) -> None:
    (folder / "bench" / "pictures" / ANA[0]).unlink()
    made = run(folder, f"chat:model=vllm/stub,base_url={server.base_url}")
    assert said(made)["say"].kind == "bad-picture" and said(made)["pick"].option == "B"


# --- several attempts -----------------------------------------------------------------------------------------


def several(folder: Path, sets: list[Any]) -> None:
    made = sightline.load(folder / "bench")
    assert isinstance(made, Benchmark)
    attempts = tuple(Attempt("find", each, number) for number, each in enumerate(sets))
    write_run(Run("small", "some agent", attempts, made.checksum), folder / "tried")


SETS = [PictureSet(ANA[:1]), PictureSet(ANA[:2]), PictureSet(ANA[1:3]), PictureSet(ANA[:1]), Failure("timeout", "")]


def test_votes(folder: Path) -> None:
    several(folder, SETS)
    majority = run(folder, f"vote:run={folder / 'tried'}", "majority")
    assert said(majority)["find"] == PictureSet((ANA[0],))
    whole = run(folder, f"vote:run={folder / 'tried'},by=set", "set")
    assert said(whole)["find"] == PictureSet((ANA[0],))
    two = run(folder, f"vote:run={folder / 'tried'},by=set,n=2", "two", repeat=2)
    assert [each.prediction for each in two.attempts if each.task_id == "find"] == [
        PictureSet(ANA[:1]),
        PictureSet(ANA[1:3]),
    ]
    assert majority.system == "some agent, majority of 5" and said(majority)["say"].kind == "missing"


def test_a_verifier_looks_and_chooses(folder: Path) -> None:
    several(folder, SETS)

    def grades(received: wire.Received) -> wire.Answer:
        shown = words(received)
        assert "Answer 3" in shown and "Answer 4" not in shown  # Equal answers are graded once.
        graded = [{"answer": number, "grade": grade} for number, grade in ((1, 2), (2, 9), (3, 1))]
        return says(orjson.dumps({"grades": graded}).decode())

    with wire.serving_in_thread(grades) as server:
        made = run(folder, f"vote:run={folder / 'tried'},by=verifier,model=vllm/judge,base_url={server.base_url}")
        assert said(made)["find"] == PictureSet(ANA[:2])
        assert len(server.requests) == 1 and len(pictures_of(server.requests[0])) == 5
    with pytest.raises(UserError, match="verifier"):
        run(folder, f"vote:run={folder / 'tried'},by=verifier", "no-model")


@pytest.mark.parametrize(
    ("last", "note"),
    [
        ("The final answer is: B.", "1 attempt answered in a last turn, because a limit was reached"),
        ("", "1 attempt gave no answer in the last turn either"),
    ],
)
def test_a_last_turn_without_an_answer_is_not_called_one(folder: Path, last: str, note: str) -> None:
    def slow(received: wire.Received) -> wire.Answer:
        over = "last turn" in words(received)
        return says(last) if over else calls(call("ViewPhotos", {"photos": [ANA[0]]}))

    with wire.serving_in_thread(slow) as server:
        spec = f"agent:model=vllm/stub,base_url={server.base_url},tools=ViewPhotos,turns=2"
        summary = sightline.run(folder / "bench", spec, folder / "run", workspace=folder / "ws", limit=1)
    assert [each for each in summary.notes if "last turn" in each] == [note]


def test_no_file_of_a_run_names_the_workspace_and_its_calls_lead_to_the_journal(
    folder: Path, server: wire.Server
) -> None:
    made = run(folder, f"agent:model=vllm/stub,base_url={server.base_url}", workspace="a private place")
    for path in (folder / "run").rglob("*"):
        if path.is_file():
            assert b"a private place" not in path.read_bytes(), path
    calls_made = [entry for entry in made.ledger if entry.stage == "agent"]
    database = sqlite3.connect(folder / "a private place" / "journal.sqlite")
    known = {key.hex() for (key,) in database.execute("SELECT key FROM calls")}
    database.close()
    assert calls_made and {entry.key for entry in calls_made} == known
