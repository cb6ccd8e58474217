"""A benchmark gets steps: asked, repaired, left to people, taken back from them; nothing is asked twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from reason_tools import answering, as_json, choose_bench, number_of, pictures, reasoning, words

import models_server as wire
from sightline import bench
from sightline.errors import StoppedError, UserError
from sightline.io import LineError, read_jsonl, write_jsonl
from sightline.models.asking import Asking
from sightline.reason.asking import Work
from sightline.reason.steps.annotating import Settings
from sightline.reason.steps.making import REVIEW, annotate_benchmark, check_steps, price_steps
from sightline.types import Choice

MODEL = "vllm/stub"
RIGHT = "ABCD"


def work(folder: Path, server: wire.Server, **asking: object) -> Work:
    return Work(folder / "bench", folder / "ws", asking=Asking(base_url=server.base_url, **asking))  # type: ignore[arg-type]


def key(received: wire.Received) -> str:
    return RIGHT[number_of(received) % 4]


def good(received: wire.Received) -> str:
    return as_json(reasoning(key=key(received)))


def test_a_benchmark_gets_steps_and_nothing_is_asked_twice(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 4)
    with answering(good) as server:
        done = annotate_benchmark(work(tmp_path, server), Settings(MODEL), tmp_path / "out")
        assert (done.annotated, done.left, done.repaired, done.told, done.calls) == (4, 0, 0, 0, 4)
        first = server.requests[0]
        assert len(pictures(first)) == 2 and "[picture 2] " in words(first)
        assert "The right answer is" not in words(first)
        annotate_benchmark(work(tmp_path, server), Settings(MODEL), tmp_path / "out")
        assert len(server.requests) == 4
        made = bench.read(tmp_path / "out")
        truth = made.truth["q1"]
        assert isinstance(truth, Choice) and truth.option == "B" and len(truth.steps) == 6
        assert made.tasks["q1"].extra["steps"] == {"by": MODEL, "calls": 1, "told": False}
        assert bench.validate(tmp_path / "out") == () and not (tmp_path / "out" / REVIEW).exists()
        checked = check_steps(Work(tmp_path / "out", tmp_path / "ws"))
        assert checked.complete == 4 and not checked.faults
        kept = annotate_benchmark(
            Work(tmp_path / "out", tmp_path / "ws", asking=Asking(base_url=server.base_url)),
            Settings(MODEL),
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
        done = annotate_benchmark(work(tmp_path, server), Settings(MODEL), tmp_path / "out")
        said = "\n".join(words(each) for each in server.requests if len(each.json["messages"]) > 1)
    assert (done.annotated, done.repaired, done.told, done.left) == (3, 3, 1, 0)
    assert "picture 2 has no captions" in said and "the right option is B" in said
    assert bench.read(tmp_path / "out").tasks["q1"].extra["steps"] == {"by": MODEL, "calls": 2, "told": True}


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
        done = annotate_benchmark(work(tmp_path, server), Settings(MODEL, repairs=1), tmp_path / "out")
        assert (done.annotated, done.left) == (1, 2)
        assert dict(done.faults) == {"conclusion": 1} and sum(done.failures.values()) == 1
        asked = len(server.requests)
        rows = {row["task"]: row for _, row in read_jsonl(tmp_path / "out" / REVIEW)}
        assert rows["q0"]["faults"][0]["kind"] == "conclusion" and rows["q0"]["calls"] == 2
        assert rows["q0"]["pictures"] == ["q0-0.png", "q0-1.png"] and rows["q1"]["reply"] is None
        assert bench.read(tmp_path / "out").truth["q0"] == Choice("A")
        rows["q0"]["reply"] = reasoning(key="A")
        write_jsonl(tmp_path / "mended.jsonl", rows.values())
        again = annotate_benchmark(
            work(tmp_path, server), Settings(MODEL, repairs=1), tmp_path / "out", reviewed=tmp_path / "mended.jsonl"
        )
    assert (again.reviewed, again.annotated, again.left) == (1, 1, 1)
    assert len(server.requests) <= asked + 1  # A refused request may be asked again; no answered one is.
    made = bench.read(tmp_path / "out")
    truth = made.truth["q0"]
    assert isinstance(truth, Choice) and truth.steps and made.tasks["q0"].extra["steps"]["by"] == "people"


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
                annotate_benchmark(work(tmp_path, server), Settings(MODEL), tmp_path / "out", reviewed=path)
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
            annotate_benchmark(work(tmp_path, server), Settings(MODEL), tmp_path / "out")
        halfway = bench.read(tmp_path / "out")
        known = [name for name, truth in halfway.truth.items() if isinstance(truth, Choice) and truth.steps]
        broken = False
        done = annotate_benchmark(work(tmp_path, server), Settings(MODEL), tmp_path / "out")
        answered = [number_of(each) for each in server.requests]
    assert set(known) <= {"q0", "q1"} and done.annotated == 4
    assert all(answered.count(int(name[1:])) == 1 for name in known)


def test_a_plan_asks_nobody_and_a_benchmark_without_questions_is_refused(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 3)
    plain = Work(tmp_path / "bench", tmp_path / "ws")
    plan = price_steps(plain, Settings("openai/gpt-5-mini"))
    assert plan.stages[0].calls == 3 and plan.usd is not None and plan.usd.high > 0
    choose_bench(tmp_path / "none", 0)
    with pytest.raises(UserError, match="no answer or choose tasks"):
        check_steps(Work(tmp_path / "none", tmp_path / "ws"))


def test_the_answer_is_told_from_the_beginning_when_asked_to(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 1)
    with answering(good) as server:
        done = annotate_benchmark(work(tmp_path, server), Settings(MODEL, tell_answer=True), tmp_path / "out")
        assert done.told == 1 and "The right answer is A." in words(server.requests[0])
