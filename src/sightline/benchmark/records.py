"""One record per line of a BENCH folder, and the ways between records and the nouns of `sightline.types`."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import ConfigDict, Field, Tag

from sightline.benchmark.record_fields import (
    Extra,
    Fraction,
    Id,
    PartRecord,
    StrictRecord,
    Time,
    form,
    from_parts,
    ordered,
    to_parts,
)
from sightline.benchmark.table import CURRENT
from sightline.types import Annotation, GroupKind, Option, Picture, Rights, Scope, Task, TaskKind, Tier

Sha256: TypeAlias = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]

_NO_RIGHTS = Rights()
_ANYWHERE = Scope()


class BenchmarkRecord(StrictRecord):
    """`benchmark.json`: what the benchmark is called, how it is scored, and the checksum of every other file."""

    model_config = ConfigDict(populate_by_name=True)

    schema_version: int = Field(alias="schema", ge=CURRENT, le=CURRENT)
    name: Id
    version: Id
    corpus: str
    metrics: tuple[Id, ...] = ()
    card: Extra = Field({})
    grade: str | None = None
    grade_basis: Extra = Field({})
    checksums: dict[str, Sha256]


class RightsRecord(StrictRecord):
    """Under what terms a picture may be used."""

    license: str | None = None
    doi: str | None = None
    source: str | None = None
    attribution: str | None = None


class PictureRecord(StrictRecord):
    """A line of `pictures.jsonl`; `phash` is 16 hexadecimal digits."""

    id: Id
    uri: str
    sha256: Sha256 | None = None
    phash: Annotated[str, Field(pattern="^[0-9a-f]{16}$")] | None = None
    width: Annotated[int, Field(ge=1)] | None = None
    height: Annotated[int, Field(ge=1)] | None = None
    mime: str | None = None
    taken_at: Time | None = None
    lat: Annotated[float, Field(ge=-90, le=90)] | None = None
    lon: Annotated[float, Field(ge=-180, le=180)] | None = None
    altitude: float | None = None
    address: str | None = None
    device: str | None = None
    rights: RightsRecord | None = None
    extra: Extra = Field({})

    def to_picture(self) -> Picture:
        return self.to(
            Picture,
            phash=None if self.phash is None else int(self.phash, 16),
            rights=_NO_RIGHTS if self.rights is None else self.rights.to(Rights),
        )

    @classmethod
    def from_picture(cls, picture: Picture) -> PictureRecord:
        return cls.of(
            picture,
            phash=None if picture.phash is None else f"{picture.phash:016x}",
            rights=None if picture.rights == _NO_RIGHTS else RightsRecord.of(picture.rights),
            extra=ordered(picture.extra),
        )


class GroupRecord(StrictRecord):
    """A line of `groups.jsonl`: pictures that belong together, in order."""

    id: Id
    kind: GroupKind
    pictures: tuple[Id, ...]
    hidden: bool = False


class OptionRecord(StrictRecord):
    """One option of a multiple-choice task."""

    key: Id
    content: tuple[PartRecord, ...]


class ScopeRecord(StrictRecord):
    """The part of the corpus that may be searched."""

    owner: Id | None = None
    groups: tuple[Id, ...] = ()
    pictures: tuple[Id, ...] = ()


def _label_form(value: object) -> str | None:
    if isinstance(value, str):
        return "<one>"
    return "<several>" if isinstance(value, list | tuple) else None


LabelRecord: TypeAlias = Annotated[
    Annotated[str, Tag("<one>")] | Annotated[tuple[str, ...], Tag("<several>")],
    form(_label_form, "text or a list of texts"),
]


class TaskRecord(StrictRecord):
    """A line of `tasks.jsonl`; a label with one value is written as text, else as a list."""

    id: Id
    kind: TaskKind
    prompt: tuple[PartRecord, ...]
    options: tuple[OptionRecord, ...] = ()
    scope: ScopeRecord | None = None
    labels: dict[str, LabelRecord] = Field({})
    translations: dict[str, tuple[PartRecord, ...]] = Field({})
    extra: Extra = Field({})

    def to_task(self) -> Task:
        return self.to(
            Task,
            prompt=to_parts(self.prompt),
            options=tuple(option.to(Option, content=to_parts(option.content)) for option in self.options),
            scope=_ANYWHERE if self.scope is None else self.scope.to(Scope),
            labels={name: (values,) if isinstance(values, str) else values for name, values in self.labels.items()},
            translations={language: to_parts(parts) for language, parts in self.translations.items()},
        )

    @classmethod
    def from_task(cls, task: Task) -> TaskRecord:
        return cls.of(
            task,
            prompt=from_parts(task.prompt),
            options=tuple(OptionRecord.of(option, content=from_parts(option.content)) for option in task.options),
            scope=None if task.scope == _ANYWHERE else ScopeRecord.of(task.scope),
            labels={name: values[0] if len(values) == 1 else values for name, values in ordered(task.labels).items()},
            translations={language: from_parts(task.translations[language]) for language in sorted(task.translations)},
            extra=ordered(task.extra),
        )


class AnnotationRecord(StrictRecord):
    """A line of `annotations.jsonl`: what someone said of a picture."""

    picture: Id
    summary: str | None = None
    facets: dict[str, str] = Field({})
    flags: dict[str, bool] = Field({})
    tags: tuple[str, ...] = ()
    confidence: dict[str, float] = Field({})
    by: str | None = None
    cost_usd: float | None = None
    extra: Extra = Field({})

    def to_annotation(self) -> Annotation:
        fields = {**vars(self)}
        return Annotation(fields.pop("picture"), **fields)

    @classmethod
    def from_annotation(cls, annotation: Annotation) -> AnnotationRecord:
        return cls.of(
            annotation,
            picture=annotation.picture_id,
            facets=ordered(annotation.facets),
            flags=ordered(annotation.flags),
            confidence=ordered(annotation.confidence),
            extra=ordered(annotation.extra),
        )


class CandidateRecord(StrictRecord):
    """A line of `candidates.jsonl`: a picture in a task's pool."""

    task: Id
    picture: Id
    tier: Tier
    score: float | None = None


class JudgmentRecord(StrictRecord):
    """A line of `judgments.jsonl`: what one judge said of one picture for one task."""

    task: Id
    picture: Id
    judge: Id
    grade: Annotated[int, Field(ge=0)]
    confidence: Fraction | None = None
    reason: str | None = None


class ReviewRecord(StrictRecord):
    """A line of `reviews.jsonl`: what one person decided about a task, or one picture of it."""

    task: Id
    picture: Id | None = None
    person: Id
    decision: Id
    when: Time
