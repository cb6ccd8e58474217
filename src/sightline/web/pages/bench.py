"""Benchmarks: queries with their judged pools, what the audit noticed, how good the labels are, slices."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response

from sightline.authoring.audit import Audit, audit_benchmark
from sightline.authoring.audit_pools import find_look_alikes, find_weak_queries
from sightline.benchmark.grade import GRADES, grade_of, label_warnings
from sightline.benchmark.review_decisions import standing
from sightline.reports.sections import BenchmarkCounts, facts_of
from sightline.runs.folder import SCORES
from sightline.runs.kept_baselines import are_files_read
from sightline.runs.shortcuts.facts import read_files
from sightline.types import (
    Answer,
    Benchmark,
    Candidate,
    Choice,
    Estimate,
    Judgment,
    PictureRef,
    PictureSet,
    Relevance,
    Review,
    Task,
    Traces,
)
from sightline.web.app_state import AppState, missing, number
from sightline.web.cache import BackgroundCache, StampedCache
from sightline.web.contradictions import side_by_side
from sightline.web.corpus_view import Tile
from sightline.web.library import LoadedBenchmark
from sightline.web.pages.home import object_of
from sightline.web.request_origin import origin_of
from sightline.web.reviews import figures_of
from sightline.web.thumbnails import Region, region_of

_TASKS = 100
_POOL = 400
_TIERS = ("seed", "positive", "neutral", "near", "hard", "easy", "random", "pooled", "")
_AUDITS: BackgroundCache[Audit] = BackgroundCache()
_FACTS: StampedCache[BenchmarkCounts] = StampedCache()
_FLAGS: StampedCache[Mapping[str, tuple[str, ...]]] = StampedCache()
_AGAIN = "2"
"""So many seconds until a page that waits for something looks again."""


@dataclass(frozen=True, slots=True)
class JudgedPicture:
    """A picture of a task's pool, with its grade and what was said of it."""

    tile: Tile
    grade: int | None
    candidate: Candidate | None
    judgments: tuple[Judgment, ...]
    reviews: tuple[Review, ...]


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A piece of a prompt: words, or a picture with the part of it that is meant, in percent."""

    text: str = ""
    tile: Tile | None = None
    region: Region | None = None


def listing(request: Request) -> Response:
    """All benchmarks that were found."""
    state = AppState.of(request)
    state.library.refresh()
    rows = [(loaded, _facts(loaded)) for loaded in state.library.benchmarks()]
    return state.show(request, "benchmarks.html", rows=rows, broken=state.library.broken())


def overview(request: Request) -> Response:
    """One benchmark: counts, label quality, slices, and its tasks."""
    state, loaded = of(request)
    benchmark, query = loaded.benchmark, request.query_params
    flags = _flags(loaded)
    reviewed = replace(benchmark, reviews=state.reviews.read(loaded.folder))
    grade = grade_of(reviewed, labels=loaded.labels)
    tasks = [task for task in benchmark.tasks.values() if _fits(task, query, flags)]
    offset = number(request, "offset")
    return state.show(
        request,
        "benchmark.html",
        loaded=loaded,
        facts=_facts(loaded),
        grade=grade,
        meaning=GRADES[grade.name],
        warnings=label_warnings(benchmark, grade),
        figures=figures_of(loaded, state.reviews.read(loaded.folder)),
        flags=flags,
        flag_counts=Counter(flag for held in flags.values() for flag in held),
        tasks=tasks[offset : offset + _TASKS],
        count=len(tasks),
        offset=offset,
        step=_TASKS,
        relevant={task.id: _relevant(benchmark, task.id) for task in tasks[offset : offset + _TASKS]},
        kinds=list(_kinds(benchmark)),
        results=list(_results(state, loaded)),
        query=query,
    )


def _facts(loaded: LoadedBenchmark) -> BenchmarkCounts:
    return _FACTS.get(loaded.folder, loaded.mark, lambda: facts_of(loaded.benchmark))


def _flags(loaded: LoadedBenchmark) -> Mapping[str, tuple[str, ...]]:
    return _FLAGS.get(loaded.folder, loaded.mark, lambda: flags_of(loaded.benchmark))


def _kinds(benchmark: Benchmark) -> Iterator[tuple[str, int, int, str]]:
    """Of each kind of task: how many, how many labels, and the share of these that says relevant."""
    for kind, count in Counter(task.kind for task in benchmark.tasks.values()).items():
        truths = [benchmark.truth.get(task.id) for task in benchmark.tasks.values() if task.kind == kind]
        grades = [grade for truth in truths if isinstance(truth, Relevance) for grade in truth.grades.values()]
        chosen = sum(len(truth.pictures) for truth in truths if isinstance(truth, PictureSet))
        share = f"{sum(grade > 0 for grade in grades) / len(grades):.0%}" if grades else ""
        yield kind, count, len(grades) + chosen, share


def _results(state: AppState, loaded: LoadedBenchmark) -> Iterator[tuple[str, str, Estimate]]:
    """Runs on this version with their first metric, the best first, from what was scored."""
    found = []
    for name, folder in state.library.places.runs.items():
        scores = object_of(folder / SCORES, "overall", "checksum")
        overall = scores.get("overall")
        if isinstance(overall, dict) and overall and loaded.benchmark.is_version(scores.get("checksum")):
            metric, estimate = next(iter(overall.items()))
            with suppress(TypeError, ValueError):
                found.append((name, metric, Estimate(**estimate)))
    yield from sorted(found, key=lambda row: -row[2].mean)


def audit(request: Request) -> Response:
    """Everything that the audit finds: baselines that never look, twins, lopsided queries, label quality."""
    state, loaded = of(request)
    figures = figures_of(loaded, state.reviews.read(loaded.folder))
    found, ranks = None, any(isinstance(truth, Relevance) for truth in loaded.benchmark.truth.values())
    if ranks:
        patience = {"patience": None} if request.query_params.get("export") == "1" else {}
        found = _AUDITS.get(loaded.folder, loaded.mark, lambda: _audited(loaded.benchmark), **patience)
    waits = found is None and ranks
    if found is not None:  # Only this part changes with a review.
        found = replace(found, checked=figures.checked, judges=figures.judges)
    reads = are_files_read(loaded.benchmark)
    page = state.show(request, "audit.html", loaded=loaded, audit=found, waits=waits, figures=figures, reads=reads)
    if waits:
        page.headers["refresh"] = _AGAIN
    return page


def _audited(benchmark: Benchmark) -> Audit:
    """With the files where the baselines beside the scores know them; `sightline make audit` always reads them."""
    judging = benchmark.card.get("judging")
    files = read_files(benchmark.corpus.pictures, benchmark.folder if are_files_read(benchmark) else None)
    return audit_benchmark(benchmark, judging=judging if isinstance(judging, dict) else None, files=files)


def task(request: Request) -> Response:
    """One task with its truth and its pool."""
    state, loaded = of(request)
    asked = loaded.benchmark.tasks.get(request.query_params.get("id", ""))
    if asked is None:
        raise missing("such task")
    truth = loaded.benchmark.truth.get(asked.id)
    reviews = [review for review in standing(state.reviews.read(loaded.folder)) if review.task == asked.id]
    return state.show(
        request,
        "task.html",
        loaded=loaded,
        task=asked,
        prompt=parts_of(state, loaded, asked),
        options=option_parts(state, loaded, asked),
        pools=pools_of(state, loaded, asked.id, reviews),
        truth=truth if isinstance(truth, Answer | Choice) else None,
        traces=side_by_side(truth.references) if isinstance(truth, Traces) else None,
        scored=any(one.score is not None for one in loaded.candidates.get(asked.id, ())),
        origin=origin_of(state, loaded, asked),
        steps=[
            (step, [_part(state, loaded, picture) for picture in step.pictures])
            for step in (truth.steps if isinstance(truth, Answer) else ())
        ],
        flags=_flags(loaded).get(asked.id, ()),
        about=[review for review in reviews if review.picture is None],
    )


def of(request: Request) -> tuple[AppState, LoadedBenchmark]:
    """The benchmark that an address names."""
    state = AppState.of(request)
    loaded = state.library.benchmark(request.path_params["name"])
    if loaded is None:
        raise missing("such benchmark")
    return state, loaded


def pools_of(
    state: AppState, loaded: LoadedBenchmark, task: str, reviews: list[Review]
) -> list[tuple[str, list[JudgedPicture]]]:
    """The judged pictures by tier; each with the highest grades first."""
    truth = loaded.benchmark.truth.get(task)
    grades = truth.grades if isinstance(truth, Relevance) else {}
    candidates = {one.picture: one for one in loaded.candidates.get(task, ())}
    if isinstance(truth, PictureSet):  # What was put beside a set is not in it: that is a label, too.
        grades = dict.fromkeys(candidates, 0) | dict.fromkeys(truth.pictures, 1)
    judgments: dict[str, list[Judgment]] = defaultdict(list)
    for one in loaded.judgments.get(task, ()):
        judgments[one.picture].append(one)
    said: dict[str, list[Review]] = defaultdict(list)
    for review in reviews:
        if review.picture is not None:
            said[review.picture].append(review)
    pools: dict[str, list[JudgedPicture]] = defaultdict(list)
    for tile in state.library.tiles(list(dict.fromkeys((*grades, *candidates, *said)))[:_POOL], loaded):
        id_, candidate = tile.id, candidates.get(tile.id)
        judged = JudgedPicture(tile, grades.get(id_), candidate, tuple(judgments[id_]), tuple(said[id_]))
        pools[candidate.tier if candidate is not None else ""].append(judged)
    for held in pools.values():
        held.sort(key=lambda one: -(one.grade or 0))
    return sorted(pools.items(), key=lambda pair: _TIERS.index(pair[0]))


def parts_of(state: AppState, loaded: LoadedBenchmark, task: Task) -> list[PromptPart]:
    """A prompt as it is read: words and pictures in order."""
    return [_part(state, loaded, part) for part in task.prompt]


def option_parts(state: AppState, loaded: LoadedBenchmark, task: Task) -> list[tuple[str, list[PromptPart]]]:
    """The options of a task: the key of each, and what it says."""
    return [(one.key, [_part(state, loaded, part) for part in one.content]) for one in task.options]


def _part(state: AppState, loaded: LoadedBenchmark, part: str | PictureRef) -> PromptPart:
    if isinstance(part, str):
        return PromptPart(part)
    (tile,) = state.library.tiles([part.id], loaded)
    return PromptPart(tile=tile, region=region_of(part.region))


def flags_of(benchmark: Benchmark) -> Mapping[str, tuple[str, ...]]:
    """What the audit notices about each task without asking anybody."""
    ranks = _rank_tasks(benchmark)
    queries, twins = find_weak_queries(ranks), find_look_alikes(ranks)
    found: dict[str, list[str]] = defaultdict(list)
    for ids, flag in (
        (queries.none, "nothing relevant"),
        (queries.only_seed, "only the seed"),
        (queries.many, "too many relevant"),
        ([one for pair in queries.equal for one in pair], "same words as another"),
        ([task for task, *_ in twins.disagree], "near-duplicates judged differently"),
        ([task for task, _ in twins.seed_twins], "like the seed, not relevant"),
    ):
        for id_ in dict.fromkeys(ids):
            found[id_].append(flag)
    return {id_: tuple(flags) for id_, flags in found.items()}


def _rank_tasks(benchmark: Benchmark) -> Benchmark:
    kept = {id_: task for id_, task in benchmark.tasks.items() if isinstance(benchmark.truth.get(id_), Relevance)}
    return replace(benchmark, tasks=kept, truth={id_: benchmark.truth[id_] for id_ in kept})


def _relevant(benchmark: Benchmark, task: str) -> str:
    """How much of a pool is relevant, in words for a list."""
    match benchmark.truth.get(task):
        case Relevance(grades):
            return f"{sum(grade > 0 for grade in grades.values()):,} of {len(grades):,}"
        case PictureSet(pictures):
            return f"{len(pictures):,}"
        case Answer(text):
            return text
        case Choice(option):
            return option or ""
        case Traces(references):
            return f"{len(references)} traces"
    return ""


def _fits(task: Task, query: Mapping[str, str], flags: Mapping[str, tuple[str, ...]]) -> bool:
    words = query.get("words", "").lower().split()
    flag, label, value = query.get("flag"), query.get("label"), query.get("value")
    if flag and flag not in flags.get(task.id, ()):
        return False
    if label and value and value not in task.labels.get(label, ()):
        return False
    text = f"{task.id} {task.text}".lower()
    return all(word in text for word in words)
