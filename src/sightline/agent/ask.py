"""`ask`: a person's question about their own photographs, answered by an agent over the index of a folder."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sightline.agent.loop import Agent, Answered
from sightline.agent.outgoing import Outgoing
from sightline.agent.settings import AgentQuestion, AgentSettings, plan_attempts
from sightline.agent.state import AgentState, PictureNames
from sightline.agent.steps_table import steps_html
from sightline.agent.tools.base import Materials, Tool, ToolKind
from sightline.agent.tools.box_units import box_unit, in_unit
from sightline.agent.tools.registry import chosen_names, known_tools, left_out, made, refuse_missing
from sightline.agent.trajectory import Record, Recorder, Trajectory, read_trajectory_file, trajectory_path
from sightline.agent.web import FROZEN, open_web
from sightline.calls.caller import Caller
from sightline.calls.chat import open_chat
from sightline.calls.plan import CostPlan, DryRunError, priced
from sightline.calls.session import Session
from sightline.corpus.album import PictureResult
from sightline.display import Table, pictures, quiet
from sightline.engine.event_loop import run_async
from sightline.english import counted
from sightline.errors import UserError
from sightline.io.files import PathLike
from sightline.io.private import private_folder
from sightline.markup import tag
from sightline.models.built_in import find_built_in
from sightline.models.protocols import Embedder
from sightline.models.transport_factory import find_endpoint
from sightline.plain_text import printable
from sightline.retrieval.index.content import folder_address
from sightline.retrieval.search import search
from sightline.retrieval.searcher import Searcher
from sightline.types import Corpus, Failure, Picture, PictureSet, Ranking, Scope, SearchQuery, Task, Text
from sightline.types.task_table import thumbnail_of

FOLDER = "asked"
"""Where a workspace keeps what was asked, as runs are kept: trajectories and blobs."""
_LISTED, _UNKNOWN = 20, 5
_ASKS = (
    "A person asks about their own photos. Answer in one or two sentences, in the language of the question, and name "
    "the photos that show it as evidence (photo ids). If the question is for photos, they are the evidence."
)


@dataclass(frozen=True, slots=True, repr=False)
class AskResult(PictureResult, Table[Picture]):
    """An answer, the pictures that show it (its rows), and where the whole way to it is kept."""

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

    def steps(self) -> Trajectory:
        """What the agent did, step by step, with the pictures that it saw."""
        return read_trajectory_file(self.trajectory)

    def to_json(self) -> dict[str, Any]:
        """What `ask --json` prints: the answer, the evidence, and what it took."""
        end, failure = self.answered.end, self.failure
        return {
            "question": self.question,
            "answer": self.answer,
            "pictures": [picture.id for picture in self.pictures],
            "reason": end.reason,
            "unknown": list(end.unknown),
            "failure": None if failure is None else {"kind": failure.kind, "message": failure.message},
            "forced": end.forced,
            "turns": end.turns,
            "tokens": end.tokens,
            "usd": end.usd,
            "seconds": end.seconds,
            "trajectory": str(self.trajectory),
        }

    def records(self) -> list[dict[str, Any]]:
        """One flat record for each picture that shows the answer."""
        return Corpus("", {picture.id: picture for picture in self.pictures}).records()

    def __str__(self) -> str:
        """The answer, the pictures that show it, and what it took."""
        lines = [] if self.failure is not None else [printable(self.answer)]
        lines += self._reasons()
        for picture in self.pictures[:_LISTED]:
            when = "" if picture.taken_at is None else f"  {picture.taken_at:%Y-%m-%d %H:%M}"
            lines.append(f"· {printable(picture.id)}{when}  {printable(picture.address or '')}".rstrip())
        if len(self.pictures) > _LISTED:
            lines.append(f"· and {len(self.pictures) - _LISTED:,} more")
        return "\n".join(["", *(f"  {line}".rstrip() for line in (*lines, *self._costs()))])

    def _rows(self) -> Sequence[Picture]:
        return self.pictures

    def _places(self) -> Sequence[tuple[Picture, tuple[str, ...]]]:
        return [(picture, ()) for picture in self.pictures]

    def _title(self) -> str:
        return self.question

    def _line(self) -> str:
        said = self.answer if self.failure is None else f"no answer ({self.failure.message})"
        return f"{self.question} → {said}"

    def _blocks(self) -> Iterable[str]:
        if self.pictures:
            yield pictures([thumbnail_of(picture) for picture in self.pictures])
        yield from map(quiet, (*self._reasons(), *self._costs()))
        if self.trajectory.is_file():
            yield tag("details", tag("summary", "How it was found"), *steps_html(self.steps(), self.folder))

    def _reasons(self) -> list[str]:
        reason = self.answered.end.reason
        return [f"because {printable(reason)}"] if reason else []

    def _costs(self) -> list[str]:
        """What was left out, and what it took."""
        end, lines = self.answered.end, []
        if end.unknown:
            named = ", ".join(map(printable, end.unknown[:_UNKNOWN])) + (" …" if len(end.unknown) > _UNKNOWN else "")
            lines.append(f"left out, because there is no such picture: {named}")
        cost = "price not known" if end.usd is None else f"${end.usd:.4f}"
        return [*lines, f"{counted(end.turns, 'turn')}, {counted(end.tokens, 'token')}, {cost}, {end.seconds:.1f} s"]


@priced
def ask(
    question: str,
    folder: PathLike | None = None,
    *,
    model: str,
    tools: str | Sequence[str] = (),
    without: str | Sequence[str] = (),
    web: str | None = None,
    open_web: bool = False,
    share_metadata: bool = False,
    share_pictures: bool = False,
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
        Where web tools look: "searxng:URL", "serper", "brave", "serpapi", "index:URL", "mcp:URL"; nowhere if not given.
    open_web:
        Let the agent open any address of the public web, not only those that a search, a page or you named.
    share_metadata:
        Let the agent send places, names, paths and other metadata of your pictures to the web.
    share_pictures:
        Let the agent send your pictures, without their metadata, to the service that searches the web by picture.
    embedder:
        The embedder; when not given, the embedder that belongs to a built-in model, else as for
        `search`.
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
    # A model that nobody can ask is said before an hour of reading pictures, not after.
    find_endpoint(model, base_url=session.calls.base_url, models=session.config.models)
    built_in = find_built_in(model)
    if built_in is not None and session.config.models.embedder is None:
        embedder = embedder or built_in.embedder
    found = search(SearchQuery(text=question, k=1), folder, embedder=embedder, session=session)
    given = None if isinstance(embedder, str) else embedder
    with Searcher.open(name=found.index, embedder=given, session=session) as searcher:
        chosen = _Tools(known_tools() if kinds is None else kinds, _names(tools), _names(without), web)
        outgoing = Outgoing(open_web, share_metadata, share_pictures)
        notes = (*found.notes, *([f"{model} is {built_in.about}"] if built_in is not None and built_in.about else []))
        work = _Question(session, asked, folder, model, chosen, settings or AgentSettings(), searcher, notes, outgoing)
        if session.calls.plan:
            raise DryRunError(run_async(work.price()))
        return run_async(work.ask(watch))


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


@dataclass(frozen=True, slots=True)
class _Tools:
    """Which tools an agent gets, and where those of the web look."""

    known: Mapping[str, ToolKind]
    wanted: tuple[str, ...]
    without: tuple[str, ...]
    web: str | None

    def made(self, materials: Materials, model: str) -> list[Tool]:
        names = chosen_names(self.known, self.wanted, self.without, {"select", "answer"})
        usable = made(self.known, names, materials)
        refuse_missing(self.wanted, left_out(self.known, names, usable, materials))
        return list(in_unit(usable, box_unit(model), model, materials).values())


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
    outgoing: Outgoing

    async def ask(self, watch: Callable[[Record], None] | None) -> AskResult:
        pictures, folder = self._pictures(), private_folder(self.session.workspace / FOLDER)
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
            tools = self.tools.made(Materials(pictures, self.searcher, opened), self.model)
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
        state = AgentState(scope, allowed, outgoing=self.outgoing)
        return AgentQuestion(task, (self.question,), state, PictureNames(allowed))

    def _pictures(self) -> dict[str, Picture]:
        """The pictures of the folder, or all of the index."""
        searcher, folder = self.searcher, self.folder
        with searcher.reading_table():
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
        notes = (*self.notes, *filter(None, [self.outgoing.note()]))
        return AskResult(self.question, text, known, answered, folder, task, notes)
