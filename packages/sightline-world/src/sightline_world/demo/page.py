"""The demo's report: in short, the photo history, how right the generated benchmark is, what was found; every figure.

With examples in pictures: labels that are wrong, what each system found first, and a set that had to be exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from sightline.benchmark.folder import read_benchmark
from sightline.demo.vision import Thumbnails
from sightline.english import counted
from sightline.io.files import write_files
from sightline.metrics.comparison import SystemStanding
from sightline.metrics.scores import read_scores
from sightline.reports.blocks import (
    Block,
    CaptionedPicture,
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
from sightline.reports.report import ROWS, document
from sightline.reports.sections import file_names, gather, tables_of
from sightline.reports.text import DASH, interval, score, seconds, share
from sightline.runs.folder import read_run
from sightline.types import Estimate, PictureSet, Prediction, Ranking, Relevance
from sightline_world.demo.results import RANKED, SET, WorldFound
from sightline_world.demo.systems import SYSTEMS, standing
from sightline_world.histories import read_shots
from sightline_world.truth import ShotTruth

_QUERIES, _FIRST, _WRONG, _SET = 3, 6, 6, 12
_BLIND = "text only"
_Labelled: TypeAlias = tuple[str, str, bool]
"""A query, a picture, and whether it is labelled relevant."""
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
    "the ground truth; what has none is wrong."
)
_SYSTEMS = (
    "text only reads when, where and with what pictures were taken, and looks at none. embedder compares vectors. "
    "hybrid adds the words of the annotations. agent plans, searches, filters by metadata and looks; it is rule-based. "
    "hybrid and agent see through the model that also judged, so the generated labels may favour them; the "
    "ground truth does not. For exact sets, rankings are cut where the other tasks say. Systems that share a letter "
    "can't be told apart."
)


class Examples:
    """Chooses and shows them."""

    def __init__(self, found: WorldFound, shots: Mapping[str, ShotTruth], small: Thumbnails) -> None:
        self._found, self._shots, self._small = found, shots, small

    def shown(self, picture: str, name: str, lines: Sequence[str] = (), mark: str = "") -> CaptionedPicture:
        """A picture of the life."""
        return CaptionedPicture(self._small(self._found.benchmark.corpus.pictures[picture]), name, lines, mark)

    def wrong(self) -> list[Block]:
        """Some labels that the truth contradicts, each of another query: false positives, then misses."""
        pairs = list(self._wrong())
        if not pairs:
            return [Paragraph("There is none.")]
        false, missed = ([pair for pair in pairs if pair[2] is kind] for kind in (True, False))
        about = f"{len(false)} labelled relevant are not, and {len(missed)} labelled not relevant are. Some of both:"
        chosen = [*_one_of_each(false)[:_WRONG], *_one_of_each(missed)[:_WRONG]]
        return [Paragraph(about), PicturesBlock([self._mistaken(*pair) for pair in chosen])]

    def _mistaken(self, task: str, picture: str, is_relevant: bool) -> CaptionedPicture:
        said = "labelled relevant" if is_relevant else "labelled not relevant"
        query = f"“{self._found.benchmark.tasks[task].text}”"
        return self.shown(picture, query, [self._shots[picture].captions.short], said)

    def _wrong(self) -> Iterator[_Labelled]:
        for task, exact in self._found.truth.items():
            truth = self._found.benchmark.truth[task]
            grades = truth.grades if isinstance(truth, Relevance) else {}
            for picture, grade in grades.items():
                if picture not in exact.doubtful and (grade > 0) != (picture in exact.true):
                    yield task, picture, grade > 0

    def queries(self) -> Iterator[PagePart]:
        """What each system found first, for the queries on which those that look at pictures differ most."""
        said = {name: _predictions(self._found.found.runs[name]) for name in SYSTEMS}
        for task in self._telling():
            exact = self._found.truth[task]
            blocks: list[Block] = [Paragraph(f"True of {counted(len(exact.true), 'picture')}.")]
            for name in SYSTEMS:
                first = _found_first(said[name].get(task))
                blocks.append(Paragraph(f"{name}:" if first else f"{name}: nothing"))
                blocks += [PicturesBlock([self._judged(picture, task) for picture in first])] if first else []
            yield PagePart(f"“{self._found.benchmark.tasks[task].text}”", blocks)

    def _telling(self) -> list[str]:
        """Queries with the widest spread of scores."""
        spread: dict[str, list[float]] = {}
        for name, folder in self._found.found.runs.items():
            for row in read_scores(folder).tasks if name != _BLIND else ():
                spread.setdefault(row.task_id, []).append(row.values.get(RANKED) or 0.0)
        known = [task for task in spread if task in self._found.truth]
        return sorted(known, key=lambda task: (min(spread[task]) - max(spread[task]), task))[:_QUERIES]

    def _judged(self, picture: str, task: str) -> CaptionedPicture:
        exact = self._found.truth[task]
        mark = "true" if picture in exact.true else "in doubt" if picture in exact.doubtful else ""
        return self.shown(picture, self._shots[picture].captions.short, mark=mark)

    def sets(self) -> PagePart:
        """The first task with an exact set that the agent solved, and what is in it."""
        field, title = self._found.selected, "A set that had to be exact"
        tasks, said = read_benchmark(field.benchmark), _predictions(field.runs["agent"])
        for name, truth in tasks.truth.items():
            if isinstance(truth, PictureSet) and truth.pictures and _same(truth, said.get(name)):
                about = Paragraph(f"“{tasks.tasks[name].text}” The agent answered with exactly these:")
                shots = [self._shots[picture] for picture in truth.pictures[:_SET]]
                shown = [self.shown(shot.id, f"{shot.when:%Y-%m-%d %H:%M}", [shot.captions.short]) for shot in shots]
                return PagePart(title, [about, PicturesBlock(shown)])
        return PagePart(title, [Paragraph("The agent found none of them exactly.")])


def _predictions(run: Path) -> dict[str, Prediction]:
    return {attempt.task_id: attempt.prediction for attempt in read_run(run).attempts}


def _found_first(said: Prediction | None) -> Sequence[str]:
    return said.pictures[:_FIRST] if isinstance(said, Ranking | PictureSet) else ()


def _one_of_each(pairs: Iterable[_Labelled]) -> list[_Labelled]:
    """The first of each query."""
    return list({task: (task, picture, yes) for task, picture, yes in reversed(list(pairs))}.values())[::-1]


def _same(truth: PictureSet, answer: Prediction | None) -> bool:
    return isinstance(answer, PictureSet) and set(answer.pictures) == set(truth.pictures)


def write_world_page(found: WorldFound, life: Path, path: Path) -> Path:
    """One HTML file with the pictures in it, and the tables of the two benchmarks beside it."""
    gathered = gather([*found.found.sources, *found.selected.sources], rehearsal=True)
    names = file_names(path.stem, gathered.sections)
    page = document(gathered, names, rows=ROWS)
    page = replace(
        page,
        title="Sightline demo",
        subtitle=f"{counted(found.scanned.pictures, 'picture')} of a synthetic photo history, {page.subtitle}",
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
    yield Chapter("The photo history", "life", [PagePart("", _history_part(found, shots, examples))])
    wrong = PagePart("Labels that are wrong", examples.wrong())
    yield Chapter("How accurate the generated benchmark is", "truth", [PagePart("", _truth(found)), wrong])
    yield Chapter("What was found", "found", [PagePart("", [Paragraph(_FOUND)]), *examples.queries(), examples.sets()])


def _table(found: WorldFound) -> TableBlock:
    head = (
        "system",
        f"{RANKED}, generated labels",
        f"{RANKED}, ground truth",
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


def _history_part(found: WorldFound, shots: Mapping[str, ShotTruth], examples: Examples) -> list[Block]:
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
    between = found.no_interval or f"{share(found.low)} to {share(found.high)}"
    return name, Cell(share(found.mean), between), f"{found.n:,}", about
