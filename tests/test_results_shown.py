"""What results look like: one line as repr, text as the command prints it, HTML that is whole and harmless, frames."""

from __future__ import annotations

import base64
import io
import re
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import sightline
from reports.page_check import Page
from result_samples import EVIL, PICTURES, TASKS, Sample, make_answer, make_results, make_sample
from sightline import display
from sightline.authoring.pipeline import Made
from sightline.authoring.stage import StageResult
from sightline.calls.plan import CostPlan
from sightline.display import Thumbnail, data_url, html_table, interval_bar
from sightline.errors import MissingExtraError, UserError
from sightline.metrics.tables import estimates_html, estimates_text
from sightline.plain_text import text_table
from sightline.retrieval.results import Hit, Results
from sightline.types import Benchmark, Estimate, Failure, Run

KINDS = (
    "benchmark", "tasks", "corpus", "run", "attempts", "failures", "scores", "rows", "comparison", "leaderboard",
    "report", "validation", "problems", "results", "hit", "answer", "trajectory", "trec", "import", "export", "scan",
    "power", "plan", "stages",
)  # fmt: skip
TABLES = tuple(kind for kind in KINDS if kind not in ("report", "hit", "import", "export", "scan", "power", "plan"))


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return make_sample(tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="module")
def made(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One result of each kind."""
    out = tmp_path_factory.mktemp("made")
    benchmark, run = sightline.load(sample.benchmark, Benchmark), sightline.load(sample.runs[1], Run)
    scores = [sightline.score(sample.benchmark, folder) for folder in sample.runs]
    sightline.export_files("trec-qrels", sample.benchmark, out / "new" / "folder" / "qrels.txt")
    exported = sightline.export_files("trec-run", sample.runs[0], out / "run.txt")
    broken = out / "broken"
    make_sample(out / "other").benchmark.rename(broken)
    (broken / "tasks.jsonl").write_text(f'{{"id": "{EVIL}"}}\n')
    answer = make_answer(sample, out / "asked")
    return {
        "benchmark": benchmark,
        "tasks": benchmark.tasks[:5],
        "corpus": benchmark.corpus,
        "run": run,
        "attempts": run.attempts[:2],
        "failures": run.failures,
        "scores": scores[0],
        "rows": scores[0].tasks[:5],
        "comparison": sightline.compare(scores),
        "leaderboard": sightline.leaderboard(sample.runs[0].parent, out=out / "board"),
        "report": sightline.report([sample.benchmark, *sample.runs], out / "page.html"),
        "validation": sightline.validate(sample.benchmark),
        "problems": sightline.validate(broken),
        "results": make_results(sample),
        "hit": make_results(sample)[0],
        "answer": answer,
        "trajectory": answer.steps(),
        "trec": sightline.score_trec(out / "new" / "folder" / "qrels.txt", out / "run.txt", "ndcg@10, map"),
        "import": sightline.import_files("trec-run", out / "run.txt", out / "imported"),
        "export": exported,
        "scan": sightline.scan(sample.pictures, workspace=out / "ws"),
        "power": sightline.power(difference=0.05, sd=0.3),
        "plan": CostPlan((), (EVIL,)),
        "stages": Made(out, (StageResult("plan", (out / "a.jsonl",), {f"queries {EVIL}": 1}, {"timeout": 2}),)),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_repr_is_one_short_line(made: dict[str, Any], kind: str) -> None:
    shown = repr(made[kind])
    assert shown.startswith(f"<{type(made[kind]).__name__}: ")
    assert "\n" not in shown and len(shown) < 200


@pytest.mark.parametrize("kind", KINDS)
def test_html_is_whole_harmless_and_loads_nothing(made: dict[str, Any], kind: str) -> None:
    html = made[kind]._repr_html_()
    page = Page(f"<!doctype html>\n{html.replace('<img ', '<meta ')}")  # An img needs no end, like a meta.
    names = {tag for tag, _ in page.tags}
    assert names <= {
        "div", "style", "p", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "span", "br", "meta",
        "svg", "line", "circle", "details", "summary", "pre",
    }  # fmt: skip
    assert all(not name.startswith("on") for _, attributes in page.tags for name in attributes)
    sources = [attributes["src"] for _, attributes in page.tags if "src" in attributes]
    assert all(source is not None and source.startswith("data:image/jpeg;base64,") for source in sources)
    assert not re.search(r"https?:|url\(|@import", html)


@pytest.mark.parametrize("kind", ["benchmark", "tasks", "run", "failures", "scores", "comparison", "results", "answer"])
def test_names_from_files_are_shown_as_they_are(made: dict[str, Any], kind: str) -> None:
    html = made[kind]._repr_html_()
    page = Page(f"<!doctype html>\n{html.replace('<img ', '<meta ')}")
    assert EVIL in page.text and "<script" not in html


@pytest.mark.parametrize(("kind", "most"), [("results", PICTURES), ("tasks", 12), ("trajectory", 3), ("answer", 5)])
def test_pictures_are_shown_small(made: dict[str, Any], kind: str, most: int) -> None:
    found = re.findall(r'src="data:image/jpeg;base64,([^"]+)"', made[kind]._repr_html_())
    assert 0 < len(found) <= most
    for encoded in found:
        data = base64.b64decode(encoded)
        with Image.open(io.BytesIO(data)) as small:
            assert max(small.size) <= 224 and len(small.getexif()) == 0
        assert len(data) < 40_000


def test_a_picture_that_is_not_here_is_named(made: dict[str, Any]) -> None:
    html = made["results"]._repr_html_()
    assert "not here" in html and "gone.jpg" in html


def test_no_more_pictures_and_rows_than_a_notebook_takes(sample: Sample) -> None:
    html = make_results(sample, hits=200)._repr_html_()
    assert html.count("<img ") == display.PICTURES and "and 177 more pictures" in html
    table = html_table(("a",), [(f"{n}",) for n in range(100)])
    assert table.count("<tr>") == 1 + display.ROWS and "and 80 more rows" in table


def test_what_is_no_picture_or_too_large_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, cut, program = tmp_path / "a.jpg", tmp_path / "b.jpg", tmp_path / "c.jpg"
    text.write_text("no picture")
    whole = io.BytesIO()
    Image.effect_noise((400, 300), 60).save(whole, "JPEG")
    cut.write_bytes(whole.getvalue()[:2000])
    program.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n")
    assert [data_url(path) for path in (text, cut, program, tmp_path, tmp_path / "gone.jpg")] == [None] * 5
    assert data_url(whole.getvalue()) is not None
    monkeypatch.setattr(display, "_MOST_PIXELS", 1000)
    assert data_url(whole.getvalue()) is None


def test_a_thumbnail_is_upright_and_transparency_is_white() -> None:
    photo, turned = Image.new("RGB", (400, 200), "red"), io.BytesIO()
    exif = photo.getexif()
    exif[0x0112] = 6  # To be turned by a quarter.
    exif[0x010F] = "a camera"
    photo.save(turned, "JPEG", exif=exif)
    glass = io.BytesIO()
    Image.new("RGBA", (50, 40), (0, 0, 0, 0)).save(glass, "PNG")
    sizes, corners = [], []
    for data in (turned, glass):
        url = data_url(data.getvalue())
        assert url is not None
        with Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) as small:
            sizes.append(small.size)
            corners.append(small.getpixel((2, 2)))
    assert sizes == [(112, 224), (50, 40)] and corners[1] == (255, 255, 255)
    assert Thumbnail(None, "a").lines == ()


@pytest.mark.parametrize("kind", TABLES)
def test_frames_of_both_kinds_have_the_columns_of_the_records(made: dict[str, Any], kind: str) -> None:
    pytest.importorskip("polars")
    records = made[kind].records()
    columns = list(records[0]) if records else []
    assert all(list(record) == columns for record in records)
    assert list(made[kind].to_pandas().columns) == columns == made[kind].to_polars().columns
    assert len(made[kind].to_pandas()) == len(records) == made[kind].to_polars().height


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named_with_its_command(
    made: dict[str, Any], package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=re.escape(f"pip install 'sightline[{package}]'")):
        getattr(made["scores"], f"to_{package}")()


def test_scores_are_asked_by_metric_and_cut_by_rows(made: dict[str, Any]) -> None:
    scores = made["scores"]
    assert scores["ndcg@10"] is scores.overall["ndcg@10"] and len(scores) == TASKS + 1 == len(list(scores))
    assert [row.task_id for row in scores.tasks[:2]] == ["q0", "q1"] and "q1" in str(scores.tasks[:2])
    assert scores.tasks[0] in scores.tasks and isinstance(scores.tasks, tuple)
    with pytest.raises(UserError, match='Did you mean "ndcg@10"'):
        scores["ndgc@10"]


def test_tasks_of_a_benchmark_can_be_cut(made: dict[str, Any]) -> None:
    tasks = made["benchmark"].tasks
    assert list(tasks[:2]) == ["q0", "q1"] and list(tasks[-1:]) == ["choice"] and tasks[:2]["q1"] is tasks["q1"]
    assert tasks == dict(tasks) and len(made["benchmark"]) == len(tasks) == TASKS + 1
    assert tasks[0] is tasks["q0"] and tasks[-1] is tasks["choice"] and tasks.get("q00") is None
    with pytest.raises(KeyError):
        tasks["nothing"]


def test_failures_of_a_run_are_its_rows_that_failed(made: dict[str, Any]) -> None:
    run, failures = made["run"], made["failures"]
    assert [attempt.task_id for attempt in failures] == ["q3"] and len(run) == TASKS + 1
    assert all(isinstance(attempt.prediction, Failure) for attempt in failures)
    assert "timeout" in str(run) and "1 of them failed" in repr(run) and "timeout" in failures._repr_html_()


def test_hits_can_be_cut_and_walked_through(sample: Sample) -> None:
    found = make_results(sample)
    assert isinstance(found[:2], Results) and found[:2].ids == found.ids[:2] and found[:2].query == found.query
    assert isinstance(found[0], Hit) and [hit.picture.id for hit in found] == list(found.ids)
    assert len(str(found).splitlines()) == len(found) == PICTURES + 1


def test_nothing_found_says_why() -> None:
    empty = Results("a", (), None, None, 10)
    assert str(empty) == "  nothing matches in 10 pictures" and "nothing matches" in empty._repr_html_()
    assert not empty and not list(empty)


def test_a_validation_is_empty_where_nothing_is_wrong(made: dict[str, Any]) -> None:
    assert made["validation"].valid and made["validation"] == () and not made["validation"]
    found = made["problems"]
    assert not found.valid and len(found[:1]) == 1 and "tasks.jsonl" in str(found)


def test_an_estimate_is_written_in_one_way() -> None:
    found = Estimate(0.5, 0.25, 0.75, 20, 1, 0.6)
    assert str(found) == "0.500 [0.250, 0.750]" and f"{found:.2f}" == "0.50 [0.25, 0.75]"
    assert str(Estimate(0.5, 0.5, 0.5, 20, 0, 0.5, method="none")) == "0.500 no interval"
    assert str(Estimate(0.0, 0.0, 0.0, 0, 0, None)) == "–"
    few = Estimate(0.5, 0.0, 1.0, 4, 0, 0.5)
    assert str(few) == "0.500 no interval" and str(few.no_interval) in estimates_text({"map": few})
    assert "stroke-width" not in estimates_html({"map": few})


def test_columns_of_text_are_aligned_and_broken_where_the_terminal_is_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    table = text_table(("name", "n"), [("a\x1b[2J", "1"), ("漢字", "200")], right={1})
    assert table.splitlines() == ["  name     n", "  a�[2J    1", "  漢字   200"]
    monkeypatch.setenv("COLUMNS", "30")
    narrow = text_table(("system", "score"), [("hybrid:captions=true,words=true", "0.5")], flexible=0)
    assert narrow.splitlines() == ["  system                 score", "  hybrid:captions=true,  0.5", "  words=true"]


def test_a_result_without_a_table_is_shown_as_its_text(made: dict[str, Any]) -> None:
    stage = made["stages"].stages[0]
    assert "<pre>" in stage._repr_html_() and str(stage) in unescape(stage._repr_html_())
    assert "<pre>" not in made["power"]._repr_html_()  # Its line says it all.
    assert str(display.preformatted(f"a  b\n  {EVIL}\x1b[2J")) == (
        "<pre>a  b\n  &lt;script&gt;alert(1)&lt;/script&gt;\\x1b[2J</pre>"
    )


def test_an_interval_is_drawn_where_it_lies() -> None:
    drawn = interval_bar(0.5, (0.25, 0.75))
    assert 'x1="30" x2="90"' in drawn and 'cx="60"' in drawn
    assert 'x1="60" x2="60"' in interval_bar(0.1, (0.0, 0.2), -1, 1)  # The mark of zero.
    assert "stroke-width" not in interval_bar(0.5, None)


def test_no_interval_is_no_number_in_a_data_frame() -> None:
    made = Benchmark.from_tables(None, None, {f"q{n}": ["a"] for n in range(3)})
    systems = {"right": "a", "wrong": "b"}
    runs = [Run.from_rankings({q: [said] for q in made.tasks}, system=name) for name, said in systems.items()]
    found = sightline.compare(runs, "rr", benchmark=made)
    assert found.pairs[0].interval is None
    assert [(row["mean"], row["low"], row["high"]) for row in found.records()] == [(-1.0, None, None)]
    assert found.to_pandas()["low"].isna().all()


def test_ids_that_the_benchmark_does_not_have_are_told_of() -> None:
    made = Benchmark.from_tables(None, None, {"q1": ["a.jpg"], "q2": ["b.jpg"]})
    scores = sightline.score(made, Run.from_rankings({"q1": ["a.jpg", "a"], "q2": ["b"]}))
    (note,) = [note for note in scores.notes if "doesn't have" in note]
    assert '2 of 3 in the first predictions, such as "a"' in note and '"a.jpg"' in note
    assert not sightline.score(made, Run.from_rankings({"q1": ["a.jpg"], "q2": ["b.jpg"]})).notes


def test_the_text_of_scores_and_comparisons_names_the_grade_and_the_warnings(made: dict[str, Any]) -> None:
    warning = sightline.ScoreWarning("same-source", "The model judged itself.", "Use another.")
    for result in (made["scores"], made["comparison"]):
        assert "warnings:" not in str(replace(result, grade="given", warnings=()))
        assert str(replace(result, grade="rehearsal", warnings=(warning, warning))).endswith(
            "  labels: rehearsal · warnings: same-source"
        )


def test_a_failure_is_shown_by_its_error_and_not_by_its_traceback() -> None:
    def broken(query: str) -> list[str]:
        raise KeyError(query)

    made = Benchmark.from_tables(None, {"q1": "a dog"}, {"q1": ["a"]})
    (failed,) = sightline.run(made, broken).run.failures
    assert isinstance(failed.prediction, Failure) and "Traceback" in failed.prediction.message
    shown = str(sightline.Run("b", "s", (failed,)).failures)
    assert "crashed: KeyError: 'a dog'" in shown and "Traceback" not in shown


def test_a_search_by_picture_is_titled_by_it() -> None:
    assert (
        repr(Results("", (), None, None, 3, like=("a.jpg", "b.jpg")))
        == "<Results: like a.jpg, b.jpg: 0 hits in 3 pictures>"
    )
