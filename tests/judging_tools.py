"""A project that is ready to be judged: pictures of colours, a plan, queries; and a judge that sees colours."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from make_tools import COLOURS, colour_of, draw, flat, project_in, seeing, words_in, write_rows
from models_server import Received, Server
from sightline.authoring import project as files
from sightline.authoring.pictures import PicturesStage
from sightline.authoring.project import Project
from sightline.config import Config
from sightline.types import Annotation

COLOUR_NAMES = tuple(COLOURS)


def judging_config(**judge: Any) -> Config:
    table = {"model": "vllm/judge", "retrievers": ("words",), "depth": 3, "outside": 2, "together": 3, **judge}
    return Config.model_validate({"judge": table, "benchmark": {"name": "colours"}})


def ready(tmp_path: Path, config: Config | None = None, each: int = 4, notes: bool = True) -> Project:
    """`each` pictures of every colour; a query for every colour, with two of them and two others in its plan."""
    config = config or judging_config()
    project = project_in(tmp_path, config)
    colours = [colour for colour in COLOUR_NAMES for _ in range(each)]
    PicturesStage(draw(tmp_path / "pictures", *colours)).run(project)
    ids = [f"{number:02}_{colour}.png" for number, colour in enumerate(colours)]
    of = {colour: [id_ for id_ in ids if colour in id_] for colour in COLOUR_NAMES}
    names, plans, queries = config.columns, [], []
    for number, colour in enumerate(COLOUR_NAMES):
        other = of[COLOUR_NAMES[(number + 1) % len(COLOUR_NAMES)]]
        pool = [*of[colour][:2], *other[:2]]
        tiers = ("seed", "positive", "hard", "easy")
        plans.append(
            {
                names.query_id: f"q{number}",
                names.seeds: pool[:1],
                names.candidates: pool,
                "candidates": [
                    {names.image_id: id_, "tier": tier, "score": 0.5} for id_, tier in zip(pool, tiers, strict=True)
                ],
            }
        )
        queries.append({names.query_id: f"q{number}", names.query: f"something {colour}", "style": "keyword"})
    write_rows(project.path(files.PLAN), plans)
    write_rows(project.path(files.QUERIES), queries)
    if notes:
        said = (Annotation(id_, f"a {id_[3:-4]} field", {}, {}, (id_[3:-4], "plain")) for id_ in ids)
        write_rows(project.path(files.ANNOTATIONS), [flat(note) for note in said])
    return project


def pictures_in(request: Received) -> list[bytes]:
    """The bytes of all pictures that were sent, in order."""
    return [
        base64.b64decode(part["image_url"]["url"].partition(",")[2])
        for message in request.json["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part.get("type") == "image_url"
    ]


def grades_for(request: Received, highest: int = 1) -> list[int]:
    """What an honest judge says: does the query name the picture's colour?"""
    words = words_in(request).partition("JSON text:")[2].partition("\n")[0]
    return [highest * (colour_of(data) in words) for data in pictures_in(request)]


def judgments(grades: Sequence[int], **more: Any) -> dict[str, Any]:
    """A reply with these grades."""
    return {
        "judgments": [
            {"picture": number, "reason": f"it is {grade}", "grade": grade, "confidence": 0.9, **more}
            for number, grade in enumerate(grades, 1)
        ]
    }


@contextmanager
def judging(reply: Callable[[Received], Mapping[str, Any] | str] | None = None) -> Iterator[Server]:
    """A server with a judge that sees colours, or says what it is told to."""
    with seeing(reply or (lambda request: judgments(grades_for(request)))) as server:
        yield server
