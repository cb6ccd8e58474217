"""`sightline replay RUN TASK`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import Common
from sightline.english import counted
from sightline.errors import FoundError
from sightline.plain_text import printable

if TYPE_CHECKING:
    from sightline.agent.replay import Replayed

_WORDS = 160


def replay(
    run: Path,
    task: str,
    /,
    *,
    attempt: Annotated[int, Parameter(validator=Number(gte=0))] = 0,
    benchmark: Path | None = None,
    common: Common = Common(),
) -> None:
    """Do an agent's attempt again from its record, step by step, and say where it differs (exit code 4).

    Nobody is asked: replies come from the trajectory. With --benchmark the tools are used again on its pictures;
    without it, observations come from the trajectory too.

    Parameters
    ----------
    run:
        The folder of the run.
    task:
        The id of the task.
    attempt:
        Which attempt, where there are several.
    benchmark:
        The folder of the benchmark that was run.
    """
    from sightline.agent.replay import replay_task

    common.ignores_limit()
    done = replay_task(
        run, task, attempt, benchmark=benchmark, workspace=common.workspace_path, config=common.settings()
    )
    if common.json:
        end = done.now.end
        common.print_json(
            {
                "task": task,
                "attempt": attempt,
                "same": done.same,
                "turns": len(done.now.turns),
                "answer": None if end is None else end.answer,
                "differences": [each.to_json() for each in done.differences],
            }
        )
    else:
        common.print(to_text(done))
    if not done.same:
        differ = counted(len(done.differences), "difference")
        raise FoundError(f"{differ} from the record.", "the first difference is usually the cause")


def to_text(done: Replayed) -> str:
    """The steps, the answer, and what differs."""
    lines = [f"  {printable(done.now.start.question.strip())}"]
    for turn in done.now.turns:
        thought = " ".join(turn.thought.split())[:_WORDS]
        lines.append(f"{turn.number:>3} {printable(thought)}".rstrip())
        lines += [f"    → {printable(f'{use.tool} {use.arguments}'[:_WORDS])}" for use in turn.uses]
    end = done.now.end
    if end is not None:
        lines.append(f"  answer: {printable(str(end.answer)[: 4 * _WORDS])}")
    if done.same:
        lines.append("  the same as recorded")
    for each in done.differences:
        lines.append(f"  turn {each.turn}, {each.what}: recorded {printable(each.recorded)}; now {printable(each.now)}")
    return "\n".join(lines)
