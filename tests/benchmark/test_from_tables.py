"""Benchmarks and runs from data frames, lists and dictionaries."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sightline
from sightline import Benchmark, Failure, Picture, Run, UserError
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.benchmark.formats import FormatOptions, find_format
from sightline.types import Answer, Choice, Corpus, PictureRef, PictureSet, Ranking, Relevance, Text

PICTURES = ["a.jpg", "b.jpg", "c.jpg"]
QUERIES = {"q1": "a red bicycle", "q2": "two dogs"}
GRADES = {"q1": {"a.jpg": 2, "b.jpg": 0}, "q2": {"c.jpg": 1}}


class Polars:
    """Stands for a polars data frame, of which only `to_dicts` is used."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def to_dicts(self) -> list[dict[str, Any]]:
        return self._rows


def rows_of(grades: dict[str, dict[str, int]]) -> list[dict[str, Any]]:
    return [
        {"query_id": query, "image_id": picture, "relevance": grade}
        for query, found in grades.items()
        for picture, grade in found.items()
    ]


@pytest.mark.parametrize("as_table", [list, pd.DataFrame, Polars])
def test_all_forms_of_a_table_give_the_same_benchmark(as_table: Any) -> None:
    made = Benchmark.from_tables(
        as_table([{"id": name, "path": name} for name in PICTURES]),
        as_table([{"query_id": id_, "text": text} for id_, text in QUERIES.items()]),
        as_table(rows_of(GRADES)),
    )
    assert made == Benchmark.from_tables(PICTURES, QUERIES, GRADES)
    tuples = [tuple(row.values()) for row in rows_of(GRADES)]
    assert made == Benchmark.from_tables(PICTURES, QUERIES, tuples)
    assert made.tasks["q1"].text == "a red bicycle" and made.tasks["q1"].kind == "rank"
    assert made.truth["q1"] == Relevance({"a.jpg": 2, "b.jpg": 0})


def test_pictures_are_paths_addresses_ids_or_pictures(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(b"x")
    pictures: Any = ["a.jpg", "https://example.org/b.jpg", 17, tmp_path / "d.jpg"]
    made = Benchmark.from_tables(pictures, None, {"q": ["a.jpg"]}, root=tmp_path)
    known = made.corpus.pictures
    assert known["a.jpg"].path == tmp_path / "a.jpg"
    assert known["https://example.org/b.jpg"].uri == "https://example.org/b.jpg"
    assert known["https://example.org/b.jpg"].path is None
    assert list(known)[2] == "17" and known[str(tmp_path / "d.jpg")].path == tmp_path / "d.jpg"
    own = {"a": Picture("a", "a.jpg"), "b": Picture("b", "b.jpg", width=3)}
    for given_ in (own, list(own.values()), Corpus("mine", own)):
        assert Benchmark.from_tables(given_, None, {"q": ["a"]}).corpus.pictures == own
    by_id = Benchmark.from_tables({"a": "x/a.jpg", "b": None}, None, {"q": ["a"]}, root=tmp_path).corpus.pictures
    assert by_id["a"].path == tmp_path / "x" / "a.jpg" and by_id["b"].path == tmp_path / "b"


def test_other_columns_are_kept_and_labels_slice() -> None:
    made = Benchmark.from_tables(
        pd.DataFrame({"image_id": ["a", "b"], "width": [640, 320], "album": ["x", None]}),
        pd.DataFrame({"qid": ["1", "2"], "query": ["red", "blue"], "topic": ["color", "mood"], "by": ["ana", "ben"]}),
        pd.DataFrame({"qid": ["1", "2"], "image_id": ["a", "b"]}),
        labels=["topic"],
        metrics=["ndcg@5"],
        name="mine",
    )
    assert made.corpus.pictures["a"].width == 640 and made.corpus.pictures["a"].extra == {"album": "x"}
    assert made.tasks["1"].labels == {"topic": ("color",)} and made.tasks["1"].extra == {"by": "ana"}
    assert made.tasks["2"].text == "blue" and made.metrics == ("ndcg@5",) and made.name == "mine"
    assert made.truth["2"] == Relevance({"b": 1})


def test_columns_are_mapped_as_by_import() -> None:
    made = Benchmark.from_tables(
        [{"photo": "a", "where": "https://example.org/a.jpg"}],
        [{"number": 7, "words": "red"}],
        [{"number": 7, "photo": "a", "stars": 3}],
        columns={"picture": "photo", "uri": "where", "query": "number", "text": "words", "grade": "stars"},
    )
    assert made.tasks["7"].text == "red" and made.truth["7"] == Relevance({"a": 3})
    assert made.corpus.pictures["a"].uri == "https://example.org/a.jpg"


def test_truth_values_numbers_of_numpy_and_nothing_are_grades() -> None:
    frame = pd.DataFrame({"query": ["q", "q", "r"], "picture": ["a", "b", "a"], "grade": [True, False, True]})
    assert Benchmark.from_tables(None, None, frame).truth["q"] == Relevance({"a": 1, "b": 0})
    whole = pd.DataFrame({"query": ["q"], "picture": ["a"], "grade": [2.0]}).astype({"grade": "float32"})
    assert Benchmark.from_tables(None, None, whole).truth["q"] == Relevance({"a": 2})
    named = pd.DataFrame({"picture": ["a"], "grade": [1]}, index=pd.Index(["q"], name="query"))
    assert Benchmark.from_tables(None, None, named).truth["q"] == Relevance({"a": 1})


def test_a_query_can_show_a_picture() -> None:
    queries = [{"id": "q", "text": "like this, at night", "picture": "a"}, {"id": "r", "text": None, "picture": "b"}]
    made = Benchmark.from_tables(["a", "b"], queries, {"q": ["b"], "r": ["a"]})
    assert made.tasks["q"].prompt == ("like this, at night", PictureRef("a"))
    assert made.tasks["r"].prompt == (PictureRef("b"),)


def test_texts_are_their_own_ids() -> None:
    made = Benchmark.from_tables(None, ["a red bicycle"], {"a red bicycle": ["a"]})
    assert made.tasks["a red bicycle"].text == "a red bicycle"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"judgments": [{"query": "q1", "picture": "a.jpg", "grade": "high"}]}, 'Row 0 of judgments .*column "grade"'),
        ({"judgments": [{"query": "q1", "picture": "a.jpg", "grade": 0.5}]}, "expected a whole number, got 0.5"),
        ({"judgments": [{"query": "q1", "picture": None, "grade": 1}]}, 'column "picture": expected an id'),
        ({"judgments": [{"query": "q1", "grade": 1}]}, "judgments has no column for picture"),
        ({"judgments": {"q1": ["a.jpg"], "q3": ["a.jpg"]}}, 'Row 1 .*column "query_id": "q3" is not in queries'),
        ({"judgments": {"q1": ["d.jpg"]}}, '"d.jpg" is not in pictures'),
        ({"judgments": {"q1": "a.jpg"}}, 'judgments of "q1" must be a list'),
        ({"judgments": []}, "No query has a judgment"),
        ({"judgments": "qrels.csv"}, "judgments must be a data frame, a list or a dictionary, not str"),
        ({"judgments": [("q1", "a.jpg", 1, 2)]}, "Row 0 of judgments is tuple"),
        ({"pictures": ["a.jpg", "b.jpg", "a.jpg"]}, 'Row 2 of pictures .*"a.jpg" is there twice'),
        ({"pictures": [{"id": "a.jpg", "path": 3}]}, 'column "path": expected text, got 3'),
        ({"queries": [{"id": "q1", "text": ["red"]}]}, 'Row 0 of queries .*column "text"'),
        ({"queries": [{"id": "q1", "text": "x", "picture": "z"}]}, '"z" is not among the pictures'),
        ({"queries": [{"id": "q1", "words": 1}], "labels": ["topic"]}, 'no column "topic"'),
        ({"columns": {"pic": "a"}}, '"pic", which is not a field'),
        ({"columns": {"grade": "stars"}}, 'No table has the column "stars"'),
    ],
)
def test_what_is_wrong_is_told_with_its_row_and_column(change: dict[str, Any], message: str) -> None:
    tables: dict[str, Any] = {"pictures": PICTURES, "queries": QUERIES, "judgments": GRADES, **change}
    with pytest.raises(UserError, match=message) as error:
        Benchmark.from_tables(**tables)
    assert error.value.fix


def test_a_contradiction_is_refused_and_a_repetition_counts_once(caplog: pytest.LogCaptureFixture) -> None:
    row = {"query": "q", "picture": "a", "grade": 1}
    with pytest.raises(UserError, match=r'Row 1 of judgments .*"a" has grade 1 for query "q"'):
        Benchmark.from_tables(None, None, [row, {**row, "grade": 2}])
    with caplog.at_level(logging.WARNING):
        made = Benchmark.from_tables(None, {"q": "red", "r": "blue"}, [row, row, {**row, "picture": "b", "grade": -1}])
    assert made.truth == {"q": Relevance({"a": 1})} and list(made.corpus.pictures) == ["a", "b"]
    assert "there twice" in caplog.text and "negative" in caplog.text and 'left out: "r"' in caplog.text


def test_it_can_be_written_scored_and_read(tmp_path: Path) -> None:
    made = Benchmark.from_tables(PICTURES, QUERIES, GRADES, root=tmp_path)
    written = write_benchmark(made, tmp_path / "bench")
    assert read_benchmark(tmp_path / "bench").truth == made.truth
    run = Run.from_rankings({"q1": ["a.jpg"], "q2": {"a.jpg": 0.9, "c.jpg": 0.1}}, benchmark=written)
    scores = sightline.score(tmp_path / "bench", run, ["rr@10"])
    assert scores.overall["rr@10"].mean == 0.75


def test_a_run_by_score_by_rank_and_by_order() -> None:
    frame = pd.DataFrame({"qid": ["q", "q", "r"], "doc_id": ["a", "b", "a"], "score": [0.1, 0.7, 1], "rank": [1, 2, 1]})
    by_score = Run.from_rankings(frame, system="mine")
    assert by_score.attempts[0].prediction == Ranking(("b", "a"), (0.7, 0.1)) and by_score.system == "mine"
    by_rank = Run.from_rankings(frame.drop(columns="score")[::-1])
    assert {one.task_id: one.prediction for one in by_rank.attempts}["q"] == Ranking(("a", "b"))
    as_listed = Run.from_rankings(frame[["qid", "doc_id"]])
    assert as_listed.attempts[0].prediction == Ranking(("a", "b"))
    assert Run.from_rankings({"q": ["a", "b", "a"]}).attempts[0].prediction == Ranking(("a", "b"))
    assert Run.from_rankings({"q": [("a", 2), ("b", 1)]}).attempts[0].prediction == Ranking(("a", "b"), (2.0, 1.0))
    assert Run.from_rankings({"q": {}}).attempts[0].prediction == Ranking(())
    failed = Run.from_rankings({"q": Failure("timeout", "no reply")})
    assert failed.attempts[0].prediction == Failure("timeout", "no reply")


_IDS = st.sampled_from(["a", "b", "B", "ä", "10", "9"])


@given(st.dictionaries(_IDS, st.dictionaries(_IDS, st.floats(-5, 5, width=16), min_size=1), min_size=1))
def test_a_run_is_that_of_a_file_of_ranx(results: dict[str, dict[str, float]]) -> None:
    """Ties and all: the same as what `import ranx-run` makes of the same results."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        path = Path(folder) / "mine.json"
        path.write_text(json.dumps(results))
        read = find_format("ranx-run").read
        assert read is not None
        imported = read(path, FormatOptions()).content
    assert Run.from_rankings(results, system="mine") == imported
    rows = [
        {"query_id": query, "picture": picture, "score": score}
        for query, found in results.items()
        for picture, score in found.items()
    ]
    assert Run.from_rankings(rows, system="mine") == imported


@pytest.mark.parametrize(
    ("rankings", "message"),
    [
        ({}, "There is no ranking"),
        ({"q": "a.jpg"}, 'ranking of "q" must be a list of pictures'),
        ({"q": {"a.jpg"}}, "it is set"),
        ({"q": {"a.jpg": "high"}}, "has the score 'high'"),
        ({"q": {"a.jpg": float("nan")}}, "has the score nan"),
        ({"q": ["a.jpg", None]}, "has the id None"),
        ({"q": [("a.jpg", 1, 2)]}, "a tuple of 3 values"),
        ([{"query_id": "q", "score": 1}], "rankings has no column for picture"),
        ([{"query_id": "q", "picture": "a", "score": "x"}], 'Row 0 of rankings .*column "score"'),
        ("run.json", "rankings must be a data frame"),
    ],
)
def test_a_wrong_ranking_is_refused(rankings: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Run.from_rankings(rankings)


def test_queries_that_the_benchmark_does_not_have(caplog: pytest.LogCaptureFixture) -> None:
    made = Benchmark.from_tables(None, None, GRADES)
    with pytest.raises(UserError, match='such as "1", is in "benchmark"') as error:
        Run.from_rankings({1: ["a.jpg"], 2: ["b.jpg"]}, benchmark=made)
    assert '"q1"' in (error.value.fix or "")
    Run.from_rankings({"q1": ["a.jpg"], "zz": ["b.jpg"]}, benchmark=made)
    assert '"zz"' in caplog.text


def test_what_is_odd_about_rankings_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    made = Benchmark.from_tables(None, None, GRADES)
    Run.from_rankings({"q1": {"a.jpg": 1, "c.jpg": 2}, "q2": [("a.jpg", 2), ("c.jpg", 2)]}, benchmark=made)
    assert not caplog.text
    said = {"q1": iter(["a.jpg", "zz.jpg", "a.jpg"]), "q2": [("a.jpg", 1), ("c.jpg", 2), ("yy.jpg", 0)]}
    run = Run.from_rankings(said, benchmark=made)
    pairs = Ranking(("a.jpg", "c.jpg", "yy.jpg"), (1.0, 2.0, 0.0))
    assert [one.prediction for one in run.attempts] == [Ranking(("a.jpg", "zz.jpg")), pairs]
    assert "1 ranking has a picture more than once" in caplog.text
    assert "1 ranking has scores that do not fall: the order of the list counts" in caplog.text
    assert '2 results are not among the pictures of "benchmark"' in caplog.text and '"zz.jpg", "yy.jpg"' in caplog.text


def test_sets_answers_and_choices_are_tasks_of_their_kind() -> None:
    made = Benchmark.from_tables(
        pictures=["a.jpg", "b.jpg"],
        queries=[
            {"id": "q1", "text": "a red bicycle"},
            {"id": "q2", "text": "all dogs"},
            {"id": "q3", "text": "How many dogs?", "picture": "b.jpg"},
            {"id": "q4", "text": "Which color?", "picture": "a.jpg", "options": ["red", "blue"]},
        ],
        judgments={"q1": ["a.jpg"], "q2": PictureSet(("b.jpg",)), "q3": Answer("two"), "q4": Choice("A")},
    )
    assert [task.kind for task in made.tasks.values()] == ["rank", "select", "answer", "choose"]
    assert [(one.key, one.text) for one in made.tasks["q4"].options] == [("A", "red"), ("B", "blue")]
    assert made.tasks["q4"].pictures and "options" not in made.tasks["q4"].extra
    said = {"q1": ["a.jpg"], "q2": PictureSet(("b.jpg",)), "q3": Text("2"), "q4": Choice("B")}
    scores = sightline.score(made, Run.from_rankings(said, benchmark=made))
    values = {row.task_id: dict(row.values) for row in scores}
    assert values["q2"]["f1"] == 1 and values["q3"]["answer"] == 1 and values["q4"]["accuracy"] == 0


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"q9": Answer("two")}, '"q9" of judgments is not in queries'),
        ({"q1": Choice("C")}, '"C" is not an option of "q1"'),
        ({"q2": Choice("A")}, "no options to choose from"),
        ({"q1": PictureSet(("z.jpg",))}, '"z.jpg" of "q1" is not in pictures'),
    ],
)
def test_a_truth_that_does_not_fit_its_query_is_refused(said: Any, message: str) -> None:
    queries = [{"id": "q1", "text": "Which?", "options": {"A": "red", "B": "blue"}}, {"id": "q2", "text": "And now?"}]
    with pytest.raises(UserError, match=message):
        Benchmark.from_tables(["a.jpg"], queries, said)


def test_a_run_takes_the_folder_of_its_benchmark(tmp_path: Path) -> None:
    written = write_benchmark(Benchmark.from_tables(None, None, GRADES, name="mine"), tmp_path / "bench")
    for folder in (tmp_path / "bench", str(tmp_path / "bench")):
        run = Run.from_rankings({"q1": ["a.jpg"]}, benchmark=folder)
        assert (run.benchmark, run.benchmark_checksum) == ("mine", written.checksum)
    with pytest.raises(UserError, match="is not a benchmark"):
        Run.from_rankings({"q1": ["a.jpg"]}, benchmark=tmp_path / "nowhere")
    assert Run.from_rankings({"q1": ["a.jpg"]}, benchmark="by name").benchmark == "by name"
