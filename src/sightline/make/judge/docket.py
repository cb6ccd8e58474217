"""Where verdicts come in, and what follows from them: labels, queries that are set aside, and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sightline.io import write_json, write_jsonl
from sightline.make import project as files
from sightline.make.judge.deciding import NO_WORDS, LabelRows, SetAside, problem_with
from sightline.make.judge.figures import Figures, count_sources, count_tiers
from sightline.make.judge.groups import Group, Judged, group_pool
from sightline.make.judge.missed import estimate_missed
from sightline.make.judge.panel import Label, agreement, label_of
from sightline.make.judge.photos import NAME as WEAK_JUDGE
from sightline.make.judge.pool import Pool
from sightline.make.judge.questions import Questions
from sightline.make.judge.verdicts import Verdict, VerdictStore
from sightline.make.judge.work import Work
from sightline.types import Failure, Picture

_UNLISTED = Failure("unknown picture", "images.jsonl has no picture of this id")


@dataclass(slots=True)
class Docket:
    """The pools of a project before a panel."""

    work: Work
    store: VerdictStore
    panel: Sequence[Questions]
    made: int = 0
    kept: int = 0
    usd: float | None = 0.0
    failures: Counter[str] = field(default_factory=Counter)

    def groups(self, questions: Questions, *, fresh: bool) -> list[Group]:
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
                    picture for picture in group.pictures if fresh or not self._holds(questions, query, text, picture)
                )
                self.kept += len(group.pictures) - len(todo)
                if todo:
                    found.append(replace(group, pictures=todo))
        return found

    def _holds(self, questions: Questions, query: str, text: str, picture: Picture) -> bool:
        key = questions.key(text, picture)
        return self.store.get(query, picture.id, questions.model, key) is not None

    def _fail(self, query: str, judge: str, picture: str, failure: Failure) -> None:
        self.failures[failure.kind] += 1
        self.store.fail(query, judge, picture, failure)

    def take(self, group: Group, judged: Judged | Failure) -> None:
        """What one judge said of one group."""
        if isinstance(judged, Failure):
            judged = Judged(failures={picture.id: judged for picture in group.pictures})
        self.store.add(judged.verdicts)
        self.made += len(judged.verdicts)
        self.usd = None if self.usd is None or judged.usd is None else self.usd + judged.usd
        for picture, failure in judged.failures.items():
            self._fail(group.query, group.judge, picture, failure)

    def finish(self) -> Figures:
        """Labels from the verdicts, and all files that hold them."""
        work, project = self.work, self.work.project
        config = project.config
        verdicts = list(self._verdicts())
        self.store.mark(verdicts)
        labels = self._labels(verdicts)
        aside = [SetAside(query, NO_WORDS, "no words were written for it") for query in work.wordless]
        good: list[Pool] = []
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

    def _verdicts(self) -> Iterator[Verdict]:
        for pool in self.work.pools:
            text = self.work.wordings[pool.query.id].text
            for id_ in pool.query.pictures:
                picture = self.work.pictures.get(id_)
                for questions in self.panel if picture is not None else ():
                    assert picture is not None
                    found = self.store.get(pool.query.id, id_, questions.model, questions.key(text, picture))
                    if found is not None:
                        yield found

    def _labels(self, verdicts: Sequence[Verdict]) -> dict[str, dict[str, Label]]:
        by_picture: dict[str, dict[str, list[Verdict]]] = {}
        for verdict in verdicts:
            by_picture.setdefault(verdict.task, {}).setdefault(verdict.picture, []).append(verdict)
        return {
            task: {picture: label_of(said) for picture, said in pictures.items()}
            for task, pictures in by_picture.items()
        }

    def _figures(
        self,
        verdicts: Sequence[Verdict],
        labels: Mapping[str, Mapping[str, Label]],
        good: Sequence[Pool],
        aside: Sequence[SetAside],
    ) -> Figures:
        seed = self.work.project.config.judge.random_seed % 2**32
        relevant = {
            pool.query.id: {picture: label.is_relevant for picture, label in labels[pool.query.id].items()}
            for pool in good
        }
        return Figures(
            self.work.project.config.judge.scale,
            agreement(verdicts, seed=seed),
            estimate_missed(good, relevant, seed=seed),
            len(good),
            aside,
            dict(self.failures),
            Counter(label.grade for pool in good for label in labels[pool.query.id].values()),
            count_tiers(good, labels),
            count_sources(good, labels),
            any(questions.model == WEAK_JUDGE for questions in self.panel),
            self.usd,
        )

    def counts(self, figures: Figures) -> dict[str, int]:
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
