"""The stage `judge`: planned and worded queries → pools → verdicts of those who see the pictures → labels."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from sightline.calls.ask_many import ask_many, price_many
from sightline.calls.session import Session
from sightline.engine.plan import Plan, StagePlan
from sightline.english import counted
from sightline.errors import StoppedError, UserError
from sightline.make import project as files
from sightline.make.asking import BatchWish, batch_first, free, refuse_elsewhere
from sightline.make.judge import photos
from sightline.make.judge.docket import Docket
from sightline.make.judge.figures import Figures
from sightline.make.judge.groups import STAGE, Group, Judged, JudgeJob, batch_requests
from sightline.make.judge.pool import check_retrievers, make_pool
from sightline.make.judge.questions import Questions
from sightline.make.judge.verdicts import VerdictStore
from sightline.make.judge.work import Work
from sightline.make.project import Project
from sightline.make.stages import StageResult
from sightline.models.asking import Asking
from sightline.models.protocols import Embedder
from sightline.types import Failure

_GOOD_ALPHA = 0.667
_GOOD_COVERAGE = 0.8


@dataclass(frozen=True, slots=True)
class JudgeStage:
    """Deepens the pools, has every picture of them judged by every judge, and writes what follows from it."""

    judges: tuple[str, ...] = ()
    "Who judges; `judge.panel` of the configuration, else `judge.model`, else `builtin/photos`, when empty."
    batch: BatchWish | None = None
    engine: str = "local"
    embedder: str | Embedder | None = None
    "Who searches by vectors, to deepen the pools; the configured one when not given."
    name: str = STAGE
    reads: tuple[str, ...] = (files.PLAN, files.QUERIES, files.IMAGES, files.ANNOTATIONS)
    writes: tuple[str, ...] = (files.POOL, files.VERDICTS, files.JUDGMENTS, files.SET_ASIDE, files.JUDGING)

    def run(self, project: Project, asking: Asking) -> StageResult:
        """Judge what has no verdict yet; a query that can't be used is set aside, and says why."""
        started = time.monotonic()
        work = Work.read(project)
        panel = self.panel(project)
        if asking.plan:
            return StageResult(self.name, price=self._price(work, panel, asking), warnings=tuple(work.warnings))
        work.deepen(asking, self.embedder)
        store = VerdictStore(project)
        docket = Docket(work, store, panel)
        stopped: StoppedError | None = None
        try:
            with store:
                self._judge(docket, asking)
        except StoppedError as error:
            stopped = error
        figures = docket.finish()
        if stopped is not None:
            raise StoppedError(
                f"{stopped.message} {figures.queries:,} queries are judged in full, into "
                f"{project.path(files.JUDGMENTS)}; every verdict is kept.",
                stopped.fix,
            )
        _refuse_nothing(figures, project)
        return StageResult(
            self.name,
            (*(project.path(name) for name in self.writes), store.failed_path),
            docket.counts(figures),
            dict(figures.failures),
            (*work.warnings, *store.warnings, *_warnings(figures)),
            figures.usd,
            time.monotonic() - started,
        )

    def panel(self, project: Project) -> tuple[Questions, ...]:
        """Who judges, and what each is asked."""
        settings = project.config.judge
        names = self.judges or settings.panel or (settings.model or photos.NAME,)
        if photos.NAME in names:
            refuse_elsewhere(photos.NAME, self.batch, self.engine)
        return tuple(Questions(name, project.config) for name in dict.fromkeys(names))

    def _judge(self, docket: Docket, asking: Asking) -> None:
        project = docket.work.project
        todo = [(questions, docket.groups(questions, fresh=asking.fresh)) for questions in docket.panel]
        todo = [(questions, groups) for questions, groups in todo if groups]
        if self.batch is not None:
            # All are submitted before the first is waited for.
            with suppress(StoppedError):
                self._batches(todo, project, asking, replace(self.batch, wait=False))
            self._batches(todo, project, asking, self.batch)
        for questions, groups in todo:
            for group, judged in self._answers(groups, questions, project, asking):
                docket.take(group, judged)

    def _batches(
        self, todo: Sequence[tuple[Questions, list[Group]]], project: Project, asking: Asking, wish: BatchWish
    ) -> None:
        stopped: StoppedError | None = None
        for questions, groups in todo:
            try:
                batch_first(
                    batch_requests(groups, questions), questions.model, STAGE, questions.settings, project, asking, wish
                )
            except StoppedError as error:
                stopped = error
        if stopped is not None:
            raise stopped

    def _answers(
        self, groups: Sequence[Group], questions: Questions, project: Project, asking: Asking
    ) -> Iterator[tuple[Group, Judged | Failure]]:
        if questions.model == photos.NAME:
            return photos.judge_by_photos(groups, questions, project, asking)
        session = Session(project.workspace, questions.config, asking, self.engine)
        return ask_many(groups, JudgeJob(questions), session)

    def _price(self, work: Work, panel: Sequence[Questions], asking: Asking) -> Plan:
        """From the planned pools, as if everything that the searches find were new."""
        project = work.project
        settings = project.config.judge
        more = len(check_retrievers(settings)) * settings.depth + settings.outside
        pools = [make_pool(query, {}, {}, project.config) for query in work.planned]
        stages: list[StagePlan] = []
        for questions in panel:
            docket = Docket(replace(work, pools=pools), VerdictStore(project), (questions,))
            groups = docket.groups(questions, fresh=asking.fresh)
            if questions.model == photos.NAME or not groups:
                stages += free(STAGE, questions.model).stages
                continue
            requests = (request for _, request in batch_requests(groups, questions)())
            session = Session(project.workspace, project.config, asking)
            stage = price_many(requests, questions.model, STAGE, session)
            stages.append(_scaled(stage, 1 + math.ceil(len(pools) * more / settings.together) / len(groups)))
        return Plan(tuple(stages))


def _scaled(stage: StagePlan, factor: float) -> StagePlan:
    """The same for so many times as many calls."""
    return replace(
        stage,
        calls=round(stage.calls * factor),
        input=stage.input.times(factor),
        output=stage.output.times(factor),
        usd=None if stage.usd is None else stage.usd.times(factor),
        batch_usd=None if stage.batch_usd is None else stage.batch_usd * factor,
        most_usd=None if stage.most_usd is None else stage.most_usd * factor,
        most_batch_usd=None if stage.most_batch_usd is None else stage.most_batch_usd * factor,
    )


def _warnings(figures: Figures) -> Iterator[str]:
    if figures.weak:
        yield photos.WEAK
    reasons = Counter(item.reason for item in figures.set_aside)
    if reasons:
        said = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())
        aside = counted(len(figures.set_aside), "query is", "queries are")
        yield f"{aside} set aside ({said}); set_aside.jsonl says which and why"
    alpha = figures.agreement.alpha
    if alpha.value is not None and alpha.value < _GOOD_ALPHA:
        yield f"the judges agree little: Krippendorff's alpha is {alpha.value:.2f}; less than {_GOOD_ALPHA} is weak"
    found = figures.missed.coverage
    if found is not None and found.low < _GOOD_COVERAGE:
        yield (
            f"the pools may miss relevant pictures: an estimated {found.value:.0%} of them are found "
            f"(95 % interval {found.low:.0%} to {found.high:.0%}); raise judge.depth or judge.outside to know better"
        )


def _refuse_nothing(figures: Figures, project: Project) -> None:
    if figures.queries:
        return
    reasons = Counter(item.reason for item in figures.set_aside).most_common()
    said = ", ".join(f"{count:,} {reason}" for reason, count in (*reasons, *figures.failures.items()))
    raise UserError(
        f"no query is left: all {len(figures.set_aside):,} were set aside ({said}). Every verdict is kept.",
        f"see {project.path(files.SET_ASIDE)}; another judge, or other words for the queries, may help",
    )
