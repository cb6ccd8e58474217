"""Small worlds for the tests of making: annotations with a plan behind them, and a model that sees colours."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
from PIL import Image

from models_server import Received, Server, chat, respond_json, serving_in_thread
from sightline.authoring.project import Project
from sightline.calls.session import CallOptions, Session
from sightline.config import Config
from sightline.config.settings import PlanSettings
from sightline.types import Annotation

PLACES, WEATHERS, SUBJECTS = ("beach", "city", "forest"), ("fog", "rain", "sun"), ("bird", "car", "dog", "person")
COLOURS = {"red": (220, 20, 20), "green": (20, 200, 20), "blue": (20, 20, 220), "yellow": (220, 220, 20)}


def notes(count: int = 400, seed: int = 0, tags: int = 8, vocabulary: int = 60) -> list[Annotation]:
    """Annotations whose tags go with their subject, as they do in pictures."""
    rng = random.Random(seed)
    words = [f"word{number:02}" for number in range(vocabulary)]
    own = {subject: rng.sample(words, min(vocabulary, 20)) for subject in SUBJECTS}
    found = []
    for number in range(count):
        subject = rng.choice(SUBJECTS)
        picked = [*rng.sample(own[subject], min(tags - 2, len(own[subject]))), *rng.sample(words, 2)]
        facets = {"place": rng.choice(PLACES), "weather": rng.choice(WEATHERS), "subject": subject}
        flags = {"has_people": rng.random() < 0.4}
        found.append(Annotation(f"{number:04}.jpg", f"a {subject}", facets, flags, tuple(dict.fromkeys(picked))))
    return found


def settings(**given: Any) -> PlanSettings:
    quotas = {"positives": 4, "neutrals": 3, "hard": 5, "near": 4, "easy": 4, "random": 2}
    return PlanSettings(**{**quotas, **given})


def jaccard(left: Sequence[str], right: Sequence[str]) -> float:
    a, b = set(left), set(right)
    return len(a & b) / len(a | b) if a | b else 0.0


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write_rows(path: Path, lines: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def flat(note: Annotation) -> dict[str, Any]:
    """A row as benchmaker writes it."""
    sure = dict.fromkeys((*note.facets, *note.flags), 0.9)
    return {
        "image_id": note.picture_id, "summary": note.summary, **note.facets, **note.flags, "tags": list(note.tags),
        "confidence": sure, "license": "CC0", "doi": "10.1/x",
    }  # fmt: skip


# --- pictures of one colour, and a model that sees colours ------------------------------------------------------


def draw(folder: Path, *colours: str, sizes: Sequence[tuple[int, int]] = ((64, 48),)) -> Path:
    """One picture a colour; of the same colour again with another shade."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, colour in enumerate(colours):
        red, green, blue = COLOURS[colour]
        shade = (max(0, red - number), max(0, green - number), max(0, blue - number))
        Image.new("RGB", sizes[number % len(sizes)], shade).save(folder / f"{number:02}_{colour}.png")
    return folder


def colour_of(data: bytes) -> str:
    """What a model that knows colours sees."""
    from io import BytesIO

    pixel = Image.open(BytesIO(data)).convert("RGB").getpixel((1, 1))
    assert isinstance(pixel, tuple)
    return min(COLOURS, key=lambda name: sum((a - b) ** 2 for a, b in zip(COLOURS[name], pixel, strict=True)))


def picture_in(request: Received) -> bytes | None:
    """The bytes of the first picture that was sent."""
    for message in request.json["messages"]:
        if isinstance(message["content"], list):
            for part in message["content"]:
                if part.get("type") == "image_url":
                    return base64.b64decode(part["image_url"]["url"].partition(",")[2])
    return None


def words_in(request: Received) -> str:
    """All that was said to the model."""
    found = []
    for message in request.json["messages"]:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        found += [part["text"] for part in parts if part.get("type") == "text"]
    return "\n".join(found)


def describing(colour: str) -> dict[str, Any]:
    """An annotation that fits `colour_config`."""
    return {
        "summary": f"a {colour} field", "colour": colour, "is_warm": colour in ("red", "yellow"),
        "tags": [colour, "plain", "flat"], "confidence": {"colour": 0.9, "is_warm": 0.8},
    }  # fmt: skip


def colour_config(**annotate: Any) -> Config:
    table: dict[str, Any] = {
        "taxonomy": {"colour": tuple(COLOURS)}, "flags": ("is_warm",), "vocabulary": (*COLOURS, "plain", "flat"),
        "min_tags": 2, "max_tags": 5, "model": "vllm/seer", **annotate,
    }  # fmt: skip
    return Config.model_validate({"annotate": table})


Reply = Callable[[Received], Any]


@contextmanager
def seeing(reply: Reply | None = None) -> Iterator[Server]:
    """A server that says the colour of each picture, or whatever it is told to."""

    def answer(request: Received) -> Any:
        if reply is not None:
            said = reply(request)
        else:
            data = picture_in(request)
            assert data is not None
            said = describing(colour_of(data))
        return respond_json(chat(said if isinstance(said, str) else orjson.dumps(said).decode()))

    with serving_in_thread(answer) as server:
        yield server


def project_in(folder: Path, config: Config, **given: Path) -> Project:
    return Project(folder / "project", Session(folder / "ws", config), given)


def begun_and_asked(folder: Path) -> Iterator[str]:
    """Annotate by a server, and try to by the built-in model; what came of both."""
    from sightline.authoring.annotate import AnnotateStage
    from sightline.authoring.pictures import PicturesStage
    from sightline.errors import MissingExtraError

    project = project_in(folder, colour_config())
    PicturesStage(draw(folder / "pictures", *COLOURS)).run(project)
    with seeing() as server:
        done = AnnotateStage().run(with_calls(project, CallOptions(base_url=server.base_url)))
        yield f"annotated {done.counts['annotated']}"
    try:
        AnnotateStage("builtin/photos").run(project)
    except MissingExtraError as missing:
        yield str(missing.fix)


def with_calls(project: Project, calls: CallOptions) -> Project:
    """The same project, whose models are called in another way."""
    return replace(project, session=replace(project.session, calls=calls))
