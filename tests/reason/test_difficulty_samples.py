"""Questions asked several times: what passes, when it stops, what is kept; nothing is asked twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import models_server as wire
from reason.reason_tools import KEYS, answering, as_json, choose_bench, number_of, pictures, words
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.validation import validate_benchmark
from sightline.calls.session import CallOptions, Session
from sightline.errors import StoppedError, UserError
from sightline.reason.difficulty.pass_rate import BucketRule, TriedQuestion, about_guessing
from sightline.reason.difficulty.pipeline import measure_by_judge, measure_by_samples, price_judge, price_samples
from sightline.reason.difficulty.sampling import PRESETS, SamplingSettings, counted, is_right
from sightline.reason.questions import QuestionWork, TaskQuestion, questions_of
from sightline.types import Answer, ChatReply, Choice, Failure, Partial, Task

MODEL = "vllm/stub"


def work(folder: Path, server: wire.Server) -> QuestionWork:
    return QuestionWork(folder / "bench", Session(folder / "ws", calls=CallOptions(base_url=server.base_url)))


def question(key: str = "A") -> TaskQuestion:
    from sightline.types import Option

    options = tuple(Option(each, (f"way {each.lower()}",)) for each in KEYS)
    return TaskQuestion(Task("q", "choose", ("Which?",), options), Choice(key), {})


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("Your option: A\nReason: it is the first.", True),  # What MIR asks for, and its own pattern reads as nothing.
        ("Options considered carefully.\nYour option: A", True),  # Which it reads as "s".
        ("your option: (a)", True),
        ("Option: B", False),
        ("Options considered: none of them is sure.", False),
    ],
)
def test_replies_are_read_by_the_parser_of_score(reply: str, right: bool) -> None:
    assert is_right(question(), reply) is right


def test_what_is_counted() -> None:
    came: list[ChatReply | Failure] = [
        ChatReply("Your option: A"),
        ChatReply("Your option: B"),
        ChatReply("hm"),
        Failure("timeout", "late"),
    ]
    found = counted(question(), came)
    assert (found.passes, found.replies) == (1, 3)
    assert found.options == {"A": 1, "B": 1, "unread": 1} and found.failures == {"timeout": 1}
    assert found.unfinished == {}
    free = TaskQuestion(Task("q", "answer", ("How far?",)), Answer("12 km"), {})
    assert counted(free, [ChatReply("The final answer is: 12 kilometres.")]).passes == 1


@pytest.mark.parametrize("kind", ["length", "endless", "repetition", "empty", "refused"])
def test_a_reply_that_came_without_an_answer_did_not_pass(kind: str) -> None:
    """Though what was said before the cut would be right: `run` counts it as zero, too."""
    cut = Failure(kind, "cut", partial=Partial("Your option: A\nReason: it"))
    came: list[ChatReply | Failure] = [cut, ChatReply("Your option: A"), Failure("timeout", "late")]
    found = counted(question(), came)
    assert (found.passes, found.replies, found.right) == (1, 2, (False, True))
    assert found.options == {"A": 1, "unread": 1} and found.unfinished == {kind: 1} and found.failures == {"timeout": 1}
    free = TaskQuestion(Task("q", "answer", ("How far?",)), Answer("12 km"), {})
    assert counted(free, [cut]).options == {"unread": 1}


@pytest.mark.parametrize("kind", ["content-filter", "timeout", "server-error", "rate-limited", "connection"])
def test_a_call_that_brought_no_reply_of_the_model_is_no_sample(kind: str) -> None:
    found = counted(question(), [Failure(kind, "lost")])
    assert found.replies == 0 and found.failures == {kind: 1} and found.unfinished == {}


def test_what_a_model_can_not_finish_is_hard(tmp_path: Path) -> None:
    """Of ten samples, three say the right option and seven are cut off: 0.3, and asked only once."""
    choose_bench(tmp_path / "bench", 2)
    asked = Counter[int]()

    def say(received: wire.Received) -> str | wire.Answer:
        number = number_of(received)
        asked[number] += 1
        whole = f"Your option: {KEYS[number]}"
        cut = wire.respond_json(wire.chat("Let me look at each of", finish_reason="length"))
        return whole if asked[number] <= 3 else cut

    settings = SamplingSettings(MODEL, BucketRule(early=False))
    with answering(say) as server:
        done = measure_by_samples(work(tmp_path, server), settings, tmp_path / "out")
        again = measure_by_samples(work(tmp_path, server), settings, tmp_path / "out")
        assert len(server.requests) == 20
    assert (done.easy, done.hard, done.calls, done.unread) == (0, 2, 20, 14)
    assert done.unfinished == {"length": 14} and done.failures == {}
    assert done.notes == (
        "14 of 20 replies were cut off at the limit of 512 tokens: they are samples that did not pass; "
        "give a model that thinks more room: --max-tokens",
    )
    assert (again.hard, again.unfinished, again.usd) == (2, {"length": 14}, 0.0)
    kept: Any = read_benchmark(tmp_path / "out").tasks["q0"].extra["difficulty"]
    assert isinstance(kept, dict) and kept["pass_rate"] == 0.3
    assert kept["samples"]["samples"] == 10 and kept["samples"]["unfinished"] == {"length": 7}
    assert kept["samples"]["options"] == {"A": 3, "unread": 7}


def test_what_a_model_never_finishes_is_soon_clear(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 1)
    cut = wire.respond_json(wire.chat("Let me look at each of", finish_reason="length"))
    with answering(lambda _: cut) as server:
        done = measure_by_samples(work(tmp_path, server), SamplingSettings(MODEL), tmp_path / "out")
        assert len(server.requests) == 3
    assert (done.hard, done.calls, done.saved, dict(done.unmeasured)) == (1, 3, 7, {})


def test_of_how_many_questions_samples_are_missing_is_said(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 3)
    asked = Counter[int]()

    def say(received: wire.Received) -> str | wire.Answer:
        number = number_of(received)
        asked[number] += 1
        if number == 0 or (number == 1 and asked[number] <= 2):
            return wire.respond_json({"error": {"message": "the picture is too large"}}, 400)
        return f"Your option: {KEYS[number]}"

    settings = SamplingSettings(MODEL, BucketRule(samples=4))
    with answering(say) as server:
        done = measure_by_samples(work(tmp_path, server), settings, tmp_path / "out")
        again = measure_by_samples(work(tmp_path, server), settings, tmp_path / "out")
    assert dict(done.unmeasured) == {"no reply": 1}
    assert done.notes[0].startswith("1 question has fewer than 4 samples (the fewest 2), for calls brought no reply")
    assert not any("fewer than" in note for note in again.notes)
    kept: Any = read_benchmark(tmp_path / "out").tasks["q1"].extra["difficulty"]
    assert isinstance(kept, dict) and kept["samples"]["samples"] == 4 and "no_reply" not in kept["samples"]


def test_difficulty_is_kept_on_the_task_and_samples_are_asked_once(tmp_path: Path) -> None:
    """Question n is right in 10, 8, 6, 0 of ten samples."""
    choose_bench(tmp_path / "bench", 4)
    right, asked = (10, 8, 6, 0), Counter[int]()

    def say(received: wire.Received) -> str:
        number = number_of(received)
        asked[number] += 1
        wrong = KEYS[(number + 1) % 4]
        return f"Your option: {KEYS[number] if asked[number] <= right[number] else wrong}"

    with answering(say) as server:
        done = measure_by_samples(work(tmp_path, server), SamplingSettings(MODEL), tmp_path / "out")
        assert asked == {0: 10, 1: 10, 2: 10, 3: 3}  # Nothing in three is clearly hard.
        body = server.requests[0].json
        assert (body["temperature"], body["top_p"], body["max_tokens"], body["repetition_penalty"]) == (
            0.7,
            0.8,
            512,
            1.05,
        )
        assert "Your option: X" in words(server.requests[0]) and len(pictures(server.requests[0])) == 2
        again = measure_by_samples(work(tmp_path, server), SamplingSettings(MODEL), tmp_path / "out")
        assert len(server.requests) == 33
    assert (done.easy, done.hard, done.calls, done.saved, dict(done.unmeasured)) == (2, 2, 33, 7, {})
    assert (again.easy, again.hard, again.usd) == (2, 2, 0.0)
    assert done.by_subtask == {"kind 0": {"easy": 1, "hard": 1}, "kind 1": {"easy": 1, "hard": 1}}
    tasks: Any = read_benchmark(tmp_path / "out").tasks
    assert [tasks[f"q{n}"].labels["difficulty"] for n in range(4)] == [("easy",), ("easy",), ("hard",), ("hard",)]
    assert tasks["q1"].labels["difficulty_given"] == ("medium",)
    kept: Any = tasks["q1"].extra["difficulty"]
    assert isinstance(kept, dict) and kept["pass_rate"] == 0.8 and kept["given"] == 0.5
    figures = kept["samples"]
    assert isinstance(figures, dict) and (figures["passes"], figures["samples"], figures["by"]) == (8, 10, MODEL)
    assert figures["low"] < 0.8 < figures["high"] and figures["options"] == {"B": 8, "C": 2}
    assert tasks["q3"].extra["difficulty"]["samples"]["stopped_early"] is True
    assert validate_benchmark(tmp_path / "out") == ()


def test_failures_are_no_samples(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 2)

    def say(received: wire.Received) -> str | wire.Answer:
        if number_of(received) == 0:
            return wire.respond_json({"error": {"message": "the picture is too large"}}, 400)
        return "Your option: B"

    with answering(say) as server:
        settings = SamplingSettings(MODEL, BucketRule(samples=4))
        done = measure_by_samples(work(tmp_path, server), settings, tmp_path / "out")
    assert (done.easy, done.hard, dict(done.unmeasured)) == (1, 0, {"no reply": 1})
    assert sum(done.failures.values()) == 4
    assert "difficulty" not in read_benchmark(tmp_path / "out").tasks["q0"].labels


def test_a_stop_leaves_what_is_known_and_the_next_run_asks_only_the_rest(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 2)
    empty = True

    def say(received: wire.Received) -> str | wire.Answer:
        if empty and number_of(received) == 1:
            return wire.respond_json({"error": {"message": "the account is empty"}}, 402)
        return f"Your option: {KEYS[number_of(received)]}"

    with answering(say) as server:
        with pytest.raises((StoppedError, UserError)):
            measure_by_samples(work(tmp_path, server), SamplingSettings(MODEL), tmp_path / "out")
        before = sum(number_of(each) == 0 for each in server.requests)
        assert (tmp_path / "out" / "benchmark.json").is_file()
        empty = False
        done = measure_by_samples(work(tmp_path, server), SamplingSettings(MODEL), tmp_path / "out")
        after = sum(number_of(each) == 0 for each in server.requests)
    assert done.easy == 2 and before <= 10 and after == 10


def test_a_question_that_is_not_reached_keeps_only_what_was_measured(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 2)
    with answering(lambda _: "Your option: A") as server:
        first = replace(work(tmp_path, server), limit=1)
        measure_by_samples(first, SamplingSettings(MODEL), tmp_path / "out")
        labels = {name: task.labels for name, task in read_benchmark(tmp_path / "out").tasks.items()}
        assert labels["q0"]["difficulty"] == ("easy",) and "difficulty" not in labels["q1"]
        assert labels["q1"]["difficulty_given"] == ("medium",)
        whole = replace(work(tmp_path, server), source=tmp_path / "out")
        measure_by_samples(whole, SamplingSettings(MODEL), tmp_path / "out")
        measure_by_samples(replace(whole, limit=1), SamplingSettings(MODEL), tmp_path / "out")
    labels = {name: task.labels for name, task in read_benchmark(tmp_path / "out").tasks.items()}
    assert labels["q1"]["difficulty"] == ("hard",) and labels["q1"]["difficulty_given"] == ("medium",)


def test_questions_with_too_many_pictures_are_left_out_by_mirs_preset(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 1, pictures=21)
    with answering(lambda _: "Your option: A") as server:
        done = measure_by_samples(work(tmp_path, server), SamplingSettings(MODEL), tmp_path / "out")
        assert dict(done.unmeasured) == {"too-many-pictures": 1} and not server.requests
        own = SamplingSettings(MODEL, BucketRule(samples=1), PRESETS["own"])
        assert measure_by_samples(work(tmp_path, server), own, tmp_path / "out").easy == 1
        assert "temperature" not in server.requests[0].json


def test_a_server_that_takes_no_repetition_penalty_is_sent_none() -> None:
    mir = PRESETS["mir"]
    assert mir.parameters("openai/gpt-5-mini")["extra"] == {} and "1.05" in mir.notes("openai/gpt-5-mini")[0]
    assert mir.parameters("vllm/qwen")["extra"] == {"repetition_penalty": 1.05} and mir.notes("vllm/qwen") == ()


def test_plans_ask_nobody(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 3)
    plain = QuestionWork(tmp_path / "bench", Session(tmp_path / "ws"))
    assert price_samples(plain, SamplingSettings("openai/gpt-5-mini")).stages[0].calls == 30
    assert price_judge(plain, "openai/gpt-5-mini").stages[0].calls == 3


def test_a_judge_grades_without_knowing_the_answer(tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 3)

    def say(received: wire.Received) -> str:
        return as_json({"grade": (1, 2, 4)[number_of(received)], "reason": "Small differences."})

    with answering(say) as server:
        done = measure_by_judge(work(tmp_path, server), MODEL, tmp_path / "out")
        assert len(server.requests) == 3 and "answer is" not in words(server.requests[0])
    assert (done.easy, done.hard, done.calls) == (2, 1, 3)
    kept: Any = read_benchmark(tmp_path / "out").tasks["q2"].extra["difficulty"]
    assert isinstance(kept, dict) and kept["judge"]["grade"] == 4 and "pass_rate" not in kept


def test_pictures_are_found_wherever_the_benchmark_goes(tmp_path: Path) -> None:
    made = choose_bench(tmp_path / "bench", 1)
    (asked,) = questions_of(made, tmp_path / "bench", ["choose"])
    assert all(picture.uri.startswith("file://") for picture in asked.pictures.values())
    with answering(lambda _: "Your option: A") as server:
        settings = SamplingSettings(MODEL, BucketRule(samples=1))
        measure_by_samples(work(tmp_path, server), settings, tmp_path / "deep" / "down" / "out")
        moved = replace(work(tmp_path, server), source=tmp_path / "deep" / "down" / "out")
        measure_by_samples(moved, settings, tmp_path / "third")
        assert len(server.requests) == 1  # The same pictures, so the same call.
    assert validate_benchmark(tmp_path / "third") == ()


def test_a_truth_that_is_no_option_is_not_measured_and_costs_nothing(tmp_path: Path) -> None:
    made = choose_bench(tmp_path / "bench", 2)
    write_benchmark(replace(made, truth={**made.truth, "q0": Choice("Z")}), tmp_path / "bench")
    with answering(lambda _: "Your option: B") as server:
        done = measure_by_samples(work(tmp_path, server), SamplingSettings(MODEL), tmp_path / "out")
        assert {number_of(each) for each in server.requests} == {1}
    assert (done.easy, done.hard, dict(done.unmeasured), dict(done.failures)) == (1, 0, {"no-right-option": 1}, {})
    assert "difficulty" not in read_benchmark(tmp_path / "out").tasks["q0"].labels
    (note,) = done.notes
    assert '1 question was not asked: the truth of "q0"' in note
    assert (
        price_samples(QuestionWork(tmp_path / "bench", Session(tmp_path / "ws")), SamplingSettings("openai/gpt-5-mini"))
        .stages[0]
        .calls
        == 10
    )


def tried(rates: list[float], chosen: str = "") -> list[TriedQuestion]:
    """Questions whose right options go round; each answer is `chosen`, or a letter of its own."""
    asked = [question(KEYS[number % 4]) for number in range(len(rates))]
    return [
        TriedQuestion(one.task, one.truth, rate, {chosen or KEYS[number % 4]: 10})
        for number, (one, rate) in enumerate(zip(asked, rates, strict=True))
    ]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (tried([1.0, 0.0, 0.0, 0.0] * 3, chosen="A"), "chooses A, whatever is asked"),
        (tried([0.3] * 24), "right in 0.30 of its answers, and guessing in 0.25"),
        (tried([0.6] * 24), None),
        (tried([0.3] * 2000), None),  # So many tell a little from nothing.
        (tried([0.0] * 3), None),  # So few say nothing.
        ([TriedQuestion(Task("q", "answer", ("How far?",)), Answer("12 km"), 0.0)] * 9, None),
        ([TriedQuestion(question("A").task, Choice(said), 1.0, {"A": 10}) for said in "AAaA"], None),  # All are right.
    ],
)
def test_who_only_guesses_is_told_of(made: list[TriedQuestion], said: str | None) -> None:
    notes = about_guessing("it", made)
    assert len(notes) == (said is not None) and (said is None or said in notes[0])


def test_a_rate_that_an_early_stop_does_not_bend() -> None:
    asked = [ChatReply("Your option: A")] + [ChatReply("Your option: B")] * 5
    found = counted(question(), asked)
    assert found.first_rate(BucketRule()) == 1 / 3 and found.first_rate(BucketRule(samples=1)) == 1.0
    assert counted(question(), []).first_rate(BucketRule()) == 0.0
