"""Judging by a chat model: many groups at once, each call journaled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sightline.config import Config
from sightline.engine.budget import Budget
from sightline.engine.mapping import Stage
from sightline.engine.purposes import purpose
from sightline.engine.spreading import Shared, StageSpec, run_spread
from sightline.make.judge.groups import Group, Judged, judge_group
from sightline.make.judge.questions import Questions
from sightline.models.asking import Asking
from sightline.models.batches.desk import Requests
from sightline.models.chat import chat_in
from sightline.types import Failure

STAGE = "judge"


def judge_live(
    groups: Sequence[Group], questions: Questions, workspace: Path, asking: Asking, engine: str = "local"
) -> Iterator[tuple[Group, Judged | Failure]]:
    """Each group with what was said of it, in order; what the journal answers costs nothing."""
    spec = StageSpec(
        STAGE,
        stage_in,
        {"model": questions.model, "config": questions.config, "asking": replace(asking, budget=None)},
    )
    budget = asking.budget if isinstance(asking.budget, Budget) else None
    yield from run_spread(groups, spec, workspace, engine=engine, budget=budget)


def stage_in(shared: Shared, *, model: str, config: Config, asking: Asking) -> Stage[Group, Judged]:
    """The stage in the process that works on it."""
    caller = chat_in(shared, model, config, asking=asking, stage=STAGE)
    questions = Questions(model, config)

    async def one(group: Group) -> Judged:
        with purpose(group.query):
            return await judge_group(caller, questions, group)

    return Stage(STAGE, one, caller.close)


def requests(groups: Sequence[Group], questions: Questions) -> Requests:
    """The calls with their ids, from the first on each time that they are asked for."""
    numbers: dict[str, int] = {}
    ids = []
    for group in groups:
        numbers[group.query] = numbers.get(group.query, 0) + 1
        ids.append(f"{STAGE}::{group.query}::{numbers[group.query]}")
    return lambda: (
        (id_, questions.request(group.text, group.pictures)) for id_, group in zip(ids, groups, strict=True)
    )
