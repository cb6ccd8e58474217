"""Scores from files against pytrec_eval, on generated files with ties, holes, missing queries and negative grades."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

import sightline
from sightline.metrics.trec.files import read_qrels, read_run
from sightline.metrics.trec.scoring import TrecScores, score_trec

Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]

DOCUMENTS = ["a", "b", "ab", "B", "doc10", "doc9", "é", "日本", "x/y.jpg", "a-long-name/of-a-folder/IMG_0001.JPG",
             "a-long-name/of-a-folder/IMG_0002.JPG", "z"]  # fmt: skip
QUERIES = ["1", "2", "10", "q-é", "a query id that is long".replace(" ", "_")]
score_st = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1.0 + 1e-9, 2.5, -1.0]), st.floats(-1e6, 1e6), st.floats(-1e-6, 1e-6)
)
# A query with negative grades alone makes pytrec_eval 0.5.11 read memory that it doesn't own: it hangs or crashes.
grades_st = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 4), min_size=1, max_size=9).filter(
    lambda grades: max(grades.values()) >= 0
)
qrels_st = st.dictionaries(st.sampled_from(QUERIES), grades_st, min_size=1)
run_st = st.dictionaries(
    st.sampled_from([*QUERIES, "unknown"]),
    st.dictionaries(st.sampled_from(DOCUMENTS), score_st, min_size=1, max_size=12),
    min_size=1,
)

# Our name for trec_eval's; bpref is divided in single precision there.
NAMES = {
    "ndcg": "ndcg",
    "ndcg@3": "ndcg_cut_3",
    "ndcg@10": "ndcg_cut_10",
    "map": "map",
    "ap@3": "map_cut_3",
    "p@1": "P_1",
    "p@5": "P_5",
    "p": "set_P",
    "recall@2": "recall_2",
    "recall@100": "recall_100",
    "recall": "set_recall",
    "rr": "recip_rank",
    "success@1": "success_1",
    "success@5": "success_5",
    "rprec": "Rprec",
    "infAP": "infAP",
    "11pt_avg": "11pt_avg",
    "utility": "utility",
    "iprec(recall=0)": "iprec_at_recall_0.00",
    "iprec(recall=0.3)": "iprec_at_recall_0.30",
    "iprec_at_recall_0.75": "iprec_at_recall_0.75",
    "iprec_at_recall_1.00": "iprec_at_recall_1.00",
    # By trec_eval's own names.
    "ndcg_cut_3": "ndcg_cut_3",
    "map_cut_3": "map_cut_3",
    "P_5": "P_5",
    "recall_2": "recall_2",
    "success_5": "success_5",
    "recip_rank": "recip_rank",
    "set_P": "set_P",
}
MEASURES = {"ndcg", "ndcg_cut.3,10", "map", "map_cut.3", "P.1,5", "set_P", "recall.2,100", "set_recall", "recip_rank",
            "success.1,5", "Rprec", "bpref", "infAP", "11pt_avg", "utility",
            "iprec_at_recall.0,0.3,0.75,1.0"}  # fmt: skip


def write(folder: Path, qrels: Qrels, run: Run, seed: int) -> tuple[Path, Path]:
    lines = [f"{q} 0 {d} {grade}\n" for q, row in qrels.items() for d, grade in row.items()]
    results = [f"{q} Q0 {d} 7 {score!r} tag\n" for q, row in run.items() for d, score in row.items()]
    shuffle = random.Random(seed).shuffle
    shuffle(lines)
    shuffle(results)
    (folder / "qrels").write_text("".join(lines), "utf-8")
    (folder / "run").write_text("".join(results), "utf-8")
    return folder / "qrels", folder / "run"


def ours(qrels: Qrels, run: Run, names: list[str], *, seed: int = 0, piece: int = 1 << 20) -> TrecScores:
    with (
        TemporaryDirectory() as folder,
        patch("sightline.metrics.trec.table._PIECE", piece),
        patch("sightline.metrics.trec.scoring._BLOCK", 4),
    ):
        qrels_file, run_file = write(Path(folder), qrels, run, seed)
        return score_trec(read_qrels(qrels_file), read_run(run_file), names)


@settings(deadline=None, max_examples=150)
@given(qrels=qrels_st, run=run_st, seed=st.integers(0, 9), piece=st.sampled_from([1, 100, 1 << 20]))
def test_agrees_with_trec_eval(qrels: Qrels, run: Run, seed: int, piece: int) -> None:
    scores = ours(qrels, run, [*NAMES, "bpref"], seed=seed, piece=piece)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)

    assert scores.queries == tuple(sorted(qrels))
    assert scores.missing_queries == len(qrels.keys() - run.keys())
    assert scores.unknown_queries == len(run.keys() - qrels.keys())
    assert scores.answered.tolist() == [query in run for query in scores.queries]
    for name, measure in NAMES.items():
        expected = [theirs[query][measure] if query in run else 0.0 for query in scores.queries]
        assert scores.values[name] == pytest.approx(expected, abs=1e-9, rel=0), name
    expected = [theirs[query]["bpref"] if query in run else 0.0 for query in scores.queries]
    assert scores.values["bpref"] == pytest.approx(expected, abs=1e-6, rel=0)


@settings(deadline=None, max_examples=40)
@given(qrels=qrels_st, run=run_st)
def test_the_geometric_mean_of_ap_agrees(qrels: Qrels, run: Run) -> None:
    with TemporaryDirectory() as folder:
        qrels_file, run_file = write(Path(folder), qrels, run, 0)
        found = sightline.score_trec(qrels_file, run_file, "gm_map, map")
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"gm_map"}).evaluate(run)
    logarithms = [theirs[query]["gm_map"] if query in run else math.log(1e-5) for query in qrels]
    assert found["gm_map"].mean == pytest.approx(math.exp(sum(logarithms) / len(logarithms)), rel=1e-9)
    assert found["gm_map"].low <= found["gm_map"].mean <= found["gm_map"].high
    assert found["gm_map"].failures == found["map"].failures


@settings(deadline=None, max_examples=80)
@given(qrels=qrels_st, run=run_st, level=st.integers(1, 3))
def test_agrees_at_other_relevance_levels(qrels: Qrels, run: Run, level: int) -> None:
    names = {f"{base}(rel={level}){cut}": measure for base, cut, measure in (
        ("map", "", "map"), ("p", "@5", "P_5"), ("recall", "@2", "recall_2"), ("rr", "", "recip_rank"),
        ("success", "@1", "success_1"), ("rprec", "", "Rprec"),
    )}  # fmt: skip
    scores = ours(qrels, run, list(names))
    theirs = pytrec_eval.RelevanceEvaluator(qrels, MEASURES, relevance_level=level).evaluate(run)
    for name, measure in names.items():
        expected = [theirs[query][measure] if query in run else 0.0 for query in scores.queries]
        assert scores.values[name] == pytest.approx(expected, abs=1e-9, rel=0), name


@settings(deadline=None, max_examples=80)
@given(qrels=qrels_st, run=run_st)
def test_condensed_agrees_with_judged_documents_only(qrels: Qrels, run: Run) -> None:
    names = {
        "ndcg": "ndcg",
        "ndcg@3": "ndcg_cut_3",
        "map": "map",
        "p@5": "P_5",
        "rr": "recip_rank",
        "recall@2": "recall_2",
    }
    asked = {f"{(parts := name.split('@'))[0]}(unjudged=condensed){''.join('@' + k for k in parts[1:])}": measure
             for name, measure in names.items()}  # fmt: skip
    scores = ours(qrels, run, list(asked))
    theirs = pytrec_eval.RelevanceEvaluator(qrels, MEASURES, judged_docs_only_flag=True).evaluate(run)
    for name, measure in asked.items():
        expected = [theirs[query][measure] if query in run else 0.0 for query in scores.queries]
        assert scores.values[name] == pytest.approx(expected, abs=1e-9, rel=0), name


@settings(deadline=None, max_examples=60)
@given(qrels=qrels_st, run=run_st, first=st.integers(0, 99), second=st.integers(0, 99), piece=st.sampled_from([1, 60]))
def test_the_order_of_lines_changes_nothing(qrels: Qrels, run: Run, first: int, second: int, piece: int) -> None:
    names = [*NAMES, "bpref", "rbp", "judged@3", "ap_min@3"]
    one, other = ours(qrels, run, names, seed=first), ours(qrels, run, names, seed=second, piece=piece)
    assert one.queries == other.queries
    for name in names:
        assert one.values[name].tolist() == other.values[name].tolist(), name
    assert (one.results, one.unjudged_rate) == (other.results, other.unjudged_rate)


@settings(deadline=None, max_examples=60)
@given(qrels=qrels_st, run=run_st)
def test_intersection_leaves_missing_queries_out(qrels: Qrels, run: Run) -> None:
    with TemporaryDirectory() as folder:
        qrels_file, run_file = write(Path(folder), qrels, run, 0)
        files = read_qrels(qrels_file), read_run(run_file)
        every, both = score_trec(*files, ["map"]), score_trec(*files, ["map"], intersection=True)
    assert both.queries == tuple(sorted(qrels.keys() & run.keys()))
    assert every.values["map"].sum() == pytest.approx(both.values["map"].sum())
    assert both.answered.all()
    assert every.missing_queries == both.missing_queries == len(every.queries) - len(both.queries)


def test_unjudged_rate_counts_the_results_of_judged_queries() -> None:
    qrels = {"1": {"a": 1, "b": 0, "c": -1}, "2": {"a": 1}}
    run = {"1": {"a": 4.0, "b": 3.0, "c": 2.0, "z": 1.0}, "unknown": {"a": 1.0}}
    scores = ours(qrels, run, ["judged@2", "judged"])
    assert scores.results == 4
    assert scores.unjudged_rate == 0.5
    assert scores.values["judged@2"].tolist() == [1.0, 0.0]
    assert scores.values["judged"].tolist() == [0.5, 0.0]
    assert scores.mean("judged") == 0.25


def test_a_query_with_negative_grades_alone_scores_zero() -> None:
    scores = ours({"1": {"a": -1, "b": -2}}, {"1": {"a": 2.0, "z": 1.0}}, [*NAMES, "bpref", "judged"])
    assert scores.values["utility"].tolist() == [-2.0]
    names = scores.values.keys() - {"utility"}
    assert {name: scores.values[name].tolist() for name in names} == {name: [0.0] for name in names}


@pytest.mark.parametrize("ordered", [True, False])
def test_agrees_on_a_file_of_many_pieces(ordered: bool, tmp_path: Path) -> None:
    draw = random.Random(5)
    names = [f"folder-{i % 7}/picture-{i}.jpg" for i in range(3000)]
    qrels = {f"q{q}": {d: draw.randint(0, 3) for d in draw.sample(names, 80)} for q in range(150)}
    run = {f"q{q}": {d: round(draw.random(), 3) for d in draw.sample(names, 900)} for q in range(150)}
    lines = [f"{q} Q0 {d} 0 {s} tag\n" for q, row in run.items() for d, s in sorted(row.items(), key=lambda x: -x[1])]
    if not ordered:
        draw.shuffle(lines)
    (tmp_path / "run").write_text("".join(lines))
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, row in qrels.items() for d, g in row.items()))
    scores = score_trec(read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run"), list(NAMES))
    theirs = pytrec_eval.RelevanceEvaluator(qrels, MEASURES).evaluate(run)
    for name, measure in NAMES.items():
        assert scores.values[name] == pytest.approx([theirs[q][measure] for q in scores.queries], abs=1e-9, rel=0)


def quick_test(folder: Path) -> tuple[Path, Path]:
    """Topic 302 of trec_eval's own quick test (its `test/results-302.test` and `test/qrels-302.test`), by ranks.

    Of 500 results 50 are relevant, of 77 relevant documents; 214 others of the 500 were judged. Which of those after
    the last rank that bpref sees were judged changes nothing.
    """
    relevant = {1, 2, 4, 5, 6, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24, 27, 28, 30, 31, 34, 36, 37, 39,
                42, 43, 44, 47, 48, 49, 50, 51, 53, 56, 58, 72, 79, 82, 84, 116, 154, 289, 301, 331, 353, 394,
                458}  # fmt: skip
    others = [rank for rank in range(1, 501) if rank not in relevant | {65, 80, 101, 109}][:214]
    judged = [(f"D{rank:03d}", int(rank in relevant)) for rank in [*relevant, *others]]
    judged += [(f"missed-{number}", 1) for number in range(27)]
    (folder / "qrels").write_text("".join(f"302 0 {document} {grade}\n" for document, grade in judged))
    results = [f"302\tQ0\tD{rank:03d}\t{rank}\t  {5 - rank / 100:.6f}\tSTANDARD\n" for rank in range(500, 0, -1)]
    (folder / "run").write_text("".join(results))
    return folder / "qrels", folder / "run"


QUICK_TEST = {
    "map": 0.4175, "gm_map": 0.4175, "Rprec": 0.5065, "bpref": 0.4712, "recip_rank": 1.0, "infAP": 0.4175,
    "iprec_at_recall_0.00": 1.0, "iprec_at_recall_0.10": 0.8421, "iprec_at_recall_0.20": 0.8421,
    "iprec_at_recall_0.30": 0.7419, "iprec_at_recall_0.40": 0.6863, "iprec_at_recall_0.50": 0.5417,
    "iprec_at_recall_0.60": 0.1420, "iprec_at_recall_0.70": 0.0, "iprec_at_recall_1.00": 0.0, "11pt_avg": 0.4360,
    "P_5": 0.8, "P_10": 0.7, "P_15": 0.8, "P_20": 0.8, "P_30": 0.7333, "P_100": 0.42, "P_200": 0.22, "P_500": 0.1,
    "P_1000": 0.05, "recall_5": 0.0519, "recall_10": 0.0909, "recall_15": 0.1558, "recall_20": 0.2078,
    "recall_30": 0.2857, "recall_100": 0.5455, "recall_200": 0.5714, "recall_500": 0.6494, "recall_1000": 0.6494,
    "utility": -400.0, "ndcg": 0.6617, "ndcg_cut_5": 0.8304, "ndcg_cut_10": 0.7530, "ndcg_cut_15": 0.8085,
    "ndcg_cut_20": 0.8082, "ndcg_cut_30": 0.7604, "ndcg_cut_100": 0.6046, "ndcg_cut_200": 0.6209,
    "ndcg_cut_500": 0.6617, "map_cut_5": 0.0461, "map_cut_10": 0.0768,
    "map_cut_15": 0.1265, "map_cut_20": 0.1695, "map_cut_30": 0.2298,
    "map_cut_100": 0.3983, "map_cut_200": 0.4068, "map_cut_500": 0.4175, "success_1": 1.0, "success_5": 1.0,
    "success_10": 1.0, "set_P": 0.1, "set_recall": 0.6494,
}  # fmt: skip
"""What trec_eval's `test/out.test.aq` prints for the topic, under its own names."""


def test_trec_evals_own_quick_test(tmp_path: Path) -> None:
    found = sightline.score_trec(*quick_test(tmp_path), list(QUICK_TEST))
    assert {name: round(found[name].mean, 4) for name in QUICK_TEST} == QUICK_TEST
