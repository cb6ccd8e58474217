"""`ask`: a person's question about their own photographs, answered by an agent over the index of a folder."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from sightline.agent.asked import AgentSettings, Question
from sightline.agent.finish import Names
from sightline.agent.loop import Agent, Answered
from sightline.agent.state import State
from sightline.agent.tools.base import Materials, ToolKind
from sightline.agent.toolset import chosen_names, known_tools, made, refuse_missing
from sightline.agent.trajectory import Record, Recorder
from sightline.agent.web import Web, open_web
from sightline.agent.webs import FROZEN
from sightline.config import Config
from sightline.errors import UserError
from sightline.io import PathLike
from sightline.models.asking import Asking
from sightline.models.chat import open_chat
from sightline.models.protocols import Embedder
from sightline.search.find import search
from sightline.search.index.content import folder_address
from sightline.search.searcher import Searcher
from sightline.types import Failure, Picture, PictureSet, Ranking, Scope, SearchQuery, Task, Text

FOLDER = "asked"
"""Where a workspace keeps what was asked, as runs are kept: trajectories and blobs."""
_ASKS = (
    "A person asks about their own photos. Answer in one or two sentences, in the language of the question, and name "
    "the photos that show it as evidence (photo ids). If the question is for photos, they are the evidence."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer, the pictures that show it, and where the whole way to it is kept."""

    question: str
    answer: str
    pictures: tuple[Picture, ...]
    answered: Answered
    folder: Path
    notes: tuple[str, ...] = field(default_factory=tuple)

    @property
    def failure(self) -> Failure | None:
        said = self.answered.end.prediction
        return said if isinstance(said, Failure) else None


def ask(
    question: str,
    folder: PathLike | None = None,
    *,
    model: str,
    tools: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
    web: str | None = None,
    embedder: str | Embedder | None = None,
    settings: AgentSettings | None = None,
    workspace: PathLike = ".sightline",
    config: Config | None = None,
    asking: Asking | None = None,
    watch: Callable[[Record], None] | None = None,
    kinds: Mapping[str, ToolKind] | None = None,
) -> Asked:
    """Answer a question about the pictures of a folder (scanned and indexed first), or of all that a workspace knows.

    `watch` is told of each step when it is done.
    """
    if not question.strip():
        raise UserError("the question is empty.", 'for example: sightline ask "when was I last at the sea?"')
    config, asking, place = config or Config(), asking or Asking(), Path(workspace).expanduser()
    found = search(
        SearchQuery(text=question, k=1), folder, embedder=embedder, workspace=place, config=config, asking=asking
    )
    opened = None if web is None else open_web(web, freeze=place / FROZEN, local_only=asking.local_only)
    given = None if isinstance(embedder, str) else embedder
    with Searcher.open(place, found.index, embedder=given, config=config, asking=asking) as searcher:
        job = _Asking(question.strip(), folder, model, config, place, asking, watch)
        asked = asyncio.run(job.run(searcher, tools, without, opened, settings or AgentSettings(), kinds))
    return replace(asked, notes=found.notes)


@dataclass(frozen=True, slots=True)
class _Asking:
    question: str
    folder: PathLike | None
    model: str
    config: Config
    workspace: Path
    asking: Asking
    watch: Callable[[Record], None] | None

    async def run(
        self,
        searcher: Searcher,
        tools: tuple[str, ...],
        without: tuple[str, ...],
        web: Web | None,
        settings: AgentSettings,
        kinds: Mapping[str, ToolKind] | None,
    ) -> Asked:
        pictures = self._pictures(searcher)
        known = known_tools() if kinds is None else kinds
        names = chosen_names(known, tools, without, {"select", "answer"})
        usable = made(known, names, Materials(pictures, searcher, web))
        refuse_missing([name for name in tools if name in names], usable)
        task = Task(f"ask-{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}", "answer", (self.question,))
        allowed = frozenset(pictures)
        scope = Scope() if self.folder is None else Scope(pictures=tuple(pictures))
        question = Question(task, (self.question,), State(scope, allowed), Names(allowed))
        settings = replace(settings, extra=(*settings.extra, _ASKS))
        folder = self.workspace / FOLDER
        try:
            async with open_chat(
                self.model, self.config, workspace=self.workspace, asking=self.asking, stage="ask"
            ) as model:
                agent = Agent(model, list(usable.values()), settings)
                answered = await agent.attempt(question, Recorder(folder, self.watch))
        finally:
            if web is not None:
                await web.close()
        return self._asked(answered, pictures, folder)

    def _pictures(self, searcher: Searcher) -> dict[str, Picture]:
        """The pictures of the folder, or all of the index."""
        with searcher.table_lock:
            rows = None if self.folder is None else searcher.table.rows_under(folder_address(Path(self.folder)))
            held = searcher.table.pictures((searcher.table.rows() if rows is None else rows).tolist())
        if not held:
            raise UserError("there is no picture to ask about.", "sightline scan DIR says what a folder holds")
        return {picture.id: picture for picture in held.values()}

    def _asked(self, answered: Answered, pictures: Mapping[str, Picture], folder: Path) -> Asked:
        end = answered.end
        said = end.prediction
        shown = said.pictures if isinstance(said, PictureSet | Ranking) else end.evidence
        text = said.text if isinstance(said, Text) else ""
        return Asked(self.question, text, tuple(pictures[name] for name in shown), answered, folder)
