"""Hypothesis strategies for every noun of `sightline.types`, for any test to use: `from strategies import tasks`."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import TypeVar, get_args

from hypothesis import strategies as st

from sightline.types import (
    Annotation,
    Answer,
    Attempt,
    Benchmark,
    Box,
    Candidate,
    Choice,
    Corpus,
    Failure,
    Group,
    GroupKind,
    Judgment,
    LedgerEntry,
    Option,
    Picture,
    PictureRef,
    PictureSet,
    Ranking,
    Relevance,
    Review,
    Rights,
    Run,
    Scope,
    Step,
    StepKind,
    Task,
    TaskKind,
    Text,
    Tier,
    Trace,
    Traces,
    Truth,
)

# Any Unicode but lone surrogates, which UTF-8 can't hold.
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
maybe_words = st.none() | words
numbers = st.floats(allow_nan=False, allow_infinity=False)
costs = st.none() | st.floats(0, 1e6)
counts = st.integers(0, 2**40)
sha256s = st.binary(min_size=32, max_size=32).map(bytes.hex)
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
times = st.datetimes(timezones=st.none() | offsets)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
extras = st.dictionaries(words, json_values, max_size=2)

T = TypeVar("T")


def tuples_of(items: st.SearchStrategy[T], *, max_size: int = 3) -> st.SearchStrategy[tuple[T, ...]]:
    """Tuples of any length up to `max_size`."""
    return st.lists(items, max_size=max_size).map(tuple)


def _box(corners: list[float]) -> Box:
    left, right = sorted(corners[:2])
    top, bottom = sorted(corners[2:])
    return Box(left, top, right, bottom)


boxes = st.lists(st.floats(0, 1), min_size=4, max_size=4).map(_box)
rights = st.just(Rights()) | st.builds(Rights, maybe_words, maybe_words, maybe_words, maybe_words)
groups_of_kind = st.sampled_from(get_args(GroupKind))
tiers = st.sampled_from(get_args(Tier))
traces = st.builds(Trace, words, words, maybe_words)
failures = st.builds(Failure, ids, words, st.booleans())


def pictures(picture_ids: st.SearchStrategy[str] = ids) -> st.SearchStrategy[Picture]:
    """Pictures with everything known of them, or nothing; none lies on this machine."""
    return st.builds(
        Picture,
        id=picture_ids,
        uri=words.map("https://example.org/".__add__),
        sha256=st.none() | sha256s,
        phash=st.none() | st.integers(0, 2**64 - 1),
        width=st.none() | st.integers(1, 60_000),
        height=st.none() | st.integers(1, 60_000),
        mime=st.none() | st.sampled_from(["image/jpeg", "image/png"]),
        taken_at=st.none() | times,
        lat=st.none() | st.floats(-90, 90),
        lon=st.none() | st.floats(-180, 180),
        altitude=st.none() | numbers,
        address=maybe_words,
        device=maybe_words,
        rights=rights,
        extra=extras,
    )


def groups(picture_ids: st.SearchStrategy[str] = ids) -> st.SearchStrategy[Group]:
    """Groups of those pictures."""
    return st.builds(Group, ids, groups_of_kind, tuples_of(picture_ids), st.booleans())


def refs(picture_ids: st.SearchStrategy[str] = ids) -> st.SearchStrategy[PictureRef]:
    """A picture, or a region of one."""
    return st.builds(PictureRef, picture_ids, st.none() | boxes)


def prompts(picture_ids: st.SearchStrategy[str] = ids) -> st.SearchStrategy[tuple[str | PictureRef, ...]]:
    """Text and pictures in any order."""
    return tuples_of(words | refs(picture_ids))


def steps(picture_ids: st.SearchStrategy[str] = ids) -> st.SearchStrategy[tuple[Step, ...]]:
    """Steps of reasoning."""
    return tuples_of(st.builds(Step, st.sampled_from(get_args(StepKind)), words, tuples_of(refs(picture_ids))))


@st.composite
def tasks(draw: st.DrawFn, task_ids: st.SearchStrategy[str] = ids, picture_ids: st.SearchStrategy[str] = ids) -> Task:
    """Tasks of every kind; `choose` has options."""
    kind = draw(st.sampled_from(get_args(TaskKind)))
    keys = "ABCD"[: draw(st.integers(2, 4))] if kind == "choose" else ""
    return Task(
        id=draw(task_ids),
        kind=kind,
        prompt=draw(prompts(picture_ids)),
        options=tuple(Option(key, draw(prompts(picture_ids))) for key in keys),
        scope=draw(st.just(Scope()) | st.builds(Scope, pictures=tuples_of(picture_ids))),
        labels=draw(st.dictionaries(words, tuples_of(words), max_size=2)),
        translations=draw(st.dictionaries(words, prompts(picture_ids), max_size=2)),
        extra=draw(extras),
    )


def truths(task: Task, picture_ids: st.SearchStrategy[str] = ids) -> st.SearchStrategy[Truth]:
    """What may be true of that task."""
    match task.kind:
        case "rank":
            return st.builds(Relevance, st.dictionaries(picture_ids, st.integers(0, 4), max_size=3))
        case "select":
            return st.builds(PictureSet, tuples_of(picture_ids))
        case "answer":
            return st.builds(
                Answer,
                text=words,
                aliases=tuples_of(words),
                translations=st.dictionaries(words, words, max_size=2),
                unit=maybe_words,
                tolerance=costs,
                steps=steps(picture_ids),
            )
        case "choose":
            keys = [option.key for option in task.options]
            return st.builds(Choice, st.sampled_from(keys), words, steps(picture_ids))
        case "describe":
            return st.builds(Traces, tuples_of(traces))


@st.composite
def rankings(draw: st.DrawFn, picture_ids: st.SearchStrategy[str] = ids) -> Ranking:
    """Rankings with and without scores."""
    found = draw(st.lists(picture_ids, max_size=4, unique=True))
    with_scores = bool(found) and draw(st.booleans())
    return Ranking(tuple(found), tuple(draw(numbers) for _ in found) if with_scores else None)


def predictions(picture_ids: st.SearchStrategy[str] = ids) -> st.SearchStrategy[object]:
    """Predictions of every form, failures among them."""
    return st.one_of(
        rankings(picture_ids),
        st.builds(PictureSet, tuples_of(picture_ids)),
        st.builds(Text, words),
        st.builds(Choice, maybe_words, words, steps(picture_ids)),
        traces,
        failures,
    )


def attempts(task_ids: st.SearchStrategy[str] = ids) -> st.SearchStrategy[Attempt]:
    """One try at one task."""
    return st.builds(Attempt, task_ids, predictions(), st.integers(0, 9))


def annotations_of(picture_ids: st.SearchStrategy[str] = ids) -> st.SearchStrategy[Annotation]:
    """What was said of a picture."""
    return st.builds(
        Annotation,
        picture_id=picture_ids,
        summary=maybe_words,
        facets=st.dictionaries(words, words, max_size=2),
        flags=st.dictionaries(words, st.booleans(), max_size=2),
        tags=tuples_of(words),
        confidence=st.dictionaries(words, numbers, max_size=2),
        by=maybe_words,
        cost_usd=costs,
        extra=extras,
    )


def candidates(task_ids: st.SearchStrategy[str], picture_ids: st.SearchStrategy[str]) -> st.SearchStrategy[Candidate]:
    """Pictures in a task's pool."""
    return st.builds(Candidate, task_ids, picture_ids, tiers, st.none() | numbers)


def judgments(task_ids: st.SearchStrategy[str], picture_ids: st.SearchStrategy[str]) -> st.SearchStrategy[Judgment]:
    """What judges said."""
    return st.builds(Judgment, task_ids, picture_ids, ids, st.integers(0, 4), st.none() | st.floats(0, 1), maybe_words)


def reviews(task_ids: st.SearchStrategy[str], picture_ids: st.SearchStrategy[str]) -> st.SearchStrategy[Review]:
    """What people decided."""
    return st.builds(Review, task_ids, ids, ids, times, st.none() | picture_ids)


ledger_entries = st.builds(
    LedgerEntry,
    stage=ids,
    model=ids,
    task_id=st.none() | ids,
    tokens_in=counts,
    tokens_cached=counts,
    tokens_out=counts,
    tokens_reasoning=counts,
    tokens_image=counts,
    usd=costs,
    seconds=costs,
    ok=st.booleans(),
    from_journal=st.booleans(),
)


@st.composite
def benchmarks(draw: st.DrawFn) -> Benchmark:
    """Small benchmarks in which every id that is mentioned exists; no picture lies on this machine."""
    known = draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    some_picture = st.sampled_from(known)
    named = [
        draw(tasks(st.just(name), some_picture)) for name in draw(st.lists(ids, min_size=1, max_size=3, unique=True))
    ]
    some_task = st.sampled_from([task.id for task in named])
    return Benchmark(
        name=draw(ids),
        corpus=Corpus(
            name=draw(words),
            pictures={name: draw(pictures(st.just(name))) for name in known},
            groups=tuple(
                draw(st.lists(groups(some_picture), max_size=2, unique_by=lambda group: (group.kind, group.id)))
            ),
        ),
        tasks={task.id: task for task in named},
        truth={task.id: draw(truths(task, some_picture)) for task in named},
        version=draw(ids),
        metrics=draw(tuples_of(st.sampled_from(["ndcg@10", "map", "f1"]))),
        card=draw(extras),
        annotations=draw(tuples_of(annotations_of(some_picture), max_size=2)),
        candidates=draw(tuples_of(candidates(some_task, some_picture), max_size=2)),
        judgments=draw(tuples_of(judgments(some_task, some_picture), max_size=2)),
        reviews=draw(tuples_of(reviews(some_task, some_picture), max_size=2)),
    )


def runs() -> st.SearchStrategy[Run]:
    """Runs with a few attempts, each of them once."""
    return st.builds(
        Run,
        benchmark=ids,
        system=ids,
        attempts=st.lists(attempts(), max_size=4, unique_by=lambda one: (one.task_id, one.number)).map(tuple),
        benchmark_checksum=st.none() | sha256s,
        parameters=extras,
        versions=st.dictionaries(words, words, max_size=2),
        seed=st.none() | st.integers(0, 2**32),
        limits=extras,
        ledger=tuples_of(ledger_entries, max_size=2),
    )
