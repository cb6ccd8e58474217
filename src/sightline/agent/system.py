"""`agent`: a model with tools as a system under test, over the benchmark's pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from sightline.agent.loop import Agent
from sightline.agent.outgoing import Outgoing
from sightline.agent.settings import AgentQuestion, plan_attempts
from sightline.agent.state import AgentState, PictureNames
from sightline.agent.system_base import AgentSystemOptions, SystemModels, system_questions, task_content
from sightline.agent.tools.base import Materials, Tool, ToolKind
from sightline.agent.tools.box_units import box_unit, in_unit, with_sizes
from sightline.agent.tools.overview_tools import USUAL
from sightline.agent.tools.registry import chosen_names, known_tools, left_out, made, refuse_missing
from sightline.agent.trajectory import End, Recorder, ends_of
from sightline.agent.web import Web, find_web
from sightline.agent.web.base import MISSING
from sightline.calls.plan import CostPlan
from sightline.class_names import known_as
from sightline.english import counted
from sightline.metrics.scope import Scopes
from sightline.runs.systems.base import ALL_KINDS, Kind, Outcome, SystemSetting, attempt_number
from sightline.runs.systems.retriever import HybridOptions, Retriever, RetrieverOptions
from sightline.types import Benchmark, Failure, Json, LedgerEntry, Task, TaskKind

_PRICED = 20
"""Attempts, chosen by lot, that stand for all when they are priced."""


@dataclass(slots=True)
class _AttemptNotes:
    """What a person should know of a run."""

    unknown: int = 0
    forced: int = 0
    unanswered: int = 0

    def add(self, end: End) -> None:
        self.unknown += len(end.unknown)
        if end.forced is not None:
            failed = isinstance(end.prediction, Failure)
            self.forced += not failed
            self.unanswered += failed

    def lines(self) -> tuple[str, ...]:
        said = []
        if self.unknown:
            one = "1 id in an answer is not a picture of its task, and counts as wrong"
            several = f"{self.unknown:,} ids in answers are not pictures of their task, and count as wrong"
            said.append(one if self.unknown == 1 else several)
        if self.forced:
            said.append(f"{counted(self.forced, 'attempt')} answered in a last turn, because a limit was reached")
        if self.unanswered:
            said.append(f"{counted(self.unanswered, 'attempt')} gave no answer in the last turn either")
        return tuple(said)


@known_as("AgentSystem")
class AgentSystem:
    """An agent over a benchmark; what it does is in the run's trajectories."""

    kinds = ALL_KINDS

    def __init__(
        self, options: AgentSystemOptions, setting: SystemSetting, tools: Mapping[str, ToolKind] | None = None
    ) -> None:
        self._options, self._setting = options, setting
        self._known = known_tools() if tools is None else tools
        self._tasks: frozenset[TaskKind] = frozenset(task.kind for task in setting.benchmark.tasks.values())
        self._names = chosen_names(self._known, options.tools, options.without, self._tasks)
        self._models = SystemModels(setting, "agent", options.base_url)
        for name in filter(None, (options.model, options.compressor)):
            self._models.check(name)
        self._scopes = Scopes(setting.benchmark.corpus)
        self._questions = system_questions(options, setting)
        self._boxes = options.boxes or box_unit(options.model)
        self._retriever: Retriever | None = None
        self._web: Web | None = None
        self._tools: dict[str, Tool] = {}
        self._left_out: dict[str, str] = {}
        self._ends: list[End] = []
        self.concurrency = options.concurrency

    @property
    def parameters(self) -> dict[str, Json]:
        """The tools that are really there, the track, and who embeds; known once prepared."""
        found: dict[str, Json] = {} if self._retriever is None else self._retriever.parameters
        found = {("indexed" if name == "pictures" else name): value for name, value in found.items()}
        return {
            **found,
            "boxes": None if self._boxes == "fractions" else self._boxes,  # As in runs of before, which go on.
            "offered_tools": list(self._tools),
            "left_out_tools": dict(self._left_out),
            "track": self._options.track,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Of the whole run, also of attempts that an earlier start of it made."""
        own = () if self._retriever is None else tuple(self._retriever.notes)
        noted = _AttemptNotes()
        for end in self._ends if self._setting.folder is None else ends_of(self._setting.folder):
            noted.add(end)
        return (*own, *noted.lines())

    def prepare(self) -> Iterable[LedgerEntry]:
        """Open the web and, where a tool needs it, the index; then make the tools."""
        options, setting = self._options, self._setting
        if options.web is not None:
            self._web = find_web(options.web, setting)
        entries: Iterable[LedgerEntry] = ()
        if len(made(self._known, self._names, self._materials())) < len(self._names):
            self._retriever = self._index()
            entries = tuple(self._retriever.prepare())
        offered = made(self._known, self._names, self._materials())
        self._tools = in_unit(offered, self._boxes, options.model, self._materials())
        self._left_out = left_out(self._known, self._names, self._tools, self._materials())
        refuse_missing(options.tools, self._left_out)
        return entries

    async def attempt(self, task: Task, bench: Benchmark) -> Outcome:
        """Work on a task until there is an answer."""
        question = self.question(task, attempt_number())
        if isinstance(question, Failure):
            return Outcome(question, usd=0.0)
        options = self._options
        compressor = None if options.compressor is None else await self._models.get(options.compressor)
        model = await self._models.get(options.model)
        agent = Agent(model, self.tools_for(task), options.settings(), compressor)
        answered = await agent.attempt(question, Recorder(self._setting.folder))
        if self._setting.folder is None:
            self._ends.append(answered.end)
        outgoing, paid = question.state.outgoing, self._models.paid(task.id)
        if outgoing.missed:
            return Outcome(Failure(MISSING, outgoing.miss()), usd=0.0, entries=paid)
        return Outcome(answered.end.prediction, usd=0.0, entries=paid)

    async def price(self, attempts: Sequence[tuple[Task, int]]) -> CostPlan:
        """What the attempts would take, from some of them; the index is built, no chat model is asked."""
        model = await self._models.get(self._options.model)
        settings, firsts = self._options.settings(), []
        for task, number in Random(0).sample(attempts, min(_PRICED, len(attempts))):
            question = self.question(task, number)
            if not isinstance(question, Failure):
                firsts.append(Agent(model, self.tools_for(task), settings).first_request(question))
        return plan_attempts(model, firsts, settings, len(attempts))

    def question(self, task: Task, attempt: int = 0) -> AgentQuestion | Failure:
        """A task as the agent is asked it, with a fresh state."""
        content = task_content(self._questions, task)
        if isinstance(content, Failure):
            return content
        if self._boxes == "pixels":
            content = tuple(with_sizes(content, self._options.model))
        allowed = self._scopes.pictures(task.scope)
        options = self._options
        outgoing = Outgoing(options.open_web, options.share_metadata, options.share_pictures)
        state = AgentState(task.scope, allowed, task.pictures, self._options.subsets, outgoing=outgoing)
        names = PictureNames(allowed if allowed is not None else self._setting.benchmark.corpus.pictures.keys())
        return AgentQuestion(task, content, state, names, attempt)

    def tools_for(self, task: Task) -> list[Tool]:
        """The tools that are offered for a task."""
        named = bool(self._options.tools)
        return [tool for name, tool in self._tools.items() if named or task.kind in self._known[name].tasks]

    async def close(self) -> None:
        """Let go of models, index and web."""
        await self._models.close()
        if self._retriever is not None:
            await self._retriever.close()
        if self._web is not None:
            await self._web.close()

    def _index(self) -> Retriever:
        options = self._options
        given = {"embedder": options.embedder, "backend": options.backend}
        chosen = HybridOptions(**given) if options.annotations else RetrieverOptions(**given)
        return Retriever(chosen, self._setting)

    def _materials(self) -> Materials:
        bench = self._setting.benchmark
        said = bench.annotations if self._options.annotations else ()
        return Materials(
            pictures=bench.corpus.pictures,
            searcher=None if self._retriever is None else self._retriever.searcher,
            web=self._web,
            base=self._setting.base,
            annotations={annotation.picture_id: annotation for annotation in said},
            # DISBench's Standard track tells no more than that.
            fields=USUAL if self._options.track == "Standard" else None,
        )


KINDS = {"agent": Kind("agent", "a model with tools: any model, any tool set", AgentSystemOptions, AgentSystem)}
