"""lm-eval and lmms-eval samples: a run out and back, theirs in, and the real lm-eval on both sides."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmark.formats.format_tools import exporting, importing, put, run_in
from sightline.benchmark.formats import FormatOptions
from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.metrics.evaluation import evaluate
from sightline.types import Attempt, Benchmark, Choice, Corpus, Failure, Option, PictureSet, Run, Task, Text

CREATED = {"created": "2026-11-15T10:00"}
DATE = "2026-11-15T10-00-00.000000"


@pytest.fixture(scope="module")
def weak(sampled: Benchmark) -> Run:
    from sightline_world.samples import sample_runs

    return sample_runs(sampled)[-1]


def twice(run: Run) -> Run:
    again = tuple(replace(attempt, number=1) for attempt in run.attempts)
    return replace(run, attempts=tuple(pair for both in zip(run.attempts, again, strict=True) for pair in both))


def samples(path: Path, *rows: Any) -> Path:
    return put(path, "".join(json.dumps(row) + "\n" for row in rows))


# --- out and back ------------------------------------------------------------------------------------------


def test_a_run_comes_back(sampled: Benchmark, weak: Run, tmp_path: Path) -> None:
    folder = exporting("lm-eval", weak, tmp_path / "out", FormatOptions(benchmark=sampled, extra=CREATED))
    assert sorted(path.name for path in folder.iterdir()) == [
        f"results_{DATE}.json",
        f"samples_samples_{DATE}.jsonl",
    ]
    found = run_in("lm-eval", folder, FormatOptions(benchmark=sampled))
    assert (found.system, found.benchmark, found.attempts) == (weak.system, weak.benchmark, weak.attempts)
    assert run_in("lm-eval", folder, FormatOptions(benchmark=sampled, columns={"id": "id"})) == found


def test_attempts_are_repeats(sampled: Benchmark, weak: Run, tmp_path: Path) -> None:
    folder = exporting("lm-eval", twice(weak), tmp_path / "out", FormatOptions(benchmark=sampled))
    assert run_in("lm-eval", folder, FormatOptions(benchmark=sampled)).attempts == twice(weak).attempts


def test_metrics_and_results_are_ours(sampled: Benchmark, weak: Run, tmp_path: Path) -> None:
    folder = exporting("lm-eval", twice(weak), tmp_path / "out", FormatOptions(benchmark=sampled, extra=CREATED))
    scores = evaluate(sampled, twice(weak))
    rows = [json.loads(line) for line in (folder / f"samples_samples_{DATE}.jsonl").read_text().splitlines()]
    for row in rows:
        task = row["doc"]["id"]
        values = [score.values for score in scores.tasks if score.task_id == task]
        assert {metric: row[metric] for metric in row["metrics"]} == values[0]
        assert len(row["resps"][0]) == 2
    results = json.loads((folder / f"results_{DATE}.json").read_text())
    for metric, estimate in scores.overall.items():
        assert results["results"]["samples"][f"{metric},none"] == estimate.mean
        width = 2 * 1.959963984540054 * results["results"]["samples"][f"{metric}_stderr,none"]
        assert width == pytest.approx(estimate.high - estimate.low)
    assert results["n-samples"]["samples"]["original"] == len(sampled.tasks)


def test_the_questions_are_needed_and_nothing_is_overwritten(sampled: Benchmark, weak: Run, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds the questions too"):
        exporting("lm-eval", weak, tmp_path / "out")
    put(tmp_path / "out" / "mine", "x")
    with pytest.raises(UserError, match="is not empty"):
        exporting("lm-eval", weak, tmp_path / "out", FormatOptions(benchmark=sampled))


# --- theirs in ---------------------------------------------------------------------------------------------


def row(number: int, resps: Any, **more: Any) -> dict[str, Any]:
    doc = {"id": f"q{number}", "question": "?", "choices": ["3", "4"]}
    return {"doc_id": number, "doc": doc, "target": "1", "resps": resps, "filter": "none", "metrics": ["acc"], **more}


LIKELIHOODS = [[["-2.5", "False"]], [["-0.5", "True"]]]


def choosing(*ids: str) -> Benchmark:
    options = (Option("i", ("3",)), Option("ii", ("4",)))
    return Benchmark("b", Corpus("b"), {name: Task(name, "choose", ("?",), options) for name in ids}, {})


def test_log_likelihoods_choose_the_likeliest(tmp_path: Path) -> None:
    file = samples(tmp_path / "org__model" / f"samples_tiny_mc_{DATE}.jsonl", row(0, LIKELIHOODS))
    run = run_in("lm-eval", file)
    assert (run.system, run.benchmark) == ("org__model", "tiny_mc")
    assert run.attempts == (Attempt("0", Choice("B")),)
    assert run_in("lm-eval", file, FormatOptions(benchmark=choosing("q0"))).attempts == (Attempt("q0", Choice("ii")),)
    assert run_in("lm-eval", file, FormatOptions(columns={"id": "question"})).attempts[0].task_id == "?"


def test_replies_are_read_by_the_benchmark_and_repeats_are_attempts(tmp_path: Path) -> None:
    rows = row(0, [["The answer is 4.", "3", " "]]), row(1, [["neither"]])
    file = samples(tmp_path / f"samples_t_{DATE}.jsonl", *rows)
    assert run_in("lm-eval", file).attempts == (
        Attempt("0", Text("The answer is 4."), 0),
        Attempt("0", Text("3"), 1),
        Attempt("0", Failure("empty", "the model said nothing"), 2),
        Attempt("1", Text("neither"), 0),
    )
    read = run_in("lm-eval", file, FormatOptions(benchmark=choosing("0", "1"))).attempts
    assert [attempt.prediction for attempt in read[:2]] == [Choice("ii", "text"), Choice("i", "text")]
    assert isinstance(read[3].prediction, Choice) and read[3].prediction.option is None


def test_of_several_filters_the_replies_are_taken_before_any(tmp_path: Path) -> None:
    rows = [
        row(0, [["lol"]], filter=name, filtered_resps=[text])
        for name, text in (("strict", "[invalid]"), ("loose", "LOL"))
    ]
    file = samples(tmp_path / f"samples_t_{DATE}.jsonl", *rows)
    imported = importing("lm-eval", file)
    assert isinstance(imported.content, Run)
    assert imported.content.attempts == (Attempt("0", Text("lol")),)
    assert imported.warnings == (
        'there are several filters ("strict", "loose"); replies are taken as they were, before any',
    )
    chosen = run_in("lm-eval", file, FormatOptions(extra={"filter": "loose"}))
    assert chosen.attempts == (Attempt("0", Text("LOL")),)
    with pytest.raises(UserError, match='no filter "none"') as caught:
        importing("lm-eval", file, FormatOptions(extra={"filter": "none"}))
    assert caught.value.fix == "choose from: strict, loose"


def test_the_variant_of_lmms_eval_is_read(tmp_path: Path) -> None:
    date = "20261115_100000"
    folder = tmp_path / "llava"
    rows = (
        {"doc_id": 3, "target": "A", "filtered_resps": "A", "input": "?", "doc_hash": "x", "acc": 1.0},
        {"doc_id": 4, "target": "B", "resps": ["B", "A"], "filtered_resps": "B", "input": "?"},
        {"doc_id": 5, "target": "B", "resps": LIKELIHOODS, "filtered_resps": [["-2.5", "False"], ["-0.5", "True"]]},
    )
    samples(folder / f"{date}_samples_mmbench_en.jsonl", *rows)
    put(folder / f"{date}_results.json", json.dumps({"model_name": "llava-7b"}))
    run = run_in("lm-eval", folder)
    assert (run.system, run.benchmark) == ("llava-7b", "mmbench_en")
    assert run.attempts == (
        Attempt("3", Text("A")),
        Attempt("4", Text("B"), 0),
        Attempt("4", Text("A"), 1),
        Attempt("5", Choice("B")),
    )


def test_a_folder_may_hold_several_tasks_and_dates(tmp_path: Path) -> None:
    for task, date, reply in (("a", "2026-01", "old"), ("a", "2026-02", "new"), ("b_c", "2026-01", "other")):
        samples(tmp_path / f"samples_{task}_{date}.jsonl", row(0, [[reply]]))
    with pytest.raises(UserError, match="samples of several tasks") as caught:
        importing("lm-eval", tmp_path)
    assert caught.value.fix == "choose with --option task=: a, b_c"
    assert run_in("lm-eval", tmp_path, FormatOptions(extra={"task": "a"})).attempts[0].prediction == Text("new")
    assert run_in("lm-eval", tmp_path, FormatOptions(extra={"task": "b_c"})).benchmark == "b_c"
    with pytest.raises(UserError, match='no samples of "d"'):
        importing("lm-eval", tmp_path, FormatOptions(extra={"task": "d"}))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="--log_samples"):
        importing("lm-eval", tmp_path / "empty")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"resps": [["x"]]}, "line 2, doc_id: expected an id, but it is not there"),
        (row(1, None), "line 2, filtered_resps: expected replies or log-likelihoods"),
        (row(1, [[["x", "y"], 3]]), "line 2, resps: expected replies or log-likelihoods"),
        (row(0, [["again"]]), 'line 2, doc_id: task "0" has attempt 0 already'),
        ([], "line 2: expected an object"),
    ],
)
def test_a_wrong_line_is_refused_or_left_out(tmp_path: Path, wrong: Any, message: str) -> None:
    file = samples(tmp_path / f"samples_t_{DATE}.jsonl", row(0, [["x"]]), wrong, row(9, [["y"]]))
    with pytest.raises(ProblemsError) as caught:
        importing("lm-eval", file)
    assert f"{file.name}, {message}" in str(caught.value)
    imported = importing("lm-eval", file, FormatOptions(keep_going=True))
    assert len(imported.problems) == 1 and isinstance(imported.content, Run)
    assert [attempt.task_id for attempt in imported.content.attempts] == ["0", "9"]


def test_likelihoods_must_fit_the_options(tmp_path: Path) -> None:
    file = samples(tmp_path / f"samples_t_{DATE}.jsonl", row(0, [*LIKELIHOODS, [["-1", "False"]]]))
    with pytest.raises(ProblemsError, match="expected 2 log-likelihoods, one for each option, got 3"):
        importing("lm-eval", file, FormatOptions(benchmark=choosing("0")))


def test_pictures_are_read_from_replies(sampled: Benchmark, tmp_path: Path) -> None:
    pictures = list(sampled.corpus.pictures)[:2]
    file = samples(
        tmp_path / f"samples_t_{DATE}.jsonl",
        {"doc_id": 0, "doc": {"id": "select-01"}, "resps": [[json.dumps(pictures)]]},
    )
    (attempt,) = run_in("lm-eval", file, FormatOptions(benchmark=sampled)).attempts
    assert attempt == Attempt("select-01", PictureSet(tuple(pictures)))


# --- the real lm-eval --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_real_tools_read_ours(sampled: Benchmark, weak: Run, tmp_path: Path) -> None:
    utils = pytest.importorskip("lm_eval.utils", reason="the interop extra has the real tool")
    datasets = pytest.importorskip("datasets", reason="lm-eval's samples are loaded with it")
    folder = exporting("lm-eval", weak, tmp_path / "out", FormatOptions(benchmark=sampled, extra=CREATED))
    names = [str(path) for path in folder.iterdir()]
    (results,), (logged,) = utils.get_results_filenames(names), utils.get_sample_results_filenames(names)
    assert utils.get_file_task_name(Path(logged).name) == "samples"
    assert utils.get_file_datetime(logged) == DATE
    table = utils.make_table(json.loads(Path(results).read_text()))
    estimate = evaluate(sampled, weak).overall["accuracy"]
    assert f"|accuracy |   |{estimate.mean:.4f}|±" in table
    loaded = datasets.load_dataset("json", data_files=logged, split="train", cache_dir=str(tmp_path / "cache"))
    assert [doc["id"] for doc in loaded["doc"]] == [attempt.task_id for attempt in weak.attempts]


@pytest.mark.slow
def test_a_real_evaluation_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lm_eval = pytest.importorskip("lm_eval", reason="the interop extra has the real tool")
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    from lm_eval.loggers import EvaluationTracker
    from lm_eval.tasks import TaskManager

    questions = samples(
        tmp_path / "d.jsonl", *({"question": f"{n}?", "choices": ["3", "4"], "label": 1} for n in range(3))
    )
    data = f"dataset_path: json\ndataset_kwargs: {{data_files: {{test: {questions}}}}}\ntest_split: test\n"
    asked = 'doc_to_text: "{{question}}"\n'
    choose = 'output_type: multiple_choice\ndoc_to_choice: "{{choices}}"\ndoc_to_target: label\n'
    write = "output_type: generate_until\ndoc_to_target: label\nrepeats: 2\nmetric_list: [{metric: exact_match}]\n"
    put(tmp_path / "tasks" / "mc.yaml", f"task: tiny_mc\n{data}{asked}{choose}")
    put(tmp_path / "tasks" / "gen.yaml", f"task: tiny_gen\n{data}{asked}{write}")
    tracker = EvaluationTracker(output_path=str(tmp_path / "out"))
    results = lm_eval.simple_evaluate(
        model="dummy",
        tasks=["tiny_mc", "tiny_gen"],
        task_manager=TaskManager(include_path=str(tmp_path / "tasks"), include_defaults=False),
        evaluation_tracker=tracker,
        log_samples=True,
        bootstrap_iters=0,
    )
    logged = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=logged)
    for name, rows in logged.items():
        tracker.save_results_samples(task_name=name, samples=rows)
    chosen = run_in("lm-eval", tmp_path / "out", FormatOptions(extra={"task": "tiny_mc"}))
    (file,) = tmp_path.rglob("samples_tiny_mc_*.jsonl")
    for attempt, line in zip(chosen.attempts, file.read_text().splitlines(), strict=True):
        correct = json.loads(line)["acc"] == 1.0
        assert attempt.prediction == Choice("B" if correct else "A")
    written = run_in("lm-eval", tmp_path / "out", FormatOptions(extra={"task": "tiny_gen"}))
    assert [(attempt.task_id, attempt.number) for attempt in written.attempts] == [
        (name, number) for name in "012" for number in (0, 1)
    ]
