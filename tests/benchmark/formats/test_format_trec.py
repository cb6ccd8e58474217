"""TREC files: what they hold comes back, whatever the ids; wrong lines are named; trec_eval's readers agree."""

from __future__ import annotations

import gzip
import logging
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmark.formats.retrieval_samples import PICTURES, other_tasks, rank_benchmark, ranked_run, text_run
from sightline.benchmark.formats import Content, FormatOptions, Imported, find_format
from sightline.benchmark.formats.retrieval import falling
from sightline.benchmark.formats.trec import decode_id, encode_id
from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.metrics.evaluation import evaluate
from sightline.metrics.trec.files import read_qrels, read_run
from sightline.metrics.trec.scoring import score_trec
from sightline.types import Attempt, Benchmark, Failure, PictureSet, Ranking, Relevance, Run
from sightline.types.task_table import Tasks
from strategies import ids

NO_OPTIONS = FormatOptions()


def read(name: str, path: Path, options: FormatOptions = NO_OPTIONS) -> Imported:
    reader = find_format(name).read
    assert reader is not None
    return reader(path, options)


def write(name: str, content: Content, path: Path, options: FormatOptions = NO_OPTIONS) -> Path:
    writer = find_format(name).write
    assert writer is not None
    writer(content, path, options)
    return path


# --- ids ---------------------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(ids)
def test_an_id_survives_and_holds_no_space(name: str) -> None:
    encoded = encode_id(name)
    assert decode_id(encoded) == name
    assert len(encoded.split()) == 1 and encoded.encode().split() == [encoded.encode()]


def test_only_what_must_be_is_encoded() -> None:
    assert encode_id("a b/100%.jpg") == "a%20b/100%25.jpg"
    assert encode_id("Straße/日本.jpg") == "Straße/日本.jpg"
    assert decode_id("50%") == "50%"
    assert decode_id("%FF") == "%FF"


# --- qrels -------------------------------------------------------------------------------------------------


def test_a_qrels_file(tmp_path: Path) -> None:
    path = tmp_path / "judged.qrels"
    path.write_text("301 0 a%20b.jpg 2\n301 0 c.jpg 0\n302\t0\tc.jpg\t1\n\n301 0 d.jpg -1\n302 0 c.jpg 1\n")
    imported = read("trec-qrels", path, FormatOptions(pictures=tmp_path / "pictures"))
    found = imported.content
    assert isinstance(found, Benchmark) and found.name == "judged"
    assert found.truth == {"301": Relevance({"a b.jpg": 2, "c.jpg": 0}), "302": Relevance({"c.jpg": 1})}
    assert {task.kind for task in found.tasks.values()} == {"rank"} and found.tasks["301"].prompt == ("301",)
    assert list(found.corpus.pictures) == ["a b.jpg", "c.jpg", "d.jpg"]
    assert found.corpus.pictures["a b.jpg"].uri == (tmp_path / "pictures" / "a b.jpg").as_uri()
    assert imported.warnings == (
        "1 judgment is there twice; each counts once",
        "1 grade is negative, taken as not judged",
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("301 0 a.jpg", None),
        ("301 a.jpg", 'line 2: expected "query 0 picture grade", got 2 fields'),
        ("301 0 a.jpg high", 'line 2, grade: expected a whole number, got "high"'),
        ("301 0 a.jpg 1.5", 'line 2, grade: expected a whole number, got "1.5"'),
        ("300 0 a.jpg 2", 'line 2, grade: "a.jpg" has grade 1 for query "300" in an earlier line, and 2 here'),
    ],
)
def test_wrong_lines_of_qrels(tmp_path: Path, line: str, message: str | None) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text(f"300 0 a.jpg 1\n{line}\n303 0 z.jpg 1\n")
    with pytest.raises(ProblemsError) as raised:
        read("trec-qrels", path)
    assert message is None or message in str(raised.value)
    assert str(path) in str(raised.value)
    imported = read("trec-qrels", path, FormatOptions(keep_going=True))
    assert len(imported.problems) == 1
    assert isinstance(imported.content, Benchmark) and {"300", "303"} <= set(imported.content.tasks)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(b"1 0 \xff 1\n")
    with pytest.raises(ProblemsError, match="line 1: expected UTF-8 text"):
        read("trec-qrels", path)


@pytest.mark.parametrize("name", ["topics.tsv", "topics.jsonl.gz"])
def test_queries_beside_the_judgments(tmp_path: Path, name: str) -> None:
    made = rank_benchmark(tmp_path, files=False)
    topics = tmp_path / name
    path = write("trec-qrels", made, tmp_path / "qrels.gz", FormatOptions(extra={"queries": str(topics)}))
    with gzip.open(path) as file:
        assert file.readline() == b"q%201 0 a%20b/100%25.jpg 2\n"
    imported = read("trec-qrels", path, FormatOptions(extra={"queries": str(topics)}, pictures=tmp_path))
    found = imported.content
    assert isinstance(found, Benchmark) and imported.warnings == ()
    assert found.truth == made.truth
    texts = {task.id: task.text for task in made.tasks.values()}
    if name.endswith("tsv"):
        texts["q%3"] = "nothing here"
    else:
        assert found.tasks["q 1"].extra == {"note": 7}
    assert {task.id: task.text for task in found.tasks.values()} == texts
    assert all(found.corpus.pictures[p].uri == made.corpus.pictures[p].uri for p in found.corpus.pictures)


def test_queries_without_words(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n2 0 a 1\n")
    topics = tmp_path / "topics"
    topics.write_text('{"qid": 1, "query": "one"}\n')
    imported = read("trec-qrels", tmp_path / "qrels", FormatOptions(extra={"queries": str(topics)}))
    assert imported.warnings == (f'1 query has no words in {topics}: "2"; the id stands for them',)
    topics.write_text('{"number": 1, "asked": "one"}\n')
    mapped = FormatOptions(extra={"queries": str(topics)}, columns={"id": "number", "text": "asked"})
    found = read("trec-qrels", tmp_path / "qrels", mapped).content
    assert isinstance(found, Benchmark) and found.tasks["1"].text == "one"
    for wrong, message in (("1 one", "line 1: expected the query's id, a tab"), ('{"id": 1}', "text: expected")):
        topics.write_text(wrong)
        with pytest.raises(ProblemsError, match=message):
            read("trec-qrels", tmp_path / "qrels", FormatOptions(extra={"queries": str(topics)}))


def test_limit_and_name(tmp_path: Path) -> None:
    path = write("trec-qrels", rank_benchmark(tmp_path, files=False), tmp_path / "qrels")
    found = read("trec-qrels", path, FormatOptions(limit=2, name="short")).content
    assert isinstance(found, Benchmark) and list(found.tasks) == ["q 1", "q2"] and found.name == "short"


def test_exact_sets_are_judged_with_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made = rank_benchmark(tmp_path, files=False)
    truth = {"q 1": PictureSet(PICTURES[:2]), "q2": PictureSet(())}
    with caplog.at_level(logging.WARNING):
        path = write("trec-qrels", replace(made, truth=truth), tmp_path / "qrels")
    assert path.read_text() == "q%201 0 a%20b/100%25.jpg 1\nq%201 0 plain.jpg 1\n"
    assert "left out: rank tasks with nothing judged (1), rank tasks (1)" in caplog.text


def test_nothing_that_looks_for_pictures(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no task that looks for pictures"):
        write("trec-qrels", other_tasks(rank_benchmark(tmp_path, files=False)), tmp_path / "qrels")
    with pytest.raises(UserError, match="has no ranking"):
        write("trec-run", text_run(), tmp_path / "run")
    with pytest.raises(UserError, match='no option "querys"') as raised:
        read("trec-qrels", tmp_path, FormatOptions(extra={"querys": "x"}))
    assert raised.value.fix == 'Did you mean "queries"? It has queries.'
    assert list(tmp_path.iterdir()) == []


# --- runs --------------------------------------------------------------------------------------------------


def test_a_run_file(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("1 Q0 b 1 0.5 my%20system\n1 Q0 c 2 0.5 my%20system\n1 Q0 a 3 2 my%20system\n1 Q0 b 4 0.1 x\n")
    imported = read("trec-run", path)
    run = imported.content
    assert isinstance(run, Run) and run.system == "my system"
    assert run.attempts == (Attempt("1", Ranking(("a", "c", "b"), (2.0, 0.5, 0.5))),)
    assert imported.warnings == (
        "1 result is there twice; the better score counts",
        'the file has 2 tags ("my system", "x"); the first is taken for the system\'s name',
    )


@pytest.mark.parametrize("score", ["high", "nan", "inf", "1_0"])
def test_wrong_scores(tmp_path: Path, score: str) -> None:
    path = tmp_path / "run"
    path.write_text(f"1 Q0 b 1 {score} x\n")
    with pytest.raises(ProblemsError, match=f'line 1, score: expected a number, got "{score}"'):
        read("trec-run", path)


def test_a_run_comes_back_with_its_ties(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    made = ranked_run()
    with caplog.at_level(logging.WARNING):
        path = write("trec-run", made, tmp_path / "run.gz")
    assert "left out: failures (1)" in caplog.text
    found = read("trec-run", path).content
    assert isinstance(found, Run) and found.system == made.system
    # Tied pictures stand as trec_eval orders them: by id, descending.
    assert found.attempts == (
        Attempt("q 1", Ranking(("plain.jpg", "a b/100%.jpg", "Straße/日本.png"), (0.5, 0.25, 0.25))),
        Attempt("q2", Ranking(('quo"te\t.jpg', "unjudged.jpg", "plain.jpg"), (3.0, 2.0, 1.0))),
    )


def test_the_benchmark_of_a_run(tmp_path: Path) -> None:
    made = replace(rank_benchmark(tmp_path, files=False), checksum="0" * 64)
    path = tmp_path / "run"
    path.write_text("q2 Q0 plain.jpg 1 1 x\nq9 Q0 plain.jpg 1 1 x\n")
    imported = read("trec-run", path, FormatOptions(benchmark=made))
    assert isinstance(imported.content, Run)
    assert (imported.content.benchmark, imported.content.benchmark_checksum) == ("small", "0" * 64)
    assert imported.warnings == ('1 query is not in the benchmark: "q9"',)


def test_one_attempt_of_several(tmp_path: Path) -> None:
    attempts = tuple(Attempt("q", Ranking((name,)), number) for number, name in enumerate(("first", "second")))
    run = Run("small", "x", attempts)
    assert write("trec-run", run, tmp_path / "run").read_text() == "q Q0 first 1 1.0 x\n"
    second = write("trec-run", run, tmp_path / "run", FormatOptions(extra={"attempt": "1"}))
    assert second.read_text() == "q Q0 second 1 1.0 x\n"
    with pytest.raises(UserError, match="is not a whole number"):
        write("trec-run", run, tmp_path / "run", FormatOptions(extra={"attempt": "last"}))


def test_scores_fall_in_the_order_given() -> None:
    assert falling(("a", "b", "c"), (0.2, 0.2, 0.9)) == [("a", -0.2), ("b", -0.2), ("c", -0.9)]
    assert falling(("a", "b", "c"), (0.2, 0.9, 0.1)) == [("a", 3.0), ("b", 2.0), ("c", 1.0)]
    assert falling(("a", "b", "a"), (3.0, 2.0, 1.0)) == [("a", 3.0), ("b", 2.0)]
    assert falling(("a", "b"), (float("nan"), 1.0)) == [("a", 2.0), ("b", 1.0)]
    assert falling((), None) == []


def judged_and_ranked() -> st.SearchStrategy[tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]]:
    some = st.sampled_from(PICTURES)
    queries = st.sampled_from(["1", "q 2", "%3"])
    grades = st.dictionaries(queries, st.dictionaries(some, st.integers(0, 3), min_size=1), min_size=1)
    scores = st.dictionaries(queries, st.dictionaries(some, st.sampled_from([0.0, 0.5, 1.0]), min_size=1), min_size=1)
    return st.tuples(grades, scores)


@settings(max_examples=40, deadline=None)
@given(judged_and_ranked())
def test_files_and_folders_score_the_same(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]
) -> None:
    """A benchmark and a run, and the TREC files written from them, give the same numbers; ties by decoded ids."""
    grades, scores = made
    assume(grades.keys() & scores.keys())  # A run without any of the tasks is refused.
    folder = tmp_path_factory.mktemp("trec")
    base = rank_benchmark(folder, files=False)
    tasks = {name: replace(base.tasks["q2"], id=name) for name in grades}
    benchmark = replace(base, tasks=Tasks(tasks), truth={name: Relevance(found) for name, found in grades.items()})
    attempts = [
        Attempt(name, Ranking(*zip(*sorted(found.items(), key=lambda item: -item[1]), strict=True)))
        for name, found in scores.items()
    ]
    run = Run("small", "x", tuple(attempts))
    qrels = read_qrels(write("trec-qrels", benchmark, folder / "qrels"), decode_ids=True)
    results = read_run(write("trec-run", run, folder / "run"), decode_ids=True)
    metrics = ["ndcg@3", "map", "rr@10"]
    from_files = score_trec(qrels, results, metrics)
    scored = {row.task_id: row for row in evaluate(benchmark, run, metrics, resamples=1).tasks}
    for place, query in enumerate(from_files.queries):
        for metric in metrics:
            assert from_files.values[metric][place] == pytest.approx(scored[query].values.get(metric) or 0.0)


def test_the_real_parser_of_pytrec_eval(tmp_path: Path) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval", reason="trec_eval's Python binding is not installed")
    made, run = rank_benchmark(tmp_path, files=False), ranked_run()
    with write("trec-qrels", made, tmp_path / "qrels").open() as file:
        qrels = pytrec_eval.parse_qrel(file)
    with write("trec-run", run, tmp_path / "run").open() as file:
        results = pytrec_eval.parse_run(file)
    assert {decode_id(q): {decode_id(p): g for p, g in grades.items()} for q, grades in qrels.items()} == {
        name: truth.grades for name, truth in made.truth.items() if isinstance(truth, Relevance)
    }
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10"}).evaluate(results)
    ours = {row.task_id: row.values["ndcg@10"] for row in evaluate(made, run, ["ndcg@10"]).tasks}
    for query, values in theirs.items():
        assert ours[decode_id(query)] == pytest.approx(values["ndcg_cut_10"])
    failed = [attempt.task_id for attempt in run.attempts if isinstance(attempt.prediction, Failure)]
    assert set(ours) == {decode_id(query) for query in theirs} | set(failed)
