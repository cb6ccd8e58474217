"""Names, prompts, labels and failures may hold anything: nothing of it may act on the page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from reports.page_check import Page
from reports.report_samples import Folders, make_benchmark, make_run
from sightline.benchmark.folder import write_benchmark
from sightline.markup import Markup, escape, join, tag
from sightline.plain_text import columns, one_line, short
from sightline.reports.markdown import plain
from sightline.reports.report import report as write_report
from sightline.reports.sections import unique_slugs
from sightline.runs.folder import write_run
from sightline.types import Attempt, Failure, Json
from sightline.types.task_table import Tasks

EVIL = '<script>alert("1")</script>\n\n| `x` [a](b) \' & \u202eltr\u202c \x1b[31m'
HEBREW = "שלום עולם"


def write_hostile(folder: Path) -> list[Path]:
    """A benchmark and two runs in which every string that a page shows is hostile."""
    made = make_benchmark(EVIL, tasks=36)
    tasks = {
        f"{EVIL} {number}": replace(
            task,
            id=f"{EVIL} {number}",
            prompt=(EVIL, HEBREW),
            labels={EVIL: (EVIL, HEBREW), HEBREW: (str(number % 2),)},
        )
        for number, task in enumerate(made.tasks.values())
    }
    truth = dict(zip(tasks, made.truth.values(), strict=True))
    card: dict[str, Json] = {EVIL: EVIL, "nested": {"</style>": ["</script>"]}}
    benchmark = write_benchmark(replace(made, tasks=Tasks(tasks), truth=truth, card=card), folder / "bench")
    folders = [folder / "bench"]
    for number, name in enumerate((EVIL, HEBREW)):
        run = make_run(benchmark, name, 0.9 - 0.4 * number)
        failed = (Attempt(run.attempts[0].task_id, Failure(EVIL, EVIL)), *run.attempts[1:])
        run = replace(run, attempts=failed, parameters={EVIL: EVIL}, versions={EVIL: EVIL})
        folders.append(folder / f"run {number}")
        write_run(run, folders[-1])
    return folders


def test_hostile_strings_are_shown_and_do_nothing(tmp_path: Path) -> None:
    out = write_report(write_hostile(tmp_path), tmp_path / 'p "q" <x>.html', format="both")
    html = out.path.read_text("utf-8")
    page = Page(html)
    assert "<script" not in html and "</script>" in page.text
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert {tag for tag, _ in page.tags} <= {
        *("html", "head", "meta", "title", "style", "body", "header", "main", "section", "footer", "h1", "h2", "h3"),
        *(
            "p",
            "ul",
            "li",
            "dl",
            "div",
            "dt",
            "dd",
            "details",
            "summary",
            "figure",
            "bdi",
            "small",
            "b",
            "span",
            "br",
            "a",
        ),
        *(
            "table",
            "caption",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "svg",
            "g",
            "desc",
            "text",
            "line",
            "circle",
            "polygon",
            "polyline",
        ),
    }
    assert not {"\u202e", "\u202c", "\x1b"} & set(html)
    assert html.count("</style>") == 1
    table = page.table("Mean and 95% interval")
    assert [row[0] for row in table.rows] == [one_line(EVIL).strip(), HEBREW]


def test_hostile_strings_do_not_break_markdown_tables(tmp_path: Path) -> None:
    out = write_report(write_hostile(tmp_path), tmp_path / "page.md")
    text = out.path.read_text("utf-8")
    assert "<script" not in text and "\x1b" not in text
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            block.append(line)
            continue
        assert len({row.replace("\\|", "").count("|") for row in block}) <= 1, block
        block = []


def test_a_prompt_in_another_direction_turns_only_its_own_cell(tmp_path: Path) -> None:
    page = Page(write_report(write_hostile(tmp_path), tmp_path / "page.html").path.read_text("utf-8"))
    assert all(cell.get("dir") == "auto" for cell in page.of("td") if "number" not in (cell.get("class") or ""))


def test_benchmarks_with_one_slug_do_not_share_files(made: Folders, tmp_path: Path) -> None:
    sources = list(made.all)
    for number, name in enumerate(("Harbour!", "???", "!!!")):
        benchmark = write_benchmark(make_benchmark(name, tasks=12), tmp_path / f"b{number}")
        write_run(make_run(benchmark, "agent", 0.9), tmp_path / f"r{number}")
        sources += [tmp_path / f"b{number}", tmp_path / f"r{number}"]
    out = write_report(sources, tmp_path / "page.html")
    per_task = [path.name for path in out.files if path.name.endswith("per-task.csv")]
    assert len(set(per_task)) == len(per_task) == 4
    ids = [tag["id"] for _, tag in Page(out.path.read_text("utf-8")).tags if "id" in tag]
    assert len(ids) == len(set(ids))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.sampled_from(["a", "a-2", "a-3", "A!", "é", ""]), max_size=8))
def test_every_benchmark_has_a_slug_of_its_own(names: list[str]) -> None:
    slugs = unique_slugs(names)
    assert len(set(slugs)) == len(slugs) == len(names)
    assert all(re.fullmatch("[a-z0-9-]+", slug) for slug in slugs)


@settings(deadline=None, max_examples=150)
@given(st.text())
def test_any_text_survives_escaping_as_itself(text: str) -> None:
    html = f"<!doctype html>\n{tag('p', text, title=text)}"
    page = Page(html)
    assert "".join(page.words).strip("\n") == one_line(text)
    assert page.tags == [("p", {"title": one_line(text)})]
    assert len(one_line(text).splitlines()) <= 1


@settings(deadline=None, max_examples=150)
@given(st.text())
def test_markdown_text_has_no_bare_special_letters(text: str) -> None:
    shown = plain(text)
    assert "\n" not in shown and "<" not in shown
    rest = shown.replace("\\\\", "")
    for letter in "`*_[]|$":
        assert rest.count(letter) == rest.count(f"\\{letter}")


@settings(deadline=None, max_examples=100)
@given(st.text(), st.integers(1, 30))
def test_a_shortened_text_fits(text: str, limit: int) -> None:
    assert columns(short(text, limit)) <= limit
    if columns(one_line(text).strip()) <= limit:
        assert short(text, limit) == one_line(text).strip()


def test_markup_is_escaped_once() -> None:
    assert escape("<&>\"'") == "&lt;&amp;&gt;&quot;&#x27;"
    assert escape(Markup("<b>")) == "<b>"
    assert join(["<", Markup("<br>")]) == "&lt;<br>"
    assert tag("meta", name="x", class_="y", stroke_width=2.0, hidden=True, dir=None) == (
        '<meta name="x" class="y" stroke-width="2" hidden>'
    )
