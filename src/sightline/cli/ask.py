"""`sightline ask QUESTION [--in DIR]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sightline.agent.ask import ask as ask_agent
from sightline.cli.options import AlbumOptions, ChatOptions, Common, Positive, Repeated, Switch, described_by
from sightline.errors import SightlineError, StoppedError
from sightline.plain_text import cut, printable

if TYPE_CHECKING:
    from rich.console import Console

    from sightline.agent.ask import AskResult
    from sightline.agent.trajectory import Record, Turn

_WORDS = 300


@described_by(ask_agent)
def ask(
    question: str,
    /,
    *,
    in_: Annotated[Path | None, Parameter(name="--in")] = None,
    tool: Repeated = None,
    without_tool: Repeated = None,
    web: str | None = None,
    open_web: Switch = False,
    share_metadata: Switch = False,
    share_pictures: Switch = False,
    embedder: str | None = None,
    turns: Positive = 30,
    out: AlbumOptions = AlbumOptions(),
    chat: ChatOptions = ChatOptions(),
    common: Common = Common(),
) -> None:
    """Ask an agent about your pictures; its steps appear as they happen, the evidence at the end.

    Parameters
    ----------
    in_:
        The folder to look in, sub-folders included; all that the workspace knows when not given.
    tool:
        A tool that may be used; can be repeated. All that suit when not given.
    without_tool:
        A tool that may not be used; can be repeated.
    turns:
        How many turns the agent has; the last one is for the answer.
    """
    from sightline.agent.settings import AgentSettings, TaskLimits

    out.check()
    console = common.console
    asked = ask_agent(
        question,
        in_,
        model=chat.chosen(),
        tools=tool or (),
        without=without_tool or (),
        web=web,
        open_web=open_web,
        share_metadata=share_metadata,
        share_pictures=share_pictures,
        embedder=embedder,
        settings=AgentSettings(limits=TaskLimits(turns), seed=common.seed),
        watch=None if common.json else lambda record: _show(record, console),
        session=common.session(chat.calls(common)),
    )
    common.note(asked.notes)
    out.show(asked, common)
    _end(asked)


def _end(asked: AskResult) -> None:
    """The exit code: 1 where no answer came, 3 where a limit was reached before the agent was done.

    A model that answers only after it was reminded has answered.
    """
    from sightline.agent.loop import GIVEN_UP

    end = asked.answered.end
    if asked.failure is not None and end.forced is None:
        raise SightlineError(f"there is no answer: {asked.failure.message}.", "ask again, or another --model")
    if asked.failure is not None and end.forced in GIVEN_UP:
        raise SightlineError(f"the model made no progress: {asked.failure.message}.", "ask another --model")
    if end.forced is not None and end.forced not in GIVEN_UP:
        raise StoppedError(f"the agent was not done when it reached its limit ({end.forced}).", "give it more --turns")


def _show(record: Record, console: Console) -> None:
    """One step, when it is done."""
    if record.type == "turn":
        _show_turn(record, console)
    elif record.type == "memory":
        console.print(f"  ⋯ memory compressed ({record.why})", markup=False, style="dim")


def _show_turn(turn: Turn, console: Console) -> None:
    from sightline.agent.steps_table import use_line

    thought = " ".join(turn.thought.split())
    if thought:
        console.print(f"{turn.number:>3} {printable(cut(thought, _WORDS))}", markup=False, soft_wrap=True, style="dim")
    for use in turn.uses:
        console.print(f"    → {printable(use_line(use))}", markup=False, soft_wrap=True)
    if turn.failure is not None:
        console.print(f"    ✗ {printable(turn.failure.message)}", markup=False, soft_wrap=True)
