"""The stage `summary`: a benchmark → one page, and its charts and tables as files."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sightline.engine.journal import FILE_NAME
from sightline.engine.ledger import Ledger, read_ledger
from sightline.make import project as files
from sightline.make.project import Project
from sightline.make.stages import StageResult
from sightline.make.summary.drawings import charts
from sightline.make.summary.numbers import count
from sightline.make.summary.page import Content, to_page
from sightline.make.summary.png import to_png
from sightline.make.summary.sample import contact_sheet, draw_sample
from sightline.make.summary.source import read_source
from sightline.make.summary.tables import tables
from sightline.models.asking import Asking
from sightline.report.html import to_html
from sightline.report.output import csv_bytes, write_files

FOLDER = "summary"
PAGE = "index.html"
_NO_PNG = "matplotlib is not here, so no PNG files were drawn: pip install 'sightline[charts]'"
_NOT_PLAIN = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class SummaryStage:
    """Counts, draws and writes; asks nobody."""

    bench: Path | None = None
    "A benchmark folder, or one with benchmaker's files; the project's own when not given."
    png: bool = True
    name: str = "summary"
    reads: tuple[str, ...] = (files.JUDGMENTS, files.SIMILARITY, files.ANNOTATIONS, files.IMAGES, files.PLAN)
    writes: tuple[str, ...] = ()

    def run(self, project: Project, asking: Asking) -> StageResult:
        """Write the page, the tables and the charts; the same input gives the same files."""
        started = time.monotonic()
        source = read_source(project, self.bench)
        numbers = count(source.benchmark, project.config.duplicates.bits)
        ledger = _ledger(project.workspace)
        content = Content(
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
            seconds=time.monotonic() - started,
        )

    def _drawings(self, content: Content) -> tuple[dict[str, bytes], tuple[str, ...]]:
        if not self.png:
            return {}, ()
        sheet = contact_sheet(content.sample)
        found = {} if sheet is None else {"random_image_sample": sheet}
        if find_spec("matplotlib") is None:
            return found, (_NO_PNG,)
        return found | {drawing.name: to_png(drawing) for drawing in content.charts.all}, ()


def summary_folder(project: Project) -> Path:
    """Where the page goes: as configured, else inside the project."""
    return project.config.paths.report or project.folder / FOLDER


def _ledger(workspace: Path) -> Ledger | None:
    return read_ledger(workspace, "stage") if (workspace / FILE_NAME).is_file() else None


def _plain(name: str) -> str:
    """A facet's name may hold anything; a file's may not."""
    return _NOT_PLAIN.sub("_", name)[:120]
