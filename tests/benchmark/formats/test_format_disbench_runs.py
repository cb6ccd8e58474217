"""DISBench's predictions in every form, its evaluation files, its leaderboard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.formats.format_tools import exporting, importing
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.formats import FormatOptions
from sightline.benchmark.formats.disbench_evaluation import evaluate_run, leaderboard_row
from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.exchange import export_files, import_files
from sightline.runs.folder import read_run, write_run
from sightline.types import (
    Attempt,
    Benchmark,
    Corpus,
    Failure,
    Group,
    Picture,
    PictureSet,
    Prediction,
    Ranking,
    Run,
    Scope,
    Task,
    Text,
)
from sightline.types.task_table import Tasks

PREDICTIONS = "disbench-predictions"
SUBMISSION = "disbench-submission"
META = {
    "method_name": "Looker",
    "organization": "Us",
    "track": "standard",
    "agent_framework": "",
    "backbone_model": "m",
    "retriever_model": "r",
}


def benchmark() -> Benchmark:
    """Two users with photos 1 to 4; queries a and b of the first, c of the second, d with nothing to find."""
    owners = ("u@1", "u@2")
    pictures = {f"{owner}/{n}": Picture(f"{owner}/{n}", f"{owner}/{n}.jpg") for owner in owners for n in (1, 2, 3, 4)}
    groups = tuple(Group(owner, "owner", tuple(f"{owner}/{n}" for n in (1, 2, 3, 4))) for owner in owners)
    asked = {
        "a": ("u@1", "intra-event", (1, 2)),
        "b": ("u@1", "inter-event", (3,)),
        "c": ("u@2", "inter-event", (1, 4)),
    }
    tasks = {
        name: Task(name, "select", (name,), scope=Scope(owner=owner), labels={"event_type": (kind,)})
        for name, (owner, kind, _) in asked.items()
    }
    truth = {name: PictureSet(tuple(f"{owner}/{n}" for n in wanted)) for name, (owner, _, wanted) in asked.items()}
    return Benchmark("dis", Corpus("dis", pictures, groups), tasks, truth)


def lines(*rows: Any) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def read(path: Path, *rows: Any, **options: Any) -> Run:
    (path / "predictions.jsonl").write_bytes(lines(*rows))
    content = importing(PREDICTIONS, path, FormatOptions(**options)).content
    assert isinstance(content, Run)
    return content


def run(**said: Prediction) -> Run:
    return Run("dis", "looker", tuple(Attempt(task, prediction) for task, prediction in said.items()))


# --- in ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["prediction", "predictions", "answer", "photo_ids", "pred"])
def test_the_prediction_is_found_under_its_usual_names(tmp_path: Path, field: str) -> None:
    found = read(tmp_path, {"query_id": "a", field: ["1", "2"]}, benchmark=benchmark(), name="looker")
    assert found == run(a=PictureSet(("u@1/1", "u@1/2")))


def test_columns_can_be_mapped(tmp_path: Path) -> None:
    row = {"qid": "a", "prediction": ["9"], "chosen": ["1"]}
    found = read(tmp_path, row, columns={"query_id": "qid", "prediction": "chosen"}, benchmark=benchmark())
    assert found.attempts == (Attempt("a", PictureSet(("u@1/1",))),)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["1", "2"], PictureSet(("1", "2"))),
        ([], PictureSet(())),
        ([1, 2], PictureSet(("1", "2"))),
        ([["2", 0.9], ["1", 0.5]], Ranking(("2", "1"), (0.9, 0.5))),
        ([{"photo_id": "2", "score": 0.9}, {"photo_id": "1", "score": 0.5}], Ranking(("2", "1"), (0.9, 0.5))),
        ({"1": 0.5, "2": 0.9}, Ranking(("2", "1"), (0.9, 0.5))),
        ("The final answer is: [1, 2].", PictureSet(("1", "2"))),
        ("I saw [3]. Thus, **the final answer is: ['1', \"2\"]**. I looked at [4].", PictureSet(("1", "2"))),
        ("The final answer is: [3]. Wait. The final answer is: [\n1,\n2\n].", PictureSet(("1", "2"))),
        ("The final answer is: [].", PictureSet(())),
        ('["1", "2"]', PictureSet(("1", "2"))),
        ("The final answer is: nothing", Failure("unparsed", "no list of photo ids in: The final answer is: nothing")),
        ("I give up.", Failure("unparsed", "no list of photo ids in: I give up.")),
        (None, Failure("empty", "there is no prediction")),
    ],
)
def test_every_form_of_a_prediction(tmp_path: Path, value: Any, expected: Prediction) -> None:
    assert read(tmp_path, {"query_id": "a", "prediction": value}).attempts == (Attempt("a", expected),)


def test_rankings_from_plain_lists(tmp_path: Path) -> None:
    row = {"query_id": "a", "prediction": ["2", "1"]}
    assert read(tmp_path, row, extra={"mode": "retriever"}).attempts[0].prediction == Ranking(("2", "1"))
    scored = read(tmp_path, {**row, "scores": [0.9, 0.1]})
    assert scored.attempts[0].prediction == Ranking(("2", "1"), (0.9, 0.1))


@pytest.mark.parametrize(
    ("row", "field", "message"),
    [
        ({"prediction": ["1"]}, "query_id", "expected an id, but it is not there"),
        ({"query_id": "z", "prediction": ["1"]}, "query_id", '"z" is not a task of "dis"'),
        ({"query_id": "a"}, "prediction", "expected a list of photo ids under prediction or predictions or"),
        ({"query_id": "a", "prediction": 7}, "prediction", "expected a list of photo ids, got 7"),
        ({"query_id": "a", "prediction": ["1", None]}, "prediction.1", "expected a photo id, got None"),
        ({"query_id": "a", "prediction": [["1", "x"]]}, "prediction.0.1", "expected a number, got 'x'"),
        ({"query_id": "a", "prediction": [["1"]]}, "prediction.0", "expected a photo id and its score"),
        ({"query_id": "a", "prediction": {"1": None}}, "prediction.1", "expected a number, got None"),
        ({"query_id": "a", "prediction": ["1"], "scores": [1, 2]}, "scores", "expected a list of 1 numbers"),
        ({"query_id": "a", "prediction": ["1"], "attempt": -1}, "attempt", "expected a whole number from 0"),
    ],
)
def test_a_wrong_line_is_refused_with_its_place(tmp_path: Path, row: Any, field: str, message: str) -> None:
    with pytest.raises(ProblemsError) as refused:
        read(tmp_path, {"query_id": "b", "prediction": []}, row, benchmark=benchmark())
    (problem,) = refused.value.problems
    assert (problem.line, problem.field) == (2, field)
    assert message in problem.message


def test_a_query_answered_twice_needs_numbers(tmp_path: Path) -> None:
    row = {"query_id": "a", "prediction": ["1"]}
    with pytest.raises(ProblemsError, match='already on line 1; number repeated runs with "attempt"'):
        read(tmp_path, row, row)
    assert [attempt.number for attempt in read(tmp_path, row, {**row, "attempt": 1}).attempts] == [0, 1]


def test_what_counts_as_empty_or_wrong_is_said(tmp_path: Path) -> None:
    rows = [{"query_id": "a", "prediction": ["1", "99"]}, {"query_id": "b", "prediction": "no idea"}]
    (tmp_path / "predictions.jsonl").write_bytes(lines(*rows))
    imported = importing(PREDICTIONS, tmp_path, FormatOptions(benchmark=benchmark()))
    assert imported.warnings == (
        "1 prediction failed or could not be read; counted as empty",
        '1 query has no prediction; counted as empty: "c"',
        '1 predicted id is not in the query user\'s photos; counted as wrong: "99"',
    )
    assert isinstance(imported.content, Run)
    assert imported.content.attempts[0].prediction == PictureSet(("u@1/1", "99"))


def test_without_a_benchmark_ids_stay(tmp_path: Path) -> None:
    (tmp_path / "my_run.jsonl").write_bytes(lines({"query_id": "a", "prediction": ["1"]}))
    imported = importing(PREDICTIONS, tmp_path / "my_run.jsonl", FormatOptions())
    assert isinstance(imported.content, Run)
    assert (imported.content.system, imported.content.attempts[0].prediction) == ("my_run", PictureSet(("1",)))
    assert "with --benchmark they become picture ids" in imported.warnings[0]


# --- out ---------------------------------------------------------------------------------------------------


def written(path: Path, content: Run, **extra: str) -> tuple[list[Any], list[Any], Any]:
    exporting(PREDICTIONS, content, path, FormatOptions(benchmark=benchmark(), extra=extra))
    tables = [(path / name).read_bytes().splitlines() for name in ("predictions.jsonl", "eval_samples.jsonl")]
    first, second = ([orjson.loads(line) for line in table] for table in tables)
    return first, second, orjson.loads((path / "eval_summary.json").read_bytes())


def test_agent_mode(tmp_path: Path) -> None:
    said = run(a=PictureSet(("u@1/1", "u@1/3", "u@1/1")), b=PictureSet(("u@1/3",)), c=Failure("timeout", "too late"))
    predictions, samples, summary = written(tmp_path / "out", said)
    assert predictions == [
        {"query_id": "a", "prediction": ["1", "3", "1"]},
        {"query_id": "b", "prediction": ["3"]},
        {"query_id": "c", "prediction": [], "failure": {"kind": "timeout", "message": "too late"}},
    ]
    assert samples[0] == {
        "query_id": "a",
        "user_id": "u@1",
        "event_type": "intra-event",
        "prediction": ["1", "3", "1"],
        "answer": ["1", "2"],
        "EM": 0.0,
        "F1": 0.5,
        "Precision": 0.5,
        "Recall": 0.5,
        "IoU": pytest.approx(1 / 3),
        "status": "answered",
    }
    assert (samples[2]["EM"], samples[2]["status"], samples[2]["failure"]) == (0.0, "failed", "timeout")
    assert summary["mode"] == "agent" and summary["failures"] == {"timeout": 1}
    overall = summary["overall"]
    assert (overall["n"], overall["failures"]) == (3, 1)
    assert (overall["EM"], overall["F1"], overall["IoU"]) == (33.3333, 50.0, pytest.approx(100 * (4 / 3) / 3, abs=1e-4))
    assert overall["intervals"]["EM"][0] <= overall["EM"] <= overall["intervals"]["EM"][1]
    assert summary["by_event_type"]["inter-event"]["EM"] == 50.0
    assert summary["by_event_type"]["intra-event"]["Recall"] == 50.0


def test_retriever_mode(tmp_path: Path) -> None:
    said = run(
        a=Ranking(("u@1/1", "u@1/3", "u@1/2"), (0.9, 0.8, 0.7)),
        b=Ranking(("u@1/1", "u@1/3"), (0.9, 0.8)),
        c=Ranking(("u@2/4", "u@2/1"), (0.9, 0.8)),
    )
    predictions, samples, summary = written(tmp_path / "out", said)
    assert predictions[1] == {"query_id": "b", "prediction": ["1", "3"], "scores": [0.9, 0.8]}
    assert summary["mode"] == "retriever"
    # AP@3 of a: hits at ranks 1 and 3 of R = 2; AP@1 is normalised by min(1, R) = 1.
    assert samples[0]["MAP@3"] == pytest.approx((1 + 2 / 3) / 2)
    assert (samples[0]["MAP@1"], samples[0]["Recall@1"]) == (1.0, 0.5)
    overall = summary["overall"]
    assert overall["MAP@1"] == overall["NDCG@1"] == pytest.approx(66.6667)
    assert overall["Recall@1"] == pytest.approx(33.3333)
    assert set(overall) == {"n", "failures", "intervals"} | {
        f"{name}@{k}" for name in ("MAP", "Recall", "NDCG") for k in (1, 3, 5, 10)
    }


def test_the_mode_can_be_chosen_and_a_missing_prediction_is_reported(tmp_path: Path) -> None:
    _, samples, summary = written(tmp_path / "out", run(a=Ranking(("u@1/1", "u@1/2"))), mode="agent")
    assert summary["mode"] == "agent" and summary["failures"] == {"missing": 2}
    assert [sample["status"] for sample in samples] == ["answered", "missing", "missing"]
    assert (samples[1]["prediction"], samples[1]["F1"]) == ([], 0.0)
    with pytest.raises(UserError, match="choose from auto, agent, retriever"):
        written(tmp_path / "other", run(), mode="judge")


def test_predictions_alone_need_no_truth(tmp_path: Path) -> None:
    exporting(PREDICTIONS, run(a=PictureSet(("u@1/1",))), tmp_path / "p.jsonl", FormatOptions())
    assert orjson.loads((tmp_path / "p.jsonl").read_bytes()) == {"query_id": "a", "prediction": ["u@1/1"]}
    with pytest.raises(UserError, match="need the truth"):
        exporting(PREDICTIONS, run(), tmp_path / "out", FormatOptions())
    assert not (tmp_path / "out").exists()


def test_a_prediction_that_is_no_set_is_a_failure(tmp_path: Path) -> None:
    predictions, samples, _ = written(tmp_path / "out", run(a=Text("somewhere")))
    assert predictions[0]["failure"]["kind"] == "wrong-form"
    assert (samples[0]["status"], samples[0]["failure"], samples[0]["F1"]) == ("failed", "wrong-form", 0.0)


def test_only_select_tasks_are_evaluated(tmp_path: Path) -> None:
    both = benchmark()
    mixed = replace(both, tasks=Tasks({**both.tasks, "r": Task("r", "rank", ("r",))}))
    found = evaluate_run(mixed, run(a=PictureSet(("u@1/1", "u@1/2")), r=Ranking(("u@1/1",))))
    assert found.mode == "agent" and [row.task_id for row in found.scores.tasks] == ["a", "b", "c"]
    with pytest.raises(UserError, match="no select task"):
        evaluate_run(replace(both, tasks=Tasks({})), run())


def test_through_the_commands(tmp_path: Path) -> None:
    write_benchmark(benchmark(), tmp_path / "bench")
    known = read_benchmark(tmp_path / "bench")
    (tmp_path / "predictions.jsonl").write_bytes(lines({"query_id": "a", "prediction": "the final answer is [1, 2]"}))
    summary = import_files("disbench-predictions", tmp_path / "predictions.jsonl", tmp_path / "run", benchmark=known)
    assert summary.tasks == 1 and len(summary.warnings) == 1
    assert read_run(tmp_path / "run").benchmark_checksum == known.checksum
    export_files("disbench-predictions", tmp_path / "run", tmp_path / "out", benchmark=known)
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == {
        "predictions.jsonl",
        "eval_samples.jsonl",
        "eval_summary.json",
    }


ids = st.sampled_from(["u@1/1", "u@1/2", "u@1/3", "u@1/4", "unknown"])
sets = st.lists(ids, max_size=4).map(lambda names: PictureSet(tuple(names)))
rankings = st.lists(st.tuples(ids, st.floats(-5, 5)), min_size=1, max_size=4).map(
    lambda pairs: Ranking(tuple(name for name, _ in pairs), tuple(score for _, score in pairs))
)
failures = st.builds(Failure, st.text(min_size=1, max_size=5), st.text(max_size=5))
said = st.dictionaries(st.sampled_from(["a", "b"]), sets | rankings | failures, min_size=1)


@settings(deadline=None, max_examples=40)
@given(said)
def test_any_predictions_come_back_equal(predictions: dict[str, Prediction]) -> None:
    original = run(**predictions)
    with TemporaryDirectory() as temporary:
        path = Path(temporary) / "looker.jsonl"
        exporting(PREDICTIONS, original, path, FormatOptions(benchmark=benchmark()))
        assert importing(PREDICTIONS, path, FormatOptions(benchmark=benchmark())).content == original


# --- the leaderboard ---------------------------------------------------------------------------------------


def test_a_submission_names_every_query_and_comes_back(tmp_path: Path) -> None:
    made = run(a=PictureSet(("u@1/1", "u@1/1", "u@1/2")), c=Failure("timeout", "too late"))
    options = FormatOptions(benchmark=benchmark(), extra={**META, "url": "https://example.org"})
    exporting(SUBMISSION, made, tmp_path / "s.json", options)
    assert orjson.loads((tmp_path / "s.json").read_bytes()) == {
        "meta": {**META, "track": "Standard", "url": "https://example.org"},
        "predictions": {"a": ["1", "2"], "b": [], "c": []},
    }
    found = importing(SUBMISSION, tmp_path / "s.json", FormatOptions(benchmark=benchmark())).content
    assert isinstance(found, Run)
    assert (found.system, found.parameters["track"]) == ("Looker", "Standard")
    assert {attempt.task_id: attempt.prediction for attempt in found.attempts} == {
        "a": PictureSet(("u@1/1", "u@1/2")),
        "b": PictureSet(()),
        "c": PictureSet(()),
    }
    write_run(found, tmp_path / "run")
    assert read_run(tmp_path / "run") == found


def test_a_run_tells_what_a_submission_asks_for(tmp_path: Path) -> None:
    told: dict[str, Any] = {"kind": "agent", "model": "vllm/q@http://box:8000/v1", "embedder": "clip", "track": "Open"}
    made = replace(run(a=PictureSet(("u@1/1",))), parameters=told, versions={"sightline": "9.9"})
    options = FormatOptions(benchmark=benchmark(), extra={"organization": "Us", "method_name": "Looker"})
    exporting(SUBMISSION, made, tmp_path / "s.json", options)
    meta = {
        "method_name": "Looker",
        "organization": "Us",
        "track": "Open",
        "agent_framework": "Sightline 9.9",
        "backbone_model": "vllm/q",
        "retriever_model": "clip",
    }
    assert orjson.loads((tmp_path / "s.json").read_bytes())["meta"] == meta
    row = leaderboard_row(benchmark(), made, {})
    assert [row[name] for name in ("agent", "backbone", "retriever", "track")] == [*list(meta.values())[3:], "Open"]
    voted = replace(made, parameters={"kind": "vote", "vote_of": {"system": "a", "parameters": told}})
    exporting(SUBMISSION, voted, tmp_path / "v.json", options)
    assert orjson.loads((tmp_path / "v.json").read_bytes())["meta"]["backbone_model"] == "vllm/q"
    with pytest.raises(UserError, match=r"^a submission also needs organization\."):
        exporting(SUBMISSION, made, tmp_path / "w.json", FormatOptions(benchmark=benchmark()))


def test_a_submission_with_a_list_of_lines_is_read(tmp_path: Path) -> None:
    rows = [{"query_id": "a", "prediction": ["1"]}]
    (tmp_path / "s.json").write_bytes(orjson.dumps({"meta": {}, "predictions": rows}))
    found = importing(SUBMISSION, tmp_path / "s.json", FormatOptions(benchmark=benchmark())).content
    assert isinstance(found, Run) and found.attempts == (Attempt("a", PictureSet(("u@1/1",))),)
    (tmp_path / "s.json").write_bytes(orjson.dumps({"meta": {}, "predictions": ["a"]}))
    with pytest.raises(ProblemsError, match=r"predictions\.0: expected an object"):
        importing(SUBMISSION, tmp_path / "s.json", FormatOptions())
    (tmp_path / "s.json").write_bytes(b"[]")
    with pytest.raises(UserError, match="is not a submission"):
        importing(SUBMISSION, tmp_path / "s.json", FormatOptions())


def test_what_a_submission_lacks_is_named(tmp_path: Path) -> None:
    given_ = {"method_name": "Looker", "organization": "Us", "track": "Open", "backbone_model": "m"}
    with pytest.raises(UserError) as refused:
        exporting(SUBMISSION, run(), tmp_path / "s.json", FormatOptions(benchmark=benchmark(), extra=given_))
    assert refused.value.message == "a submission also needs agent_framework, retriever_model."
    assert "--option agent_framework=…" in (refused.value.fix or "")
    with pytest.raises(UserError, match='no track "Closed"'):
        exporting(
            SUBMISSION,
            run(),
            tmp_path / "s.json",
            FormatOptions(benchmark=benchmark(), extra={**META, "track": "Closed"}),
        )
    with pytest.raises(UserError, match="add --benchmark"):
        exporting(SUBMISSION, run(), tmp_path / "s.json", FormatOptions(extra=META))
    with pytest.raises(UserError, match="is a ranking; a submission holds sets"):
        options = FormatOptions(benchmark=benchmark(), extra=META)
        exporting(SUBMISSION, run(a=Ranking(("u@1/1",))), tmp_path / "s.json", options)
    assert not (tmp_path / "s.json").exists()


def test_a_row_of_the_leaderboard() -> None:
    made = run(a=PictureSet(("u@1/1", "u@1/3")), b=PictureSet(("u@1/3",)))
    assert leaderboard_row(benchmark(), made, {**META, "date": "2026-11-15"}) == {
        "method": "Looker",
        "url": "",
        "org": "Us",
        "agent": "",
        "backbone": "m",
        "retriever": "r",
        "track": "standard",
        "date": "2026-11-15",
        "overall_em": 33.3,
        "overall_f1": 50.0,
        "intra_em": 0.0,
        "intra_f1": 50.0,
        "inter_em": 50.0,
        "inter_f1": 50.0,
    }


def test_a_slice_without_queries_has_no_number() -> None:
    one = benchmark()
    only = replace(one, tasks=Tasks({"a": one.tasks["a"]}), truth={"a": one.truth["a"]})
    row = leaderboard_row(only, run(a=PictureSet(("u@1/1",))), META)
    assert (row["inter_em"], row["inter_f1"]) == (None, None)
