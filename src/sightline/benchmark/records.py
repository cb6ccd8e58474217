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
from sightline.types import (
    Annotation,
    Candidate,
    Group,
    GroupKind,
    Judgment,
    Option,
    Picture,
    Review,
    Rights,
    Scope,
    Task,
    TaskKind,
    Tier,
)

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
    checksums: dict[str, Sha256]


class RightsRecord(StrictRecord):
    """Under what terms a picture may be used."""

    license: str | None = None
    doi: str | None = None
    source: str | None = None
    attribution: str | None = None

    def to_rights(self) -> Rights:
        return Rights(self.license, self.doi, self.source, self.attribution)

    @classmethod
    def from_rights(cls, rights: Rights) -> RightsRecord:
        return cls(license=rights.license, doi=rights.doi, source=rights.source, attribution=rights.attribution)


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
        return Picture(
            id=self.id,
            uri=self.uri,
            sha256=self.sha256,
            phash=None if self.phash is None else int(self.phash, 16),
            width=self.width,
            height=self.height,
            mime=self.mime,
            taken_at=self.taken_at,
            lat=self.lat,
            lon=self.lon,
            altitude=self.altitude,
            address=self.address,
            device=self.device,
            rights=_NO_RIGHTS if self.rights is None else self.rights.to_rights(),
            extra=self.extra,
        )

    @classmethod
    def from_picture(cls, picture: Picture) -> PictureRecord:
        return cls(
            id=picture.id,
            uri=picture.uri,
            sha256=picture.sha256,
            phash=None if picture.phash is None else f"{picture.phash:016x}",
            width=picture.width,
            height=picture.height,
            mime=picture.mime,
            taken_at=picture.taken_at,
            lat=picture.lat,
            lon=picture.lon,
            altitude=picture.altitude,
            address=picture.address,
            device=picture.device,
            rights=None if picture.rights == _NO_RIGHTS else RightsRecord.from_rights(picture.rights),
            extra=ordered(picture.extra),
        )


class GroupRecord(StrictRecord):
    """A line of `groups.jsonl`: pictures that belong together, in order."""

    id: Id
    kind: GroupKind
    pictures: tuple[Id, ...]
    hidden: bool = False

    def to_group(self) -> Group:
        return Group(self.id, self.kind, self.pictures, self.hidden)

    @classmethod
    def from_group(cls, group: Group) -> GroupRecord:
        return cls(id=group.id, kind=group.kind, pictures=group.pictures, hidden=group.hidden)


class OptionRecord(StrictRecord):
    """One option of a multiple-choice task."""

    key: Id
    content: tuple[PartRecord, ...]

    def to_option(self) -> Option:
        return Option(self.key, to_parts(self.content))

    @classmethod
    def from_option(cls, option: Option) -> OptionRecord:
        return cls(key=option.key, content=from_parts(option.content))


class ScopeRecord(StrictRecord):
    """The part of the corpus that may be searched."""

    owner: Id | None = None
    groups: tuple[Id, ...] = ()
    pictures: tuple[Id, ...] = ()

    def to_scope(self) -> Scope:
        return Scope(self.owner, self.groups, self.pictures)

    @classmethod
    def from_scope(cls, scope: Scope) -> ScopeRecord:
        return cls(owner=scope.owner, groups=scope.groups, pictures=scope.pictures)


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
        return Task(
            id=self.id,
            kind=self.kind,
            prompt=to_parts(self.prompt),
            options=tuple(option.to_option() for option in self.options),
            scope=_ANYWHERE if self.scope is None else self.scope.to_scope(),
            labels={name: (values,) if isinstance(values, str) else values for name, values in self.labels.items()},
            translations={language: to_parts(parts) for language, parts in self.translations.items()},
            extra=self.extra,
        )

    @classmethod
    def from_task(cls, task: Task) -> TaskRecord:
        return cls(
            id=task.id,
            kind=task.kind,
            prompt=from_parts(task.prompt),
            options=tuple(map(OptionRecord.from_option, task.options)),
            scope=None if task.scope == _ANYWHERE else ScopeRecord.from_scope(task.scope),
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
        return Annotation(
            picture_id=self.picture,
            summary=self.summary,
            facets=self.facets,
            flags=self.flags,
            tags=self.tags,
            confidence=self.confidence,
            by=self.by,
            cost_usd=self.cost_usd,
            extra=self.extra,
        )

    @classmethod
    def from_annotation(cls, annotation: Annotation) -> AnnotationRecord:
        return cls(
            picture=annotation.picture_id,
            summary=annotation.summary,
            facets=ordered(annotation.facets),
            flags=ordered(annotation.flags),
            tags=annotation.tags,
            confidence=ordered(annotation.confidence),
            by=annotation.by,
            cost_usd=annotation.cost_usd,
            extra=ordered(annotation.extra),
        )


class CandidateRecord(StrictRecord):
    """A line of `candidates.jsonl`: a picture in a task's pool."""

    task: Id
    picture: Id
    tier: Tier
    score: float | None = None

    def to_candidate(self) -> Candidate:
        return Candidate(self.task, self.picture, self.tier, self.score)

    @classmethod
    def from_candidate(cls, candidate: Candidate) -> CandidateRecord:
        return cls(task=candidate.task, picture=candidate.picture, tier=candidate.tier, score=candidate.score)


class JudgmentRecord(StrictRecord):
    """A line of `judgments.jsonl`: what one judge said of one picture for one task."""

    task: Id
    picture: Id
    judge: Id
    grade: Annotated[int, Field(ge=0)]
    confidence: Fraction | None = None
    reason: str | None = None

    def to_judgment(self) -> Judgment:
        return Judgment(self.task, self.picture, self.judge, self.grade, self.confidence, self.reason)

    @classmethod
    def from_judgment(cls, judgment: Judgment) -> JudgmentRecord:
        return cls(
            task=judgment.task,
            picture=judgment.picture,
            judge=judgment.judge,
            grade=judgment.grade,
            confidence=judgment.confidence,
            reason=judgment.reason,
        )


class ReviewRecord(StrictRecord):
    """A line of `reviews.jsonl`: what one person decided about a task, or one picture of it."""

    task: Id
    picture: Id | None = None
    person: Id
    decision: Id
    when: Time

    def to_review(self) -> Review:
        return Review(self.task, self.person, self.decision, self.when, self.picture)

    @classmethod
    def from_review(cls, review: Review) -> ReviewRecord:
        return cls(
            task=review.task,
            picture=review.picture,
            person=review.person,
            decision=review.decision,
            when=review.when,
        )
