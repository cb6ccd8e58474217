"""From what was gathered to a page of blocks."""

from __future__ import annotations

from collections.abc import Sequence

from sightline import __version__
from sightline.english import counted
from sightline.report.blocks import Chapter, Page, Paragraph, Part
from sightline.report.files import FileNames, unique_slugs
from sightline.report.gather import Gathered, Section
from sightline.report.parts.beside import beside
from sightline.report.parts.breakdown import breakdown
from sightline.report.parts.costs import costs
from sightline.report.parts.differences import differences
from sightline.report.parts.failures import failures
from sightline.report.parts.latency import latency
from sightline.report.parts.measured import measured
from sightline.report.parts.missed import missed
from sightline.report.parts.notes import notes
from sightline.report.parts.provenance import provenance
from sightline.report.parts.recall import recall
from sightline.report.parts.results import results
from sightline.report.parts.tasks import tasks
from sightline.report.words import moment

_HOW_TO_READ = (
    "The mean runs over all tasks: a failed attempt or a missing prediction counts as zero, and is counted under "
    "failures. The interval says where the mean would lie on other tasks of the same sort; tasks that belong together "
    "are resampled together. Systems that share a letter can't be told apart: their difference, tested by paired "
    "randomisation and corrected by Holm over all pairs of a metric, could be chance. A slice is no test; with many "
    "slices some look different by chance."
)


def document(gathered: Gathered, files: Sequence[FileNames], *, rows: int) -> Page:
    """One chapter for each benchmark; `rows` is how many tasks the page lists."""
    sections = gathered.sections
    idents = [f"benchmark-{slug}" for slug in unique_slugs([section.facts.name for section in sections])]
    chapters = [
        Chapter(_title(section, sections), ident, _parts(section, names, ident, rows))
        for section, names, ident in zip(sections, files, idents, strict=True)
    ]
    read = Chapter("How to read this", "how-to-read", [Part("", [Paragraph(_HOW_TO_READ)])])
    runs = sum(len(section.runs) for section in sections)
    return Page(
        title=f"Sightline report: {_names(sections)}",
        subtitle=f"{counted(runs, 'run')} on {counted(len(sections), 'benchmark')}, as of {moment(gathered.date)}",
        chapters=[*chapters, read],
        footer=f"Made by Sightline {__version__}",
    )


def _parts(section: Section, files: FileNames, ident: str, rows: int) -> list[Part]:
    found: list[Part | None] = [measured(section), results(section, ident), notes(section)]
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


def _title(section: Section, sections: Sequence[Section]) -> str:
    """The benchmark's name, with its checksum where the page has several versions of it."""
    name, checksum = section.facts.name, section.facts.checksum or "no checksum"
    versions = sum(other.facts.name == name for other in sections)
    return name if versions == 1 else f"{name} ({checksum[:12]})"


def _names(sections: Sequence[Section]) -> str:
    names = list(dict.fromkeys(section.facts.name for section in sections))
    return ", ".join(names) if len(names) <= 3 else f"{len(names)} benchmarks"
