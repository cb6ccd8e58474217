"""Which option of a task is right: the one reading of a truth that scores, steps, difficulty and lessons share."""

from __future__ import annotations

from sightline.types import Choice, Task, Truth


def right_option(task: Task, truth: Truth) -> str | None:
    """The key of the right option, as the task writes it; None where the truth is none of the options.

    Keys are alike in any case; some data sets give the option's text instead of its key.
    """
    said = truth.option if isinstance(truth, Choice) else None
    if said is None or not task.options:
        return None
    keys = [option.key for option in task.options]
    alike = [key for key in keys if key.strip().casefold() == said.strip().casefold()]
    if alike:
        return said if said in alike else alike[0]
    from sightline.score.choices.parse import parse_choice  # Its patterns take time to compile.

    return parse_choice(said, task.options).option
