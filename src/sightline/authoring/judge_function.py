"""Judging by a function that a program hands over: `make(judges=[my_judge])`."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sightline.authoring.judge_requests import (
    GRADES,
    GroupVerdicts,
    JudgeGroup,
    JudgeQuestions,
    PictureGrade,
)
from sightline.authoring.judge_verdicts import JudgeVerdict
from sightline.engine.async_map import Stage, run_map
from sightline.engine.user_functions import UserFunction, call, describe_error
from sightline.errors import SightlineError, StoppedError, UserError
from sightline.types import Failure, Picture

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
