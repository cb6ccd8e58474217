"""Write a report: the page, and its tables beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from os import PathLike as OsPath
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from sightline import __version__
from sightline.display import Shown, html_table, quiet
from sightline.english import counted
from sightline.errors import UserError, require_at_least, require_one_of
from sightline.io.files import PathLike, as_path, write_files
from sightline.metrics.tables import warning_text
from sightline.plain_text import one_line
from sightline.reports.blocks import Chapter, PagePart, Paragraph, ReportPage
from sightline.reports.html import to_html
from sightline.reports.markdown import to_markdown
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
    "randomisation and corrected for all pairs of a metric, could be chance, or the better one may not be "
    "called better (no win). A slice is not a test; with many slices some look different by chance."
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


@dataclass(frozen=True, slots=True, repr=False)
class Report(Shown):
    """Where a report was written, and the numbers in it."""

    pages: tuple[Path, ...]
    files: tuple[Path, ...]
    sections: tuple[ReportSection, ...]
    date: datetime

    @property
    def path(self) -> Path:
        """The page that was asked for."""
        return self.pages[0]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know, by benchmark."""
        return tuple(
            one_line(f"{section.facts.name}: {said}")
            for section in self.sections
            for said in (*map(warning_text, section.trust), *section.warnings)
        )

    def __str__(self) -> str:
        return "\n".join(f"  {path}" for path in (*self.pages, *self.files))

    def __fspath__(self) -> str:
        return str(self.path)

    def _line(self) -> str:
        runs = sum(len(section.runs) for section in self.sections)
        return f"{self.path}: {counted(runs, 'run')} on {counted(len(self.sections), 'benchmark')}"

    def _blocks(self) -> Iterable[str]:
        yield html_table(
            ("file", "bytes"), [(str(one), f"{one.stat().st_size:,}") for one in self._there()], numeric={1}
        )
        yield from (quiet(f"Warning: {warning}") for warning in self.warnings)

    def _there(self) -> list[Path]:
        return [path for path in (*self.pages, *self.files) if path.is_file()]

    def to_json(self) -> dict[str, Any]:
        """What `report --json` prints: paths and numbers."""
        return {
            "pages": [str(page) for page in self.pages],
            "files": [str(file) for file in self.files],
            "date": self.date.isoformat(),
            "benchmarks": [section.to_dict() for section in self.sections],
            "warnings": [
                asdict(one) for one in dict.fromkeys(one for section in self.sections for one in section.trust)
            ],
        }


def report(
    sources: PathLike | Sequence[PathLike],
    out: PathLike = "report.html",
    *,
    format: Format | None = None,  # noqa: A002
    rows: int = ROWS,
    date: datetime | None = None,
    rehearsal: bool = False,
) -> Report:
    """Write one page over runs and benchmarks, with CSV files beside it.

    The same folders give the same bytes: the date is when the newest scores were written, unless given.

    Parameters
    ----------
    sources:
        Folders of runs and of benchmarks, in any order. A run without scores is scored where its benchmark is given.
    out:
        The page: .html (one file, nothing loaded from anywhere) or .md.
    format:
        "html", "md", or "both" for a page of each; by the suffix of `out` when not given.
    rows:
        How many tasks the page lists.
    date:
        What the page says it is as of.
    rehearsal:
        Compare also on benchmarks with unchecked labels by built-in models.

    Returns
    -------
    Report
        The files that were written, and the numbers in them; it can be used as the path of the page.

    Examples
    --------
    >>> print(sightline.report(["bench", "run"], "page.html").path)
    page.html
    """
    require_one_of(get_args(Format), format=format)
    require_at_least(0, rows=rows)
    target = as_path(out, "the page to write")
    pages = _pages(target, format)
    found = gather([sources] if isinstance(sources, str | OsPath) else _listed(sources), date=date, rehearsal=rehearsal)
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


def _listed(sources: Iterable[PathLike]) -> list[PathLike]:
    if not isinstance(sources, Iterable):
        raise UserError(f"{sources!r:.60} is not a list of folders.", "Give the folders of runs and benchmarks.")
    return [as_path(source, "a run or a benchmark") for source in sources]


def _pages(target: Path, wanted: Format | None) -> dict[Path, Format]:
    """The pages to write, the one that was asked for first."""
    by_suffix = _SUFFIXES.get(target.suffix.lower())
    if by_suffix is None:
        raise UserError(f"a report is a page of HTML or Markdown, not {target.name!r}.", "let it end in .html or .md")
    if wanted == "both":
        other: Format = "md" if by_suffix == "html" else "html"
        return {target: by_suffix, target.with_suffix(f".{other}"): other}
    return {target: wanted or by_suffix}
