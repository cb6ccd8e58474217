"""The stage `judge`: planned and worded queries → pools → verdicts of those who see the pictures → labels.

Read on in `judge_pool`, `judge_requests` (or `judge_photos`), `judge_verdicts` and `judge_labels`, in this order.
"""

from __future__ import annotations

import inspect
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sightline.authoring import judge_photos
from sightline.authoring import project as files
from sightline.authoring.judge_benchmark import keep_judgments, pool_to_judge
from sightline.authoring.judge_labels import JudgingFigures, JudgingRun
from sightline.authoring.judge_pool import JudgeWork, QueryPool, check_retrievers, make_pool
from sightline.authoring.judge_requests import (
    GRADES,
    STAGE,
    GroupVerdicts,
    JudgeGroup,
    JudgeJob,
    JudgeQuestions,
    PictureGrade,
    batch_requests,
)
from sightline.authoring.judge_verdicts import GOOD_ALPHA, JudgeVerdict, VerdictStore
from sightline.authoring.project import Project
from sightline.authoring.stage import BatchOptions, StageResult, batch_first, free_plan, require_local_engine
from sightline.benchmark.files import JUDGMENTS
from sightline.benchmark.folder import read_benchmark
from sightline.calls.ask_many import ask_many, price_many
from sightline.calls.plan import CostPlan, StagePlan
from sightline.config import Config
from sightline.engine.async_map import Stage, run_map
from sightline.engine.user_functions import UserFunction, call, describe_error, function_name
from sightline.english import counted
from sightline.errors import SightlineError, StoppedError, UserError
from sightline.metrics.labels.rare_counts import Total
from sightline.models.protocols import Embedder
from sightline.types import Benchmark, Failure, Picture

_GOOD_COVERAGE = 0.8
_SLACK = 0.1
"""The lower limit of coverage may be so much below the target."""
DOUBLINGS = 5


@dataclass(frozen=True, slots=True)
class JudgeStage:
    """Deepens the pools, has every picture of them judged by every judge, and writes what follows from it."""

    judges: tuple[str | UserFunction, ...] = ()
    "Who judges; `judge.panel` of the configuration, else `judge.model`, else `builtin/photos`, when empty."
    batch: BatchOptions | None = None
    embedder: str | Embedder | None = None
    "Who searches by vectors, to deepen the pools; the configured one when not given."
    bench: Path | None = None
    "A benchmark whose pool is judged in place of the project's; its labels stay as they are."
    name: str = STAGE
    writes: tuple[str, ...] = (files.POOL, files.VERDICTS, files.JUDGMENTS, files.SET_ASIDE, files.JUDGING)

    def run(self, project: Project) -> StageResult:
        """Judge what has no verdict yet; a query that can't be used is set aside, and says why."""
        if self.bench is not None:
            return self._judge_benchmark(read_benchmark(self.bench), project)
        work = JudgeWork.read(project)
        panel = self.panel(project)
        work.warnings += _adapted(panel)
        if project.calls.plan:
            return StageResult(self.name, price=self._price(work, panel), warnings=tuple(work.warnings))
        work.deepen(self.embedder)
        store = VerdictStore(project)
        judging = JudgingRun(work, store, panel)
        stopped: StoppedError | None = None
        try:
            with store:
                self._judge(judging)
                self._grow(judging)
        except StoppedError as error:
            stopped = error
        figures = judging.finish()
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
            judging.counts(figures),
            dict(figures.failures),
            (*work.warnings, *store.warnings, *_warnings(figures, project.config.judge.coverage)),
            figures.usd,
        )

    def _judge_benchmark(self, benchmark: Benchmark, project: Project) -> StageResult:
        work = pool_to_judge(benchmark, project)
        panel = self.panel(project)
        work.warnings += _adapted(panel)
        if project.calls.plan:
            return StageResult(self.name, price=self._price(work, panel), warnings=tuple(work.warnings))
        store = VerdictStore(work.project)
        judging = JudgingRun(work, store, panel)
        try:
            with store:
                self._judge(judging)
        finally:
            keep_judgments(benchmark, judging.verdicts())
        return StageResult(
            self.name,
            (work.project.folder / JUDGMENTS.name, store.failed_path),
            {"queries": len(work.pools), "verdicts": judging.made, "kept": judging.kept},
            dict(judging.failures),
            (*work.warnings, *store.warnings),
            judging.usd,
        )

    def panel(self, project: Project) -> tuple[JudgeQuestions, ...]:
        """Who judges, and what each is asked."""
        settings = project.config.judge
        judges = self.judges or settings.panel or (settings.model or judge_photos.NAME,)
        panel = tuple(_questions(judge, project.config) for judge in dict.fromkeys(judges))
        for questions in panel:
            if _is_here(questions):
                require_local_engine(questions.model, self.batch, project.session.engine)
        if len({questions.model for questions in panel}) < len(panel):
            raise UserError("Two judges have the same name.", "Give each function a name of its own.")
        return panel

    def _judge(self, judging: JudgingRun) -> None:
        project = judging.work.project
        todo = [(questions, judging.groups(questions, fresh=project.calls.fresh)) for questions in judging.panel]
        todo = [(questions, groups) for questions, groups in todo if groups]
        if self.batch is not None:
            # All are submitted before the first is waited for.
            with suppress(StoppedError):
                self._batches(todo, project, replace(self.batch, wait=False))
            self._batches(todo, project, self.batch)
        for questions, groups in todo:
            for group, judged in self._answers(groups, questions, project):
                judging.take(group, judged)

    def _grow(self, judging: JudgingRun) -> None:
        """With `judge.coverage`: draw more from outside, twice as many each time, until the pools hold enough.

        Queries that are set aside do not grow.
        """
        work, target = judging.work, judging.work.project.config.judge.coverage
        for doubled in range(1, DOUBLINGS + 1 if target is not None else 0):
            figures = judging.finish()
            if not figures.queries or not is_short(figures.missed.coverage, target):
                return
            aside = {item.query for item in figures.set_aside}
            grown = [
                old if old.query.id in aside else work.pool(planned, 2**doubled)
                for planned, old in zip(work.planned, work.pools, strict=True)
            ]
            if not self._judge_more(judging, grown):
                return

    def _judge_more(self, judging: JudgingRun, grown: Sequence[QueryPool]) -> bool:
        """Judge what is new in grown pools and adopt it; False where there is nothing, or the budget is used up.

        A picture that can't be judged, or no longer is, does not join.
        """
        both = list(zip(judging.work.pools, grown, strict=True))
        part = judging.part([new.only(set(new.found_by) - set(old.found_by)) for old, new in both])
        stopped = not any(pool.found_by for pool in part.work.pools)
        try:
            self._judge(part)
        except StoppedError as error:
            judging.work.warnings.append(f"Pools stopped growing: {error.message}")
            stopped = True
        judged = judging.add(part)
        judging.work.adopt([new.only({*old.found_by, *judged.get(old.query.id, ())}) for old, new in both])
        return not stopped

    def _batches(
        self,
        todo: Sequence[tuple[JudgeQuestions, list[JudgeGroup]]],
        project: Project,
        options: BatchOptions,
    ) -> None:
        stopped: StoppedError | None = None
        for questions, groups in todo:
            try:
                requests = batch_requests(groups, questions)
                batch_first(requests, questions.model, STAGE, questions.settings, project, options)
            except StoppedError as error:
                stopped = error
        if stopped is not None:
            raise stopped

    def _answers(
        self, groups: Sequence[JudgeGroup], questions: JudgeQuestions, project: Project
    ) -> Iterator[tuple[JudgeGroup, GroupVerdicts | Failure]]:
        if questions.function is not None:
            return judge_by_function(groups, questions)
        if questions.model == judge_photos.NAME:
            return judge_photos.judge_by_photos(groups, questions, project.session)
        return ask_many(groups, JudgeJob(questions), project.session)

    def _price(self, work: JudgeWork, panel: Sequence[JudgeQuestions]) -> CostPlan:
        """From the planned pools, as if all that the searches find were new and pools grew as far as they can."""
        project = work.project
        settings = project.config.judge
        most = 1 if settings.coverage is None else 2 * 2**DOUBLINGS
        more = len(check_retrievers(settings)) * settings.depth + settings.outside * most
        pools: Sequence[QueryPool] = [make_pool(query, {}, {}, project.config) for query in work.planned]
        if self.bench is not None:
            more, pools = 0, work.pools
        stages: list[StagePlan] = []
        for questions in panel:
            judging = JudgingRun(replace(work, pools=pools), VerdictStore(project), (questions,))
            groups = judging.groups(questions, fresh=project.calls.fresh)
            if _is_here(questions) or not groups:
                stages += free_plan(STAGE, questions.model).stages
                continue
            requests = (request for _, request in batch_requests(groups, questions)())
            stage = price_many(requests, questions.model, STAGE, project.session)
            stages.append(_scaled(stage, 1 + math.ceil(len(pools) * more / settings.together) / len(groups)))
        return CostPlan(tuple(stages))


def _questions(judge: str | UserFunction, config: Config) -> JudgeQuestions:
    if isinstance(judge, str):
        return JudgeQuestions(judge, config)
    return JudgeQuestions(f"function/{function_name(judge)}", config, judge)


def _adapted(panel: Sequence[JudgeQuestions]) -> Iterator[str]:
    setting = panel[0].adapted
    if setting is not None and not all(map(_is_here, panel)):
        yield (
            f"{setting} speaks of summaries or other texts, which judges here do not get: they see the pictures. "
            "They are told so, behind your words."
        )


def _is_here(questions: JudgeQuestions) -> bool:
    """Does this judge work in this process, asking no server?"""
    return questions.function is not None or questions.model == judge_photos.NAME


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


def _warnings(figures: JudgingFigures, target: float | None) -> Iterator[str]:
    if figures.weak:
        yield judge_photos.WEAK
    reasons = Counter(item.reason for item in figures.set_aside)
    if reasons:
        said = ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())
        aside = counted(len(figures.set_aside), "query is", "queries are")
        yield f"{aside} set aside ({said}); set_aside.jsonl says which and why"
    alpha = figures.agreement.alpha
    if alpha.value is not None and alpha.value < GOOD_ALPHA:
        yield f"low agreement of judges: Krippendorff's alpha is {alpha.value:.2f}; less than {GOOD_ALPHA} is weak"
    found = figures.missed.coverage
    if found is not None and (found.low < _GOOD_COVERAGE if target is None else is_short(found, target)):
        aim = "" if target is None else f", where judge.coverage asks for {target:.0%}"
        yield (
            f"coverage-low: the pools may miss relevant pictures: an estimated {found.value:.0%} of them are found "
            f"(95 % interval {found.low:.0%} to {found.high:.0%}){aim}; raise judge.depth, judge.outside or "
            "judge.coverage"
        )


def is_short(found: Total | None, target: float | None) -> bool:
    """Is the estimate below the target, or its lower limit below that by more than 0.1?"""
    return found is not None and target is not None and (found.value < target or found.low < target - _SLACK)


def _refuse_nothing(figures: JudgingFigures, project: Project) -> None:
    if figures.queries:
        return
    reasons = Counter(item.reason for item in figures.set_aside).most_common()
    said = ", ".join(f"{count:,} {reason}" for reason, count in (*reasons, *figures.failures.items()))
    raise UserError(
        f"no query is left: all {len(figures.set_aside):,} were set aside ({said}). Every verdict is kept.",
        f"see {project.path(files.SET_ASIDE)}; another judge, or other words for the queries, may help",
    )


_AT_ONCE = 16
"""Groups that an asynchronous judge is given at once; any other may not be safe in several threads."""
_FIX = "Return a grade, True or False, or a dictionary with grade, confidence and reason."


def judge_by_function(
    groups: Sequence[JudgeGroup], questions: JudgeQuestions
) -> Iterator[tuple[JudgeGroup, GroupVerdicts]]:
    """Each group with its verdicts; a picture for which the function raises, or says no grade, has a failure."""
    assert questions.function is not None
    job = _FunctionJudge(questions.function, questions)
    at_once = _AT_ONCE if inspect.iscoroutinefunction(questions.function) else 1
    for group, judged in run_map(groups, Stage("judge", job.judge), concurrency=at_once):
        if isinstance(judged, GroupVerdicts):
            yield group, judged


class _FunctionJudge:
    """One function as a judge of groups."""

    def __init__(self, function: UserFunction, questions: JudgeQuestions) -> None:
        self._function, self._questions = function, questions
        self._grades = GRADES[questions.settings.scale]

    async def judge(self, group: JudgeGroup) -> GroupVerdicts:
        verdicts: list[JudgeVerdict] = []
        failures: dict[str, Failure] = {}
        for picture in group.pictures:
            try:
                said = self._read(await call(self._function, group.text, picture))
            except StoppedError:
                raise
            except SightlineError as error:
                failures[picture.id] = Failure("wrong-schema", error.message)
            except Exception as error:
                failures[picture.id] = Failure("crashed", describe_error(error))
            else:
                verdicts.append(self._verdict(said, picture, group))
        return GroupVerdicts(tuple(verdicts), failures)

    def _read(self, said: Any) -> PictureGrade:
        """A grade, or a mapping with `grade` and, if there are, `confidence` and `reason`."""
        told: Mapping[str, Any] = said if isinstance(said, Mapping) else {"grade": said}
        grade, sure = told.get("grade"), told.get("confidence")
        if grade is not None and hasattr(grade, "item"):  # A number of numpy.
            grade = grade.item()
        if not isinstance(grade, int | float) or grade not in self._grades:
            allowed = ", ".join(map(str, self._grades))
            raise UserError(f"The judge returned {said!r}; a grade is one of {allowed}.", _FIX)
        if sure is not None and not (isinstance(sure, int | float) and math.isfinite(sure) and 0 <= sure <= 1):
            raise UserError(f"The judge returned the confidence {sure!r}; it must be from 0 to 1.", _FIX)
        return PictureGrade(int(grade), None if sure is None else float(sure), str(told.get("reason") or ""))

    def _verdict(self, said: PictureGrade, picture: Picture, group: JudgeGroup) -> JudgeVerdict:
        return JudgeVerdict(
            task=group.query,
            picture=picture.id,
            judge=group.judge,
            grade=said.grade,
            confidence=said.confidence,
            reason=said.reason or None,
            at=round(time.time(), 3),
            key=self._questions.key(group.text, picture),
        )
