"""Write a report: the page, and its tables beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from sightline.errors import UserError
from sightline.io import PathLike
from sightline.report.blocks import Page
from sightline.report.document import document
from sightline.report.files import file_names, tables_of
from sightline.report.gather import Section, gather
from sightline.report.html import to_html
from sightline.report.markdown import to_markdown
from sightline.report.output import write_files

Format: TypeAlias = Literal["html", "md", "both"]

_SUFFIXES: dict[str, Format] = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md"}
_RENDERERS: dict[Format, Callable[[Page], str]] = {"html": to_html, "md": to_markdown}
ROWS = 50


@dataclass(frozen=True, slots=True)
class Report:
    """Where a report was written, and the numbers in it."""

    pages: tuple[Path, ...]
    files: tuple[Path, ...]
    sections: tuple[Section, ...]
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
