"""Whatever a benchmark holds, each retrieval format writes it and gives its judgments back, or says why not."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from sightline.benchmark.formats import FormatOptions, find_format
from sightline.errors import UserError
from sightline.types import Benchmark, PictureSet, Relevance
from strategies import benchmarks

pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")

OUTPUTS = [
    ("trec-qrels", "qrels.gz"),
    ("ranx-qrels", "qrels.json"),
    ("ranx-qrels", "qrels.parquet"),
    ("beir", "beir"),
    ("mteb", "mteb"),
    ("benchmaker", "benchmaker"),
    ("benchmaker-rows", "rows"),
    ("benchmaker-rows", "rows.jsonl"),
]
REFUSED = {
    "beir": ("has a line break",),
    "mteb": ("several categories", "no query to write", "which is not here"),
}


def judged(benchmark: Benchmark) -> dict[str, dict[str, int]]:
    found = {}
    for task, truth in benchmark.truth.items():
        if isinstance(truth, Relevance) and truth.grades:
            found[task] = dict(truth.grades)
        elif isinstance(truth, PictureSet) and truth.pictures:
            found[task] = dict.fromkeys(truth.pictures, 1)
    return found


@pytest.mark.parametrize(("name", "out"), OUTPUTS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(benchmarks())
def test_judgments_come_back(
    tmp_path_factory: pytest.TempPathFactory, name: str, out: str, benchmark: Benchmark
) -> None:
    wanted = judged(benchmark)
    format_, path = find_format(name), tmp_path_factory.mktemp("any") / out
    assert format_.read is not None and format_.write is not None
    try:
        format_.write(benchmark, path, FormatOptions())
    except UserError as error:
        assert not wanted or any(reason in str(error) for reason in REFUSED.get(name, ()))
        assert not path.exists()
        return
    try:
        found = format_.read(path, FormatOptions()).content
    except UserError as error:
        # benchmaker's queries have words.
        assert name.startswith("benchmaker") and "the words of the query" in str(error)
        return
    assert isinstance(found, Benchmark)
    got = judged(found)
    assert got and all(wanted[task] == grades for task, grades in got.items())
    # mteb has no room for a query with two pictures.
    assert len(got) == len(wanted) or name == "mteb"
