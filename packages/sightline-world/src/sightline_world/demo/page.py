"""The demo's report: in short, the life, how right the made benchmark is, what was found; then every figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from sightline.demo.vision import Thumbnails
from sightline.english import counted
from sightline.metrics.comparison import SystemStanding
from sightline.reports.blocks import (
    Block,
    Cell,
    Chapter,
    FactsBlock,
    PagePart,
    Paragraph,
    PicturesBlock,
    Row,
    TableBlock,
    numeric,
)
from sightline.reports.html import to_html
from sightline.reports.output import write_files
from sightline.reports.report import ROWS, document
from sightline.reports.sections import file_names, gather, tables_of
from sightline.reports.text import DASH, interval, score, seconds, share
from sightline.types import Estimate
from sightline_world.demo.results import RANKED, SET, WorldFound
from sightline_world.demo.sections import Examples
from sightline_world.demo.systems import SYSTEMS, standing
from sightline_world.histories import read_shots
from sightline_world.truth import ShotTruth

_SPREAD = 12
_LIFE = "Drawn by code, so what each picture shows is known exactly. Under each stands its caption by that truth."
_TRUTH = (
    "Each query was taken apart by the grammar of builtin/world, and its claims were held against the scenes that the "
    "pictures were drawn from; nobody looked at a picture for that. What can hardly be seen, and what a place is full "
    "of anyway, is in doubt and left out. The judge saw only pixels. It understands words by the same grammar, so a "
    "query that the grammar misreads would not show here. The intervals (95 %) resample queries."
)
_FOUND = (
    "What each system found first for the queries on which those that look at pictures differ most. Marks are those of "
    "the exact truth; what has none is wrong."
)
_SYSTEMS = (
    "text only reads when, where and with what pictures were taken, and looks at none. embedder compares vectors. "
    "hybrid adds the words of the annotations. agent plans, searches, filters by metadata and looks. hybrid and agent "
    "see through the model that also judged, so the made labels may favour them; the exact truth does not. For exact "
    "sets, rankings are cut where the other tasks say. Systems that share a letter can't be told apart."
)


def write_world_page(found: WorldFound, life: Path, path: Path) -> Path:
    """One HTML file with the pictures in it, and the tables of the two benchmarks beside it."""
    gathered = gather([*found.found.sources, *found.selected.sources])
    names = file_names(path.stem, gathered.sections)
    page = document(gathered, names, rows=ROWS)
    page = replace(
        page,
        title="Sightline demo",
        subtitle=f"{counted(found.scanned.pictures, 'picture')} of an invented life, {page.subtitle}",
        chapters=[*_chapters(found, {shot.id: shot for shot in read_shots(life)}), *page.chapters],
    )
    tables = {
        path.with_name(name): data
        for section, of_section in zip(gathered.sections, names, strict=True)
        for name, data in tables_of(section, of_section).items()
    }
    write_files({**tables, path: to_html(page).encode()})
    return path


def _chapters(found: WorldFound, shots: Mapping[str, ShotTruth]) -> Iterator[Chapter]:
    examples = Examples(found, shots, Thumbnails())
    yield Chapter("In short", "in-short", [PagePart("", [_table(found), Paragraph(_SYSTEMS)])])
    yield Chapter("The life", "life", [PagePart("", _life(found, shots, examples))])
    wrong = PagePart("Labels that are wrong", examples.wrong())
    yield Chapter("How right the made benchmark is", "truth", [PagePart("", _truth(found)), wrong])
    yield Chapter("What was found", "found", [PagePart("", [Paragraph(_FOUND)]), *examples.queries(), examples.sets()])


def _table(found: WorldFound) -> TableBlock:
    head = (
        "system",
        f"{RANKED}, made labels",
        f"{RANKED}, exact truth",
        f"{SET}, exact sets",
        "cost",
        "p50 of a query",
    )
    queries, sets = len(found.benchmark.tasks), found.selected.standing("agent", SET).estimate.n
    return TableBlock(
        f"Four systems on {queries} queries that were made and judged by the built-in models, and on {sets} exact sets",
        head,
        [_row(found, name) for name in SYSTEMS],
        numeric(1, len(head)),
    )


def _row(found: WorldFound, name: str) -> Row:
    spent = found.found.spending(name)
    standings = (
        found.found.standing(name, RANKED),
        standing(found.exact, name, RANKED),
        found.selected.standing(name, SET),
    )
    return name, *map(_cell, standings), spent.usd_text, DASH if spent.p50 is None else seconds(spent.p50)


def _cell(one: SystemStanding) -> Cell:
    return Cell(score(one.estimate.mean), interval(one.estimate), one.letters)


def _life(found: WorldFound, shots: Mapping[str, ShotTruth], examples: Examples) -> list[Block]:
    life, scanned = found.life, found.scanned
    facts = [
        ("Owner", life.owner),
        ("Homes", "; ".join(home.address for home in life.homes)),
        ("Events", f"{len(life.events)}, from {life.events[0].first} to {life.events[-1].last}"),
        ("Found by the scan", f"{scanned.events} events, {scanned.bursts} bursts, {scanned.duplicates} duplicates"),
    ]
    ids = sorted(shots, key=lambda id_: (shots[id_].when, id_))
    spread = [ids[(2 * at + 1) * len(ids) // (2 * _SPREAD)] for at in range(_SPREAD)]
    shown = [examples.shown(id_, f"{shots[id_].when:%Y-%m-%d}", [shots[id_].captions.short]) for id_ in spread]
    return [Paragraph(_LIFE), FactsBlock(facts), PicturesBlock(shown)]


def _truth(found: WorldFound) -> list[Block]:
    audit = found.audit
    rows = [
        ("Labels that are right", audit.right, "of all labels that are not in doubt"),
        ("Precision", audit.precision, "of the pictures labelled relevant, those of which the query is true"),
        ("Recall", audit.recall, "of all pictures of which a query is true, those labelled relevant"),
        ("Recall within the pools", audit.recall_in_pools, "the same, of the pictures that were judged"),
    ]
    about = f"{counted(audit.labels, 'label')} of {audit.queries} queries; {audit.doubtful} in doubt"
    table = TableBlock(about, ("", "share", "n", ""), [_share(*row) for row in rows], numeric(1, 3))
    return [Paragraph(_TRUTH), table]


def _share(name: str, found: Estimate, about: str) -> Row:
    between = f"{share(found.low)} to {share(found.high)}"
    return name, Cell(share(found.mean), between), f"{found.n:,}", about
