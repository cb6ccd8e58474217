"""The page of a summary: what the benchmark holds, drawn and counted, in one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sightline import __version__
from sightline.english import counted
from sightline.make.summary import svg
from sightline.make.summary.drawing import Drawing
from sightline.make.summary.drawings import Charts
from sightline.make.summary.numbers import Numbers
from sightline.make.summary.sample import Sampled
from sightline.make.summary.tables import Rows, overview
from sightline.report import blocks
from sightline.report.blocks import Block, Cell, Chapter, Facts, FileLink, Fold, Notes, Page, Paragraph, Part, Pictures
from sightline.report.words import DASH, short

_MOST_ROWS = 25
_SHOWN = 18
_COUNTING = (
    "Each query and each picture counts once, however many pairs it is in; where pairs are counted, it says so. "
    "Shares have Wilson intervals of 95 %. Boxes go from the first to the third quartile, their lines from 5 to 95 %, "
    "and the mark is the median."
)


@dataclass(frozen=True, slots=True)
class Content:
    """All that a page shows."""

    numbers: Numbers
    charts: Charts
    tables: Mapping[str, Rows]
    sample: Sequence[Sampled]
    warnings: Sequence[str] = ()


def to_page(content: Content) -> Page:
    """The blocks of the page."""
    benchmark = content.numbers.benchmark
    chapters = [
        Chapter("What it holds", "overview", [Part("", _overview(content))]),
        Chapter("Pictures", "pictures", [_drawn("", content.charts.pictures), _sample(content.sample)]),
        Chapter("Queries", "queries", [_drawn("", content.charts.queries), Part("", [_queries(content)])]),
        Chapter("Relevance", "relevance", [_drawn("", content.charts.relevance), _relevance(content)]),
    ]
    if content.charts.similarity:
        chapters.append(_measured(content, "Similarity", content.numbers.similarity_name, content.charts.similarity))
    if content.charts.confidence:
        chapters.append(_measured(content, "Confidence", "confidence", content.charts.confidence))
    chapters += [
        Chapter("What it cost", "cost", [Part("", _costs(content))]),
        Chapter("Settings", "settings", [Part("", [_folded(content, "config_values", "All settings")])]),
        Chapter("Tables", "tables", [Part("", [FileLink(_words(name), f"{name}.csv") for name in content.tables])]),
    ]
    queries, pictures = len(content.numbers.tasks), len(content.numbers.pictures)
    return Page(
        title=f"Summary of {benchmark.name}",
        subtitle=f"Version {benchmark.version}: {counted(queries, 'query' if queries == 1 else 'querie')} over "
        f"{counted(pictures, 'picture')}",
        chapters=chapters,
        footer=f"Made by Sightline {__version__}. Small copies of pictures carry no metadata.",
    )


def _overview(content: Content) -> list[Block]:
    numbers = content.numbers
    found: list[Block] = [Facts([(_words(name), _cell(value)) for name, value in overview(numbers).items()])]
    description = numbers.benchmark.card.get("description")
    if isinstance(description, str):
        found.insert(0, Paragraph(description))
    if content.warnings:
        found.append(Notes(content.warnings, warning=True))
    return [*found, Paragraph(_COUNTING)]


def _drawn(title: str, drawings: Sequence[Drawing]) -> Part:
    return Part(title, [blocks.Charts([svg.to_svg(drawing) for drawing in drawings])])


def _sample(sample: Sequence[Sampled]) -> Part:
    shown = [blocks.Shown(one.data_url, short(one.picture.id, 26)) for one in sample[:_SHOWN]]
    return Part("A sample", [Pictures(shown)])


def _queries(content: Content) -> Block:
    rows = content.tables["query_relevancy_stats"]
    caption = f"The first {_MOST_ROWS} of {len(rows):,} queries" if len(rows) > _MOST_ROWS else "All queries"
    return blocks.Table(
        caption,
        ("Query", "Words of it", "Relevant", "Judged", "Share"),
        [
            (Cell(row["query_id"]), row["query_text"], _cell(row["sum"]), _cell(row["count"]),
             f"{row['relevance_rate']:.1%}")
            for row in rows[:_MOST_ROWS]
        ],
        blocks.numeric(2, 5),
    )  # fmt: skip


def _relevance(content: Content) -> Part:
    names = ("relevance_by_tier", "relevance_by_facet")
    return Part("", [_table(content, name, _words(name)) for name in names if name in content.tables])


def _measured(content: Content, title: str, prefix: str, drawings: Sequence[Drawing]) -> Chapter:
    names = [name for name in content.tables if name.startswith(f"{prefix}_")]
    folded = [_folded(content, name, _words(name)) for name in names]
    return Chapter(title, title.lower(), [_drawn("", drawings), Part("", folded)])


def _costs(content: Content) -> list[Block]:
    if "cost_summary" not in content.tables:
        return [Paragraph("No call to a model is in the journal of this workspace.")]
    return [_table(content, "cost_summary", "By stage, in US dollars; empty where a price is not known")]


def _folded(content: Content, name: str, summary: str) -> Fold:
    return Fold(f"{summary} ({len(content.tables[name]):,} rows)", [_table(content, name, summary)])


def _table(content: Content, name: str, caption: str) -> blocks.Table:
    """A table as it is in its file, cut where a page would get too long."""
    rows = content.tables[name]
    most = len(rows) if name == "config_values" else _MOST_ROWS
    head = list(rows[0])
    numeric = frozenset(at for at, key in enumerate(head) if all(_is_number(row[key]) for row in rows))
    said = f"{caption}; the first {most} of {len(rows):,} rows" if len(rows) > most else caption
    return blocks.Table(said, head, [[_cell(row[key]) for key in head] for row in rows[:most]], numeric)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if value is None or value == "":
        return DASH
    return f"{value:,}" if _is_number(value) else str(value)


def _words(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]
