"""Answers judged by a chat model where rules can't decide: through the journal, so that none is paid for twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from sightline.calls.ask_many import JobChat, ask_many
from sightline.calls.session import Session
from sightline.metrics.answer_judge import AnswerToJudge, AnswerVerdict, VerdictCache, rules_verdict
from sightline.types import ChatReply, ChatRequest, Failure


class TaskAnswer(NamedTuple):
    """An answer to be judged, and the task that it answers."""

    task: str
    answer: AnswerToJudge


@dataclass(frozen=True, slots=True)
class AnswerJudgeJob:
    """A chat model as a judge: how it is asked, and how its reply is read.

    Both are functions of a module, so that they can be sent to where the calls are made. `name` is told with each
    verdict, and is what an earlier version's cache knows the judge by; the model's name when not given.
    """

    model: str
    request: Callable[[AnswerToJudge], ChatRequest]
    read: Callable[[ChatReply], AnswerVerdict | Failure]
    name: str = ""
    stage: str = "judge-answers"

    def about(self, item: TaskAnswer) -> str:
        return item.task

    async def answer(self, chat: JobChat, item: TaskAnswer) -> AnswerVerdict | Failure:
        reply = await chat.reply(self.request(item.answer))
        said = reply if isinstance(reply, Failure) else self.read(reply)
        return said if isinstance(said, Failure) or said.by else replace(said, by=self.name or self.model)


def judge_answers(
    answers: Mapping[str, AnswerToJudge],
    job: AnswerJudgeJob,
    session: Session,
    *,
    rules_first: bool = True,
    earlier: VerdictCache | None = None,
) -> dict[str, AnswerVerdict | Failure]:
    """Verdicts by task, in the order of the answers: by the rules where they find one right, else by the judge.

    `earlier` is a cache of an older version: what the judge of that name said there is not asked again. A used-up
    budget, or an endpoint that is down, ends it with a `SightlineError`; run it again to go on.
    """
    verdicts: dict[str, AnswerVerdict | Failure] = {}
    todo: list[TaskAnswer] = []
    for task, item in answers.items():
        known = rules_verdict(item, rules_first=rules_first)
        if known is None and earlier is not None:
            known = earlier.get(job.name or job.model, item)
        if known is None:
            todo.append(TaskAnswer(task, item))
        else:
            verdicts[task] = known
    if todo:  # Where all is known, the model need not even be there.
        verdicts.update((item.task, verdict) for item, verdict in ask_many(todo, job, session))
    return {task: verdicts[task] for task in answers}
