"""What `validate` warns of: a benchmark that can be read and run, but whose author hardly meant it so."""

from __future__ import annotations

from collections.abc import Iterator

from sightline.bench.files import TASKS
from sightline.bench.folder import open_benchmark
from sightline.bench.problems import Problem, ProblemsError
from sightline.io import PathLike
from sightline.types import Part, Task


def oddities(folder: PathLike) -> tuple[Problem, ...]:
    """No tasks at all, empty prompts, options that can't be told apart; lines that can't be read are left out."""
    unreadable: list[Problem] = []
    try:
        source = open_benchmark(folder, unreadable.extend).source
    except ProblemsError:
        return ()
    count, found = 0, list[Problem]()
    for line, task in source.rows(TASKS):
        count += 1
        found += _of_task(task, line)
    if not count and not unreadable:
        found.append(Problem(TASKS.name, None, None, "there are no tasks: nothing can be asked or scored"))
    return tuple(found)


def odd_options(task: Task) -> str | None:
    """Why nobody can tell the right option of a task from others; None where they are in order."""
    said = [_said(option.content) for option in task.options]
    if len(said) < 2:
        return "fewer than two options"
    if not all(any(content) for content in said):
        return "an option that says nothing"
    return "two options that say the same" if len({*said}) < len(said) else None


def _of_task(task: Task, line: int) -> Iterator[Problem]:
    if not any(_said(task.prompt)):
        yield Problem(TASKS.name, line, "prompt", f"{task.id!r} asks nothing: its prompt is empty")
    # Without any, `validate` has it as a problem.
    if task.kind == "choose" and task.options and (odd := odd_options(task)) is not None:
        yield Problem(TASKS.name, line, "options", f"{task.id!r} has {odd}")


def _said(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Parts but for white space."""
    return tuple(" ".join(part.split()) if isinstance(part, str) else part for part in parts)
