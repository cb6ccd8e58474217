"""`ask`: a person's question about their own photographs, answered by an agent over the index of a folder."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from sightline.agent.finish import AnswerNames
from sightline.agent.loop import Agent, Answered
from sightline.agent.settings import AgentQuestion, AgentSettings, plan_attempts
from sightline.agent.state import AgentState
from sightline.agent.tools.base import Materials, Tool, ToolKind
from sightline.agent.tools.registry import chosen_names, known_tools, left_out, made, refuse_missing
from sightline.agent.trajectory import Record, Recorder, trajectory_path
from sightline.agent.web import FROZEN, open_web
from sightline.calls.caller import Caller
from sightline.calls.chat import open_chat
from sightline.calls.plan import CostPlan, DryRunError, priced
from sightline.calls.session import Session
from sightline.errors import UserError
from sightline.io.files import PathLike
from sightline.models.protocols import Embedder
from sightline.retrieval.index.content import folder_address
from sightline.retrieval.search import search
from sightline.retrieval.searcher import Searcher
from sightline.types import Failure, Picture, PictureSet, Ranking, Scope, SearchQuery, Task, Text

FOLDER = "asked"
"""Where a workspace keeps what was asked, as runs are kept: trajectories and blobs."""
_ASKS = (
    "A person asks about their own photos. Answer in one or two sentences, in the language of the question, and name "
    "the photos that show it as evidence (photo ids). If the question is for photos, they are the evidence."
)


@dataclass(frozen=True, slots=True)
class AskResult:
    """An answer, the pictures that show it, and where the whole way to it is kept."""

    question: str
    answer: str
    pictures: tuple[Picture, ...]
    answered: Answered
    folder: Path
    task: str
    notes: tuple[str, ...] = ()

    @property
    def trajectory(self) -> Path:
        """The file that tells each step."""
        return trajectory_path(self.folder, self.task, 0)

    @property
    def failure(self) -> Failure | None:
        said = self.answered.end.prediction
        return said if isinstance(said, Failure) else None


@priced
def ask(
    question: str,
    folder: PathLike | None = None,
    *,
    model: str,
    tools: Sequence[str] = (),
    without: Sequence[str] = (),
    web: str | None = None,
    embedder: str | Embedder | None = None,
    settings: AgentSettings | None = None,
    watch: Callable[[Record], None] | None = None,
    kinds: Mapping[str, ToolKind] | None = None,
    workspace: PathLike | None = None,
    session: Session | None = None,
) -> AskResult:
    """Ask an agent about your pictures; the folder is scanned and indexed first.

    Parameters
    ----------
    question:
        What you want to know, such as "where did we eat on the day of the storm?"
    folder:
        The folder to look in, sub-folders included; all that the workspace knows when not given.
    model:
        The chat model that answers, such as "openai/gpt-5-mini".
    tools, without:
        Tools that may be used (all that suit when not given), and tools that may not.
    web:
        Where web tools look: "searxng:URL", "serper", "brave", "mcp:URL"; nowhere when not given.
    embedder:
        Who compares pictures and words; as for `search`.
    settings:
        Limits and memory of the agent, such as `AgentSettings(limits=TaskLimits(turns=10))`.
    watch:
        Is told of each step when it is done.
    kinds:
        Tools of your own, by name, instead of those that are installed.
    workspace, session:
        Where it works and how models are called.

    Returns
    -------
    AskResult
        The answer, the pictures that show it, and the file that tells each step.

    Examples
    --------
    >>> import sightline
    >>> plan = sightline.dry_run(sightline.ask, "What is red?", "pictures", model="openai/gpt-5-mini", workspace="ws")
    >>> plan.stages[0].model
    'openai/gpt-5-mini'
    """
    asked = question.strip()
    if not asked:
        raise UserError("the question is empty.", 'for example: sightline ask "when was I last at the sea?"')
    session = Session.of(session, workspace)
    found = search(SearchQuery(text=question, k=1), folder, embedder=embedder, session=session)
    given = None if isinstance(embedder, str) else embedder
    with Searcher.open(name=found.index, embedder=given, session=session) as searcher:
        chosen = _Tools(known_tools() if kinds is None else kinds, tuple(tools), tuple(without), web)
        work = _Question(session, asked, folder, model, chosen, settings or AgentSettings(), searcher, found.notes)
        if session.calls.plan:
            raise DryRunError(asyncio.run(work.price()))
        return asyncio.run(work.ask(watch))


@dataclass(frozen=True, slots=True)
class _Tools:
    """Which tools an agent gets, and where those of the web look."""

    known: Mapping[str, ToolKind]
    wanted: tuple[str, ...]
    without: tuple[str, ...]
    web: str | None

    def made(self, materials: Materials) -> list[Tool]:
        names = chosen_names(self.known, self.wanted, self.without, {"select", "answer"})
        usable = made(self.known, names, materials)
        refuse_missing(self.wanted, left_out(self.known, names, usable, materials))
        return list(usable.values())


@dataclass(frozen=True, slots=True)
class _Question:
    """A question over the index of the folder, or of all that the workspace knows."""

    session: Session
    question: str
    folder: PathLike | None
    model: str
    tools: _Tools
    settings: AgentSettings
    searcher: Searcher
    notes: tuple[str, ...]

    async def ask(self, watch: Callable[[Record], None] | None) -> AskResult:
        pictures, folder = self._pictures(), self.session.workspace / FOLDER
        question = self._question(pictures)
        async with self._agent(pictures) as (agent, _):
            answered = await agent.attempt(question, Recorder(folder, watch))
        return self._asked(answered, pictures, folder, question.task.id)

    async def price(self) -> CostPlan:
        pictures = self._pictures()
        async with self._agent(pictures) as (agent, caller):
            return plan_attempts(caller, [agent.first_request(self._question(pictures))], self.settings, 1)

    @asynccontextmanager
    async def _agent(self, pictures: Mapping[str, Picture]) -> AsyncIterator[tuple[Agent, Caller]]:
        session, web = self.session, self.tools.web
        frozen, local_only = session.workspace / FROZEN, session.calls.local_only
        opened = open_web(web, freeze=frozen, local_only=local_only) if web else None
        try:
            tools = self.tools.made(Materials(pictures, self.searcher, opened))
            settings = replace(self.settings, extra=(*self.settings.extra, _ASKS))
            async with open_chat(self.model, session, stage="ask") as model:
                yield Agent(model, tools, settings), model
        finally:
            if opened is not None:
                await opened.close()

    def _question(self, pictures: Mapping[str, Picture]) -> AgentQuestion:
        task = Task(f"ask-{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}", "answer", (self.question,))
        allowed = frozenset(pictures)
        scope = Scope() if self.folder is None else Scope(pictures=tuple(pictures))
        return AgentQuestion(task, (self.question,), AgentState(scope, allowed), AnswerNames(allowed))

    def _pictures(self) -> dict[str, Picture]:
        """The pictures of the folder, or all of the index."""
        searcher, folder = self.searcher, self.folder
        with searcher.table_lock:
            rows = None if folder is None else searcher.table.rows_under(folder_address(Path(folder)))
            held = searcher.table.pictures((searcher.table.rows() if rows is None else rows).tolist())
        if not held:
            raise UserError("there is no picture to ask about.", "sightline scan DIR says what a folder holds")
        return {picture.id: picture for picture in held.values()}

    def _asked(self, answered: Answered, pictures: Mapping[str, Picture], folder: Path, task: str) -> AskResult:
        end = answered.end
        said = end.prediction
        shown = said.pictures if isinstance(said, PictureSet | Ranking) else end.evidence
        text = said.text if isinstance(said, Text) else ""
        known = tuple(pictures[name] for name in shown)
        return AskResult(self.question, text, known, answered, folder, task, self.notes)
