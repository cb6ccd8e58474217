"""From verdicts to labels: a query is judged in full and its seeds are relevant, or it is set aside with the reason.

What the judging came to is kept in `judging.json` for the audit, the card and the reader.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from sightline.authoring import project as files
from sightline.authoring.judge_photos import NAME as WEAK_JUDGE
from sightline.authoring.judge_pool import JudgeWork, Missed, QueryPool, estimate_missed
from sightline.authoring.judge_requests import GroupVerdicts, JudgeGroup, JudgeQuestions, group_pool
from sightline.authoring.judge_verdicts import JudgeAgreement, JudgeVerdict, Label, VerdictStore, agreement, label_of
from sightline.authoring.project_files import BY, COST, OURS, AnnotationLines, QueryWording
from sightline.config import Config
from sightline.english import some
from sightline.io.jsonl import write_json, write_jsonl
from sightline.models.replies import total_usd
from sightline.types import Annotation, Failure, Picture

NOT_JUDGED, SEED_NOT_RELEVANT, NO_WORDS, NO_SEED = "not judged", "seed not relevant", "no words", "no seed"
TIER, SURE, JUDGES = "tier", "judge_confidence", "judges"
"""Columns of `qrels.jsonl` that benchmaker does not have."""
_SHOWN = 3
_UNLISTED = Failure("unknown picture", "images.jsonl has no picture of this id")


@dataclass(frozen=True, slots=True)
class SetAside:
    """A query that is left out of the benchmark, and why."""

    query: str
    reason: str
    detail: str

    def row(self, config: Config, wording: QueryWording | None) -> dict[str, Any]:
        """A line of `set_aside.jsonl`."""
        names = config.columns
        text = None if wording is None else wording.text
        return {names.query_id: self.query, names.query: text, "reason": self.reason, "detail": self.detail}


def problem_with(pool: QueryPool, labels: Mapping[str, Label]) -> SetAside | None:
    """What keeps a query out: a pooled picture without a label, or a seed that does not fit its own query."""
    query = pool.query
    if not query.seeds:
        return SetAside(query.id, NO_SEED, "the plan names no seed for it")
    unjudged = [picture for picture in query.pictures if picture not in labels]
    if unjudged:
        return SetAside(
            query.id, NOT_JUDGED, f"{len(unjudged):,} of its pictures have no verdict: {some(unjudged, _SHOWN)}"
        )
    wrong = [seed for seed in query.seeds if not labels[seed].is_relevant]
    if wrong:
        return SetAside(query.id, SEED_NOT_RELEVANT, f"judged not to fit the query made from it: {some(wrong, _SHOWN)}")
    return None


class LabelRows:
    """Lines of `qrels.jsonl`: benchmaker's columns with all that is known of the picture, and ours."""

    def __init__(self, config: Config, pictures: Mapping[str, Picture], notes: Mapping[str, Annotation]) -> None:
        self._config, self._pictures, self._notes = config, pictures, notes
        self._lines = AnnotationLines(config)
        # What tells of the making of an annotation, and not of its picture, stays with the annotation.
        self._left_out = {*OURS, BY, COST, config.columns.image_id}

    def of(self, wording: QueryWording, pool: QueryPool, labels: Mapping[str, Label]) -> Iterator[dict[str, Any]]:
        """The seeds first, then the others in the order of the pool."""
        names = self._config.columns
        for candidate in pool.query.candidates:
            label = labels[candidate.picture]
            yield {
                names.query_id: wording.id,
                names.query: wording.text,
                names.image_id: candidate.picture,
                names.relevance: label.grade,
                TIER: candidate.tier,
                SURE: label.confidence,
                JUDGES: label.judges,
                **self._known(candidate.picture),
            }

    def _known(self, id_: str) -> dict[str, Any]:
        names, picture, note = self._config.columns, self._pictures[id_], self._notes.get(id_)
        row = {} if note is None else self._lines.write(note)
        rights = picture.rights
        told = {
            names.mime_type: picture.mime,
            names.license: rights.license,
            names.doi: rights.doi,
            names.dataset: rights.source,
        }
        row |= {name: value for name, value in told.items() if value is not None}
        return {name: value for name, value in row.items() if name not in self._left_out}


@dataclass(frozen=True, slots=True)
class JudgingFigures:
    """Everything that is counted over one judging."""

    scale: str
    agreement: JudgeAgreement
    missed: Missed
    queries: int
    set_aside: Sequence[SetAside] = ()
    failures: Mapping[str, int] = field(default_factory=dict)
    grades: Mapping[int, int] = field(default_factory=dict)
    tiers: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    weak: bool = False
    usd: float | None = 0.0

    def to_json(self) -> dict[str, Any]:
        """For `judging.json`."""
        panel = self.agreement
        return {
            "judges": list(panel.judges),
            "weak": self.weak,
            "scale": self.scale,
            "queries": self.queries,
            "set_aside": dict(Counter(item.reason for item in self.set_aside)),
            "grades": {str(grade): count for grade, count in sorted(self.grades.items())},
            "failures": dict(self.failures),
            "agreement": {
                "items": panel.items,
                "alpha": asdict(panel.alpha),
                "pairs": [
                    {"judges": list(both), "agreement": same, "kappa": kappa}
                    for both, (same, kappa) in panel.pairs.items()
                ],
                "relevant_share": dict(panel.relevant),
            },
            "relevant_by_tier": {
                tier: {"judged": judged, "relevant": relevant} for tier, (judged, relevant) in self.tiers.items()
            },
            "missed": asdict(self.missed),
            "usd": self.usd,
        }


def count_tiers(pools: Iterable[QueryPool], labels: Mapping[str, Mapping[str, Label]]) -> dict[str, tuple[int, int]]:
    """By tier: how many pictures were judged, and how many of them are relevant."""
    judged: Counter[str] = Counter()
    relevant: Counter[str] = Counter()
    for pool in pools:
        known = labels[pool.query.id]
        for candidate in pool.query.candidates:
            judged[candidate.tier] += 1
            relevant[candidate.tier] += known[candidate.picture].is_relevant
    return {tier: (count, relevant[tier]) for tier, count in judged.items()}


@dataclass(slots=True)
class JudgingRun:
    """The pools of a project before a panel."""

    work: JudgeWork
    store: VerdictStore
    panel: Sequence[JudgeQuestions]
    made: int = 0
    kept: int = 0
    usd: float | None = 0.0
    failures: Counter[str] = field(default_factory=Counter)

    def groups(self, questions: JudgeQuestions, *, fresh: bool) -> list[JudgeGroup]:
        """The calls that this judge has yet to answer; a picture with a verdict that holds is not shown again."""
        found = []
        settings, pictures = questions.settings, self.work.pictures
        for pool in self.work.pools:
            query, text = pool.query.id, self.work.wordings[pool.query.id].text
            there = [pictures[id_] for id_ in pool.query.pictures if id_ in pictures]
            for id_ in pool.query.pictures:
                if id_ not in pictures:
                    self._fail(query, questions.model, id_, _UNLISTED)
            for group in group_pool(query, text, questions.model, there, settings.together, settings.random_seed):
                todo = tuple(
                    picture
                    for picture in group.pictures
                    if fresh or self.store.get(query, picture.id, questions.model, questions.key(text, picture)) is None
                )
                self.kept += len(group.pictures) - len(todo)
                if todo:
                    found.append(replace(group, pictures=todo))
        return found

    def _fail(self, query: str, judge: str, picture: str, failure: Failure) -> None:
        self.failures[failure.kind] += 1
        self.store.fail(query, judge, picture, failure)

    def take(self, group: JudgeGroup, judged: GroupVerdicts | Failure) -> None:
        """What one judge said of one group."""
        if isinstance(judged, Failure):
            judged = GroupVerdicts(failures={picture.id: judged for picture in group.pictures})
        self.store.add(judged.verdicts)
        self.made += len(judged.verdicts)
        self.usd = total_usd((self.usd, judged.usd))
        for picture, failure in judged.failures.items():
            self._fail(group.query, group.judge, picture, failure)

    def part(self, pools: Sequence[QueryPool]) -> JudgingRun:
        """The same panel before some pools alone, with counts of its own."""
        return JudgingRun(replace(self.work, pools=pools), self.store, self.panel)

    def add(self, part: JudgingRun) -> dict[str, set[str]]:
        """Count what a part came to; which pictures of each query have a verdict from it."""
        self.made, self.kept = self.made + part.made, self.kept + part.kept
        self.usd = total_usd((self.usd, part.usd))
        self.failures.update(part.failures)
        judged: dict[str, set[str]] = {}
        for verdict in part.verdicts():
            judged.setdefault(verdict.task, set()).add(verdict.picture)
        return judged

    def finish(self) -> JudgingFigures:
        """Labels from the verdicts, and all files that hold them."""
        work, project = self.work, self.work.project
        config = project.config
        verdicts = list(self.verdicts())
        self.store.mark(verdicts)
        labels = self._labels(verdicts)
        aside = [SetAside(query, NO_WORDS, "no words were written for it") for query in work.wordless]
        good: list[QueryPool] = []
        for pool in work.pools:
            wrong = problem_with(pool, labels.get(pool.query.id, {}))
            if wrong is None:
                good.append(pool)
            else:
                aside.append(wrong)
        rows = LabelRows(config, work.pictures, work.notes)
        write_jsonl(
            project.prepare(files.JUDGMENTS),
            (row for pool in good for row in rows.of(work.wordings[pool.query.id], pool, labels[pool.query.id])),
        )
        write_jsonl(
            project.prepare(files.SET_ASIDE), (item.row(config, work.wordings.get(item.query)) for item in aside)
        )
        figures = self._figures(verdicts, labels, good, aside)
        write_json(project.prepare(files.JUDGING), figures.to_json())
        return figures

    def verdicts(self) -> Iterator[JudgeVerdict]:
        """Those that hold of the pools as they are."""
        for pool in self.work.pools:
            text = self.work.wordings[pool.query.id].text
            for id_ in pool.query.pictures:
                picture = self.work.pictures.get(id_)
                for questions in self.panel if picture is not None else ():
                    assert picture is not None
                    found = self.store.get(pool.query.id, id_, questions.model, questions.key(text, picture))
                    if found is not None:
                        yield found

    def _labels(self, verdicts: Sequence[JudgeVerdict]) -> dict[str, dict[str, Label]]:
        by_picture: dict[str, dict[str, list[JudgeVerdict]]] = {}
        for verdict in verdicts:
            by_picture.setdefault(verdict.task, {}).setdefault(verdict.picture, []).append(verdict)
        return {
            task: {picture: label_of(said) for picture, said in pictures.items()}
            for task, pictures in by_picture.items()
        }

    def _figures(
        self,
        verdicts: Sequence[JudgeVerdict],
        labels: Mapping[str, Mapping[str, Label]],
        good: Sequence[QueryPool],
        aside: Sequence[SetAside],
    ) -> JudgingFigures:
        seed = self.work.project.config.judge.random_seed % 2**32
        relevant = {
            pool.query.id: {picture: label.is_relevant for picture, label in labels[pool.query.id].items()}
            for pool in good
        }
        return JudgingFigures(
            self.work.project.config.judge.scale,
            agreement(verdicts, seed=seed),
            estimate_missed(good, relevant),
            len(good),
            aside,
            dict(self.failures),
            Counter(label.grade for pool in good for label in labels[pool.query.id].values()),
            count_tiers(good, labels),
            any(questions.model == WEAK_JUDGE for questions in self.panel),
            self.usd,
        )

    def counts(self, figures: JudgingFigures) -> dict[str, int]:
        """For the result of the stage."""
        relevant = sum(count for grade, count in figures.grades.items() if grade)
        return {
            "queries": figures.queries,
            "set aside": len(figures.set_aside),
            "labels": sum(figures.grades.values()),
            "relevant": relevant,
            "verdicts": self.made,
            "kept": self.kept,
        }
