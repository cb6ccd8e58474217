"""`steps`, `difficulty`, `split` and `ablate`, as a user types them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import models_server as wire
from reason.reason_tools import KEYS, answering, as_json, choose_bench, mixed_bench, number_of, reasoning
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.validation import validate_benchmark
from sightline.cli.app import main
from sightline.reason.difficulty.labels import DifficultySummary
from sightline.types import Choice
from sightline.types.task_table import Tasks


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIGHTLINE_WORKSPACE", str(tmp_path / "ws"))
    choose_bench(tmp_path / "bench", 4)
    return tmp_path


def test_steps(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(lambda received: as_json(reasoning(key=KEYS[number_of(received)]))) as server:
        asked = ("--model", "vllm/stub", "--base-url", server.base_url)
        main(["steps", "bench", *asked, "--out", "out"])
        assert "4 of 4 questions annotated" in capsys.readouterr().out
        main(["steps", "bench", *asked, "--out", "out", "--again", "--limit", "2", "--json"])
        said = json.loads(capsys.readouterr().out)
        assert (said["tasks"], said["annotated"], said["usd"]) == (2, 2, 0.0) and len(server.requests) == 4
    main(["steps", "out", "--check"])
    assert "2 of 4 questions have all five steps; 2 of these are in order" in capsys.readouterr().out


def test_a_check_that_finds_something_ends_with_4(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = reasoning(conclusion="It is so.", answer="B")
    with answering(lambda _: as_json(wrong)) as server:
        asked = ("--model", "vllm/stub", "--base-url", server.base_url, "--repairs", "0")
        main(["steps", "bench", *asked, "--out", "out", "--json"])
        assert json.loads(capsys.readouterr().out)["faults"] == {"conclusion": 3}
        main(["steps", "bench", *asked, "--out", "out"])
    assert "3 left to people: conclusion 3" in capsys.readouterr().out
    truth = (folder / "out" / "truth.jsonl").read_text().replace('"option":"B"', '"option":"C"')
    (folder / "out" / "truth.jsonl").write_text(truth)
    with pytest.raises(SystemExit) as ended:
        main(["steps", "out", "--check", "--json"])
    assert ended.value.code == 4
    told = capsys.readouterr()
    assert json.loads(told.out)["kinds"] == {"conclusion": 1} and "right option is C" in told.err


def test_what_people_mended_needs_no_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(lambda _: as_json(reasoning(key="A"))) as server:
        asked = ("--model", "vllm/stub", "--base-url", server.base_url, "--repairs", "0")
        main(["steps", "bench", *asked, "--out", "out"])
    review = folder / "out" / "steps-review.jsonl"
    rows = [json.loads(line) for line in review.read_text().splitlines()]
    lines = [json.dumps({**row, "reply": reasoning(key=KEYS[int(row["task"][1:])])}) for row in rows[:2]]
    (folder / "mended.jsonl").write_text("\n".join(lines))
    capsys.readouterr()
    main(["steps", "out", "--reviewed", "mended.jsonl", "--out", "out"])
    told = capsys.readouterr().out
    assert "2 taken from the review" in told and "1 left to people" in told and "call" not in told


def test_a_question_that_needs_mending_is_not_called_a_reply(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = read_benchmark("bench")
    asked = replace(made.tasks["q1"], prompt=("Question 1: which?<|im_end|>",))
    write_benchmark(replace(made, tasks=Tasks({**made.tasks, "q1": asked})), "bench")
    with answering(lambda received: as_json(reasoning(key=KEYS[number_of(received)]))) as server:
        main(["steps", "bench", "--model", "vllm/stub", "--base-url", server.base_url, "--out", "out"])
    told = capsys.readouterr().out
    assert "next: correct 1 question in the benchmark" in told and "correct the replies" not in told


def test_difficulty_and_split(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(lambda _: "Your option: A") as server:
        main(["difficulty", "bench", "--model", "vllm/stub", "--base-url", server.base_url, "--out", "out", "--json"])
        said = json.loads(capsys.readouterr().out)
        assert (said["easy"], said["hard"], said["calls"], said["saved"]) == (1, 3, 19, 21)
        main(["difficulty", "out", "--model", "vllm/stub", "--base-url", server.base_url, "--out", "out"])
        told = capsys.readouterr().out
        assert "1 easy, 3 hard of 4 questions, by samples" in told
        assert "next: sightline curriculum out" in told
        assert len(server.requests) == 19
    assert read_benchmark(folder / "out").tasks["q0"].labels["difficulty_given"] == ("medium",)
    main(["split", "out", "--out", "parts", "--parts", "train=3,test=1"])
    assert "train 3, test 1" in capsys.readouterr().out
    main(["split", "out", "--out", "parts", "--parts", "train=3,test=1", "--json"])
    assert json.loads(capsys.readouterr().out)["across"] == 0


@pytest.mark.parametrize(("verb", "reply"), [("difficulty", "Your option: A"), ("steps", as_json(reasoning()))])
def test_a_budget_ends_with_3_and_a_benchmark_that_holds(
    folder: Path, capsys: pytest.CaptureFixture[str], verb: str, reply: str
) -> None:
    (folder / "sightline.toml").write_text('[prices.models."vllm/stub"]\ninput = 1.0\noutput = 1000.0\n')
    with answering(lambda _: reply) as server:
        asked = (verb, "bench", "--model", "vllm/stub", "--base-url", server.base_url, "--out", "out")
        with pytest.raises(SystemExit) as ended:
            main([*asked, "--budget", "0.001usd", "--max-connections", "1"])
        assert ended.value.code == 3 and validate_benchmark(folder / "out") == ()
        before = len(server.requests)
        main([*asked, "--json"])
        done = json.loads(capsys.readouterr().out)
    assert before < 4 and done["tasks"] == 4 and done["usd"] > 0


def test_difficulty_of_a_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "bench", "--system", "oracle", "--out", "run"])
    capsys.readouterr()
    main(["difficulty", "bench", "--by", "run", "--run", "run", "--out", "out", "--json"])
    assert json.loads(capsys.readouterr().out)["easy"] == 4


def test_only_options_that_there_are_are_advised(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "bench", "--system", "oracle", "--out", "run"])
    made = read_benchmark("bench")
    write_benchmark(
        replace(made, tasks=Tasks({**made.tasks, "q0": replace(made.tasks["q0"], prompt=("Another?",))})), "changed"
    )
    write_benchmark(replace(made, name="other", truth={**made.truth, "q0": Choice("B")}), "other")
    for verb, advised in (("score {} run", True), ("difficulty {} --by run --run run --out out", False)):
        for place, said in (("changed", "another version"), ("other", 'on the benchmark "small", not on "other"')):
            capsys.readouterr()
            with pytest.raises(SystemExit) as ended:
                main(verb.format(place).split())
            told = capsys.readouterr().err
            assert ended.value.code == 2 and said in told
            assert ("--other-version" in told) is (advised and place == "changed")
    main(["score", "changed", "run", "--other-version"])


def test_difficulty_says_that_a_model_only_guesses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(lambda _: "Your option: A") as server:
        main(["difficulty", "bench", "--model", "vllm/stub", "--base-url", server.base_url, "--out", "out", "--json"])
    told = capsys.readouterr()
    assert "vllm/stub chooses A, whatever is asked" in told.err and "chooses A" in json.loads(told.out)["notes"][0]


def test_difficulty_sends_only_questions_with_options_to_a_curriculum() -> None:
    done = DifficultySummary(Path("out"), "samples", tasks=2, easy=1, hard=1, unmeasured={})
    assert "next: sightline curriculum" not in str(done)
    assert "next: sightline curriculum" in str(replace(done, choices=1))


def test_ablate(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(lambda _: "The final answer is: A.") as server:
        asked = ("--model", "vllm/stub", "--base-url", server.base_url, "--without", "one picture")
        main(["ablate", "bench", *asked, "--out", "arms"])
        told = capsys.readouterr().out
        assert "not shown to be needed" in told and "no better than guessing" in told
        main(["ablate", "bench", *asked, "--out", "arms", "--json"])
        assert json.loads(capsys.readouterr().out)["needed"] == {"one picture": False} and len(server.requests) == 8


def test_ablate_says_what_is_not_scored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mixed_bench(folder / "mixed", 4)
    main(["ablate", "mixed", "--model", "openai/gpt-5-mini", "--without", "one picture", "--plan", "--json"])
    said = capsys.readouterr()
    assert said.err == "note: not scored by accuracy, and so not asked: 1 task\n"
    assert json.loads(said.out)["calls"] == 8
    with answering(lambda _: "The final answer is: A.") as server:
        asked = ("--model", "vllm/stub", "--base-url", server.base_url, "--without", "one picture")
        main(["ablate", "mixed", *asked, "--out", "arms"])
    told = capsys.readouterr().out
    assert (
        "4 tasks, 4 of them with several" in told and "note: not scored by accuracy, and so not asked: 1 task" in told
    )
    assert "guessing     accuracy 0.25" in told and "no better than guessing" in told


def test_difficulty_says_what_was_cut_off(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cut = wire.respond_json(wire.chat("Let me see", finish_reason="length"))
    with answering(lambda _: cut) as server:
        main(["difficulty", "bench", "--model", "vllm/stub", "--base-url", server.base_url, "--out", "out"])
    said = capsys.readouterr()
    assert (
        "0 easy, 4 hard of 4" in said.out and "12 replies, 28 saved by an early stop, 12 unread (length 12)" in said.out
    )
    assert "without a reply" not in said.out
    assert "warning: 12 of 12 replies were cut off at the limit of 512 tokens" in said.err
    with answering(lambda _: "Your option: A") as server:
        line = ["difficulty", "bench", "--model", "vllm/stub", "--base-url", server.base_url, "--out", "out"]
        main([*line, "--max-tokens", "4000"])
        assert {request.json["max_tokens"] for request in server.requests} == {4000}
        assert {request.json["temperature"] for request in server.requests} == {0.7}
    assert "cut off" not in capsys.readouterr().err


def test_plans(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for verb, calls in (("steps", 4), ("difficulty", 40)):
        main([verb, "bench", "--model", "openai/gpt-5-mini", "--plan", "--json"])
        assert json.loads(capsys.readouterr().out)["calls"] == calls
    main(["difficulty", "bench", "--by", "judge", "--model", "openai/gpt-5-mini", "--plan"])
    assert "4 calls" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("steps", "bench", "--out", "out"), "No model is named"),
        (("steps", "bench", "--model", "vllm/stub"), "--out"),
        (("difficulty", "bench", "--model", "vllm/stub"), "--out"),
        (("difficulty", "bench", "--model", "vllm/stub", "--easy", "1.5", "--out", "out"), "1.5"),
        (("difficulty", "bench", "--by", "turns", "--out", "out"), "--run"),
        (
            ("difficulty", "bench", "--by", "run", "--run", "r", "--model", "a/b", "--out", "o"),
            "a/b would not be asked",
        ),
        (("difficulty", "bench", "--run", "r", "--model", "a/b", "--out", "o"), "does not look at --run r"),
        (("difficulty", "bench", "--by", "judge", "--model", "a/b", "--max-tokens", "9", "--out", "o"), "no samples"),
        (("split", "bench", "--out", "parts", "--parts", "train"), "name=share"),
        (("ablate", "bench", "--model", "vllm/stub", "--out", "arms", "--without", "sound"), 'no ablation "sound"'),
        (("ablate", "bench", "--model", "vllm/stub"), "--out FOLDER"),
    ],
)
def test_a_mistake_ends_with_its_fix(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 2 and message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("where", "said"),
    [("looks_of", "nothing was written to parts: run"), ("_part", "the split in parts is unfinished: run")],
)
def test_a_stop_from_the_keyboard_says_what_is_left(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], where: str, said: str
) -> None:
    def stopped(*_: object, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"sightline.reason.splits.{where}", stopped)
    with pytest.raises(SystemExit) as ended:
        main(["split", "bench", "--out", "parts", "--parts", "train=3,test=1"])
    told = capsys.readouterr().err
    assert ended.value.code == 130 and said in told and "kept" not in told
