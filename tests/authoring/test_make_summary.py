"""The summary: what is counted, once for each query and picture, and what page and files show of it."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from make_publishing import annotation, judged_rows, make_project, picture_id
from sightline.authoring.project import Project
from sightline.authoring.project_benchmark import read_project_benchmark
from sightline.authoring.summary import (
    SummaryContent,
    SummaryStage,
    contact_sheet,
    draw_sample,
    summary_folder,
    to_page,
)
from sightline.authoring.summary_charts import (
    Bars,
    Boxes,
    ChartBar,
    Curves,
    Histogram,
    Shares,
    binned,
    box_of,
    charts,
    curve_of,
    relevant_by,
    share_of,
)
from sightline.authoring.summary_drawings import to_png, to_svg
from sightline.authoring.summary_statistics import count
from sightline.authoring.summary_tables import agreement, overview, statistics, tables
from sightline.calls.ledger import Ledger, LedgerRow
from sightline.calls.session import Session
from sightline.config import Config
from sightline.errors import MissingExtraError, UserError
from sightline.io.jsonl import write_jsonl
from sightline.reports.html import to_html
from sightline.types import Annotation, Benchmark, Corpus, Judgment, Picture, Relevance, Task


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def table(project: Project, name: str) -> list[dict[str, str]]:
    text = (summary_folder(project) / f"{name}.csv").read_text()
    return list(csv.DictReader(io.StringIO(text)))


def small(grades: dict[str, dict[str, int]], **fields: Any) -> Benchmark:
    ids = {id_ for one in grades.values() for id_ in one}
    return Benchmark(
        "small",
        Corpus("small", {id_: Picture(id_, id_) for id_ in sorted(ids)}),
        {task: Task(task, "rank", ("some words",)) for task in grades},
        {task: Relevance(one) for task, one in grades.items()},
        **fields,
    )


def test_queries_and_pictures_count_once(project: Project) -> None:
    SummaryStage(png=False).run(project)
    facts = {row["Metric"]: row["Value"] for row in table(project, "dataset_summary_stats")}
    rows = judged_rows(8, 8, 24)
    assert facts["queries"] == "8"
    assert facts["pictures"] == "24"
    assert facts["pictures judged"] == str(len({row["image_id"] for row in rows}))
    assert facts["judged pairs"] == "64"
    assert facts["relevant pairs"] == str(sum(row["relevance_label"] for row in rows))
    tags = Counter(tag for number in range(24) for tag in annotation(number)["tags"])
    assert {row["Tag"]: int(row["Count"]) for row in table(project, "top_tags")} == tags
    (sure,) = table(project, "confidence_overall_stats")
    assert int(sure["count"]) == 24 * 3


def test_every_query_has_its_row(project: Project) -> None:
    SummaryStage(png=False).run(project)
    found = {row["query_id"]: row for row in table(project, "query_relevancy_stats")}
    for query in range(8):
        grades = [row["relevance_label"] for row in judged_rows(8, 8, 24) if row["query_id"] == f"query_{query:03d}"]
        row = found[f"query_{query:03d}"]
        assert (int(row["sum"]), int(row["count"])) == (sum(grades), len(grades))
        assert float(row["relevance_rate"]) == pytest.approx(sum(grades) / len(grades))


def test_similarity_is_told_apart_by_relevance(project: Project) -> None:
    SummaryStage(png=False).run(project)
    rows = judged_rows(8, 8, 24)
    for found in table(project, "clip_score_stats_by_relevance"):
        values = [row["clip_score"] for row in rows if row["relevance_label"] == (found["relevance"] == "relevant")]
        assert float(found["mean"]) == pytest.approx(np.mean(values), abs=1e-6)
        assert float(found["std"]) == pytest.approx(np.std(values, ddof=1), abs=1e-6)
    assert len(table(project, "clip_score_by_query_stats")) == 8


def test_secrets_are_masked(project: Project) -> None:
    SummaryStage(png=False).run(project)
    settings_ = {row["Config Variable"]: row["Value"] for row in table(project, "config_values")}
    assert settings_["publish.token"] == "***"
    assert settings_["benchmark.name"] == "Harbour Lights"
    for path in summary_folder(project).iterdir():
        assert b"hf_very_secret" not in path.read_bytes()


def test_the_page_is_one_file_that_loads_nothing(project: Project) -> None:
    result = SummaryStage(png=False).run(project)
    page = result.wrote[0].read_text()
    assert not re.search(r"<script|<link|src=\"(?!data:)|url\(", page)
    assert page.count("data:image/jpeg;base64,") == 18
    for link in re.findall(r'href="([^"#]+)"', page):
        assert (summary_folder(project) / link).is_file()

    class Balanced(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []

        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in ("meta", "br", "img", "col"):
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    checker = Balanced()
    checker.feed(page)
    assert not checker.open


def test_the_same_input_gives_the_same_files(project: Project) -> None:
    first = {path: path.read_bytes() for path in SummaryStage(png=False).run(project).wrote}
    second = {path: path.read_bytes() for path in SummaryStage(png=False).run(project).wrote}
    assert first == second


def test_what_is_as_frequent_stands_in_the_order_of_the_annotations() -> None:
    """Not in that of a set, which is another one in each process."""
    tags = ("boat", "tree", "lamp", "snow", "water", "house", "road", "bridge")
    numbers = count(small({"q": {"a": 1}}, annotations=(Annotation("a", " ".join(tags), tags=(*tags, *tags)),)))
    assert list(numbers.tags.items()) == list(numbers.words.items()) == [(tag, 1) for tag in tags]


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    bad = '<img src=x onerror=alert(1)>"&\u202e'
    benchmark = replace(
        small({bad: {bad: 1, "b": 0}}),
        annotations=(Annotation(bad, bad, {bad: bad}, {bad + "2": True}, (bad,), {bad: 0.5}),),
    )
    numbers = count(benchmark)
    content = SummaryContent(numbers, charts(numbers), tables(numbers, Config(), None), draw_sample((), tmp_path))
    page = to_html(to_page(content))
    assert "<img src=x" not in page
    assert "&lt;img" in page


def test_nothing_judged_is_said_with_what_to_do() -> None:
    with pytest.raises(UserError, match="make judge"):
        count(Benchmark("empty", Corpus("empty"), {}, {}))


def test_missing_judgments_name_the_stage(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="make judge"):
        SummaryStage().run(Project(tmp_path, Session(config=Config())))


def test_scored_judgments_alone_are_enough(project: Project) -> None:
    for name in ("qrels.jsonl", "annotations.jsonl", "images.jsonl", "seeds.jsonl"):
        (project.folder / name).unlink()
    result = SummaryStage(png=False).run(project)
    assert result.counts["pairs"] == 64
    assert table(project, "clip_score_overall_stats")


def test_files_of_benchmaker_enter_from_a_folder(project: Project, tmp_path: Path) -> None:
    elsewhere = Project(tmp_path / "new", Session(config=project.config))
    result = SummaryStage(project.folder, png=False).run(elsewhere)
    assert result.counts["queries"] == 8
    assert (tmp_path / "new" / "summary" / "index.html").is_file()


def test_a_column_of_another_name_is_found(project: Project) -> None:
    renamed = {"relevance_label": "bewertung"}
    rows = ({renamed.get(name, name): value for name, value in row.items()} for row in judged_rows(8, 8, 24))
    write_jsonl(project.folder / "qrels.jsonl", rows)
    columns = project.config.columns.model_copy(update={"relevance": "bewertung"})
    config = project.config.model_copy(update={"columns": columns})
    assert SummaryStage(png=False).run(project.with_config(config)).counts["pairs"] == 64


def test_agreement_of_judges_is_counted_where_several_judged() -> None:
    def said(judge: str, *grades: int) -> tuple[Judgment, ...]:
        return tuple(Judgment("q", id_, judge, grade) for id_, grade in zip("abcd", grades, strict=True))

    grades = {"q": {"a": 1, "b": 1, "c": 0, "d": 0}}
    same = small(grades, judgments=said("x", 1, 1, 0, 0) + said("y", 1, 1, 0, 0))
    assert agreement(count(same)) == 1.0
    apart = small(grades, judgments=said("x", 1, 1, 0, 0) + said("y", 1, 0, 1, 0))
    assert overview(count(apart))["agreement of judges (Krippendorff's alpha)"] < 0.5
    assert agreement(count(small(grades, judgments=said("x", 1, 1, 0, 0)))) is None


def test_cost_is_by_stage_and_an_unknown_price_is_no_zero() -> None:
    rows = (
        LedgerRow("annotate", calls=4, input=1000, cached=200, output=100, image=600, usd=0.5),
        LedgerRow("judge", calls=2, input=10, output=10, usd=0.0, unpriced=2),
    )
    numbers = count(small({"q": {"a": 1, "b": 0}}, annotations=(Annotation("a"), Annotation("b"))))
    found = {row["Phase"]: row for row in tables(numbers, Config(), Ledger(rows, LedgerRow(usd=0.5)))["cost_summary"]}
    assert found["annotate"]["Cost Per Item"] == "0.250000"
    assert found["annotate"]["Total Uncached Input Tokens"] == 800
    assert found["judge"]["Total Cost"] == ""
    assert found["judge"]["Calls Without Known Price"] == 2


@given(st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1), min_size=1, max_size=6))
@settings(deadline=None, max_examples=60)
def test_numbers_agree_with_counting_by_hand(queries: list[dict[str, int]]) -> None:
    values = {id_: ("vowel" if id_ in "ae" else "other") for id_ in "abcdefgh"}
    benchmark = small({f"q{number}": grades for number, grades in enumerate(queries)})
    numbers = count(benchmark)
    relevant, judged = numbers.per_query
    assert judged.tolist() == [len(grades) for grades in queries]
    assert relevant.tolist() == [sum(grade > 0 for grade in grades.values()) for grades in queries]
    pairs = [(values[id_], grade > 0) for grades in queries for id_, grade in grades.items()]
    for value, share in relevant_by(numbers, values):
        said = [good for of, good in pairs if of == value]
        assert share.n == len(said)
        assert share.mean == pytest.approx(sum(said) / len(said))
        assert share.low <= share.mean <= share.high
    for drawing in charts(numbers).all:
        assert to_svg(drawing).startswith("<svg")


@given(st.lists(st.floats(-1e6, 1e6) | st.integers(-50, 50).map(float), min_size=1, max_size=60))
@settings(deadline=None, max_examples=80)
def test_every_value_is_in_its_histogram_curve_and_box(values: list[float]) -> None:
    array = np.array(values)
    histogram = binned("h", "H", "x", {"one": array})
    assert sum(histogram.series["one"]) == len(values)
    xs, ys = curve_of(array)
    assert ys[-1] == 1.0
    assert xs == sorted(xs)
    assert ys == sorted(ys)
    box = box_of("b", array)
    assert list(box.quantiles) == sorted(box.quantiles)
    found = statistics(array)
    assert found["count"] == len(values)
    assert all(math.isfinite(value) for value in found.values())
    for drawing in (histogram, Boxes("b", "B", "x", [box]), Curves("c", "C", "x", {"one": (xs, ys)})):
        assert "nan" not in to_svg(drawing)


def test_a_sample_is_the_same_every_time_and_small(project: Project) -> None:
    source = read_project_benchmark(project)
    pictures = tuple(source.benchmark.corpus.pictures.values())
    first, second = (draw_sample(pictures, source.folder, size=5) for _ in range(2))
    assert [one.picture.id for one in first] == [one.picture.id for one in second]
    sheet = contact_sheet(first)
    assert sheet is not None
    assert Image.open(io.BytesIO(sheet)).size[0] == 5 * 206 + 6
    turned = next(one for one in draw_sample(pictures, source.folder) if one.picture.id == picture_id(5))
    assert turned.small is not None
    assert turned.small.height > turned.small.width


def test_pictures_that_are_not_here_are_no_reason_to_stop(project: Project) -> None:
    for path in project.config.paths.pictures.rglob("*.jpg"):  # type: ignore[union-attr]
        path.unlink()
    page = SummaryStage(png=False).run(project).wrote[0].read_text()
    assert "can&#x27;t be read" in page


DRAWINGS = (
    Bars("bars", "Bars $x$", [ChartBar("a $b_", 3, "3 (60 %)"), ChartBar("c", 2, "2")]),
    Histogram("histogram", "Histogram", "words", [0.5, 1.5, 2.5], {"one": [2, 3], "two": [1, 0]}),
    Boxes("boxes", "Boxes", "x", [box_of("a", np.arange(9.0)), box_of("a", np.arange(4.0), 1)]),
    Curves("curves", "Curves", "x", {"a": curve_of(np.arange(5.0)), "b": curve_of(np.arange(3.0))}),
    Shares("shares", "Shares", [("a", share_of(3, 4)), ("b", share_of(0, 9))]),
)


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda drawing: drawing.name)
def test_drawings_are_png_files_too_and_always_the_same(drawing: Bars) -> None:
    pytest.importorskip("resvg_py", reason="PNG charts need the extra sightline[charts]")
    first = to_png(drawing)
    assert Image.open(io.BytesIO(first)).size[0] > 600
    assert first == to_png(drawing)


def test_without_resvg_the_rest_is_written_and_it_is_said(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.authoring.summary.find_spec", lambda _: None)
    result = SummaryStage().run(project)
    assert any("sightline[charts]" in line for line in result.warnings)
    assert [path.name for path in result.wrote if path.suffix == ".png"] == ["random_image_sample.png"]
    monkeypatch.setitem(__import__("sys").modules, "resvg_py", None)
    with pytest.raises(MissingExtraError, match="charts"):
        to_png(DRAWINGS[0])
