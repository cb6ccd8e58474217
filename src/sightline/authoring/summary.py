"""The stage `summary`: a benchmark → one page with a sample of its pictures, and its charts and tables as files."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from sightline import __version__
from sightline.authoring.project import Project
from sightline.authoring.project_benchmark import read_project_benchmark
from sightline.authoring.stage import StageResult
from sightline.authoring.summary_charts import Chart, SummaryCharts, charts
from sightline.authoring.summary_drawings import to_png, to_svg
from sightline.authoring.summary_statistics import BenchmarkNumbers, count
from sightline.authoring.summary_tables import Rows, overview, tables
from sightline.calls.journal_tables import JOURNAL_FILE
from sightline.calls.ledger import read_ledger
from sightline.corpus.small_copy import data_url, fitted_copy
from sightline.english import counted
from sightline.io.files import csv_bytes, picture_path, write_files
from sightline.markup import Markup
from sightline.plain_text import short
from sightline.reports import blocks
from sightline.reports.blocks import (
    Block,
    Cell,
    Chapter,
    FactsBlock,
    FileLink,
    Fold,
    NotesBlock,
    PagePart,
    Paragraph,
    PicturesBlock,
    ReportPage,
)
from sightline.reports.html import to_html
from sightline.reports.text import DASH
from sightline.types import Picture

SIZE = 50
SEED = 42
_SMALL = (200, 150)
_COLUMNS = 10
_GAP = 6
_MOST_ROWS = 25
_SHOWN = 18
_COUNTING = (
    "Each query and each picture counts once, however many pairs it is in; where pairs are counted, it says so. "
    "Shares have Wilson intervals of 95 %. Boxes go from the first to the third quartile, their lines from 5 to 95 %, "
    "and the mark is the median."
)
FOLDER = "summary"
PAGE = "index.html"
_NO_PNG = "resvg-py is not installed, so no PNG files were drawn: pip install 'sightline[charts]'"
_NOT_PLAIN = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class SampledPicture:
    """A picture and its small copy; None if it can't be read here."""

    picture: Picture
    small: Image.Image | None

    @property
    def data_url(self) -> Markup | None:
        return None if self.small is None else data_url(self.small)


def draw_sample(pictures: Sequence[Picture], folder: Path, size: int = SIZE, seed: int = SEED) -> list[SampledPicture]:
    """Pictures drawn by chance, always the same ones; relative addresses start at `folder`."""
    ordered = sorted(pictures, key=lambda picture: picture.id)
    chosen = np.random.default_rng(seed).permutation(len(ordered))[:size]
    return [SampledPicture(ordered[at], small_copy(ordered[at], folder)) for at in sorted(chosen.tolist())]


def small_copy(picture: Picture, folder: Path) -> Image.Image | None:
    """The pixels alone, upright; None for what is not here or is not a picture."""
    path = picture_path(picture.uri, folder)
    return None if path is None else fitted_copy(path, _SMALL)


def contact_sheet(sample: Sequence[SampledPicture]) -> bytes | None:
    """The sample on one sheet, as PNG; None if none of it can be shown."""
    shown = [one.small for one in sample if one.small is not None]
    if not shown:
        return None
    columns = min(_COLUMNS, len(shown))
    width, height = _SMALL[0] + _GAP, _SMALL[1] + _GAP
    sheet = Image.new("RGB", (columns * width + _GAP, -(-len(shown) // columns) * height + _GAP), "white")
    for number, small in enumerate(shown):
        row, column = divmod(number, columns)
        left = _GAP + column * width + (_SMALL[0] - small.width) // 2
        sheet.paste(small, (left, _GAP + row * height + (_SMALL[1] - small.height) // 2))
    out = io.BytesIO()
    sheet.save(out, "PNG", optimize=True)
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class SummaryContent:
    """All that a page shows."""

    numbers: BenchmarkNumbers
    charts: SummaryCharts
    tables: Mapping[str, Rows]
    sample: Sequence[SampledPicture]
    warnings: Sequence[str] = ()


def to_page(content: SummaryContent) -> ReportPage:
    """The blocks of the page."""
    benchmark = content.numbers.benchmark
    chapters = [
        Chapter("What it holds", "overview", [PagePart("", _overview(content))]),
        Chapter("Pictures", "pictures", [_drawn("", content.charts.pictures), _sample(content.sample)]),
        Chapter("Queries", "queries", [_drawn("", content.charts.queries), PagePart("", [_queries(content)])]),
        Chapter("Relevance", "relevance", [_drawn("", content.charts.relevance), _relevance(content)]),
    ]
    if content.charts.similarity:
        chapters.append(_measured(content, "Similarity", content.numbers.similarity_name, content.charts.similarity))
    if content.charts.confidence:
        chapters.append(_measured(content, "Confidence", "confidence", content.charts.confidence))
    chapters += [
        Chapter("What it cost", "cost", [PagePart("", _costs(content))]),
        Chapter("Settings", "settings", [PagePart("", [_folded(content, "config_values", "All settings")])]),
        Chapter("Tables", "tables", [PagePart("", [FileLink(_words(name), f"{name}.csv") for name in content.tables])]),
    ]
    queries, pictures = len(content.numbers.tasks), len(content.numbers.pictures)
    return ReportPage(
        title=f"Summary of {benchmark.name}",
        subtitle=f"Version {benchmark.version}: {counted(queries, 'query', 'queries')} over "
        f"{counted(pictures, 'picture')}",
        chapters=chapters,
        footer=f"Made by Sightline {__version__}. Small copies of pictures carry no metadata.",
    )


def _overview(content: SummaryContent) -> list[Block]:
    numbers = content.numbers
    found: list[Block] = [FactsBlock([(_words(name), _cell(value)) for name, value in overview(numbers).items()])]
    description = numbers.benchmark.card.get("description")
    if isinstance(description, str):
        found.insert(0, Paragraph(description))
    if content.warnings:
        found.append(NotesBlock(content.warnings, warning=True))
    return [*found, Paragraph(_COUNTING)]


def _drawn(title: str, drawings: Sequence[Chart]) -> PagePart:
    return PagePart(title, [blocks.ChartsBlock([to_svg(drawing) for drawing in drawings])])


def _sample(sample: Sequence[SampledPicture]) -> PagePart:
    shown = [blocks.CaptionedPicture(one.data_url, short(one.picture.id, 26)) for one in sample[:_SHOWN]]
    return PagePart("A sample", [PicturesBlock(shown)])


def _queries(content: SummaryContent) -> Block:
    rows = content.tables["query_relevancy_stats"]
    caption = f"The first {_MOST_ROWS} of {len(rows):,} queries" if len(rows) > _MOST_ROWS else "All queries"
    return blocks.TableBlock(
        caption,
        ("Query", "Words of it", "Relevant", "Judged", "Share"),
        [
            (Cell(row["query_id"]), row["query_text"], _cell(row["sum"]), _cell(row["count"]),
             f"{row['relevance_rate']:.1%}")
            for row in rows[:_MOST_ROWS]
        ],
        blocks.numeric(2, 5),
    )  # fmt: skip


def _relevance(content: SummaryContent) -> PagePart:
    names = ("relevance_by_tier", "relevance_by_facet")
    return PagePart("", [_table(content, name, _words(name)) for name in names if name in content.tables])


def _measured(content: SummaryContent, title: str, prefix: str, drawings: Sequence[Chart]) -> Chapter:
    names = [name for name in content.tables if name.startswith(f"{prefix}_")]
    folded = [_folded(content, name, _words(name)) for name in names]
    return Chapter(title, title.lower(), [_drawn("", drawings), PagePart("", folded)])


def _costs(content: SummaryContent) -> list[Block]:
    if "cost_summary" not in content.tables:
        return [Paragraph("No call to a model is in the journal of this workspace.")]
    return [_table(content, "cost_summary", "By stage, in US dollars; empty where a price is not known")]


def _folded(content: SummaryContent, name: str, summary: str) -> Fold:
    return Fold(f"{summary} ({len(content.tables[name]):,} rows)", [_table(content, name, summary)])


def _table(content: SummaryContent, name: str, caption: str) -> blocks.TableBlock:
    """A table as it is in its file, cut where a page would get too long."""
    rows = content.tables[name]
    most = len(rows) if name == "config_values" else _MOST_ROWS
    head = list(rows[0])
    numeric = frozenset(at for at, key in enumerate(head) if all(_is_number(row[key]) for row in rows))
    said = f"{caption}; the first {most} of {len(rows):,} rows" if len(rows) > most else caption
    return blocks.TableBlock(said, head, [[_cell(row[key]) for key in head] for row in rows[:most]], numeric)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if value is None or value == "":
        return DASH
    return f"{value:,}" if _is_number(value) else str(value)


def _words(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


@dataclass(frozen=True, slots=True)
class SummaryStage:
    """Counts, draws and writes; asks nobody."""

    bench: Path | None = None
    "A benchmark folder, or one with benchmaker's files; the project's own when not given."
    png: bool = True
    name: str = "summary"
    writes: tuple[str, ...] = ()

    def run(self, project: Project) -> StageResult:
        """Write the page, the tables and the charts; the same input gives the same files."""
        source = read_project_benchmark(project, self.bench)
        numbers = count(source.benchmark, project.config.duplicates.bits)
        journal = project.workspace / JOURNAL_FILE
        ledger = read_ledger(project.workspace, "stage") if journal.is_file() else None
        content = SummaryContent(
            numbers,
            charts(numbers),
            tables(numbers, project.config, ledger),
            draw_sample(tuple(source.benchmark.corpus.pictures.values()), source.folder),
            source.warnings,
        )
        folder = summary_folder(project)
        drawn, warnings = self._drawings(content)
        written: Mapping[Path, bytes] = {
            folder / PAGE: to_html(to_page(content)).encode(),
            **{folder / f"{_plain(name)}.csv": csv_bytes(rows) for name, rows in content.tables.items()},
            **{folder / f"{_plain(name)}.png": data for name, data in drawn.items()},
        }
        write_files(written)
        return StageResult(
            self.name,
            tuple(written),
            {"queries": len(numbers.tasks), "pictures": len(numbers.pictures), "pairs": len(numbers.grades)}
            | {"tables": len(content.tables), "charts": len(drawn)},
            warnings=(*source.warnings, *warnings),
        )

    def _drawings(self, content: SummaryContent) -> tuple[dict[str, bytes], tuple[str, ...]]:
        if not self.png:
            return {}, ()
        sheet = contact_sheet(content.sample)
        found = {} if sheet is None else {"random_image_sample": sheet}
        if find_spec("resvg_py") is None:
            return found, (_NO_PNG,)
        return found | {drawing.name: to_png(drawing) for drawing in content.charts.all}, ()


def summary_folder(project: Project) -> Path:
    """Where the page goes: as configured, else inside the project."""
    return project.config.paths.report or project.folder / FOLDER


def _plain(name: str) -> str:
    """A facet's name may hold anything; a file's may not."""
    return _NOT_PLAIN.sub("_", name)[:120]
