"""Which pictures may be published: by their rights, by whom they show, by what was taken down."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from sightline.bench import picture_path
from sightline.errors import UserError
from sightline.make.publish.lessen import Lessened, lessen
from sightline.make.publish.licences import UNKNOWN, licence_id, may_be_shared
from sightline.types import Annotation, Benchmark, Picture

_PEOPLE = re.compile(
    r"(?:^|[\W_])(?:people|persons?|faces?|humans?|m[ae]n|wom[ae]n|child(?:ren)?|crowds?|portraits?|pedestrians?)"
    r"(?:$|[\W_])",
    re.IGNORECASE,
)
_NO = frozenset({"no", "none", "false", "absent", "0"})


@dataclass(frozen=True, slots=True)
class Chosen:
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


def choose(
    benchmark: Benchmark, folder: Path, *, licences: Collection[str] | None = None, taken_down: Collection[str] = ()
) -> Chosen:
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
    rest = lessen(benchmark, kept)
    if not rest.benchmark.tasks:
        raise _no_task_left(rest, left_out)
    shown, unknown = people_in(rest.benchmark)
    return Chosen(rest.benchmark, left_out, rest.lost_tasks, shown, unknown)


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


def _no_task_left(rest: Lessened, left_out: Mapping[str, str]) -> UserError:
    return UserError(
        f"of {len(rest.lost_tasks):,} tasks none is left without the {len(left_out):,} pictures that stay here.",
        "see why they stay with --json, and set their licences in the rights map (paths.rights)",
    )
