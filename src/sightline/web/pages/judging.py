"""Judging the results of systems: one picture, or a query's pictures at once, beside what is known so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from sightline.assessment import GRADES, HALF_WIDTH, METRIC, UNIT, Assessment, Grade, Pair, assess
from sightline.metrics.assessment.inquiry import Goal
from sightline.metrics.comparison import PairedComparison
from sightline.runs.folder import ATTEMPTS, HEADER
from sightline.types import Estimate
from sightline.web.app_state import AppState, go, person_of
from sightline.web.cache import StampedCache, stamp_of
from sightline.web.corpus_view import Tile
from sightline.web.library import LoadedBenchmark
from sightline.web.pages.bench import PromptPart, of, parts_of
from sightline.web.pages.home import object_of
from sightline.web.pages.review import addressed

HALF_WIDTHS = (0.01, 0.02, 0.03, HALF_WIDTH, 0.1)
_GUIDELINES = "guidelines.md"
_LONGEST = 4000
_AT_ONCE = 12
_REACHES = (0.1, 0.2, 0.5, 1.0)
"""Differences that a drawing reaches to: steps, so that an interval is seen to shrink."""
_AHEAD = 200
"""So many of the next pairs are looked through for those of one query."""
_FITS: Grade = 3
_OTHERS: Grade = 0
_ASSESSMENTS: StampedCache[Assessment] = StampedCache()


@dataclass(frozen=True, slots=True)
class JudgingRequest:
    """What is asked, as the address names it: which runs, to what end, how exactly, and whether several are shown."""

    runs: tuple[str, ...]
    goal: Goal
    within: float
    people: int
    at_once: bool

    @classmethod
    def of(cls, given: Mapping[str, str], known: Mapping[str, Path]) -> JudgingRequest:
        runs = tuple(dict.fromkeys(name for name in given.get("runs", "").split(",") if name in known))
        goal = given.get("goal", "compare")
        people = given.get("people", "1")
        return cls(
            runs or tuple(name for name in known if given.get(f"run-{name}") == "1"),
            cast("Goal", goal) if goal in get_args(Goal) else "compare",
            next((one for one in HALF_WIDTHS if str(one) == given.get("within")), HALF_WIDTH),
            int(people) if people.isdecimal() and 1 <= int(people) <= 99 else 1,
            given.get("grid") == "1",
        )

    @property
    def is_asked(self) -> bool:
        return len(self.runs) >= (2 if self.goal == "compare" else 1)

    def address(self, *, at_once: bool | None = None) -> dict[str, str | None]:
        """The same in the query of an address."""
        return {
            "runs": ",".join(self.runs),
            "goal": None if self.goal == "compare" else self.goal,
            "within": None if self.within == HALF_WIDTH else str(self.within),
            "people": None if self.people == 1 else str(self.people),
            "grid": "1" if (self.at_once if at_once is None else at_once) else None,
        }


@dataclass(frozen=True, slots=True)
class IntervalBar:
    """An interval as it is drawn: ends and middle in percent of the width; of a difference, who is better where."""

    name: str
    other: str | None
    mean: float
    low: float
    high: float
    left: float
    width: float
    middle: float
    known: bool = True


@dataclass(frozen=True, slots=True)
class KnownSoFar:
    """What the decisions say by now."""

    spans: tuple[IntervalBar, ...]
    settled: bool
    sentence: str
    spent: int
    agreement: str | None
    outlook: str | None
    "What half an hour can settle, before anything was decided."
    notes: tuple[str, ...]
    "What must be known of the systems: failures, unknown ids, what nobody could tell."


def judging(request: Request) -> Response:
    """The next picture for this person, or the pictures of the next query; which runs, where none are named."""
    state, loaded = of(request)
    runs = runs_on(state, loaded)
    question, person = JudgingRequest.of(request.query_params, runs), person_of(request)
    pairs: list[Pair] = []
    known: KnownSoFar | None = None
    if question.is_asked:
        assessment = _assessment(loaded, question, runs)
        pairs = _next(assessment, question, person) if person else []
        known = known_so_far(assessment)
    return state.show(
        request,
        "judging.html",
        loaded=loaded,
        question=question,
        runs=list(runs),
        pairs=pairs,
        tiles=_tiles(state, loaded, pairs),
        prompt=_prompt(state, loaded, pairs),
        known=known,
        grades=GRADES,
        half_widths=HALF_WIDTHS,
        metric=METRIC,
        unit=UNIT,
        guidelines=_guidelines(loaded.folder),
        shares_name=request.query_params.get("shared") == "1",
        can_undo=request.query_params.get("undo") == "1",
    )


def tell(request: Request, fields: Mapping[str, str]) -> Response:
    """Keep one decision, or one for each picture of a query, and on to the next."""
    state, loaded = addressed(request, fields)
    runs = runs_on(state, loaded)
    question, person = JudgingRequest.of(fields, runs), person_of(request)
    if not person:
        raise HTTPException(400, "Enter your name first: every decision is recorded under one.")
    if not question.is_asked:
        raise HTTPException(400, "Choose the runs that are judged first.")
    assessment, task = _assessment(loaded, question, runs), fields.get("task", "")
    shared = False
    for picture, grade in _decisions(fields):
        pair = Pair(task, picture, "", "")
        shared |= assessment.has_told(pair, person)
        assessment.tell(pair, grade, person)
    return go(f"/judge/{loaded.name}", **question.address(), undo="1", shared="1" if shared else None)


def undo(request: Request, fields: Mapping[str, str]) -> Response:
    """Take this person's last decision back; the picture is asked about again."""
    state, loaded = addressed(request, fields)
    runs = runs_on(state, loaded)
    question = JudgingRequest.of(fields, runs)
    if question.is_asked and (person := person_of(request)):
        _assessment(loaded, question, runs).undo(person)
    return go(f"/judge/{loaded.name}", **question.address())


def runs_on(state: AppState, loaded: LoadedBenchmark) -> dict[str, Path]:
    """The folders of runs on a benchmark, by their names in the app."""
    state.library.refresh()
    return {
        name: folder
        for name, folder in state.library.places.runs.items()
        if object_of(folder / HEADER).get("benchmark") == loaded.benchmark.name
    }


def known_so_far(assessment: Assessment) -> KnownSoFar:
    """Intervals of what was asked for, and the answer in a sentence once it is settled."""
    compared = assessment.comparison()
    agreement = assessment.agreement()
    if assessment.goal == "compare":
        widest = max(abs(end) for one in compared.pairs for end in (one.difference.low, one.difference.high))
        reach = next(step for step in _REACHES if step >= min(widest, _REACHES[-1]))
        spans = tuple(_difference(one, reach) for one in compared.pairs)
    else:
        scores = assessment.scores()
        spans = tuple(_score(name, scores[name].overall[METRIC]) for name in assessment.systems)
    settled = assessment.settled
    return KnownSoFar(
        spans,
        settled,
        assessment.answer() if settled else "",
        assessment.spent,
        None if agreement is None else str(agreement),
        None if assessment.spent else str(assessment.outlook()),
        compared.notes[1:],
    )


def _difference(one: PairedComparison, reach: float) -> IntervalBar:
    def at(value: float) -> float:
        return 50 + 50 * max(-1.0, min(1.0, value / reach))

    found = one.difference
    return IntervalBar(
        one.first,
        one.second,
        found.mean,
        found.low,
        found.high,
        at(found.low),
        at(found.high) - at(found.low),
        at(found.mean),
        found.n > 0,
    )


def _score(name: str, found: Estimate) -> IntervalBar:
    left, width = 100 * found.low, 100 * (found.high - found.low)
    return IntervalBar(name, None, found.mean, found.low, found.high, left, width, 100 * found.mean, found.n > 0)


def _assessment(loaded: LoadedBenchmark, question: JudgingRequest, runs: Mapping[str, Path]) -> Assessment:
    folders = [runs[name] for name in question.runs]
    stamp = (loaded.mark, *(stamp_of(folder / ATTEMPTS.name) for folder in folders))
    goal, within, people = question.goal, question.within, question.people
    key = (loaded.folder, question.runs, goal, within, people)
    return _ASSESSMENTS.get(
        key, stamp, lambda: assess(loaded.benchmark, folders, goal=goal, half_width=within, people=people)
    )


def _next(assessment: Assessment, question: JudgingRequest, person: str) -> list[Pair]:
    if not question.at_once:
        return assessment.next(1, person)
    ahead = assessment.next(_AHEAD, person)
    return [pair for pair in ahead if pair.task == ahead[0].task][:_AT_ONCE] if ahead else []


def _decisions(fields: Mapping[str, str]) -> list[tuple[str, Grade]]:
    """What a form says: one grade, or which of several pictures fit."""
    if "several" in fields:
        shown = [name.removeprefix("shown-") for name in fields if name.startswith("shown-")]
        return [(fields[f"shown-{at}"], _FITS if f"fits-{at}" in fields else _OTHERS) for at in shown]
    said = fields.get("decision", "")
    if said not in map(str, get_args(Grade)):
        raise HTTPException(400, "That is not a decision: a grade from 0 to 3, skip, or can't tell.")
    return [(fields.get("picture", ""), cast("Grade", int(said) if said.isdecimal() else said))]


def _tiles(state: AppState, loaded: LoadedBenchmark, pairs: list[Pair]) -> tuple[Tile, ...]:
    return state.library.tiles([pair.picture for pair in pairs], loaded)


def _prompt(state: AppState, loaded: LoadedBenchmark, pairs: list[Pair]) -> list[PromptPart]:
    return parts_of(state, loaded, loaded.benchmark.tasks[pairs[0].task]) if pairs else []


def _guidelines(folder: Path) -> str | None:
    """What judges of this benchmark are told, as its folder has it."""
    path = folder / _GUIDELINES
    is_own = path.is_file() and not path.is_symlink()  # A link could lead anywhere.
    return path.read_text("utf-8", "replace")[:_LONGEST] if is_own else None
