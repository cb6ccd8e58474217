"""Examples with pictures: labels that are wrong, what each system found first, and a set that had to be exact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from sightline.benchmark.folder import read_benchmark
from sightline.demo.vision import Thumbnails
from sightline.english import counted
from sightline.metrics.scores import read_scores
from sightline.reports.blocks import Block, PagePart, Paragraph, PicturesBlock, Thumbnail
from sightline.runs import read_run
from sightline.types import PictureSet, Prediction, Ranking, Relevance
from sightline_world.demo.results import RANKED, WorldFound
from sightline_world.demo.systems import SYSTEMS
from sightline_world.truth import ShotTruth

_QUERIES, _FIRST, _WRONG, _SET = 3, 6, 6, 12
_BLIND = "text only"
_Labelled: TypeAlias = tuple[str, str, bool]
"""A query, a picture, and whether it is labelled relevant."""


class Examples:
    """Chooses and shows them."""

    def __init__(self, found: WorldFound, shots: Mapping[str, ShotTruth], small: Thumbnails) -> None:
        self._found, self._shots, self._small = found, shots, small

    def shown(self, picture: str, name: str, lines: Sequence[str] = (), mark: str = "") -> Thumbnail:
        """A picture of the life."""
        return Thumbnail(self._small(self._found.benchmark.corpus.pictures[picture]), name, lines, mark)

    def wrong(self) -> list[Block]:
        """Some labels that the truth contradicts, each of another query: false positives, then misses."""
        pairs = list(self._wrong())
        if not pairs:
            return [Paragraph("There is none.")]
        false, missed = ([pair for pair in pairs if pair[2] is kind] for kind in (True, False))
        about = f"{len(false)} labelled relevant are not, and {len(missed)} labelled not relevant are. Some of both:"
        chosen = [*_one_of_each(false)[:_WRONG], *_one_of_each(missed)[:_WRONG]]
        return [Paragraph(about), PicturesBlock([self._mistaken(*pair) for pair in chosen])]

    def _mistaken(self, task: str, picture: str, is_relevant: bool) -> Thumbnail:
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

    def _judged(self, picture: str, task: str) -> Thumbnail:
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
