"""`sightline world FOLDER`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from sightline.cli.options import Command, Common
from sightline.types import TaskKind

if TYPE_CHECKING:
    from sightline.types import Benchmark
    from sightline_world.truth import World

_LEAST, _MOST = 48, 4096
"""Pixels of a side: scenes do not fit into fewer, and more take too much memory."""


def world(
    folder: Path,
    /,
    *,
    pictures: int = 600,
    owners: int = 1,
    tasks: Annotated[int, Parameter(validator=Number(gte=0))] = 100,
    kind: Annotated[list[TaskKind] | None, Parameter(negative="")] = None,
    difficulty: float | None = None,
    size: str = "640x480",
    workers: int | None = None,
    common: Common = Common(),
) -> None:
    """Draw invented lives whose truth is known exactly, and make a benchmark over them.

    The same seed gives the same bytes. Stopped at any moment, the same command goes on where it was.

    Parameters
    ----------
    folder:
        A new or empty folder; the photo histories are in its folder `world`.
    pictures:
        Pictures of each owner, 1 to 3,000.
    owners:
        People whose photo histories are drawn, on one map.
    tasks:
        Tasks of each kind; 0 writes the photo histories alone, into the folder itself.
    kind:
        Kinds of tasks: rank, select, answer and describe when not given; choose brings pictures of its own.
    difficulty:
        From 0 to 1; mixed when not given.
    size:
        Width and height of the pictures, each 48 to 4096.
    workers:
        Processes that draw; one for each core when not given.
    """
    from sightline_world.histories import read_world, write_world
    from sightline_world.tasks.benchmark import KINDS, WORLD, world_benchmark

    common.ignores_limit()
    seed, sides = common.seed or 0, _sides(size)
    made: Benchmark | None = None
    if tasks > 0:
        made = world_benchmark(
            folder,
            seed,
            owners=owners,
            pictures=pictures,
            count=tasks,
            kinds=tuple(kind or KINDS),
            difficulty=difficulty,
            size=sides,
            workers=workers,
        )
        lives = read_world(folder / WORLD)
    else:
        lives = write_world(folder, seed, owners=owners, pictures=pictures, size=sides, workers=workers)
    if common.json:
        common.print_json(_to_json(lives, made))
    else:
        common.console.print(_to_text(lives, made), markup=False, soft_wrap=True)


def _sides(size: str) -> tuple[int, int]:
    from sightline.errors import UserError

    wide, _, high = size.lower().replace("×", "x").partition("x")
    if not (wide.isdecimal() and high.isdecimal()):
        raise UserError(f'"{size}" is not a size.', "write it as 640x480")
    sides = int(wide), int(high)
    if not all(_LEAST <= side <= _MOST for side in sides):
        raise UserError(f"pictures of {size} can't be drawn.", f"give a size from {_LEAST}x{_LEAST} to {_MOST}x{_MOST}")
    return sides


def _to_json(lives: World, made: Benchmark | None) -> dict[str, object]:
    return {
        "folder": str(lives.folder),
        "seed": lives.seed,
        "owners": [life.owner for life in lives.lives],
        "events": sum(len(life.events) for life in lives.lives),
        "tasks": _kinds(made),
    }


def _kinds(made: Benchmark | None) -> dict[str, int]:
    from collections import Counter

    return dict(Counter(task.kind for task in made.tasks.values())) if made else {}


def _system(made: Benchmark) -> str:
    """A built-in system that can do some of the tasks."""
    finding = any(task.kind in ("rank", "select") for task in made.tasks.values())
    return "retriever:embedder=world" if finding else "chat:model=builtin/world"


def _to_text(lives: World, made: Benchmark | None) -> str:
    from sightline.english import counted

    parts = [counted(len(lives.lives), "owner"), counted(sum(len(life.events) for life in lives.lives), "event")]
    lines = [f"  {' · '.join(parts)}", f"  → {lives.folder}"]
    if made:
        lines.append(f"  tasks: {', '.join(f'{count} {kind}' for kind, count in _kinds(made).items())}")
        lines.append(f"next: sightline run {lives.folder.parent} --system {_system(made)} --out runs/world")
    else:
        lines.append(f"next: sightline scan {lives.folder / 'pictures'}")
    return "\n".join(lines)


COMMAND = Command(
    world, "Draw synthetic photo histories with exact ground truth, and make a benchmark of them.", after="mine"
)
