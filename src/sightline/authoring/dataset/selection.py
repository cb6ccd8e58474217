"""Which pictures may be published: by their rights, by whom they show, by what was taken down.

And the benchmark with those alone: every table stays true, and tasks that can't do without are named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sightline.errors import UserError
from sightline.io.files import picture_path
from sightline.types import (
    Annotation,
    Answer,
    Benchmark,
    Choice,
    Corpus,
    Picture,
    PictureSet,
    Relevance,
    Scope,
    Task,
    Truth,
)

UNKNOWN = "unknown"
"""Stands for pictures of which no licence is known."""

_URL = re.compile(r"creativecommons\.org/(licenses|publicdomain)/([a-z-]+)/(\d\.\d)")
_WORDS = {
    "attribution": "by",
    "noncommercial": "nc",
    "sharealike": "sa",
    "noderivatives": "nd",
    "noderivs": "nd",
}
_ALIASES = {
    "cc0": "cc0-1.0",
    "cc-zero": "cc0-1.0",
    "cc0-1.0-universal": "cc0-1.0",
    "pdm": "public-domain",
    "pdm-1.0": "public-domain",
    "public-domain-mark-1.0": "public-domain",
    "us-gov-public-domain": "public-domain",
    "apache2": "apache-2.0",
}
_SHARED = re.compile(
    r"cc0-1\.0|cc-by(-nc)?(-sa|-nd)?(-\d\.\d)?|public-domain|pddl(-1\.0)?|odbl(-1\.0)?|odc-by(-1\.0)?|"
    r"cdla-(permissive|sharing)-\d\.\d|mit|apache-2\.0|bsd-[23]-clause|etalab-2\.0"
)
# What the Hugging Face hub calls them; others are "other" there.
_ON_THE_HUB = re.compile(
    r"cc0-1\.0|cc-by-(2\.0|2\.5|3\.0|4\.0)|cc-by-sa-(3\.0|4\.0)|cc-by-nc-(2\.0|3\.0|4\.0)|cc-by-nd-4\.0|"
    r"cc-by-nc-nd-(3\.0|4\.0)|cc-by-nc-sa-(2\.0|3\.0|4\.0)|pddl|odbl|odc-by|mit|apache-2\.0|bsd-[23]-clause|etalab-2\.0|"
    r"cdla-permissive-(1\.0|2\.0)|cdla-sharing-1\.0"
)
_PEOPLE = re.compile(
    r"(?:^|[\W_])(?:people|persons?|faces?|humans?|m[ae]n|wom[ae]n|child(?:ren)?|crowds?|portraits?|pedestrians?)"
    r"(?:$|[\W_])",
    re.IGNORECASE,
)
_NO = frozenset({"no", "none", "false", "absent", "0"})


def licence_id(text: str | None) -> str:
    """One name for the ways in which a licence is written: "CC BY 4.0", its address, "cc-by-4.0"; or `UNKNOWN`."""
    plain = (text or "").strip().casefold()
    if not plain or plain == UNKNOWN:
        return UNKNOWN
    address = _URL.search(plain)
    if address is not None:
        kind, terms, version = address.groups()
        if kind == "licenses":
            return f"cc-{terms}-{version}"
        return "cc0-1.0" if terms == "zero" else "public-domain"
    plain = plain.replace("creative commons", "cc").removesuffix(" license").removesuffix(" licence")
    words = [
        _WORDS.get(word, word) for word in re.split(r"[\s_-]+", plain) if word not in ("international", "unported")
    ]
    joined = "-".join(words)
    return _ALIASES.get(joined, joined)


def may_be_shared(licence: str) -> bool:
    """Does this licence, by its one name, let a picture be given on?"""
    return _SHARED.fullmatch(licence) is not None


def on_the_hub(licence: str) -> str:
    """The name of a licence in the head of a card."""
    return licence if _ON_THE_HUB.fullmatch(licence) else "other"


@dataclass(frozen=True, slots=True)
class BenchmarkSubset:
    """What is left, which tasks went with their pictures and why, and how many judged pairs went."""

    benchmark: Benchmark
    lost_tasks: Mapping[str, str]
    lost_pairs: int = 0
    lost_relevant: int = 0


def subset_benchmark(
    benchmark: Benchmark, pictures: Collection[str], tasks: Collection[str] | None = None
) -> BenchmarkSubset:
    """Keep these pictures, and of these tasks (all when not given) those that still have a truth."""
    kept = pictures if isinstance(pictures, frozenset | set | dict) else frozenset(pictures)
    lost: dict[str, str] = {}
    truth: dict[str, Truth] = {}
    posed: dict[str, Task] = {}
    pairs = relevant = 0
    for task in benchmark.tasks.values():
        if tasks is not None and task.id not in tasks:
            continue
        whole = benchmark.truth.get(task.id)
        why, part = _of_task(task, whole, kept)
        if why is not None:
            lost[task.id] = why
            continue
        posed[task.id] = _narrowed(task, kept)
        if part is not None:
            truth[task.id] = part
        if isinstance(whole, Relevance):
            gone = [grade for picture, grade in whole.grades.items() if picture not in kept]
            pairs, relevant = pairs + len(gone), relevant + sum(grade > 0 for grade in gone)
    return BenchmarkSubset(_rest(benchmark, kept, posed, truth), lost, pairs, relevant)


def _of_task(task: Task, truth: Truth | None, kept: Collection[str]) -> tuple[str | None, Truth | None]:
    """Why the task can't stay, or what is true of it then."""
    if any(ref.id not in kept for ref in task.shown):
        return "a picture that it shows is gone", None
    if task.scope.pictures and not any(picture in kept for picture in task.scope.pictures):
        return "nothing is left to search in", None
    match truth:
        case Relevance(grades):
            left = {picture: grade for picture, grade in grades.items() if picture in kept}
            if any(grade > 0 for grade in grades.values()) and not any(grade > 0 for grade in left.values()):
                return "no relevant picture is left", None
            return (None, Relevance(left)) if left else ("no judged picture is left", None)
        case PictureSet(pictures):
            members = tuple(picture for picture in pictures if picture in kept)
            return (None, PictureSet(members)) if members else ("no picture of its answer is left", None)
        case Answer(steps=steps) | Choice(steps=steps):
            if any(ref.id not in kept for step in steps for ref in step.pictures):
                return "a picture of its reference steps is gone", None
    return None, truth


def _narrowed(task: Task, kept: Collection[str]) -> Task:
    scope = task.scope
    if scope.pictures:
        scope = Scope(scope.owner, scope.groups, tuple(picture for picture in scope.pictures if picture in kept))
    similarity = task.extra.get("similarity")
    scores = similarity.get("scores") if isinstance(similarity, dict) else None
    if not isinstance(similarity, dict) or not isinstance(scores, dict):
        return replace(task, scope=scope)
    left = {picture: score for picture, score in scores.items() if picture in kept}
    return replace(task, scope=scope, extra={**task.extra, "similarity": {**similarity, "scores": left}})


def _rest(
    benchmark: Benchmark, kept: Collection[str], tasks: Mapping[str, Task], truth: Mapping[str, Truth]
) -> Benchmark:
    corpus = benchmark.corpus
    groups = (replace(group, pictures=tuple(id_ for id_ in group.pictures if id_ in kept)) for group in corpus.groups)
    return replace(
        benchmark,
        corpus=Corpus(
            corpus.name,
            {id_: picture for id_, picture in corpus.pictures.items() if id_ in kept},
            tuple(group for group in groups if group.pictures),
        ),
        tasks=tasks,
        truth=truth,
        annotations=tuple(note for note in benchmark.annotations if note.picture_id in kept),
        candidates=tuple(row for row in benchmark.candidates if row.picture in kept and row.task in tasks),
        judgments=tuple(row for row in benchmark.judgments if row.picture in kept and row.task in tasks),
        reviews=tuple(
            row for row in benchmark.reviews if row.task in tasks and (row.picture is None or row.picture in kept)
        ),
        checksum=None,
    )


@dataclass(frozen=True, slots=True)
class PublishSelection:
    """What may be published, and what stays here: pictures and tasks with the reason."""

    benchmark: Benchmark
    left_out: Mapping[str, str]
    lost_tasks: Mapping[str, str]
    people: int
    people_unknown: int

    @property
    def reasons(self) -> dict[str, int]:
        """Pictures that stay here, by reason."""
        return dict(Counter(self.left_out.values()).most_common())


def choose_pictures(
    benchmark: Benchmark, folder: Path, *, licences: Collection[str] | None = None, taken_down: Collection[str] = ()
) -> PublishSelection:
    """Keep pictures that are here and whose licence is allowed; without a list, any that lets them be given on."""
    allowed = None if licences is None else {licence_id(licence) for licence in licences}
    left_out: dict[str, str] = {}
    for picture in benchmark.corpus.pictures.values():
        reason = _reason(picture, folder, allowed, taken_down)
        if reason is not None:
            left_out[picture.id] = reason
    kept = frozenset(id_ for id_ in benchmark.corpus.pictures if id_ not in left_out)
    if not kept:
        raise _nothing_left(left_out)
    rest = subset_benchmark(benchmark, kept)
    if not rest.benchmark.tasks:
        raise UserError(
            f"of {len(rest.lost_tasks):,} tasks none is left without the {len(left_out):,} pictures that stay here.",
            "see why they stay with --json, and set their licences in the rights map (paths.rights)",
        )
    shown, unknown = people_in(rest.benchmark)
    return PublishSelection(rest.benchmark, left_out, rest.lost_tasks, shown, unknown)


def people_in(benchmark: Benchmark) -> tuple[int, int]:
    """How many pictures show people by what is said of them, and of how many nobody was asked whether they do."""
    shown, asked = set[str](), set[str]()
    for note in benchmark.annotations:
        if shows_people(note):
            shown.add(note.picture_id)
        elif any(_PEOPLE.search(name) for name in (*note.flags, *note.facets)):
            asked.add(note.picture_id)
    return len(shown), sum(id_ not in shown and id_ not in asked for id_ in benchmark.corpus.pictures)


def shows_people(note: Annotation) -> bool:
    """Does a flag, a facet, a tag or the summary speak of people?"""
    flagged = any(value for name, value in note.flags.items() if _PEOPLE.search(name))
    if flagged or any(_PEOPLE.search(tag) for tag in note.tags) or _PEOPLE.search(note.summary or ""):
        return True
    return any(
        _PEOPLE.search(value) or (_PEOPLE.search(name) and value.casefold() not in _NO)
        for name, value in note.facets.items()
    )


def _reason(picture: Picture, folder: Path, allowed: Collection[str] | None, taken_down: Collection[str]) -> str | None:
    if picture.id in taken_down or picture.sha256 in taken_down:
        return "taken down"
    licence = licence_id(picture.rights.license)
    if allowed is None and licence == UNKNOWN:
        return "no licence is known"
    if not (may_be_shared(licence) if allowed is None else licence in allowed):
        return f"licence {licence}" if licence != UNKNOWN else "no licence is known"
    path = picture_path(picture.uri, folder)
    return None if path is not None and path.is_file() else "its file is not here"


def _nothing_left(left_out: Mapping[str, str]) -> UserError:
    counts = Counter(left_out.values())
    listed = ", ".join(f"{count:,} because {reason}" for reason, count in counts.most_common())
    return UserError(
        f"no picture may be published: {listed or 'there is none'}.",
        "set licences in the rights map (paths.rights), or name what you allow: --allow-licenses cc-by-4.0,unknown",
    )
