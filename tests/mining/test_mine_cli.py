"""`sightline mine` on a drawn life by the built-in models, end to end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from models_server import chat, respond_json, serving_in_thread
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.validation import validate_benchmark
from sightline.cli.app import main
from sightline.types import Benchmark, Corpus, Picture, PictureRef, PictureSet, Task

pytest.importorskip("sightline_world", reason="needs sightline-world")

from sightline_world.histories import write_history

# The end of `mine questions`, with questions found already; it is killed when its benchmark is about to appear, or has.
KILLED = """
import os, sys
from pathlib import Path
from sightline.cli.app import main
from sightline.mining import questions
from sightline.mining.fact_chains import ChainHop, FactChain
from sightline.mining.records import Clue
from sightline.mining.questions import MinedQuestion, MinedQuestions

workspace, life, out, moment = sys.argv[1:]

def mined(clues, pictures, *_):
    picture = next(iter(pictures))
    clue = Clue("c", picture, "text", "words", "a", "a", "a", 0.9)
    chain = FactChain(clue, (ChainHop("fact", "Mayor", "Bo", "https://x"),))
    return MinedQuestions((MinedQuestion("q", picture, "Who?", chain),))

rename = Path.rename

def killing(self, target):
    if moment == "before" and target == Path(out):
        os.kill(os.getpid(), 9)
    moved = rename(self, target)
    if moment == "after" and target == Path(out):
        os.kill(os.getpid(), 9)
    return moved

questions.starts, questions.follow_clues, Path.rename = lambda *_: questions.Starts([]), mined, killing
main(["mine", "questions", workspace, "--web", f"world:{life}", "--model", "builtin/world", "--out", out])
"""
MODEL = ("--model", "builtin/world", "--queries", "12", "--seed", "1", "--clues", "1")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scanned life, with what all stages wrote."""
    folder = tmp_path_factory.mktemp("mined")
    write_history(folder / "life", seed=8, pictures=54, size=(240, 180))
    (folder / "sightline.toml").write_text('[scan]\nowner_pattern = "{owner}/*"\n')
    places = ["--workspace", str(folder / "ws"), "--config", str(folder / "sightline.toml")]
    main(["scan", str(folder / "life" / "pictures"), "--metadata", str(folder / "life" / "addresses.jsonl"), *places])
    main(["mine", str(folder / "ws"), "--out", str(folder / "bench"), *MODEL])
    return folder / "ws"


def test_the_benchmark_is_valid_and_goes_to_disbench_and_back(workspace: Path, tmp_path: Path) -> None:
    made = read_benchmark(workspace.parent / "bench")
    assert not validate_benchmark(workspace.parent / "bench") and made.tasks
    assert {task.kind for task in made.tasks.values()} == {"select"}
    main(["export", "disbench", str(workspace.parent / "bench"), "--out", str(tmp_path / "dis")])
    for line in (tmp_path / "dis" / "queries.jsonl").read_text().splitlines():  # How it was made would tell the answer.
        assert json.loads(line).keys() == {"query_id", "user_id", "query", "answer", "event_type"}
    main(["import", "disbench", str(tmp_path / "dis"), "--out", str(tmp_path / "back")])
    back = read_benchmark(tmp_path / "back")
    for id_, truth in made.truth.items():
        other = back.truth[id_]
        assert isinstance(truth, PictureSet) and isinstance(other, PictureSet)
        assert len(other.pictures) == len(truth.pictures)
        assert back.tasks[id_].text == made.tasks[id_].text
        assert back.tasks[id_].labels["event_type"] == made.tasks[id_].labels["event_type"]


def test_each_stage_can_be_run_alone_and_gives_the_same(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = {path.name: path.read_bytes() for path in (workspace / "mine").glob("*.jsonl")}
    capsys.readouterr()
    for stage in ("parse", "associate", "graph", "queries", "check"):
        main(["mine", stage, str(workspace), *MODEL, "--json"])
        assert json.loads(capsys.readouterr().out)["stage"] == stage
    assert {path.name: path.read_bytes() for path in (workspace / "mine").glob("*.jsonl")} == kept


def test_a_stage_alone_remembers_how_the_project_was_made(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = {name: (workspace / "mine" / name).read_bytes() for name in ("queries.jsonl", "checked.jsonl")}
    for stage in ("queries", "check"):
        main(["mine", stage, str(workspace)])
    assert {name: (workspace / "mine" / name).read_bytes() for name in kept} == kept
    main(["mine", "assemble", str(workspace), "--out", str(tmp_path / "again")])
    assert "request" in capsys.readouterr().out
    again, made = read_benchmark(tmp_path / "again"), read_benchmark(workspace.parent / "bench")
    assert again.truth == made.truth and not validate_benchmark(tmp_path / "again")
    with pytest.raises(SystemExit) as ended:
        main(["mine", "check", str(workspace), "--project", str(tmp_path / "new")])
    assert ended.value.code == 2 and "sightline mine parse" in capsys.readouterr().err


def test_a_plan_spends_nothing(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    main(["mine", str(workspace), "--model", "openai/gpt-5-mini", "--plan", "--json"])
    plan = json.loads(capsys.readouterr().out)
    assert [stage["stage"] for stage in plan["stages"]] == [
        "mine-parse",
        "mine-associate",
        "mine-queries",
        "mine-check",
    ]
    assert plan["calls"] > 50 and plan["stages"][0]["usd"]["high"] > plan["stages"][0]["usd"]["low"] > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "builtin/world"], "--out BENCH"),
        (["--out", "b"], "No model is named"),
        (["--model", "builtin/world", "--out", "b", "--owners", "nobody"], 'no owner "nobody"'),
        (["--model", "builtin/world", "--out", "b", "--preset", "disbench"], "fewer than 2,000"),
    ],
)
def test_mistakes_end_with_the_fix(
    workspace: Path, tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    placed = [str(tmp_path / part) if part == "b" else part for part in arguments]
    with pytest.raises(SystemExit) as ended:
        main(["mine", str(workspace), *placed])
    assert ended.value.code == 2 and said in capsys.readouterr().err


def test_a_folder_of_pictures_is_scanned_into_a_workspace_elsewhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jpg").write_bytes(b"")
    with pytest.raises(SystemExit):
        main(["mine", str(tmp_path), "--out", str(tmp_path / "b"), *MODEL])
    assert f"sightline scan {tmp_path} --workspace WS, and name WS instead" in capsys.readouterr().err


def test_failures_are_in_the_json_of_a_stage(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    project = workspace.parent / "refused"
    with serving_in_thread(lambda _: respond_json(chat("", finish_reason="content_filter"))) as server:
        asked = ["--model", "vllm/seer", "--base-url", server.base_url, "--project", str(project)]
        main(["mine", "parse", str(workspace), *asked, "--json"])
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["read"] == 0 and sum(told["failures"].values()) == told["counts"]["pictures"]
    assert (project / "owners.jsonl").is_file()


@pytest.mark.parametrize("web", ["world:nowhere", "nonsense"])
def test_a_web_that_is_not_there_is_refused_before_anything_is_asked(
    workspace: Path, tmp_path: Path, web: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving_in_thread(lambda _: respond_json({"error": {"message": "no"}}, 400)) as server:
        asked = ["--model", "vllm/seer", "--base-url", server.base_url, "--out", str(tmp_path / "q")]
        with pytest.raises(SystemExit) as ended:
            main(["mine", "questions", str(workspace), "--web", web, *asked])
        assert ended.value.code == 2 and not server.requests
    assert "no drawn world" in capsys.readouterr().err or web == "nonsense"


@pytest.mark.parametrize("moment", ["before", "after", "never"])
def test_questions_appear_with_their_web_or_not_at_all(workspace: Path, tmp_path: Path, moment: str) -> None:
    life, out = workspace.parent / "life", (tmp_path / "questions").resolve()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(workspace), str(life), str(out), moment], check=False, capture_output=True
    )
    assert done.returncode == (0 if moment == "never" else -signal.SIGKILL), done.stderr.decode()
    if moment == "before":
        assert not out.exists()
    else:
        assert not validate_benchmark(out) and list(read_benchmark(out).tasks) == ["q"]
        assert (out / "world" / "life.json").read_bytes() == (life / "life.json").read_bytes()


def test_questions_are_mined_again_over_the_web_that_lies_with_them(workspace: Path, tmp_path: Path) -> None:
    life, out = workspace.parent / "life", (tmp_path / "questions").resolve()
    for web in (life, out):
        code = [sys.executable, "-c", KILLED, str(workspace), str(web), str(out), "never"]
        subprocess.run(code, check=True, capture_output=True)
        (out / "world" / "notes.txt").touch()
    assert {path.name for path in (out / "world").iterdir()} == {"life.json", "notes.txt"}
    assert (out / "world" / "life.json").read_bytes() == (life / "life.json").read_bytes()


def test_questions_about_other_pictures_are_left_as_they_are(
    workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, asked = Picture("a.jpg", "a.jpg"), {"q": Task("q", "answer", (PictureRef("a.jpg"), "Who?"))}
    theirs = Benchmark("out", Corpus("out", {"a.jpg": shown}), asked, {}, card={"mined": "questions"})
    theirs = write_benchmark(theirs, tmp_path / "out")
    with serving_in_thread(lambda _: respond_json(chat("{}"))) as server:
        model = ("--model", "vllm/seer", "--base-url", server.base_url)
        with pytest.raises(SystemExit) as ended:
            main(["mine", "questions", str(workspace), "--web", "nonsense", "--out", str(tmp_path / "out"), *model])
        assert ended.value.code == 2 and not server.requests
    assert 'holds another benchmark "out": 1 task of it' in capsys.readouterr().err
    assert read_benchmark(tmp_path / "out") == theirs


def test_questions_about_no_pictures_have_no_price(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "none").mkdir()
    main(["scan", str(tmp_path / "none"), "--workspace", str(tmp_path / "ws")])
    with pytest.raises(SystemExit) as ended:
        main(["mine", "questions", str(tmp_path / "ws"), "--web", "world:x", "--model", "builtin/world", "--plan"])
    assert ended.value.code == 2 and "no pictures" in capsys.readouterr().err
