"""Annotating by a chat model: many pictures at once, each call journaled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from sightline.config import Config
from sightline.engine.mapping import Stage
from sightline.engine.purposes import purpose
from sightline.engine.spreading import Shared, StageSpec, run_spread
from sightline.make.annotate.answers import Answers
from sightline.make.annotate.questions import Questions
from sightline.make.asking import budget_of
from sightline.models.asking import Asking
from sightline.models.batches.desk import Requests
from sightline.models.chat import chat_in
from sightline.types import Annotation, Failure, Picture

STAGE = "annotate"


def annotate_live(
    pictures: Sequence[Picture], questions: Questions, workspace: Path, asking: Asking, engine: str = "local"
) -> Iterator[tuple[Picture, Annotation | Failure]]:
    """Each picture with what was said of it, in order; what the journal answers costs nothing."""
    spec = StageSpec(
        STAGE,
        stage_in,
        {"model": questions.model, "config": questions.config, "asking": replace(asking, budget=None)},
    )
    yield from run_spread(pictures, spec, workspace, engine=engine, budget=budget_of(asking))


def stage_in(shared: Shared, *, model: str, config: Config, asking: Asking) -> Stage[Picture, Annotation]:
    """The stage in the process that works on it."""
    caller = chat_in(shared, model, config, asking=asking, stage=STAGE)
    answers = Answers(Questions(model, config))

    async def one(picture: Picture) -> Annotation | Failure:
        with purpose(picture.id):
            return await answers.ask(caller, picture)

    return Stage(STAGE, one, caller.close)


def requests(pictures: Sequence[Picture], questions: Questions) -> Requests:
    """The calls with their ids, from the first on each time that they are asked for."""
    return lambda: ((f"{STAGE}::{picture.id}", questions.request(picture)) for picture in pictures)
