"""imsearch_eval's three tables: definitions recomputed by hand, and what its own numbers violate."""

from __future__ import annotations

import csv
import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.benchmark.folder import write_benchmark
from sightline.benchmark.formats import FormatOptions, find_format
from sightline.errors import UserError
from sightline.exchange import export_files
from sightline.runs.folder import write_run
from sightline.types import (
    Attempt,
    Benchmark,
    Corpus,
    Failure,
    Picture,
    PictureSet,
    Ranking,
    Relevance,
    Run,
    Task,
    Truth,
)

IDS = [f"p{number}.jpg" for number in range(8)]


def made(grades: dict[str, int], ranking: tuple[str, ...]) -> tuple[Benchmark, Run]:
    pictures = {id_: Picture(id_, id_) for id_ in IDS}
    tasks = {"q": Task("q", "rank", ("a red boat",)), "s": Task("s", "select", ("boats",))}
    truth: dict[str, Truth] = {"q": Relevance(grades), "s": PictureSet((IDS[0], IDS[1]))}
    scores = tuple(1.0 - place / 10 for place in range(len(ranking)))
    attempts = (Attempt("q", Ranking(ranking, scores)), Attempt("s", Failure("timeout", "late")))
    run = Run("boats", "engine", attempts, parameters={"k": 5, "alpha": 0.4}, seed=3)
    return Benchmark("boats", Corpus("boats", pictures), tasks, truth), run


def tables(benchmark: Benchmark, run: Run, **extra: str) -> dict[str, list[dict[str, str]]]:
    with tempfile.TemporaryDirectory() as folder:
        write = find_format("imsearch-eval").write
        assert write is not None
        write(run, Path(folder) / "out", FormatOptions(benchmark=benchmark, extra=extra))
        return {
            path.stem: list(csv.DictReader(path.open(newline=""))) for path in sorted((Path(folder) / "out").iterdir())
        }


@settings(deadline=None, max_examples=50)
@given(
    st.dictionaries(st.sampled_from(IDS), st.integers(0, 3)),
    st.lists(st.sampled_from(IDS), unique=True),
    st.integers(1, 9),
)
def test_the_numbers_are_consistent_and_recomputed(grades: dict[str, int], ranking: list[str], k: int) -> None:
    row, failed = tables(*made(grades, tuple(ranking)), k=str(k))["query_eval_metrics"]
    first, positives = ranking[:k], [id_ for id_, grade in grades.items() if grade > 0]
    relevant = [id_ for id_ in first if grades.get(id_, 0) > 0]
    assert int(row["total_images"]) == len(first) and int(row["relevant_images"]) == len(relevant)
    assert int(row["judged_images"]) == sum(id_ in grades for id_ in first)
    assert float(row["precision"]) == pytest.approx(len(relevant) / len(first) if first else 0)
    if not positives:  # Nothing to find: left out of every mean, not zero.
        assert {row[name] for name in ("precision_at_k", "recall", "hit", "reciprocal_rank", "NDCG")} == {""}
        return
    assert float(row["precision_at_k"]) == pytest.approx(len(relevant) / k)
    assert float(row["recall"]) == pytest.approx(len(relevant) / len(positives))
    assert float(row["hit"]) == bool(relevant)
    # Impossible in imsearch_eval's own leaderboards, and there.
    assert float(row["reciprocal_rank"]) <= float(row["hit"])
    gain = sum(grades.get(id_, 0) / math.log2(place + 2) for place, id_ in enumerate(first))
    ideal = sorted((grades[id_] for id_ in positives), reverse=True)[:k]  # Over all positives, returned or not.
    best = sum(grade / math.log2(place + 2) for place, grade in enumerate(ideal))
    assert float(row["NDCG"]) == pytest.approx(gain / best)
    assert failed["failure"] == "timeout" and float(failed["hit"]) == float(failed["NDCG"]) == 0
    assert failed["total_images"] == "0"


def test_a_missed_picture_lowers_ndcg_and_a_picture_of_another_query_is_not_relevant() -> None:
    row = tables(*made({IDS[0]: 1, IDS[1]: 1, IDS[2]: 1}, (IDS[0],)))["query_eval_metrics"][0]
    assert float(row["NDCG"]) < 0.5 and float(row["recall"]) == pytest.approx(1 / 3)
    other = tables(*made({IDS[2]: 1}, (IDS[0], IDS[1])))["query_eval_metrics"][0]  # Both answer the other task.
    assert float(other["reciprocal_rank"]) == float(other["hit"]) == float(other["NDCG"]) == 0


def test_results_tell_unjudged_from_not_relevant_and_config_tells_the_system() -> None:
    found = tables(*made({IDS[0]: 2, IDS[1]: 0}, (IDS[1], IDS[2], IDS[0])))
    rows = found["image_search_results"]
    assert [(row["rank"], row["image_id"], row["relevance_label"]) for row in rows] == [
        ("1", IDS[1], "0"),
        ("2", IDS[2], ""),
        ("3", IDS[0], "2"),
    ]
    assert [float(row["score"]) for row in rows] == pytest.approx([1.0, 0.9, 0.8])
    config = {row["name"]: row["value"] for row in found["config_values"]}
    assert config["system"] == "engine" and config["parameters.alpha"] == "0.4" and config["limit"] == "25"


def test_diversity_comes_from_vectors(tmp_path: Path) -> None:
    vectors = np.eye(8, dtype=np.float32)
    np.savez(tmp_path / "v.npz", ids=np.array(IDS), vectors=vectors)
    benchmark, run = made({IDS[0]: 1}, (IDS[0], IDS[1]))
    with_them = tables(benchmark, run, vectors=str(tmp_path / "v.npz"))["query_eval_metrics"][0]
    assert float(with_them["diversity"]) == pytest.approx(1.0)
    assert tables(benchmark, run)["query_eval_metrics"][0]["diversity"] == ""
    with pytest.raises(UserError, match="holds no vectors"):
        tables(benchmark, run, vectors=str(tmp_path / "none.npz"))


def test_it_is_an_export_like_any_other(tmp_path: Path) -> None:
    benchmark, run = made({IDS[0]: 1}, (IDS[0],))
    written = write_benchmark(benchmark, tmp_path / "bench")
    write_run(run, tmp_path / "run")
    export_files("imsearch-eval", tmp_path / "run", tmp_path / "out", benchmark=written)
    export_files("imsearch-eval", tmp_path / "run", tmp_path / "out", benchmark=written)
    assert len(list((tmp_path / "out").iterdir())) == 3
    with pytest.raises(UserError, match="--benchmark"):
        export_files("imsearch-eval", tmp_path / "run", tmp_path / "other")
    for wrong in ({"k": "0"}, {"attempt": "x"}, {"kk": "3"}):
        with pytest.raises(UserError):
            tables(benchmark, run, **wrong)
