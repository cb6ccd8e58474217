"""What a page says: the numbers of scores.json, the comparison, failures, costs, slices."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from reports.page_check import Page, Table
from reports.report_samples import OWNERS, PICTURES, Folders, make_benchmark, score_only, with_prices, write_all
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.errors import UserError
from sightline.metrics.scores import read_scores, write_scores
from sightline.plain_text import signed
from sightline.reports.leaderboard import build_leaderboard, write_leaderboard
from sightline.reports.report import report as write_report
from sightline.reports.text import estimate, interval, p_value, score
from sightline.runs.folder import read_run, write_run
from sightline.scoring import compare
from sightline.scoring import score as score_run
from sightline.types import Attempt, Benchmark, Failure, Run, Text
from sightline.types.task_table import Tasks


@pytest.fixture(scope="module")
def written(made: Folders, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(made.all, tmp_path_factory.mktemp("page") / "page.html", format="both").path


@pytest.fixture(scope="module")
def page(written: Path) -> Page:
    return Page(written.read_text("utf-8"))


def test_the_page_says_what_was_measured(page: Page) -> None:
    assert "48: 16 rank, 16 select, 16 answer" in page.text
    assert f"{OWNERS * PICTURES} ({OWNERS} owners)" in page.text
    assert "A made-up benchmark for tests." in page.text
    labels = page.table("Labels")
    counted = labels.row("query_type")["values"]
    assert "intra-event" in counted and "inter-event" in counted


def test_every_score_and_interval_is_that_of_scores_json(made: Folders, page: Page) -> None:
    table, full = page.table("Mean and 95% interval"), page.table("Every estimate")
    for folder in made.runs:
        scores = read_scores(folder)
        row = table.row(scores.system)
        for metric, found in scores.overall.items():
            mean, *rest = row[metric].split(" ", 1)
            assert mean == f"{found.mean:.3f}"
            assert f"[{found.low:.3f}, {found.high:.3f}]" in rest[0]
            line = full.row(metric, scores.system)
            assert line["n"] == str(found.n) and line["failures"] == str(found.failures)
            assert line["answered"] == f"{found.answered:.3f}" and line["interval by"] == found.method
        assert row["failures"] == f"{sum(scores.failures.values())} of {len(scores.tasks)}"


def test_letters_and_differences_are_those_of_compare(made: Folders, page: Page) -> None:
    found = compare(made.runs[::-1], allow_failures_differ=True)
    table = page.table("Mean and 95% interval")
    for metric in found.metrics:
        for standing in found.standings[metric]:
            assert table.row(standing.system)[metric].split()[1] == standing.letters
    assert len({standing.letters for standing in found.standings["ndcg@10"]}) > 1
    shown = {
        metric: table for table in page.tables if table.caption.startswith("Difference") for metric in _firsts(table)
    }
    for pair in found.pairs:
        row = shown[pair.metric].row(pair.metric, pair.second, pair.first)
        assert row["difference"] == signed(pair.difference.mean) and row["p"] == p_value(pair.p_adjusted)
        assert (row["won"], row["tied"], row["lost"]) == tuple(
            map(str, (pair.difference.wins, pair.difference.ties, pair.difference.losses))
        )


def _firsts(table: Table) -> set[str]:
    return {row[0] for row in table.rows}


def test_the_conclusion_names_who_leads_and_who_is_tied(made: Folders, page: Page) -> None:
    best = read_scores(made.runs[0]).overall["ndcg@10"]
    letters = {
        standing.system: standing.letters
        for standing in compare(made.runs, ["ndcg@10"], allow_failures_differ=True).standings["ndcg@10"]
    }
    tied = any(set(letters["agent"]) & set(letters[other]) for other in letters if other != "agent")
    says = "is highest in ndcg@10 with" if tied else "leads in ndcg@10 with"
    assert f"rank (16 tasks): agent {says} {estimate(best)}" in page.text


def test_every_slice_has_its_n_and_interval(made: Folders, page: Page) -> None:
    scores = [read_scores(folder) for folder in made.runs]
    for label, values in scores[0].by_label.items():
        table = page.table(f"By {label}")
        for value, estimates in values.items():
            for metric, found in estimates.items():
                row = table.row(metric, value)
                assert row["n"] == str(found.n)
                for one in scores:
                    part = one.by_label[label][value][metric]
                    assert row[one.system] == f"{score(part.mean)} {interval(part)}"


def test_failures_are_counted_by_kind_and_reason(made: Folders, page: Page) -> None:
    table = page.table("Attempts without an answer")
    for folder in made.runs:
        scores = read_scores(folder)
        failed = Counter(row.kind for row in scores.tasks if row.failure == "timeout")
        tried = Counter(row.kind for row in scores.tasks)
        for kind in ("rank", "select", "answer"):
            assert table.row(kind, "timeout")[scores.system] == f"{failed[kind]} of {tried[kind]}"


def test_costs_are_the_ledgers(made: Folders, page: Page) -> None:
    table = page.table("Cost, time per task")
    run = read_run(made.runs[0])
    row = table.row("agent")
    assert row["cost"] == f"${sum(entry.usd or 0 for entry in run.ledger):.2f}"
    times = sorted(entry.seconds or 0 for entry in run.ledger)
    assert row["p50"] == f"{(times[23] + times[24]) / 2:.1f} s"
    assert row["tokens in"] == f"{48 * 400:,}" and row["tokens out"] == f"{48 * 90:,}"
    assert "tokens cached" not in table.head


def test_a_chart_for_each_metric_with_a_description_of_its_numbers(made: Folders, page: Page) -> None:
    figures = [tag for tag in page.of("svg") if tag.get("role") == "img"]
    ids = [tag["id"] for _, tag in page.tags if "id" in tag]
    assert len(ids) == len(set(ids))
    for figure in figures:
        for name in (figure["aria-labelledby"] or "").split():
            assert name in ids
    scores = read_scores(made.runs[0])
    assert len(figures) >= len(scores.metrics)
    for found in scores.overall.values():
        assert f"agent: {estimate(found)}" in page.text
    assert "ndcg@10 against cost (rank)" in page.text


def test_the_page_stands_alone_and_can_be_read_without_a_script(written: Path, page: Page) -> None:
    html = written.read_text("utf-8")
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"script", "link", "img", "iframe", "object"}
    assert "http" not in html and "url(" not in html and "@import" not in html
    assert "prefers-color-scheme: dark" in html and "@media print" in html
    assert page.of("html") == [{"lang": "en"}]
    assert any(tag.get("name") == "viewport" for tag in page.of("meta"))
    for table in page.tables:
        assert table.caption and table.head and table.rows
    assert all(tag.get("scope") in ("col", "row") for tag in page.of("th"))


def test_links_lead_to_files_beside_the_page(written: Path, page: Page) -> None:
    links = [tag["href"] or "" for tag in page.of("a")]
    files = [link for link in links if not link.startswith("#")]
    assert files and all((written.parent / link).is_file() for link in files)
    ids = {tag["id"] for _, tag in page.tags if "id" in tag}
    assert all(link[1:] in ids for link in links if link.startswith("#"))


def test_the_csv_beside_the_page_has_every_attempt_of_every_run(made: Folders, written: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((written.parent / "page-harbour-per-task.csv").read_text("utf-8"))))
    assert len(rows) == 48 * 4
    for folder in made.runs:
        scores = read_scores(folder)
        mine = {row["task"]: row for row in rows if row["system"] == scores.system}
        for row in scores.tasks:
            for metric, value in row.values.items():
                assert float(mine[row.task_id][metric]) == value
    slices = list(csv.DictReader(io.StringIO((written.parent / "page-harbour-slices.csv").read_text("utf-8"))))
    assert {row["label"] for row in slices} == {"light", "query_type"}
    pairs = list(csv.DictReader(io.StringIO((written.parent / "page-harbour-differences.csv").read_text("utf-8"))))
    assert len(pairs) == 6 * 5


def test_tasks_that_tell_the_systems_apart_come_first(page: Page) -> None:
    table = page.table("48 of 48 tasks")
    values = [[float(cell.split()[0]) for cell in row[-4:]] for row in table.rows]
    spread = [round(max(row) - min(row), 3) for row in values]
    assert spread == sorted(spread, reverse=True) and spread[0] > spread[-1]
    assert any("timeout" in cell for row in table.rows for cell in row[-4:])
    assert all("boat, number" in row[1] for row in table.rows)


def test_the_number_of_tasks_listed_is_said(made: Folders, tmp_path: Path) -> None:
    few = Page(write_report(made.all, tmp_path / "few.html", rows=5).path.read_text("utf-8"))
    assert len(few.table("5 of 48 tasks").rows) == 5
    none = Page(write_report(made.all, tmp_path / "none.html", rows=0).path.read_text("utf-8"))
    assert not any(" of 48 tasks" in table.caption for table in none.tables)


def test_versions_checksums_and_dates_are_given(made: Folders, page: Page) -> None:
    checksum = read_benchmark(made.benchmark).checksum
    assert checksum is not None and checksum in page.text
    row = page.table("The runs").row("agent")
    assert row["versions"] == "sightline 0.1.0" and row["benchmark"] == checksum[:12] and row["seed"] == "0"
    assert row["run"].endswith("UTC") and row["folder"] == "harbour-agent"


def test_markdown_has_the_same_tables(written: Path, page: Page) -> None:
    text = written.with_suffix(".md").read_text("utf-8").replace("\\", "")
    for table in page.tables:
        assert table.caption in text
        assert f"| {' | '.join(table.head)} |" in text
    assert "<svg" not in text
    mean = page.table("Mean and 95% interval").row("agent")["ndcg@10"]
    value, letters, spread = mean.split(" ", 2)
    assert f"{value} {spread} {letters}" in text


def test_the_same_folders_give_the_same_bytes(copied: Folders, tmp_path: Path) -> None:
    pages = []
    for name in ("one", "two"):
        out = write_report(copied.all, tmp_path / name / "page.html", format="both")
        pages.append({path.name: path.read_bytes() for path in (*out.pages, *out.files)})
    assert pages[0] == pages[1] and len(pages[0]) == 5


def test_a_run_without_scores_is_scored_where_its_benchmark_is_given(tmp_path: Path) -> None:
    benchmark, runs = write_all(tmp_path, tasks=36, systems=("agent", "text only"))
    out = write_report([*runs, benchmark], tmp_path / "page.html")
    for run, found in zip(runs, out.sections[0].runs, strict=True):
        assert read_scores(run) == found.scores
        assert (run / "per_task.csv").is_file()


def test_a_run_without_scores_or_benchmark_is_refused_with_the_fix(tmp_path: Path) -> None:
    _, runs = write_all(tmp_path, tasks=36, systems=("agent",))
    with pytest.raises(UserError, match='its benchmark "harbour" was not found') as caught:
        write_report(runs, tmp_path / "page.html")
    assert f"sightline score BENCH {runs[0]}" in str(caught.value)
    assert not (tmp_path / "page.html").exists()


def test_a_run_of_another_version_is_refused(tmp_path: Path) -> None:
    _, runs = write_all(tmp_path, tasks=36, systems=("agent",))
    other, _ = write_all(tmp_path / "other", tasks=24, systems=())
    with pytest.raises(UserError, match="another version"):
        write_report([other, *runs], tmp_path / "page.html")


def test_a_run_is_scored_on_its_own_version_where_several_are_given(tmp_path: Path) -> None:
    mine, runs = write_all(tmp_path, tasks=36, systems=("agent",))
    other, _ = write_all(tmp_path / "other", tasks=24, systems=())
    out = write_report([other, mine, *runs], tmp_path / "page.html")
    assert [len(section.runs) for section in out.sections] == [0, 1]
    assert read_scores(runs[0]).checksum == read_benchmark(mine).checksum


def test_scores_of_another_version_stand_apart_with_a_warning(copied: Folders, tmp_path: Path) -> None:
    scores = read_scores(copied.runs[0])
    write_scores(replace(scores, checksum="f" * 64), copied.runs[0])
    out = write_report(copied.all, tmp_path / "page.html")
    assert [len(section.runs) for section in out.sections] == [3, 1]
    text = Page(out.path.read_text("utf-8")).text
    assert "another version of this benchmark is on this page" in text
    assert "agent was run on another version of the benchmark" in text
    assert "harbour (ffffffffffff)" in text


def test_runs_alone_tell_of_their_benchmark_what_scores_know(made: Folders, tmp_path: Path) -> None:
    page = Page(write_report(made.runs, tmp_path / "page.html").path.read_text("utf-8"))
    assert "48: 16 rank, 16 select, 16 answer" in page.text
    assert "not known: the benchmark's folder was not among the sources" in page.text
    assert "prompt" not in page.table("48 of 48 tasks").head


def test_a_benchmark_alone_is_described(made: Folders, tmp_path: Path) -> None:
    out = write_report([made.benchmark], tmp_path / "page.html")
    page = Page(out.path.read_text("utf-8"))
    assert "no run on this benchmark was given" in page.text and "48: 16 rank" in page.text
    assert out.files == ()


def test_one_run_has_no_letters_and_no_differences(made: Folders, tmp_path: Path) -> None:
    page = Page(write_report([made.benchmark, made.runs[0]], tmp_path / "page.html").path.read_text("utf-8"))
    assert page.table("Mean and 95% interval").caption == "Mean and 95% interval"
    assert not any(table.caption.startswith("Difference") for table in page.tables)
    assert "rank (16 tasks): agent scored" in page.text


def test_several_benchmarks_share_one_page(made: Folders, tmp_path: Path) -> None:
    other, runs = write_all(tmp_path, "Second Harbour", tasks=36, systems=("agent", "hybrid"))
    out = write_report([*made.all, other, *runs], tmp_path / "page.html")
    page = Page(out.path.read_text("utf-8"))
    assert [section.facts.name for section in out.sections] == ["harbour", "Second Harbour"]
    assert "6 runs on 2 benchmarks" in page.text
    assert {tag["href"] for tag in page.of("a")} >= {"#benchmark-harbour", "#benchmark-second-harbour"}
    assert (tmp_path / "page-second-harbour-per-task.csv").is_file()
    assert (tmp_path / "page-harbour-per-task.csv").is_file()


def test_money_that_is_not_known_is_said_to_be_unknown(copied: Folders, tmp_path: Path) -> None:
    unknown, partly, none, _ = copied.runs
    write_scored(with_prices(read_run(unknown), None), unknown, copied.benchmark)
    write_scored(with_prices(read_run(partly), None, 40), partly, copied.benchmark)
    write_scored(replace(read_run(none), ledger=()), none, copied.benchmark)
    page = Page(write_report(copied.all, tmp_path / "page.html").path.read_text("utf-8"))
    table = page.table("Cost, time per task")
    assert table.row("agent")["cost"] == "unknown" and table.row("agent")["per task"] == "–"
    assert table.row("hybrid")["cost"].startswith("≥ $")
    assert table.row("embedder")["cost"] == "not recorded" and table.row("embedder")["p50"] == "–"
    assert "hybrid: 40 calls of 48 have no known price" in page.text
    assert "against cost" not in page.text


def write_scored(run: Run, folder: Path, benchmark: Path) -> None:
    write_run(run, folder)
    score_run(benchmark, folder)


def test_runs_of_one_system_are_told_apart_by_their_folders(copied: Folders, tmp_path: Path) -> None:
    twin = tmp_path / "elsewhere" / copied.runs[0].name
    write_scored(read_run(copied.runs[0]), twin, copied.benchmark)
    out = write_report([copied.benchmark, copied.runs[0], twin], tmp_path / "page.html")
    names = {run.name for run in out.sections[0].runs}
    assert names == {"agent (runs/harbour-agent)", "agent (elsewhere/harbour-agent)"}


def test_the_same_folder_twice_counts_once(made: Folders, tmp_path: Path) -> None:
    run = made.runs[0]
    out = write_report([run, run.parent / "." / run.name, run.parent / ".." / "runs" / run.name], tmp_path / "p.html")
    assert [len(section.runs) for section in out.sections] == [1]


def test_runs_scored_in_different_ways_are_shown_and_not_compared(copied: Folders, tmp_path: Path) -> None:
    score_run(copied.benchmark, copied.runs[0], cluster_by=None)
    page = Page(write_report(copied.all, tmp_path / "page.html").path.read_text("utf-8"))
    assert "the runs can't be compared: the runs were scored with different clusters." in page.text
    assert page.table("Mean and 95% interval").caption == "Mean and 95% interval"
    assert len(page.table("Mean and 95% interval").rows) == 4


def test_runs_with_other_metrics_leave_a_gap(copied: Folders, tmp_path: Path) -> None:
    score_only(copied.benchmark, copied.runs[0], ["ndcg@10", "answer"])
    page = Page(write_report(copied.all, tmp_path / "page.html").path.read_text("utf-8"))
    table = page.table("Mean and 95% interval")
    assert table.row("agent")["f1"] == "–" and table.row("hybrid")["f1"] != "–"
    assert table.row("hybrid")["f1"].split()[1].startswith("[")


def test_kinds_of_task_without_a_metric_are_listed_without_a_score(copied: Folders, tmp_path: Path) -> None:
    for run in copied.runs:
        score_only(copied.benchmark, run, ["ndcg@10"])
    page = Page(write_report(copied.all, tmp_path / "page.html").path.read_text("utf-8"))
    table = page.table("48 of 48 tasks")
    assert {row[2] for row in table.rows} == {"ndcg@10", "–"}
    assert table.row("select-001 select")["agent"] == "–"


def test_metrics_without_a_value_and_benchmarks_without_tasks_are_shown(tmp_path: Path) -> None:
    untold = write_benchmark(replace(make_benchmark("untold", tasks=12), truth={}), tmp_path / "untold")
    empty = write_benchmark(replace(make_benchmark("empty"), tasks=Tasks({}), truth={}, metrics=()), tmp_path / "empty")
    for benchmark in (untold, empty):
        for system in ("agent", "hybrid"):
            write_run(make_answers(benchmark, system), tmp_path / f"{benchmark.name}-{system}")
    folders = [path.parent for name in ("run", "benchmark") for path in tmp_path.glob(f"*/{name}.json")]
    page = Page(write_report(folders, tmp_path / "page.html").path.read_text("utf-8"))
    tables = [table for table in page.tables if table.caption.startswith("Mean and 95%")]
    assert sorted(row for table in tables for row in table.rows if row[0] == "agent") == [
        ["agent", "0 of 0"],
        ["agent", *["–"] * 5, "8 of 12"],
    ]
    assert {run.reason.split(":")[0] for run in build_leaderboard(tmp_path).left_out} == {"was scored with no metric"}


def make_answers(benchmark: Benchmark, system: str) -> Run:
    """Text for every task: the wrong form for two kinds of three."""
    attempts = tuple(Attempt(task, Text("something")) for task in benchmark.tasks)
    return Run(benchmark.name, system, attempts, benchmark.checksum)


def test_repeated_attempts_are_reported(copied: Folders, tmp_path: Path) -> None:
    run = read_run(copied.runs[0])
    again = tuple(Attempt(one.task_id, Failure("timeout", ""), 1) for one in run.attempts)
    write_scored(replace(run, attempts=run.attempts + again), copied.runs[0], copied.benchmark)
    page = Page(write_report(copied.all, tmp_path / "page.html").path.read_text("utf-8"))
    row = page.table("Repeated attempts").row("ndcg@10", "agent")
    assert row["attempts"] == "2" and row["mean of each"].endswith(", 0.000")


def test_a_broken_folder_is_refused_by_name(copied: Folders, tmp_path: Path) -> None:
    (copied.runs[0] / "run.json").write_text("{")
    with pytest.raises(UserError, match=r"run\.json"):
        write_report(copied.all, tmp_path / "page.html")
    with pytest.raises(UserError, match="neither a benchmark nor a run"):
        write_report([tmp_path], tmp_path / "page.html")
    with pytest.raises(UserError, match="is not a folder"):
        write_report([tmp_path / "nothing"], tmp_path / "page.html")
    with pytest.raises(UserError, match="nothing to report on"):
        write_report([], tmp_path / "page.html")


def test_files_among_the_runs_are_skipped_and_named(
    copied: Folders, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """`leaderboard` writes into the folder of the runs; `report BENCH runs/*` names those files too."""
    runs = copied.runs[0].parent
    write_leaderboard(build_leaderboard(runs))
    given = [copied.benchmark, *sorted(runs.iterdir())]
    assert len(given) == len(copied.runs) + 4
    page = write_report(given, tmp_path / "page.html")
    assert [len(section.runs) for section in page.sections] == [len(copied.runs)]
    assert "leaderboard.csv" in caplog.text and "Skipped" in caplog.text
    with pytest.raises(UserError, match=r"nothing to report on: .*leaderboard\.csv is not a folder"):
        write_report(runs / "leaderboard.csv", tmp_path / "page.html")


@pytest.mark.parametrize("name", ["page", "page.txt", "page.pdf"])
def test_a_page_is_html_or_markdown(made: Folders, tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="HTML or Markdown"):
        write_report(made.all, tmp_path / name)


def test_the_package_is_the_verb(made: Folders, tmp_path: Path) -> None:
    import sightline

    assert sightline.report([made.benchmark], tmp_path / "page.md").path == tmp_path / "page.md"
    assert (tmp_path / "page.md").is_file()


def test_the_suffix_or_the_format_decides(made: Folders, tmp_path: Path) -> None:
    assert write_report(made.all, tmp_path / "a.md").path.read_text("utf-8").startswith("# Sightline report")
    assert [page.name for page in write_report(made.all, tmp_path / "b.html").pages] == ["b.html"]
    assert [page.name for page in write_report(made.all, tmp_path / "c.md", format="both").pages] == ["c.md", "c.html"]
    assert (tmp_path / "c.html").read_text("utf-8").startswith("<!doctype html>")
