"""`chat`: a model that is asked once, with or without the picture, with or without the options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sightline.agent.finish import Final, from_text, unread
from sightline.agent.loop import cost_of, digest, prompt_of
from sightline.agent.settings import AgentQuestion
from sightline.agent.state import AgentState, PictureNames
from sightline.agent.system_base import ChatSystemOptions, SystemModels, system_questions, task_content
from sightline.agent.trajectory import End, Recorder, Start, Turn
from sightline.benchmark.formats.replies import to_exact
from sightline.calls.plan import CostPlan
from sightline.class_names import known_as
from sightline.runs.systems.base import Kind, Outcome, SystemSetting, attempt_number
from sightline.types import Benchmark, ChatReply, ChatRequest, Failure, ImagePart, Json, Message, Task, TaskKind

_KINDS: frozenset[TaskKind] = frozenset(("answer", "choose", "describe"))
_FORM: dict[tuple[TaskKind, str], str] = {
    ("answer", "en"): "End with the line\nThe final answer is: ANSWER.\nKeep the answer short.",
    ("answer", "zh"): "请以下面这一行结束：\nThe final answer is: 答案。\n答案要简短，并使用提问的语言。",
    ("choose", "en"): "End with the line\nThe final answer is: X.\nX is the key of one option.",
    ("choose", "zh"): "请以下面这一行结束：\nThe final answer is: X.\nX 为一个选项的字母。",
}


@known_as("Chat")
class Chat:
    """One question, one reply."""

    kinds = _KINDS

    def __init__(self, options: ChatSystemOptions, setting: SystemSetting) -> None:
        self._options, self._setting = options, setting
        self._models = SystemModels(setting, "chat", options.base_url)
        self._models.check(options.model)
        self._questions = system_questions(options, setting)
        self.concurrency = options.concurrency

    @property
    def parameters(self) -> dict[str, Json]:
        """Nothing is prepared, so it is DISBench's Standard track."""
        return {"track": "Standard"}

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome:
        """Ask, and read the reply."""
        question = self._question(task, attempt_number())
        if isinstance(question, Failure):
            return Outcome(question, usd=0.0)
        model = await self._models.get(self._options.model)
        request = self._request(model.name, question)
        recorder = Recorder(self._setting.folder)
        recorder.write(_start(question, model.name, recorder))
        said = await model.reply(request)
        end = _taken_down(question, request, said, recorder)
        return Outcome(end.prediction, usd=0.0, entries=self._models.paid(task.id))

    async def price(self, attempts: Sequence[tuple[Task, int]]) -> CostPlan:
        """What the questions would take; nobody is asked."""
        model = await self._models.get(self._options.model)
        questions = (self._question(task, number) for task, number in attempts)
        asked = (self._request(model.name, one) for one in questions if not isinstance(one, Failure))
        return CostPlan((replace(model.plan(asked), batch_usd=None, most_batch_usd=None),))  # A run makes no batches.

    async def close(self) -> None:
        await self._models.close()

    def _question(self, task: Task, number: int) -> AgentQuestion | Failure:
        content = task_content(self._questions, task)
        return (
            content
            if isinstance(content, Failure)
            else AgentQuestion(task, content, AgentState(), PictureNames(()), number)
        )

    def _request(self, model: str, question: AgentQuestion) -> ChatRequest:
        options = self._options
        content: list[str | ImagePart] = [part if isinstance(part, str) else part.part for part in question.content]
        form = _FORM.get((question.task.kind, "zh" if options.language == "zh" else "en"))
        if form is not None and not (options.no_options and question.task.kind == "choose"):
            content.append(f"\n\n{form}")
        return ChatRequest(
            model=model,
            messages=(Message("user", tuple(content)),),
            temperature=options.temperature,
            max_tokens=options.max_tokens,
            reasoning_effort=options.reasoning_effort,
            seed=options.seed,
            sample=question.attempt,
        )


def _start(question: AgentQuestion, model: str, recorder: Recorder) -> Start:
    return Start(
        task=question.task.id,
        attempt=question.attempt,
        kind=question.task.kind,
        model=model,
        tools=(),
        system="",
        prompt=prompt_of(question, recorder),
        options={option.key: option.text for option in question.task.options},
    )


def _taken_down(question: AgentQuestion, request: ChatRequest, said: ChatReply | Failure, recorder: Recorder) -> End:
    if isinstance(said, Failure):
        cost, failure = cost_of(said), replace(said, usage=None, usd=None)
        recorder.write(Turn(1, digest(request), cost=cost, failure=failure))
        end = End("failed", to_exact(said), turns=1, tokens=cost.input + cost.output, usd=cost.usd)
    else:
        recorder.write(Turn(1, digest(request), said.thinking or said.text, said.text, cost=cost_of(said)))
        final = from_text(question.task, said.text, question.names, said.thinking, loose=True)
        final = final or Final(unread(said.text))
        tokens = said.usage.input + said.usage.output
        end = End("text", to_exact(final.prediction), turns=1, tokens=tokens, usd=said.usd, seconds=said.seconds or 0.0)
    recorder.write(end)
    return end


KINDS = {"chat": Kind("chat", "a model that is asked once, without tools", ChatSystemOptions, Chat)}
