"""inspect_ai logs: a run out and back, hand-made and damaged ones in, and the real inspect_ai on both sides."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.formats.format_tools import exporting, importing, put, run_in
from sightline.benchmark.formats import FormatOptions
from sightline.benchmark.problems import ProblemsError
from sightline.errors import MissingExtraError, UserError
from sightline.io.files import sha256_of
from sightline.metrics.evaluation import evaluate
from sightline.types import Attempt, Benchmark, Choice, Failure, LedgerEntry, PictureSet, Ranking, Run, Text, Trace

CREATED = {"created": "2026-11-15T10:00"}


@pytest.fixture(scope="module")
def runs(sampled: Benchmark) -> dict[str, Run]:
    from sightline_world.samples import sample_runs

    return {run.system: run for run in sample_runs(sampled)}


@pytest.fixture(scope="module")
def weak(runs: dict[str, Run]) -> Run:
    """A run with predictions of every form, and failures."""
    run = runs["sample-weak"]
    forms = {type(attempt.prediction) for attempt in run.attempts}
    assert {Ranking, PictureSet, Text, Choice, Trace, Failure} <= forms
    return run


def twice(run: Run) -> Run:
    again = tuple(replace(attempt, number=1) for attempt in run.attempts)
    return replace(run, attempts=tuple(pair for both in zip(run.attempts, again, strict=True) for pair in both))


def in_order(run: Run) -> list[Attempt]:
    return sorted(run.attempts, key=lambda attempt: (attempt.task_id, attempt.number))


# --- out and back ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_a_run_comes_back(sampled: Benchmark, weak: Run, tmp_path: Path, suffix: str) -> None:
    file = exporting("inspect", weak, tmp_path / f"log{suffix}", FormatOptions(benchmark=sampled, extra=CREATED))
    found = run_in("inspect", file, FormatOptions(benchmark=sampled))
    assert found.attempts == weak.attempts
    assert (found.system, found.benchmark, found.seed) == (weak.system, weak.benchmark, weak.seed)
    assert found.parameters == weak.parameters
    assert [entry.tokens_out for entry in found.ledger] == [entry.tokens_out for entry in weak.ledger]
    assert [entry.usd for entry in found.ledger] == [entry.usd for entry in weak.ledger]
    assert [entry.tokens_in for entry in found.ledger] == [
        entry.tokens_in + entry.tokens_image for entry in weak.ledger
    ]


def test_attempts_are_epochs_and_their_calls_only_in_the_totals(sampled: Benchmark, weak: Run, tmp_path: Path) -> None:
    file = exporting("inspect", twice(weak), tmp_path / "log.eval", FormatOptions(benchmark=sampled))
    found = run_in("inspect", file)
    assert in_order(found) == in_order(twice(weak))
    (total,) = found.ledger
    assert total.task_id is None
    assert total.tokens_out == sum(entry.tokens_out for entry in weak.ledger)


def test_scores_and_estimates_are_ours(sampled: Benchmark, weak: Run, tmp_path: Path) -> None:
    file = exporting("inspect", weak, tmp_path / "log.json", FormatOptions(benchmark=sampled))
    log = json.loads(file.read_text())
    scores = evaluate(sampled, weak)
    for sample, row in zip(log["samples"], scores.tasks, strict=True):
        expected = {metric: value for metric, value in row.values.items() if value is not None}
        assert {metric: score["value"] for metric, score in sample["scores"].items()} == expected
    for score in log["results"]["scores"]:
        estimate = scores.overall[score["name"]]
        assert {name: metric["value"] for name, metric in score["metrics"].items()} == {
            "mean": estimate.mean,
            "low": estimate.low,
            "high": estimate.high,
        }
        assert score["metadata"]["failures"] == estimate.failures
    failed = [sample for sample in log["samples"] if "error" in sample]
    assert len(failed) == sum(isinstance(attempt.prediction, Failure) for attempt in weak.attempts)
    assert failed[0]["error"]["message"].startswith(("timeout: ", "refusal: "))


def test_pictures_stand_by_their_paths(sampled: Benchmark, weak: Run, tmp_path: Path) -> None:
    file = exporting("inspect", weak, tmp_path / "log.json", FormatOptions(benchmark=sampled))
    samples = {sample["id"]: sample for sample in json.loads(file.read_text())["samples"]}
    content = samples["choose-02"]["input"][0]["content"]
    assert [part["type"] for part in content] == ["text", "image", "text"]
    assert Path(content[1]["image"]).is_file()
    assert samples["choose-02"]["choices"] == [option.text for option in sampled.tasks["choose-02"].options]
    truth = sampled.truth["choose-02"]
    assert isinstance(truth, Choice) and samples["choose-02"]["target"] == truth.option
    assert isinstance(samples["rank-01"]["input"], str)


def test_the_same_run_gives_the_same_bytes(sampled: Benchmark, weak: Run, tmp_path: Path) -> None:
    options = FormatOptions(benchmark=sampled, extra=CREATED)
    files = [exporting("inspect", weak, tmp_path / name, options) for name in ("a.eval", "b.eval")]
    assert sha256_of(files[0]) == sha256_of(files[1])


def test_the_limit_is_on_tasks(sampled: Benchmark, weak: Run, tmp_path: Path) -> None:
    file = exporting("inspect", twice(weak), tmp_path / "log.eval", FormatOptions(benchmark=sampled, limit=3))
    assert len(run_in("inspect", file).attempts) == 6
    assert len(run_in("inspect", file, FormatOptions(limit=2)).attempts) == 4


def test_what_can_not_be_written_is_said(sampled: Benchmark, weak: Run, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds the questions too") as caught:
        exporting("inspect", weak, tmp_path / "log.eval")
    assert "--benchmark" in str(caught.value.fix)
    with pytest.raises(UserError, match=r"end the name in \.eval or \.json"):
        exporting("inspect", weak, tmp_path / "log", FormatOptions(benchmark=sampled))
    with pytest.raises(UserError, match="is not a time"):
        exporting("inspect", weak, tmp_path / "log.eval", FormatOptions(benchmark=sampled, extra={"created": "soon"}))
    assert list(tmp_path.iterdir()) == []


# --- logs of others ----------------------------------------------------------------------------------------


def sample(name: str | int, completion: str = "", **more: Any) -> dict[str, Any]:
    return {"id": name, "epoch": 1, "input": "?", "target": "", "output": {"completion": completion}, **more}


def log_of(*samples: Any, **header: Any) -> str:
    spec = {"task": "maths", "model": "openai/gpt-x", "packages": {"inspect_ai": "0.3"}}
    return json.dumps({"version": 2, "status": "success", "eval": spec, "samples": samples, **header})


def test_every_form_of_reply_is_understood(tmp_path: Path) -> None:
    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Par"}, {"type": "text", "text": "is"}]
    samples = (
        sample("a", "ANSWER: B", choices=["3", "4"]),
        sample(7, "free text"),
        sample("b", output={"choices": [{"message": {"role": "assistant", "content": parts}}]}),
        sample("c", "attachment://abc", attachments={"abc": "a long text"}),
        sample("d", error={"message": "it broke", "traceback": "..."}),
        sample("e", limit={"type": "time", "limit": 60}),
        sample("f", output={"completion": "", "error": "content filter"}),
        sample(
            "g", "x", epoch=2, scores={"match": {"value": "C"}}, model_usage={"m": {"input_tokens": 5}}, total_time=2
        ),
    )
    run = run_in("inspect", put(tmp_path / "log.json", log_of(*samples).replace('"C"', "NaN")))
    assert (run.system, run.benchmark, run.versions) == ("openai/gpt-x", "maths", {"inspect_ai": "0.3"})
    assert {attempt.task_id: attempt.prediction for attempt in run.attempts} == {
        "a": Choice("B", "parsed"),
        "7": Text("free text"),
        "b": Text("Paris"),
        "c": Text("a long text"),
        "d": Failure("error", "it broke"),
        "e": Failure("limit", "stopped by the limit on time"),
        "f": Failure("empty", "content filter"),
        "g": Text("x"),
    }
    assert run.attempts[-1].number == 1
    assert run.ledger == (LedgerEntry("run", "m", "g", tokens_in=5, seconds=2.0),)


def test_the_benchmark_says_how_to_read_a_reply(sampled: Benchmark, tmp_path: Path) -> None:
    pictures = list(sampled.corpus.pictures)[:2]
    samples = (
        sample("rank-01", json.dumps(pictures)),
        sample("select-01", json.dumps(pictures)),
        sample("select-02", "I found none."),
        sample("describe-01", "<think>A dog.</think> It barks."),
        sample("elsewhere", "x"),
    )
    file = put(tmp_path / "log.json", log_of(*samples))
    imported = importing("inspect", file, FormatOptions(benchmark=sampled, name="mine"))
    run = imported.content
    assert isinstance(run, Run)
    assert (run.system, run.benchmark, run.benchmark_checksum) == ("mine", sampled.name, sampled.checksum)
    assert [attempt.prediction for attempt in run.attempts] == [
        Ranking(tuple(pictures)),
        PictureSet(tuple(pictures)),
        Failure("unreadable", "expected a JSON list of picture ids, got 'I found none.'"),
        Trace("A dog.", "It barks."),
        Text("x"),
    ]
    assert imported.warnings == ('1 task is not in the benchmark: "elsewhere"',)


def test_an_evaluation_that_was_stopped_is_read_as_far_as_it_went(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as file:
        file.writestr("_journal/start.json", json.dumps({"version": 2, "eval": {"task": "t", "model": "m"}}))
        file.writestr("samples/a_epoch_1.json", json.dumps(sample("a", "x")))
    imported = importing("inspect", tmp_path / "log.eval")
    assert imported.warnings == ('the evaluation ended with "started": samples may be missing',)
    assert isinstance(imported.content, Run) and len(imported.content.attempts) == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"epoch": 1}, "samples.1.id: expected the sample's id"),
        (5, "samples.1.id: expected the sample's id"),
        (sample("b", epoch=0), "samples.1.epoch: expected a number from 1, got 0"),
        (sample("a", "again"), 'samples.1: task "a" has attempt 0 already'),
    ],
)
def test_a_wrong_sample_is_refused_or_left_out(tmp_path: Path, wrong: Any, message: str) -> None:
    file = put(tmp_path / "log.json", log_of(sample("a", "x"), wrong, sample("z", "y")))
    with pytest.raises(ProblemsError) as caught:
        importing("inspect", file)
    assert f"log.json, {message}" in str(caught.value)
    imported = importing("inspect", file, FormatOptions(keep_going=True))
    assert len(imported.problems) == 1 and isinstance(imported.content, Run)
    assert [attempt.task_id for attempt in imported.content.attempts] == ["a", "z"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nonsense", b"[]"])
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    for name in ("log.eval", "log.json"):
        with pytest.raises(UserError):
            importing("inspect", put(tmp_path / name, content))


def test_a_zip_without_a_log_or_with_a_bomb_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as file:
        file.writestr("x.txt", "x")
    with pytest.raises(UserError, match=r"has no header\.json"):
        importing("inspect", tmp_path / "log.eval")
    with zipfile.ZipFile(tmp_path / "bomb.eval", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps({"eval": {}}))
        file.writestr("samples/a_epoch_1.json", "{}")
    claimed = (tmp_path / "bomb.eval").read_bytes()
    at = claimed.rindex(b"PK\x01\x02")  # The directory's entry of the sample: its size is 24 bytes further on.
    put(tmp_path / "bomb.eval", claimed[: at + 24] + (0xFFFFFFF0).to_bytes(4, "little") + claimed[at + 28 :])
    with pytest.raises(UserError, match="4,294,967,280 bytes are too many"):
        importing("inspect", tmp_path / "bomb.eval")


# --- the real inspect_ai -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_the_real_reader_reads_ours(sampled: Benchmark, weak: Run, tmp_path: Path, suffix: str) -> None:
    log = pytest.importorskip("inspect_ai.log", reason="the interop extra has the real reader")
    file = exporting("inspect", twice(weak), tmp_path / f"log{suffix}", FormatOptions(benchmark=sampled, extra=CREATED))
    found = log.read_eval_log(str(file))
    assert found.status == "success" and found.eval.model == weak.system
    assert len(found.samples) == 2 * len(weak.attempts)
    assert len(log.read_eval_log_sample_summaries(str(file))) == len(found.samples)
    one = log.read_eval_log_sample(str(file), "choose-02", 2)
    truth = sampled.truth["choose-02"]
    assert isinstance(truth, Choice)
    assert one.target == truth.option and one.output.completion in "ABC"
    scores = evaluate(sampled, twice(weak))
    assert {score.name: score.metrics["mean"].value for score in found.results.scores} == {
        metric: estimate.mean for metric, estimate in scores.overall.items()
    }
    failures = sum(isinstance(attempt.prediction, Failure) for attempt in weak.attempts)
    assert sum(sample.error is not None for sample in found.samples) == 2 * failures
    assert found.stats.model_usage[weak.system].output_tokens == sum(entry.tokens_out for entry in weak.ledger)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".eval", ".json"])
def test_we_read_what_the_real_writer_wrote(sampled: Benchmark, weak: Run, tmp_path: Path, suffix: str) -> None:
    log = pytest.importorskip("inspect_ai.log", reason="the interop extra has the real writer")
    ours = exporting("inspect", twice(weak), tmp_path / "ours.eval", FormatOptions(benchmark=sampled))
    log.write_eval_log(log.read_eval_log(str(ours)), str(tmp_path / f"theirs{suffix}"))
    found = run_in("inspect", tmp_path / f"theirs{suffix}", FormatOptions(benchmark=sampled))
    assert in_order(found) == in_order(twice(weak))


@pytest.mark.slow
def test_a_real_evaluation_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inspect_ai = pytest.importorskip("inspect_ai", reason="the interop extra has the real tool")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    replies = [ModelOutput.from_content("mockllm/model", f"ANSWER: {key}") for key in "BA"]
    for reply in replies:  # Without it the tool would count tokens, with a table from the network.
        reply.usage = ModelUsage(input_tokens=5, output_tokens=2, total_tokens=7)
    questions = [Sample(id=name, input="?", target="B", choices=["3", "4"]) for name in ("q1", "q2")]
    (log,) = inspect_ai.eval(
        inspect_ai.Task(dataset=questions, solver=multiple_choice(), scorer=choice()),
        model=get_model("mockllm/model", custom_outputs=replies),
        log_dir=str(tmp_path),
        log_format="eval",
        display="none",
        max_samples=1,
    )
    assert log.status == "success"
    (file,) = tmp_path.glob("*.eval")
    try:
        run = run_in("inspect", file)
    except MissingExtraError:
        pytest.skip("the log is compressed with zstd, and pyarrow is not installed")
    assert run.attempts == (Attempt("q1", Choice("B", "parsed")), Attempt("q2", Choice("A", "parsed")))
    assert [(entry.model, entry.tokens_in, entry.tokens_out) for entry in run.ledger] == [("mockllm/model", 5, 2)] * 2
