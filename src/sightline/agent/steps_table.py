"""An agent's steps as a notebook shows them: what it thought, which tools it called, and the pictures that it saw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sightline.display import Thumbnail, html_table, pictures
from sightline.english import counted, some
from sightline.markup import Markup, join, tag
from sightline.plain_text import printable, short, text_table
from sightline.runs.folder import blob_path

if TYPE_CHECKING:
    from sightline.agent.trajectory import Memory, Trajectory, Turn, Use, ViewedPicture

_WORDS, _ARGUMENTS, _PICTURES, _TURNS = 300, 140, 6, 30
_HEAD = ("turn", "thought", "calls", "pictures seen")


def use_line(use: Use) -> str:
    """One call, as a line: the tool, its arguments, and what came of it."""
    arguments = use.arguments if len(use.arguments) <= _ARGUMENTS else f"{use.arguments[: _ARGUMENTS - 1]}…"
    if use.error:
        return f"{use.tool} {arguments}: {' '.join(use.observation.split())[:_ARGUMENTS]}"
    came = []
    if use.found:
        came.append(f"{len(use.found):,} found")
    if use.pictures:
        came.append(f"{len(use.pictures):,} looked at")
    return f"{use.tool} {arguments}{': ' + ', '.join(came) if came else ''}"


def step_records(trajectory: Trajectory) -> list[dict[str, Any]]:
    """One flat record for each call, and for each turn or memory that made none."""
    return [record for step in trajectory.steps for record in _records(step)]


def _records(step: Turn | Memory) -> Iterator[dict[str, Any]]:
    if step.type == "memory":
        yield _record(None, f"memory compressed ({step.why})", step.text)
        return
    words = step.thought or step.text
    for use in step.uses:
        seen = [seen.picture or seen.name for seen in use.pictures]
        yield _record(step.number, use.tool, words, use.arguments, use.observation, list(use.found), seen, use.error)
    if not step.uses:
        said = "failed" if step.failure is not None else "said"
        yield _record(step.number, said, words, observation="" if step.failure is None else step.failure.message)


def _record(
    turn: int | None,
    tool: str,
    thought: str,
    arguments: str = "",
    observation: str = "",
    found: Sequence[str] = (),
    seen: Sequence[str] = (),
    error: bool = False,
) -> dict[str, Any]:
    return {
        "turn": turn,
        "tool": tool,
        "thought": thought,
        "arguments": arguments,
        "observation": observation,
        "found": list(found),
        "seen": list(seen),
        "error": error,
    }


def steps_text(trajectory: Trajectory) -> str:
    """A line for each step: the turn, what was thought, what was called."""
    rows = [
        (f"{record['turn'] or ''}", short(record["thought"], 60), short(f"{record['tool']} {record['arguments']}", 80))
        for record in step_records(trajectory)
    ]
    return text_table(("turn", "thought", "call"), rows, right={0})


def steps_html(trajectory: Trajectory, folder: Path | None) -> Iterator[Markup]:
    """The prompt's pictures, and a row for each turn with the pictures that it saw."""
    start = trajectory.start
    if start.pictures:
        yield pictures([_thumbnail(seen, folder) for seen in start.pictures])
    rows = [_row(step, folder) for step in trajectory.steps]
    if rows:
        yield html_table(_HEAD, rows, numeric={0}, most=_TURNS)


def _row(step: Turn | Memory, folder: Path | None) -> tuple[str, ...]:
    if step.type == "memory":
        return "", short(step.text, _WORDS), f"memory compressed ({step.why})", ""
    calls = [tag("div", printable(use_line(use)), class_="sl-bad" if use.error else None) for use in step.uses]
    if step.failure is not None:
        calls.append(tag("div", f"{step.failure.kind}: {short(step.failure.message, _WORDS)}", class_="sl-bad"))
    seen = [one for use in step.uses for one in use.pictures]
    shown = pictures([_thumbnail(one, folder) for one in seen], most=_PICTURES, small=True) if seen else Markup("")
    return f"{step.number}", short(step.thought or step.text, _WORDS), join(calls), shown


def _thumbnail(seen: ViewedPicture, folder: Path | None) -> Thumbnail:
    path = None if folder is None or seen.sha256 is None else blob_path(folder, seen.sha256)
    return Thumbnail(path, seen.picture or seen.name, [seen.made_by] if seen.made_by else [])


def end_lines(trajectory: Trajectory) -> Iterable[str]:
    """How it ended, and what it took."""
    end = trajectory.end
    if end is None:
        yield "It was stopped before it ended."
        return
    cost = "price not known" if end.usd is None else f"${end.usd:.4f}"
    if end.reason:
        yield f"Because {short(end.reason, _WORDS)}"
    if end.evidence:
        yield f"Evidence: {some(end.evidence, _PICTURES)}"
    yield f"{counted(end.turns, 'turn')}, {counted(end.tokens, 'token')}, {cost}, {end.seconds:.1f} s"
