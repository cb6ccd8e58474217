"""A benchmark gets steps: asked, repaired, left to people, taken back from them; nothing is asked twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import models_server as wire
from reason.reason_tools import answering, as_json, choose_bench, number_of, pictures, reasoning, words
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.validation import validate_benchmark
from sightline.calls.session import CallOptions, Session
from sightline.errors import StoppedError, UserError
from sightline.io.jsonl import LineError, read_jsonl, write_jsonl
from sightline.reason.difficulty.pipeline import measure_by_judge, measure_by_samples
from sightline.reason.difficulty.sampling import SamplingSettings
from sightline.reason.questions import QuestionWork
from sightline.reason.steps.annotation import StepSettings
from sightline.reason.steps.pipeline import annotate_benchmark, check_steps, price_steps
from sightline.reason.steps.summary import LONGEST, REVIEW
from sightline.types import Choice, Option, PictureRef
from sightline.types.task_table import Tasks

MODEL = "vllm/stub"
RIGHT = "ABCD"


def work(folder: Path, server: wire.Server, **asking: Any) -> QuestionWork:
    options = CallOptions(base_url=server.base_url, **asking)
    return QuestionWork(folder / "bench", Session(folder / "ws", calls=options))


def key(received: wire.Received) -> str:
    return RIGHT[number_of(received) % 4]


def good(received: wire.Received) -> str:
    return as_json(reasoning(key=key(received)))


def test_a_benchmark_gets_steps_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 4)
    with answering(good) as server:
        done = annotate_benchmark(work(tmp_path, server), StepSettings(MODEL), tmp_path / "out")
        assert (done.annotated, done.left, done.repaired, done.told, done.calls) == (4, 0, 0, 0, 4)
        first = server.requests[0]
        assert len(pictures(first)) == 2 and "[picture 2] " in words(first)
        assert "The right answer is" not in words(first)
        annotate_benchmark(work(tmp_path, server), StepSettings(MODEL), tmp_path / "out")
        assert len(server.requests) == 4
        made = read_benchmark(tmp_path / "out")
        truth = made.truth["q1"]
        assert isinstance(truth, Choice) and truth.option == "B" and len(truth.steps) == 6
        assert made.tasks["q1"].extra["steps"] == {"by": MODEL, "calls": 1, "told": False}
        assert validate_benchmark(tmp_path / "out") == () and not (tmp_path / "out" / REVIEW).exists()
        checked = check_steps(tmp_path / "out")
        assert checked.complete == 4 and not checked.faults
        kept = annotate_benchmark(
            QuestionWork(tmp_path / "out", Session(tmp_path / "ws", calls=CallOptions(base_url=server.base_url))),
            StepSettings(MODEL),
            tmp_path / "out",
        )
        assert (kept.kept, kept.annotated, len(server.requests)) == (4, 0, 4)


def test_faults_are_named_to_the_model_and_a_wrong_conclusion_tells_the_answer(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 3)

    def say(received: wire.Received) -> str:
        number, turns = number_of(received), len(received.json["messages"])
        if number == 0 and turns == 1:
            return as_json(reasoning(captions=[{"picture": 1, "text": "Blobs."}]))
        if number == 1 and turns == 1:
            return as_json(reasoning(key="D"))
        if number == 2 and turns == 1:
            return "no JSON at all"
        return good(received)

    with answering(say) as server:
        done = annotate_benchmark(work(tmp_path, server), StepSettings(MODEL), tmp_path / "out")
        said = "\n".join(words(each) for each in server.requests if len(each.json["messages"]) > 1)
    assert (done.annotated, done.repaired, done.told, done.left) == (3, 3, 1, 0)
    assert "picture 2 has no captions" in said and "the right option is B" in said
    assert read_benchmark(tmp_path / "out").tasks["q1"].extra["steps"] == {"by": MODEL, "calls": 2, "told": True}


def test_what_remains_goes_to_people_and_comes_back(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 3)

    def say(received: wire.Received) -> str | wire.Answer:
        match number_of(received):
            case 0:
                return as_json(reasoning(key="D"))
            case 1:
                return wire.respond_json({"error": {"message": "no"}}, 400)
            case _:
                return good(received)

    with answering(say) as server:
        done = annotate_benchmark(work(tmp_path, server), StepSettings(MODEL, repairs=1), tmp_path / "out")
        assert (done.annotated, done.left) == (1, 2)
        assert dict(done.faults) == {"conclusion": 1} and sum(done.failures.values()) == 1
        asked = len(server.requests)
        rows = {row["task"]: row for _, row in read_jsonl(tmp_path / "out" / REVIEW)}
        assert rows["q0"]["faults"][0]["kind"] == "conclusion" and rows["q0"]["calls"] == 2
        assert rows["q0"]["pictures"] == ["q0-0.png", "q0-1.png"] and rows["q1"]["reply"] is None
        assert read_benchmark(tmp_path / "out").truth["q0"] == Choice("A")
        rows["q0"]["reply"] = reasoning(key="A")
        write_jsonl(tmp_path / "mended.jsonl", rows.values())
        again = annotate_benchmark(
            work(tmp_path, server), StepSettings(MODEL, repairs=1), tmp_path / "out", reviewed=tmp_path / "mended.jsonl"
        )
    assert (again.reviewed, again.annotated, again.left) == (1, 1, 1)
    assert len(server.requests) <= asked + 1  # A refused request may be asked again; no answered one is.
    made = read_benchmark(tmp_path / "out")
    truth = made.truth["q0"]
    extra: Any = made.tasks["q0"].extra
    assert isinstance(truth, Choice) and truth.steps and extra["steps"]["by"] == "people"


def test_a_review_is_read_with_the_place_of_what_is_wrong(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 1)
    path = tmp_path / "mended.jsonl"
    with answering(good) as server:
        for row, message in (
            ({"task": "q9", "reply": None}, "no task 'q9'"),
            ({"task": "q0", "reply": {"summary": "x"}}, "reply.captions"),
        ):
            write_jsonl(path, [row])
            with pytest.raises(LineError, match=message):
                annotate_benchmark(work(tmp_path, server), StepSettings(MODEL), tmp_path / "out", reviewed=path)
        assert not server.requests


def test_a_stop_in_the_middle_keeps_what_came_before(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 4)
    broken = True

    def say(received: wire.Received) -> str | wire.Answer:
        if broken and number_of(received) >= 2:
            return wire.respond_json({"error": {"message": "the account is empty"}}, 402)
        return good(received)

    with answering(say) as server:
        with pytest.raises((StoppedError, UserError)):
            annotate_benchmark(work(tmp_path, server), StepSettings(MODEL), tmp_path / "out")
        halfway = read_benchmark(tmp_path / "out")
        known = [name for name, truth in halfway.truth.items() if isinstance(truth, Choice) and truth.steps]
        broken = False
        done = annotate_benchmark(work(tmp_path, server), StepSettings(MODEL), tmp_path / "out")
        answered = [number_of(each) for each in server.requests]
    assert set(known) <= {"q0", "q1"} and done.annotated == 4
    assert all(answered.count(int(name[1:])) == 1 for name in known)


def test_a_plan_asks_nobody_and_a_benchmark_without_questions_is_refused(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 3)
    plain = QuestionWork(tmp_path / "bench", Session(tmp_path / "ws"))
    plan = price_steps(plain, StepSettings("openai/gpt-5-mini"))
    assert plan.stages[0].calls == 3 and plan.usd is not None and plan.usd.high > 0
    choose_bench(tmp_path / "none", 0)
    with pytest.raises(UserError, match="no answer or choose tasks"):
        check_steps(tmp_path / "none")


def test_the_answer_is_told_from_the_beginning_when_asked_to(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 1)
    with answering(good) as server:
        done = annotate_benchmark(work(tmp_path, server), StepSettings(MODEL, tell_answer=True), tmp_path / "out")
        assert done.told == 1 and "The right answer is A." in words(server.requests[0])


def test_what_people_mended_is_taken_without_asking_anybody(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 4)
    with answering(lambda received: as_json(reasoning(key="A"))) as server:
        annotate_benchmark(work(tmp_path, server), StepSettings(MODEL, repairs=0), tmp_path / "out")
    out = QuestionWork(tmp_path / "out", Session(tmp_path / "ws"))
    rows = {row["task"]: row for _, row in read_jsonl(tmp_path / "out" / REVIEW)}
    assert sorted(rows) == ["q1", "q2", "q3"]
    rows["q1"]["reply"] = reasoning(key="B")
    rows["q2"]["reply"] = reasoning(key="C", summary="")
    write_jsonl(tmp_path / "mended.jsonl", rows.values())
    with pytest.raises(UserError, match="has steps that"):
        annotate_benchmark(QuestionWork(tmp_path / "bench", Session(tmp_path / "ws")), None, tmp_path / "out")
    done = annotate_benchmark(out, None, tmp_path / "out", reviewed=tmp_path / "mended.jsonl")
    assert (done.reviewed, done.kept, done.left, done.calls) == (1, 1, 2, 0)
    truth = read_benchmark(tmp_path / "out").truth
    assert [bool(one.steps) for one in truth.values() if isinstance(one, Choice)] == [True, True, False, False]
    still = {row["task"]: row for _, row in read_jsonl(tmp_path / "out" / REVIEW)}
    assert sorted(still) == ["q2", "q3"]
    assert still["q2"]["reply"]["conclusion"] == rows["q2"]["reply"]["conclusion"], "what people wrote is not lost"
    assert [fault["kind"] for fault in still["q2"]["faults"]] == ["missing"]


def test_the_review_shows_which_picture_is_which(tmp_path: Path) -> None:
    made = choose_bench(tmp_path / "bench", 1)
    options = (Option("A", (PictureRef("q0-1.png"),)), Option("B", ("neither ", PictureRef("q0-0.png"))))
    tasks = {"q0": replace(made.tasks["q0"], prompt=("Question 0: ", PictureRef("q0-0.png"), " or?"), options=options)}
    write_benchmark(replace(made, tasks=Tasks(tasks)), tmp_path / "bench", force=True)
    with answering(lambda received: as_json(reasoning(key="B"))) as server:
        annotate_benchmark(work(tmp_path, server), StepSettings(MODEL, repairs=0), tmp_path / "out")
    ((_, row),) = read_jsonl(tmp_path / "out" / REVIEW)
    assert row["question"] == "Question 0: [picture 1] or?"
    assert row["options"] == {"A": "[picture 2]", "B": "neither [picture 1]"}
    assert row["pictures"] == ["q0-0.png", "q0-1.png"]


def test_faults_are_told_by_questions(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 2)
    with answering(lambda received: as_json(reasoning(summary="", captions=[], key=key(received)))) as server:
        done = annotate_benchmark(work(tmp_path, server), StepSettings(MODEL, repairs=0), tmp_path / "out")
    assert done.left == 2 and done.faults["captions"] == 2 and done.faults["missing"] == 2


def test_a_place_where_it_cannot_go_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    made = choose_bench(tmp_path / "bench", 2)
    write_benchmark(replace(made, name="another"), tmp_path / "another")
    choose_bench(tmp_path / "larger", 3)  # Of the same name, with a question of its own.
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    with answering(good) as server:
        for out in ("another", "larger", "full", "file", "file/below"):
            with pytest.raises(UserError):
                annotate_benchmark(work(tmp_path, server), StepSettings(MODEL), tmp_path / out)
            with pytest.raises(UserError):
                measure_by_samples(work(tmp_path, server), SamplingSettings(MODEL), tmp_path / out)
            with pytest.raises(UserError):
                measure_by_judge(work(tmp_path, server), MODEL, tmp_path / out)
        assert not server.requests
    assert read_benchmark(tmp_path / "another").name == "another"
    assert len(read_benchmark(tmp_path / "larger").tasks) == 3


def test_checking_looks_at_the_question_too(tmp_path: Path) -> None:
    made = choose_bench(tmp_path / "bench", 2)
    with answering(good) as server:
        annotate_benchmark(work(tmp_path, server), StepSettings(MODEL), tmp_path / "out")
    assert check_steps(tmp_path / "out").faults == {}
    found = read_benchmark(tmp_path / "out")
    asked = replace(found.tasks["q0"], prompt=(*made.tasks["q0"].prompt, " <image>"))
    write_benchmark(replace(found, tasks=Tasks({**found.tasks, "q0": asked})), tmp_path / "out")
    assert check_steps(tmp_path / "out").kinds == {"placeholder": 1}


def test_a_reply_that_nearly_fits_is_kept_for_people(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 3)
    near = {name: value for name, value in reasoning().items() if name != "conclusion"}
    said = ("no JSON at all", as_json(near), f'{{"summary": "x" "captions": {as_json(near["captions"])}}} and more')
    with answering(lambda received: said[number_of(received)]) as server:
        done = annotate_benchmark(work(tmp_path, server), StepSettings(MODEL, repairs=1), tmp_path / "out")
    assert (done.left, dict(done.faults)) == (3, {"schema": 3})
    rows = {row["task"]: row for _, row in read_jsonl(tmp_path / "out" / REVIEW)}
    assert all(row["reply"] is None for row in rows.values())
    assert [rows[f"q{n}"]["said"] for n in range(3)] == [said[0], near, said[2]], "not an object within a broken one"
    assert 'move it to "reply"' in rows["q1"]["next"]
    # One line is mended and the only one given: the others stay as they are, though nobody is asked.
    mended = {**rows["q1"], "reply": {**rows["q1"]["said"], "conclusion": "It is B.", "answer": "B"}}
    write_jsonl(tmp_path / "mended.jsonl", [mended])
    out = QuestionWork(tmp_path / "out", Session(tmp_path / "ws"))
    again = annotate_benchmark(out, None, tmp_path / "out", reviewed=tmp_path / "mended.jsonl")
    assert (again.reviewed, again.left) == (1, 2)
    assert {row["task"]: row for _, row in read_jsonl(tmp_path / "out" / REVIEW)} == {
        "q0": rows["q0"],
        "q2": rows["q2"],
    }


def test_an_endless_reply_that_does_not_fit_is_cut(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 1)
    with answering(lambda _: "word " * 10_000) as server:
        annotate_benchmark(work(tmp_path, server), StepSettings(MODEL, repairs=0), tmp_path / "out")
    ((_, row),) = read_jsonl(tmp_path / "out" / REVIEW)
    assert len(row["said"]) == LONGEST + 1 and row["said"].endswith("…")


def test_a_truth_that_is_no_option_is_left_to_people_and_costs_nothing(tmp_path: Path) -> None:
    made = choose_bench(tmp_path / "bench", 2)
    write_benchmark(replace(made, truth={**made.truth, "q0": Choice("Z")}), tmp_path / "bench")
    with answering(good) as server:
        done = annotate_benchmark(work(tmp_path, server), StepSettings(MODEL), tmp_path / "out")
        assert [number_of(each) for each in server.requests] == [1]
    assert (done.annotated, done.left, done.unasked, dict(done.faults)) == (1, 1, 1, {"options": 1})
    ((_, row),) = read_jsonl(tmp_path / "out" / REVIEW)
    assert row["task"] == "q0" and "correct the question itself" in row["next"] and "said" not in row
    plan = price_steps(QuestionWork(tmp_path / "bench", Session(tmp_path / "ws")), StepSettings("openai/gpt-5-mini"))
    assert plan.stages[0].calls == 1
