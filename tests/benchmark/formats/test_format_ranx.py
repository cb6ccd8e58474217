"""ranx files, JSON and Parquet: ours come back and are read by the real ranx; wrong entries are named."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmark.formats.retrieval_samples import other_tasks, rank_benchmark, ranked_run, text_run
from sightline.benchmark.formats import Content, FormatOptions, Imported, find_format
from sightline.benchmark.problems import ProblemsError
from sightline.errors import UserError
from sightline.metrics.evaluation import evaluate
from sightline.types import Attempt, Benchmark, Ranking, Relevance, Run

NO_OPTIONS = FormatOptions()
FILES = ["x.json", "x.parquet"]


def read(name: str, path: Path, options: FormatOptions = NO_OPTIONS) -> Imported:
    reader = find_format(name).read
    assert reader is not None
    return reader(path, options)


def write(name: str, content: Content, path: Path) -> Path:
    writer = find_format(name).write
    assert writer is not None
    writer(content, path, NO_OPTIONS)
    return path


@pytest.mark.parametrize("file", FILES)
def test_judgments_come_back(tmp_path: Path, file: str) -> None:
    if file.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    made = rank_benchmark(tmp_path, files=False)
    found = read("ranx-qrels", write("ranx-qrels", made, tmp_path / file)).content
    assert isinstance(found, Benchmark)
    assert found.truth == made.truth and found.name == "x"
    assert {task.prompt for task in found.tasks.values()} == {(name,) for name in made.tasks}


@pytest.mark.parametrize("file", FILES)
def test_results_come_back(tmp_path: Path, file: str) -> None:
    if file.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    path = write("ranx-run", ranked_run(), tmp_path / file)
    found = read("ranx-run", path, FormatOptions(name="theirs")).content
    assert isinstance(found, Run) and found.system == "theirs"
    assert found.attempts == (
        Attempt("q 1", Ranking(("plain.jpg", "a b/100%.jpg", "Straße/日本.png"), (0.5, 0.25, 0.25))),
        Attempt("q2", Ranking(('quo"te\t.jpg', "unjudged.jpg", "plain.jpg"), (3.0, 2.0, 1.0))),
    )


def test_parquet_columns_can_be_mapped(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"query": ["1"], "doc": [7], "grade": [1.0]}), tmp_path / "q.parq")
    options = FormatOptions(columns={"q_id": "query", "doc_id": "doc", "score": "grade"})
    found = read("ranx-qrels", tmp_path / "q.parq", options).content
    assert isinstance(found, Benchmark) and found.truth == {"1": Relevance({"7": 1})}
    with pytest.raises(ProblemsError, match=r"q\.parq, line 1, q_id: expected an id, but it is not there"):
        read("ranx-qrels", tmp_path / "q.parq")
    (tmp_path / "bad.parquet").write_text("not Parquet")
    with pytest.raises(UserError, match="can't be read as parquet"):
        read("ranx-run", tmp_path / "bad.parquet")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("ranx-qrels", {"q": {"d": "1"}}, "q.d: expected a whole number, got '1'"),
        ("ranx-qrels", {"q": {"d": 0.5}}, "q.d: expected a whole number, got 0.5"),
        ("ranx-run", {"q": {"d": None}}, "q.d: expected a number, got None"),
        ("ranx-run", {"q": ["d"]}, "q: expected an object of pictures with their scores"),
    ],
)
def test_wrong_entries(tmp_path: Path, name: str, content: object, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ProblemsError) as raised:
        read(name, path)
    assert message in str(raised.value)
    assert len(read(name, path, FormatOptions(keep_going=True)).problems) == 1
    path.write_text("[]")
    with pytest.raises(UserError, match=r"expected \{query: \{picture: score\}\}"):
        read(name, path)


def test_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no task that looks for pictures"):
        write("ranx-qrels", other_tasks(rank_benchmark(tmp_path, files=False)), tmp_path / "x.json")
    with pytest.raises(UserError, match="has no ranking"):
        write("ranx-run", text_run(), tmp_path / "x.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_the_real_ranx_reads_it_and_agrees(tmp_path: Path, kind: str) -> None:
    ranx = pytest.importorskip("ranx", reason="the real ranx is not installed")
    made = rank_benchmark(tmp_path, files=False)
    # ranx orders ties by chance, so the run has none.
    untied = Attempt("q 1", Ranking(("plain.jpg", "a b/100%.jpg", "Straße/日本.png"), (0.5, 0.25, 0.125)))
    run = replace(ranked_run(), attempts=(untied, *ranked_run().attempts[1:]))
    qrels_path = write("ranx-qrels", made, tmp_path / f"qrels.{kind}")
    run_path = write("ranx-run", run, tmp_path / f"run.{kind}")
    if kind == "json":
        qrels, results = ranx.Qrels.from_file(str(qrels_path)), ranx.Run.from_file(str(run_path))
    else:
        try:
            qrels, results = ranx.Qrels.from_parquet(str(qrels_path)), ranx.Run.from_parquet(str(run_path))
        except AssertionError as error:
            pytest.skip(f"this ranx can't read Parquet with this pandas: {error}")
    assert qrels.to_dict() == {n: dict(t.grades) for n, t in made.truth.items() if isinstance(t, Relevance)}
    theirs = ranx.evaluate(qrels, results, ["ndcg@10", "mrr"], make_comparable=True)
    ours = evaluate(made, run, ["ndcg@10", "rr"]).overall
    # A query with nothing to find is zero there, and left out here.
    share = sum(any(grade > 0 for grade in graded.values()) for graded in qrels.to_dict().values()) / len(qrels)
    assert share < 1
    assert theirs["ndcg@10"] / share == pytest.approx(ours["ndcg@10"].mean)
    assert theirs["mrr"] / share == pytest.approx(ours["rr"].mean)
    # And back: what ranx itself saves.
    results.save(str(tmp_path / f"saved.{kind}"))
    again = read("ranx-run", tmp_path / f"saved.{kind}", FormatOptions(name=run.system)).content
    assert isinstance(again, Run)
    assert again.attempts == read("ranx-run", run_path).content.attempts  # type: ignore[union-attr]
