"""Write a report: the page, and its tables beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sightline import __version__
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import PathLike
from sightline.reports.blocks import Chapter, PagePart, Paragraph, ReportPage
from sightline.reports.html import to_html
from sightline.reports.markdown import to_markdown
from sightline.reports.output import write_files
from sightline.reports.parts.benchmark import measured, notes, provenance
from sightline.reports.parts.costs import costs, latency
from sightline.reports.parts.differences import differences, tasks
from sightline.reports.parts.failures import failures, missed
from sightline.reports.parts.results import beside, recall, results
from sightline.reports.parts.slices import breakdown
from sightline.reports.sections import (
    FileNames,
    ReportContent,
    ReportSection,
    file_names,
    gather,
    tables_of,
    unique_slugs,
)
from sightline.reports.text import moment

_HOW_TO_READ = (
    "The mean runs over all tasks: a failed attempt or a missing prediction counts as zero, and is counted under "
    "failures. The interval says where the mean would lie on other tasks of the same sort; tasks that belong together "
    "are resampled together. Systems that share a letter can't be told apart: their difference, tested by paired "
    "randomisation and corrected by Holm over all pairs of a metric, could be chance. A slice is no test; with many "
    "slices some look different by chance."
)
_SUFFIXES: dict[str, Format] = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md"}
_RENDERERS: dict[Format, Callable[[ReportPage], str]] = {"html": to_html, "md": to_markdown}
ROWS = 50


def document(gathered: ReportContent, files: Sequence[FileNames], *, rows: int) -> ReportPage:
    """One chapter for each benchmark; `rows` is how many tasks the page lists."""
    sections = gathered.sections
    idents = [f"benchmark-{slug}" for slug in unique_slugs([section.facts.name for section in sections])]
    chapters = [
        Chapter(_title(section, sections), ident, _parts(section, names, ident, rows))
        for section, names, ident in zip(sections, files, idents, strict=True)
    ]
    read = Chapter("How to read this", "how-to-read", [PagePart("", [Paragraph(_HOW_TO_READ)])])
    runs = sum(len(section.runs) for section in sections)
    return ReportPage(
        title=f"Sightline report: {_names(sections)}",
        subtitle=f"{counted(runs, 'run')} on {counted(len(sections), 'benchmark')}, as of {moment(gathered.date)}",
        chapters=[*chapters, read],
        footer=f"Made by Sightline {__version__}",
    )


def _parts(section: ReportSection, files: FileNames, ident: str, rows: int) -> list[PagePart]:
    found: list[PagePart | None] = [measured(section), results(section, ident), notes(section)]
    if section.runs:
        found += [
            recall(section, ident),
            costs(section, ident),
            latency(section),
            differences(section, files),
            breakdown(section, files, ident),
            failures(section),
            missed(section),
            beside(section),
            tasks(section, files, rows),
        ]
    found.append(provenance(section))
    return [part for part in found if part is not None]


def _title(section: ReportSection, sections: Sequence[ReportSection]) -> str:
    """The benchmark's name, with its checksum where the page has several versions of it."""
    name, checksum = section.facts.name, section.facts.checksum or "no checksum"
    versions = sum(other.facts.name == name for other in sections)
    return name if versions == 1 else f"{name} ({checksum[:12]})"


def _names(sections: Sequence[ReportSection]) -> str:
    names = list(dict.fromkeys(section.facts.name for section in sections))
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} benchmarks"


Format: TypeAlias = Literal["html", "md", "both"]


@dataclass(frozen=True, slots=True)
class Report:
    """Where a report was written, and the numbers in it."""

    pages: tuple[Path, ...]
    files: tuple[Path, ...]
    sections: tuple[ReportSection, ...]
    date: datetime

    @property
    def path(self) -> Path:
        """The page that was asked for."""
        return self.pages[0]

    def to_dict(self) -> dict[str, Any]:
        """Paths and numbers, ready for JSON."""
        return {
            "pages": [str(page) for page in self.pages],
            "files": [str(file) for file in self.files],
            "date": self.date.isoformat(),
            "benchmarks": [section.to_dict() for section in self.sections],
        }


def write_report(
    sources: Sequence[PathLike],
    out: PathLike,
    *,
    format: Format | None = None,  # noqa: A002
    date: datetime | None = None,
    rows: int = ROWS,
) -> Report:
    """One page over runs and benchmarks, and CSV files beside it.

    The format is the suffix's unless given; `both` writes a page of each. `rows` is how many tasks are listed. The
    same folders give the same bytes: the date is when the newest scores were written, unless given.
    """
    target = Path(out).expanduser()
    pages = _pages(target, format)
    found = gather(sources, date=date)
    names = file_names(target.stem, found.sections)
    page = document(found, names, rows=rows)
    tables = {
        target.with_name(name): data
        for section, of_section in zip(found.sections, names, strict=True)
        for name, data in tables_of(section, of_section).items()
    }
    rendered = {path: _RENDERERS[kind](page).encode() for path, kind in pages.items()}
    write_files({**tables, **rendered})
    return Report(tuple(pages), tuple(tables), found.sections, found.date)


def _pages(target: Path, wanted: Format | None) -> dict[Path, Format]:
    """The pages to write, the one that was asked for first."""
    by_suffix = _SUFFIXES.get(target.suffix.lower())
    if by_suffix is None:
        raise UserError(f"a report is a page of HTML or Markdown, not {target.name!r}.", "let it end in .html or .md")
    if wanted == "both":
        other: Format = "md" if by_suffix == "html" else "html"
        return {target: by_suffix, target.with_suffix(f".{other}"): other}
    return {target: wanted or by_suffix}


def report(sources: Sequence[PathLike], out: PathLike, *, format: Format | None = None) -> Path:  # noqa: A002
    """Write one page (HTML or Markdown, by the suffix of `out` unless given) over runs and benchmarks; its path."""
    return write_report(sources, out, format=format).path
