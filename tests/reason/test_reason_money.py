"""What think, steps and difficulty say they cost is what the ledger says, also for calls that failed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import models_server as wire
from reason.reason_tools import answering, as_json, choose_bench, number_of, reasoning
from reason.think_tools import ONE, things, work_of
from sightline.calls.ledger import read_ledger
from sightline.calls.session import CallOptions, Session
from sightline.config import Config
from sightline.reason.difficulty.pass_rate import BucketRule
from sightline.reason.difficulty.pipeline import measure_by_judge, measure_by_samples
from sightline.reason.difficulty.sampling import SamplingSettings
from sightline.reason.questions import QuestionWork
from sightline.reason.steps.annotation import StepSettings as StepsSettings
from sightline.reason.steps.pipeline import annotate_benchmark
from sightline.reason.traces.pipeline import TraceWork as Thinking
from sightline.reason.traces.pipeline import make_traces
from sightline.reason.traces.records import Teacher
from sightline.reason.traces.teachers import TraceSettings as ThinkSettings

MODEL = "vllm/priced"
PRICED = Config.model_validate({"prices": {"models": {MODEL: {"input": 1000.0, "output": 2000.0}}}})


def cut_off(text: str) -> wire.Answer:
    return wire.respond_json(wire.chat(text, finish_reason="length"))


def work(folder: Path, server: wire.Server) -> QuestionWork:
    return QuestionWork(folder / "bench", Session(folder / "ws", PRICED, CallOptions(base_url=server.base_url)))


def spent(folder: Path) -> float:
    total = read_ledger(folder / "ws").total
    assert total.unpriced == 0 and total.usd > 0
    return total.usd


def by_samples(folder: Path, server: wire.Server) -> float:
    rule = BucketRule(3, 0.7, early=False)
    return measure_by_samples(work(folder, server), SamplingSettings(MODEL, rule), folder / "out").usd


def by_judge(folder: Path, server: wire.Server) -> float:
    return measure_by_judge(work(folder, server), MODEL, folder / "out").usd


def by_steps(folder: Path, server: wire.Server) -> float:
    return annotate_benchmark(work(folder, server), StepsSettings(MODEL), folder / "out").usd


def say(received: wire.Received) -> str | wire.Answer:
    """One question is answered, one cut off, one in no form; for steps, samples and judges alike."""
    match number_of(received):
        case 0:
            return as_json({**reasoning(key="A"), "grade": 2, "reason": "Your option: A"})
        case 1:
            return cut_off("so far")
        case _:
            return "no JSON at all"


@pytest.mark.parametrize("verb", [by_samples, by_judge, by_steps])
def test_what_failed_is_counted_once(verb: Callable[[Path, wire.Server], float], tmp_path: Path) -> None:
    choose_bench(tmp_path / "bench", 3)
    with answering(say) as server:
        first = verb(tmp_path, server)
        assert first == pytest.approx(spent(tmp_path))
        asked = len(server.requests)
        again = verb(tmp_path, server)
        assert len(server.requests) > asked or again == 0.0
    assert first + again == pytest.approx(spent(tmp_path))


def test_think_counts_cut_off_empty_and_malformed_replies_and_the_verifier(tmp_path: Path) -> None:
    def script(received: wire.Received) -> wire.Answer:
        said = wire.chat(ONE.format("a dog"))
        match received.json["model"]:
            case "cut":
                said = wire.chat("A dog stands", finish_reason="length")
            case "empty":
                said = wire.chat("<think>I only think of it.</think>")
            case "judge":
                said = wire.chat("no JSON")
        return wire.respond_json(said)

    names = ("whole", "cut", "empty")
    prices = {f"vllm/{name}": {"input": 1000.0, "output": 2000.0} for name in (*names, "judge")}
    config = Config.model_validate({"prices": {"models": prices}})
    teachers = tuple(Teacher(f"vllm/{name}") for name in names)
    settings = ThinkSettings(teachers, verifier=Teacher("vllm/judge"))
    with wire.serving_in_thread(script) as server:
        asking = CallOptions(base_url=server.base_url)
        plain = work_of(things(["dog"]), settings, tmp_path)
        thinking = Thinking(plain.source, settings, Session(tmp_path / "ws", config, asking))
        done = make_traces(thinking, tmp_path / "out", format_="jsonl")
    ledger = read_ledger(tmp_path / "ws").total
    assert done.usd == pytest.approx(ledger.usd) and done.unpriced == ledger.unpriced == 0
    assert all(teacher.output > 0 for teacher in done.teachers)
