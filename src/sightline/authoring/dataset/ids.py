"""Ids as they are published: they tell nothing of a picture's owner, time or camera. Which is which stays here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import cast

from sightline.io.jsonl import read_jsonl, write_jsonl
from sightline.types import (
    Answer,
    Benchmark,
    Choice,
    Corpus,
    Group,
    Option,
    PictureRef,
    PictureSet,
    Relevance,
    Scope,
    Task,
    Truth,
)
from sightline.types.corpus import Json
from sightline.types.task import Part

FILE = "published_ids.jsonl"
"""In the project: under which id each picture and group was published; never in the folder that is published."""
_DIGITS = 16


@dataclass(frozen=True, slots=True)
class PublishedNames:
    """The published names of pictures and groups, by the names that they have here."""

    pictures: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def originals(self) -> dict[str, str]:
        """What a published picture is called here."""
        return {published: id_ for id_, published in self.pictures.items()}


def read_names(path: Path | None) -> PublishedNames:
    """The names of earlier times; none where nothing was published."""
    found: dict[str, dict[str, str]] = {"picture": {}, "group": {}}
    for _, row in read_jsonl(path) if path is not None and path.is_file() else ():
        kind = "picture" if "picture" in row else "group"
        found[kind][row[kind]] = row["published"]
    return PublishedNames(found["picture"], found["group"])


def write_names(path: Path, names: PublishedNames) -> None:
    """Keep them for the next time, and for those who ask about a picture by its published name."""
    rows = [{"picture": id_, "published": name} for id_, name in names.pictures.items()]
    write_jsonl(path, [*rows, *({"group": id_, "published": name} for id_, name in names.groups.items())])


def neutral_names(benchmark: Benchmark, earlier: PublishedNames) -> PublishedNames:
    """Names for what is published: pictures by their content, groups by a number that they keep."""
    return PublishedNames(
        dict(_by_content(benchmark, earlier.pictures)), {**earlier.groups, **dict(_numbered(benchmark, earlier.groups))}
    )


def _by_content(benchmark: Benchmark, earlier: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The first digits of the SHA-256 with the file's ending; copies of the same bytes are told apart by a number."""
    taken: dict[str, str] = {name: id_ for id_, name in earlier.items()}
    for id_, picture in benchmark.corpus.pictures.items():
        assert picture.sha256 is not None  # It was just prepared.
        stem, suffix = picture.sha256[:_DIGITS], PurePosixPath(picture.uri).suffix
        before = earlier.get(id_, "")
        name = before if before.startswith(stem) and before.endswith(suffix) else f"{stem}{suffix}"
        number = 1
        while taken.setdefault(name, id_) != id_:
            number += 1
            name = f"{stem}-{number}{suffix}"
        yield id_, name


def _numbered(benchmark: Benchmark, earlier: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """`owner-1`, `event-2` and so on; also for owners that only a scope names."""
    kinds = {group.id: str(group.kind) for group in benchmark.corpus.groups if group.kind != "dataset"}
    sources = {group.id for group in benchmark.corpus.groups_of("dataset")}  # Their names are in the rights anyway.
    for task in benchmark.tasks.values():
        kinds |= {group: "group" for group in task.scope.groups if group not in kinds and group not in sources}
        if task.scope.owner is not None:
            kinds.setdefault(task.scope.owner, "owner")
    last = Counter[str]()
    for name in earlier.values():
        kind, _, number = name.rpartition("-")
        last[kind] = max(last[kind], int(number))
    for id_, kind in kinds.items():
        if id_ not in earlier:
            last[kind] += 1
            yield id_, f"{kind}-{last[kind]}"


def rename_benchmark(benchmark: Benchmark, names: PublishedNames, unpublished: Collection[str] = ()) -> Benchmark:
    """The same benchmark under these names, in their order; ids that are not published are left out of free fields."""
    return _Renaming(names, unpublished).benchmark(benchmark)


class _Renaming:
    """Every place of a benchmark where a picture or a group is named."""

    def __init__(self, names: PublishedNames, unpublished: Collection[str]) -> None:
        self._pictures, self._groups = names.pictures, names.groups
        self._free = {**names.groups, **names.pictures}
        # In a card, "12" or "night" is a figure or a word, whatever else is called so.
        self._telling = {id_: name for id_, name in self._free.items() if not id_.isalnum()}
        self._gone = frozenset(unpublished) - set(names.pictures)

    def benchmark(self, whole: Benchmark) -> Benchmark:
        name, corpus = self._pictures, whole.corpus
        pictures = (
            replace(picture, id=name[id_], extra=self._object(picture.extra))
            for id_, picture in corpus.pictures.items()
        )
        groups = (
            Group(self._groups.get(group.id, group.id), group.kind, self._ids(group.pictures), group.hidden)
            for group in corpus.groups
        )
        return replace(
            whole,
            # The order of the files would tell the order in which they were taken.
            corpus=Corpus(
                corpus.name, {one.id: one for one in sorted(pictures, key=lambda one: one.id)}, tuple(groups)
            ),
            tasks={id_: self._task(task) for id_, task in whole.tasks.items()},
            truth={id_: self._truth(truth) for id_, truth in whole.truth.items()},
            card=cast("dict[str, Json]", self._json(dict(whole.card), self._telling)),
            annotations=tuple(
                replace(note, picture_id=name[note.picture_id], extra=self._object(note.extra))
                for note in whole.annotations
            ),
            candidates=tuple(replace(row, picture=name[row.picture]) for row in whole.candidates),
            judgments=tuple(replace(row, picture=name[row.picture]) for row in whole.judgments),
            reviews=tuple(
                replace(row, picture=None if row.picture is None else name[row.picture]) for row in whole.reviews
            ),
        )

    def _task(self, task: Task) -> Task:
        scope = task.scope
        return replace(
            task,
            prompt=self._parts(task.prompt),
            options=tuple(Option(option.key, self._parts(option.content)) for option in task.options),
            scope=Scope(
                None if scope.owner is None else self._groups[scope.owner],
                tuple(self._groups.get(group, group) for group in scope.groups),
                self._ids(scope.pictures),
                scope.nowhere,
            ),
            labels={
                key: tuple(self._free.get(value, value) for value in values) for key, values in task.labels.items()
            },
            translations={language: self._parts(parts) for language, parts in task.translations.items()},
            extra=self._object(task.extra),
        )

    def _truth(self, truth: Truth) -> Truth:
        match truth:
            case Relevance(grades):
                return Relevance({self._pictures[id_]: grade for id_, grade in grades.items()})
            case PictureSet(pictures):
                return PictureSet(self._ids(pictures))
            case Answer() | Choice():
                steps = (replace(step, pictures=tuple(map(self._ref, step.pictures))) for step in truth.steps)
                return replace(truth, steps=tuple(steps))
            case _:
                return truth

    def _parts(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        return tuple(part if isinstance(part, str) else self._ref(part) for part in parts)

    def _ref(self, ref: PictureRef) -> PictureRef:
        return PictureRef(self._pictures[ref.id], ref.region)

    def _ids(self, ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._pictures[id_] for id_ in ids)

    def _object(self, values: Mapping[str, Json]) -> dict[str, Json]:
        return cast("dict[str, Json]", self._json(dict(values), self._free))

    def _json(self, value: Json, names: Mapping[str, str]) -> Json:
        """JSON in which some texts are ids: lists of seeds, scores by picture."""
        match value:
            case str():
                return None if value in self._gone else names.get(value, value)
            case dict():
                kept = ((key, one) for key, one in value.items() if key not in self._gone)
                return {names.get(key, key): self._json(one, names) for key, one in kept}
            case list():
                kept_items = (one for one in value if not (isinstance(one, str) and one in self._gone))
                return [self._json(one, names) for one in kept_items]
            case _:
                return value
