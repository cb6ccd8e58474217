"""A person's question about a folder of pictures: in Python, and on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

import models_server as wire
import sightline
from agent_stand_ins import call, calls, says
from search_tools import Colours, paint
from sightline.agent.replay import replay_task
from sightline.agent.trajectory import trajectories_of
from sightline.calls.session import CallOptions, Session
from sightline.cli.app import main
from sightline.errors import UserError
from sightline.types import Failure


def curious(received: wire.Received) -> wire.Answer:
    used = [message for message in received.json["messages"] if message["role"] == "tool"]
    if not used:
        return calls(call("ImageSearch", {"text": "red", "top_k": 2}), text="I look for red.")
    if len(used) == 1:
        return calls(call("ViewPhotos", {"photos": ["red.png"]}))
    return calls(call("Finish", {"answer": "One is red.", "evidence": ["red.png", "none.png"], "reason": "I saw it."}))


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    for colour in ("red", "yellow", "blue"):
        paint(tmp_path / "pictures" / f"{colour}.png", colour)
    return tmp_path / "pictures"


@pytest.fixture
def server() -> Iterator[wire.Server]:
    with wire.serving_in_thread(curious) as serving:
        yield serving


def asked(pictures: Path, server: wire.Server, question: str = "which is red?", **more: Any) -> Any:
    return sightline.ask(
        question,
        pictures,
        model="vllm/stub",
        embedder=Colours(),
        **more,
        session=Session(pictures.parent / "ws", calls=CallOptions(base_url=server.base_url)),
    )


def test_an_answer_comes_with_its_evidence_and_its_way(pictures: Path, server: wire.Server) -> None:
    steps: list[str] = []
    found = asked(pictures, server, watch=lambda record: steps.append(record.type))
    assert found.answer == "One is red." and [each.id for each in found.pictures] == ["red.png"]
    assert found.answered.end.unknown == ("none.png",) and found.failure is None
    assert steps == ["start", "turn", "turn", "turn", "end"]
    (kept,) = trajectories_of(found.folder)
    assert next(kept.uses).found[0] == "red.png"
    assert replay_task(found.folder, kept.start.task).same
    assert found.to_json()["pictures"] == ["red.png"]
    text = str(found)
    assert "One is red." in text and "· red.png" in text and "because I saw it." in text


def test_an_empty_question_and_an_empty_folder_are_refused(pictures: Path, server: wire.Server, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="question is empty"):
        asked(pictures, server, " ")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(UserError):
        sightline.ask("what?", tmp_path / "nothing", model="vllm/stub", embedder=Colours(), workspace=tmp_path / "w")
    assert not server.requests


def test_a_model_that_fails_is_told(pictures: Path) -> None:
    with wire.serving_in_thread(lambda _: wire.respond_json({"error": {"message": "no"}}, 400)) as server:
        found = asked(pictures, server)
    assert isinstance(found.failure, Failure) and found.answer == "" and found.failure.kind == "bad-request"


def test_a_model_that_cant_chat_is_refused_before_pictures_are_read(pictures: Path) -> None:
    with pytest.raises(UserError, match="builtin/photos is not a chat model") as refused:
        sightline.ask("which is red?", pictures, model="builtin/photos", workspace=pictures.parent / "new")
    assert "openai/gpt-5-mini" in str(refused.value) and not (pictures.parent / "new").exists()


def seeing_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on `sightline ask` has a search that needs no model."""
    ask = sightline.ask
    monkeypatch.setattr(
        "sightline.cli.ask.ask_agent", lambda *asked, **how: ask(*asked, **{**how, "embedder": Colours()})
    )


@pytest.mark.parametrize(("turns", "code"), [("30", 0), ("2", 3)])
def test_the_command(
    pictures: Path,
    server: wire.Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    turns: str,
    code: int,
) -> None:
    seeing_colours(monkeypatch)
    where = ["--in", str(pictures), "--workspace", str(pictures.parent / "ws"), "--base-url", server.base_url]
    line = ["ask", "which is red?", *where, "--model", "vllm/stub", "--turns", turns]
    if code:
        with pytest.raises(SystemExit) as stopped:
            main(line)
        assert stopped.value.code == code and "limit (turns)" in capsys.readouterr().err
        return
    main(line)
    shown = capsys.readouterr().out
    assert "→ ImageSearch" in shown and "2 found" in shown and "1 looked at" in shown and "One is red." in shown
    main([*line, "--json"])
    assert orjson.loads(capsys.readouterr().out)["answer"] == "One is red."


def test_says_is_a_plain_answer(pictures: Path) -> None:
    with wire.serving_in_thread(lambda _: says("The final answer is: three pictures.")) as server:
        found = asked(pictures, server, without=("ViewPhotos",))
        offered = [tool["function"]["name"] for tool in server.requests[0].json["tools"]]
    assert found.answer == "three pictures" and "ViewPhotos" not in offered and "ImageSearch" in offered


def command_line(monkeypatch: pytest.MonkeyPatch, pictures: Path, server: wire.Server, *more: str) -> None:
    seeing_colours(monkeypatch)
    where = ["--in", str(pictures), "--workspace", str(pictures.parent / "ws"), "--base-url", server.base_url]
    main(["ask", "which is red?", *where, *more])


def test_a_plan_asks_nobody_and_has_a_range(
    pictures: Path, server: wire.Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command_line(monkeypatch, pictures, server, "--model", "openai/gpt-5-mini", "--plan", "--json")
    plan = orjson.loads(capsys.readouterr().out)
    usd, (stage,) = plan["usd"], plan["stages"]
    assert 0 < usd["low"] < usd["likely"] < usd["high"] and "2 to 30 turns" in stage["basis"]
    assert 0 < stage["input"]["low"] < stage["input"]["likely"] < stage["input"]["high"]
    command_line(monkeypatch, pictures, server, "--model", "openai/gpt-5-mini", "--plan", "--json", "--turns", "3")
    fewer = orjson.loads(capsys.readouterr().out)
    assert fewer["calls"] == 3 and fewer["usd"]["high"] < usd["high"]
    command_line(monkeypatch, pictures, server, "--model", "openai/gpt-5-mini", "--plan")
    assert "nothing has been spent" in capsys.readouterr().out
    assert not server.requests and not (pictures.parent / "ws" / "asked").exists()


def test_a_question_that_was_answered_costs_nothing_again(pictures: Path, server: wire.Server) -> None:
    session = Session(pictures.parent / "ws", base_url=server.base_url)
    how: dict[str, Any] = {"model": "vllm/stub", "embedder": Colours(), "session": session}
    before = sightline.dry_run(sightline.ask, "which is red?", pictures, **how)
    assert sightline.ask("which is red?", pictures, **how).answer == "One is red."
    after = sightline.dry_run(sightline.ask, "which is red?", pictures, **how)
    assert before.stages[0].calls == 6 and before.usd is None  # Nobody knows the price of an own server.
    assert after.stages[0].calls == 0 and after.stages[0].journaled == 1


def test_the_file_of_an_answer_and_ids_that_are_none_are_told(pictures: Path, server: wire.Server) -> None:
    found = asked(pictures, server)
    file = Path(found.to_json()["trajectory"])
    assert file.is_file() and b"One is red." in file.read_bytes()
    assert "left out, because there is no such picture: none.png" in str(found)


def test_a_model_that_says_nothing_is_not_sent_for_more_turns(
    pictures: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with wire.serving_in_thread(lambda _: says("")) as server, pytest.raises(SystemExit) as stopped:
        command_line(monkeypatch, pictures, server, "--model", "vllm/stub")
    told = capsys.readouterr()
    assert stopped.value.code == 2 and "made no progress" in told.err and "--turns" not in told.err
    assert " 0 tokens" not in told.out and "price not known" in told.out
