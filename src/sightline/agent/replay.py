"""Replaying a recorded attempt: replies come from its record, no call is made, and every difference is listed.

A task of a run on disk is replayed with its recorded observations, or with the tools over its benchmark.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sightline.agent.finish import FINISH
from sightline.agent.loop import GIVEN_UP, Agent, Stop, digest
from sightline.agent.memory import COMPRESS_TOOL, MemorySettings
from sightline.agent.settings import AgentQuestion, AgentSettings, AgentUsage, TaskLimits
from sightline.agent.state import AgentState, PictureNames, PictureView
from sightline.agent.system import AgentSystem
from sightline.agent.system_base import AgentSystemOptions
from sightline.agent.tools.base import Observation, Tool, mistake
from sightline.agent.trajectory import (
    Cost,
    Memory,
    Recorder,
    Trajectory,
    Turn,
    Use,
    ViewedPicture,
    read_trajectory,
    words_hash,
)
from sightline.agent.web import FROZEN, offline_web
from sightline.benchmark.folder import read_benchmark
from sightline.benchmark.provenance import SHOW_ANNOTATIONS
from sightline.calls.session import Session
from sightline.config import Config
from sightline.engine.event_loop import run_async
from sightline.errors import UserError
from sightline.io.files import PathLike
from sightline.io.jsonl import json_object
from sightline.plain_text import cut
from sightline.runs.folder import blob_path, read_run
from sightline.runs.system_loader import visible
from sightline.runs.systems.base import SystemSetting
from sightline.types import (
    Box,
    ChatReply,
    ChatRequest,
    Failure,
    ImagePart,
    Json,
    Option,
    PictureSet,
    Ranking,
    Task,
    ToolCall,
    ToolSpec,
    Usage,
)


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """Where a replay left the record: the turn (0: before the first), what differs, and both sides in short."""

    turn: int
    what: str
    recorded: str
    now: str

    def to_json(self) -> dict[str, Json]:
        return {"turn": self.turn, "what": self.what, "recorded": self.recorded, "now": self.now}


@dataclass(frozen=True, slots=True)
class Replayed:
    """A replay beside its record; the same when there is no difference."""

    recorded: Trajectory
    now: Trajectory
    differences: tuple[ReplayDifference, ...] = ()

    @property
    def same(self) -> bool:
        return not self.differences


@dataclass(slots=True)
class RecordedModel:
    """Says what the record says, in order; notes where it is asked something else than the first time."""

    name: str
    steps: Sequence[Turn | Memory]
    differences: list[ReplayDifference] = field(default_factory=list)
    _at: int = 0

    async def reply(self, request: ChatRequest) -> ChatReply | Failure:
        """The next recorded reply; a failure once the record has run out."""
        if self._at >= len(self.steps):
            self._differ(self._at, "a call more than recorded", "none", _last_words(request))
            return Failure("not-recorded", "the record has no more replies")
        step = self.steps[self._at]
        self._at += 1
        turn = step.number if isinstance(step, Turn) else self._at
        if step.request and step.request != digest(request):
            self._differ(turn, "request", step.request[:12], digest(request)[:12])
        return _reply(step)

    def finished(self) -> None:
        """Note what was recorded and not asked for."""
        if self._at < len(self.steps):
            self._differ(self._at, "calls fewer than recorded", str(len(self.steps)), str(self._at))

    def _differ(self, turn: int, what: str, recorded: str, now: str) -> None:
        self.differences.append(ReplayDifference(turn, what, recorded, now))


class RecordedTool:
    """Answers each call with what was recorded for it, and saves what was saved."""

    def __init__(self, spec: ToolSpec, uses: Sequence[Use], folder: PathLike) -> None:
        self.spec = spec
        self._uses = list(uses)
        self._folder = folder

    async def call(self, arguments: Mapping[str, Json], state: AgentState) -> Observation:
        """The next recorded observation of this tool."""
        if not self._uses:
            return mistake("the record has no more calls of this tool")
        use = self._uses.pop(0)
        state.subsets.update(use.saved)
        pictures = tuple(view_of(sight, self._folder) for sight in use.pictures)
        return Observation(use.observation, pictures, use.data, use.found, use.untrusted, use.error)


def recorded_tools(recorded: Trajectory, folder: PathLike) -> tuple[RecordedTool, ...]:
    """The tools of an attempt, as they answered then."""
    own = (FINISH, COMPRESS_TOOL.name)
    return tuple(
        RecordedTool(
            ToolSpec(each.name, each.description, each.parameters),
            [use for use in recorded.uses if use.tool == each.name and _was_run(use)],
            folder,
        )
        for each in recorded.start.tools
        if each.name not in own
    )


def recorded_question(recorded: Trajectory, folder: PathLike) -> AgentQuestion:
    """The question of an attempt; pictures that nothing in the record names can't be named in its answer either."""
    start = recorded.start
    options = tuple(Option(key, (text,)) for key, text in start.options.items())
    content = tuple(part if isinstance(part, str) else view_of(part, folder) for part in start.prompt)
    named = {
        picture for use in recorded.uses for picture in (*use.found, *(sight.picture or "" for sight in use.pictures))
    }
    end = recorded.end
    if end is not None:
        named |= {*end.evidence, *(end.prediction.pictures if isinstance(end.prediction, PictureSet | Ranking) else ())}
    state = AgentState(subsets_on=bool(start.settings.get("subsets", True)))
    task = Task(start.task, start.kind, (start.question,), options)
    return AgentQuestion(task, content, state, PictureNames(named - {""}), start.attempt)


def recorded_settings(recorded: Trajectory) -> AgentSettings:
    """How the agent was set."""
    told, limits = recorded.start.settings, recorded.start.limits
    return AgentSettings(
        limits=TaskLimits(**limits),
        memory=MemorySettings(
            told["compress"], told["context_tokens"], told["context_pictures"], told.get("memory", "two-part")
        ),
        language=told["language"],
        subsets=told["subsets"],
        division=told.get("division", "free"),
        extra=tuple(told["extra"]),
        repeats=told.get("repeats", True),
        temperature=told["temperature"],
        max_tokens=told["max_tokens"],
        reasoning_effort=told["reasoning_effort"],
        seed=told["seed"],
    )


def view_of(sight: ViewedPicture, folder: PathLike) -> PictureView:
    """A picture as it was shown, from the run's blobs."""
    region = None if sight.region is None else Box(*sight.region)
    path = None if sight.sha256 is None else blob_path(folder, sight.sha256)
    data = path.read_bytes() if path is not None and path.is_file() else None
    return PictureView(sight.name, ImagePart(sight.name, data), sight.picture, region, sight.made_by)


async def replay(recorded: Trajectory, tools: Sequence[Tool], question: AgentQuestion) -> Replayed:
    """Do an attempt again with these tools: the model's replies, and the limits that were reached, as recorded."""
    if not recorded.turns or not recorded.start.settings:
        raise UserError(f'the attempt at "{recorded.start.task}" has nothing to be replayed.', "agents' attempts have")
    model = RecordedModel(recorded.start.model, recorded.steps)
    compressor = next((step.made_by for step in recorded.steps if isinstance(step, Memory)), model.name)
    other = None if compressor in (model.name, "outline") else _Other(compressor, model)
    recorder = Recorder()
    agent = Agent(model, tools, recorded_settings(recorded), other, _as_recorded(recorded.turns))
    await agent.attempt(question, recorder)
    model.finished()
    now = recorder.trajectory()
    return Replayed(recorded, now, (*_in_start(recorded, now), *model.differences, *_in_steps(recorded, now)))


@dataclass(slots=True)
class _Other:
    """The compressor, whose replies stand in the same record."""

    name: str
    model: RecordedModel

    async def reply(self, request: ChatRequest) -> ChatReply | Failure:
        return await self.model.reply(request)


def _was_run(use: Use) -> bool:
    """Was it the tool that answered, and not the loop?"""
    if use.repeated:
        return False
    return json_object(use.arguments.strip() or "{}") is not None


def _as_recorded(turns: Sequence[Turn]) -> Stop:
    """Time and money are not what they were, so limits are reached where they were reached."""
    forced = {turn.number: turn.forced for turn in turns}

    def stop(spent: AgentUsage) -> str | None:
        reason = forced.get(spent.turns + 1)
        return None if reason in GIVEN_UP else reason

    return stop


def _reply(step: Turn | Memory) -> ChatReply | Failure:
    cost = step.cost
    usage = Usage(cost.input, cost.cached, cost.output, cost.reasoning, cost.image)
    if isinstance(step, Memory):
        if step.made_by == "outline":
            return Failure("not-recorded", "no model wrote this memory")
        return ChatReply(step.text, usage=usage, usd=cost.usd, seconds=cost.seconds, from_journal=True)
    if step.failure is not None:
        return step.failure if cost == Cost() else replace(step.failure, usage=usage, usd=cost.usd)
    calls = tuple(ToolCall(use.id, use.tool, use.arguments) for use in step.uses)
    thinking = step.thought if step.thought != step.text else ""
    return ChatReply(step.text, thinking, calls, usage=usage, usd=cost.usd, seconds=cost.seconds, from_journal=True)


def _in_start(recorded: Trajectory, now: Trajectory) -> list[ReplayDifference]:
    pairs = [
        (name, getattr(recorded.start, name), getattr(now.start, name)) for name in ("system", "question", "tools")
    ]
    pairs.append(("pictures", [p.sha256 for p in recorded.start.pictures], [p.sha256 for p in now.start.pictures]))
    return [ReplayDifference(0, name, _short(old), _short(new)) for name, old, new in pairs if old != new]


def _in_steps(recorded: Trajectory, now: Trajectory) -> list[ReplayDifference]:
    found: list[ReplayDifference] = []
    for old in recorded.turns:
        if old.said and old.said != (words := words_hash(old.thought, old.text)):
            found.append(ReplayDifference(old.number, "thought or text, by its hash", old.said[:12], words[:12]))
    for old, new in zip(recorded.turns, now.turns, strict=False):
        for was, use in zip(old.uses, new.uses, strict=False):
            for what in ("observation", "found", "error"):
                if getattr(was, what) != getattr(use, what):
                    before, after = _short(getattr(was, what)), _short(getattr(use, what))
                    found.append(ReplayDifference(old.number, f"{what} of {was.tool}", before, after))
            if [each.sha256 for each in was.pictures] != [each.sha256 for each in use.pictures]:
                found.append(ReplayDifference(old.number, f"pictures of {was.tool}", _shown(was), _shown(use)))
    if recorded.end is not None and now.end is not None and recorded.end.answer != now.end.answer:
        before, after = _short(recorded.end.answer), _short(now.end.answer)
        found.append(ReplayDifference(recorded.end.turns, "answer", before, after))
    return found


def _shown(use: Use) -> str:
    return ", ".join(f"{each.name} ({(each.sha256 or 'unreadable')[:8]})" for each in use.pictures) or "none"


def _short(value: object) -> str:
    return cut(" ".join(str(value).split()), 160)


def _last_words(request: ChatRequest) -> str:
    last = request.messages[-1].content
    return _short("".join(part for part in last if isinstance(part, str)))


def replay_task(
    folder: PathLike,
    task: str,
    attempt: int = 0,
    *,
    benchmark: PathLike | None = None,
    workspace: PathLike | None = None,
    config: Config | None = None,
) -> Replayed:
    """Do an attempt of a run again, and say where it differs; no model is asked and no call leaves this machine.

    Replies come from the trajectory. Without `benchmark` so do observations, which checks the agent itself; with it,
    its tools are used again on the benchmark's pictures.
    """
    recorded = read_trajectory(folder, task, attempt)
    if benchmark is None:
        return run_async(replay(recorded, recorded_tools(recorded, folder), recorded_question(recorded, folder)))
    return run_async(_with_tools(recorded, Path(folder), Path(benchmark), Session(workspace, config, local_only=True)))


async def _with_tools(recorded: Trajectory, folder: Path, benchmark: Path, session: Session) -> Replayed:
    run, made_of = read_run(folder), read_benchmark(benchmark)
    shown = visible(made_of, show_annotations=bool(run.limits.get(SHOW_ANNOTATIONS)))
    task = shown.tasks.get(recorded.start.task)
    if task is None or run.parameters.get("kind") != "agent":
        what = "no agent's" if task is not None else f"not of {benchmark}: it has no task {recorded.start.task!r}"
        raise UserError(f"the run is {what}.", "name the benchmark that an agent was run on")
    known = AgentSystemOptions.model_fields
    recorded_options = {name: value for name, value in run.parameters.items() if name in known}
    options = AgentSystemOptions.model_validate(
        {**recorded_options, "boxes": recorded_options.get("boxes") or "fractions"}
    )
    if options.web is not None and offline_web(options.web) is None and not options.web.startswith("frozen:"):
        # What the run saw of the web was kept; nothing else may be seen now.
        kept = folder if (folder / FROZEN).is_file() else session.workspace.expanduser()
        options = options.model_copy(update={"web": f"frozen:{kept / FROZEN}"})
    setting = SystemSetting(benchmark=shown, base=benchmark, session=session, seed=run.seed or 0)
    system = AgentSystem(options, setting)
    try:
        await asyncio.to_thread(lambda: list(system.prepare()))
        question = system.question(task, recorded.start.attempt)
        if isinstance(question, Failure):
            raise UserError(f"the task can't be asked any more: {question.message}.", "check the benchmark's pictures")
        return await replay(recorded, system.tools_for(task), question)
    finally:
        await system.close()
