"""A small benchmark of interleaved questions, and a server that answers them by what it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

import models_server as wire
from pictures import random_picture
from sightline.benchmark.folder import write_benchmark
from sightline.reason.steps.annotation import PlacedText, Reasoning, StepCaption, StepRegion
from sightline.types import Answer, Benchmark, Choice, Corpus, Option, Picture, PictureRef, Step, Task
from sightline.types.task_table import Tasks

KEYS = "ABCD"


def choose_bench(folder: Path, tasks: int = 6, pictures: int = 2) -> Benchmark:
    """Questions q0, q1, …, each with its own pictures; the right option goes round: A, B, C, D."""
    shown: dict[str, Picture] = {}
    asked: dict[str, Task] = {}
    truth = {}
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    for number in range(tasks):
        names = [f"q{number}-{place}.png" for place in range(pictures)]
        for place, name in enumerate(names):
            random_picture(100 * number + place, (64, 48)).save(folder / "pictures" / name)
            shown[name] = Picture(name, f"pictures/{name}", width=64, height=48)
        parts = [part for name in names for part in ("Then ", PictureRef(name), " is seen. ")]
        asked[f"q{number}"] = Task(
            f"q{number}",
            "choose",
            (f"Question {number}: ", *parts, "Which way does it go?"),
            tuple(Option(key, (f"way {key.lower()}",)) for key in KEYS),
            labels={"subtask": (f"kind {number % 2}",), "difficulty": ("medium",)},
            extra={"difficulty": 0.5},
        )
        truth[f"q{number}"] = Choice(KEYS[number % 4])
    made = Benchmark("small", Corpus("small", shown), asked, truth, metrics=("accuracy",))
    return write_benchmark(made, folder, force=True)


def mixed_bench(folder: Path, tasks: int) -> Benchmark:
    """The same after a question `free` without options, which accuracy does not score."""
    made = choose_bench(folder, tasks)
    free = Task("free", "answer", ("Question 99: how far from ", *made.tasks["q0"].pictures, " is it?"))
    both = replace(made, tasks=Tasks({"free": free, **made.tasks}), truth={**made.truth, "free": Answer("12 km")})
    return write_benchmark(both, folder, force=True)


def content(received: wire.Received) -> list[dict[str, Any]]:
    """All parts of all messages of a request, in order."""
    parts: list[dict[str, Any]] = []
    for message in received.json["messages"]:
        said = message["content"]
        parts += [{"type": "text", "text": said}] if isinstance(said, str) else said
    return parts


def words(received: wire.Received) -> str:
    return "".join(part.get("text", "") for part in content(received))


def pictures(received: wire.Received) -> list[str]:
    return [part["image_url"]["url"] for part in content(received) if part["type"] == "image_url"]


@contextmanager
def answering(say: Callable[[wire.Received], str | wire.Answer]) -> Iterator[wire.Server]:
    """A server whose replies are those of a function."""

    def script(received: wire.Received) -> wire.Answer:
        said = say(received)
        return wire.respond_json(wire.chat(said)) if isinstance(said, str) else said

    with wire.serving_in_thread(script) as server:
        yield server


def number_of(received: wire.Received) -> int:
    """Which question a request is about."""
    return int(words(received).split("Question ")[1].split(":")[0])


def reasoning(pictures: int = 2, key: str = "A", **other: Any) -> dict[str, Any]:
    """A reply in order."""
    made: dict[str, Any] = {
        "summary": "It is asked which way it goes.",
        "captions": [{"picture": place, "text": f"Blobs number {place}."} for place in range(1, pictures + 1)],
        "text_to_region": {"text": "It is the blob.", "regions": [_region(1)]},
        "region_to_region": {"text": "It has moved.", "regions": [_region(1), _region(2)]},
        "conclusion": f"It goes that way. The answer is {key}.",
        "answer": key,
    }
    return {**made, **other}


def _region(picture: int) -> dict[str, Any]:
    return {"picture": picture, "left": 0.1, "top": 0.2, "right": 0.6, "bottom": 0.9}


def as_json(value: Any) -> str:
    return orjson.dumps(value).decode()


def reasoning_of(steps: Sequence[Step], refs: Sequence[PictureRef], key: str) -> Reasoning:
    """Steps that a benchmark has, in the form in which a model gives them."""
    by_kind: dict[str, list[Step]] = {}
    for step in steps:
        by_kind.setdefault(step.kind, []).append(step)
    at = {ref.id: place for place, ref in enumerate(refs, 1)}

    def placed(kind: str) -> PlacedText:
        step = by_kind[kind][0]
        regions = []
        for ref in step.pictures:
            box = ref.region
            edges = (0.0, 0.0, 1.0, 1.0) if box is None else (box.left, box.top, box.right, box.bottom)
            regions.append(StepRegion(at[ref.id], *edges))
        return PlacedText(step.text, regions)

    return Reasoning(
        by_kind["summary"][0].text,
        [StepCaption(at[step.pictures[0].id], step.text) for step in by_kind["caption"]],
        placed("text-to-region"),
        placed("region-to-region"),
        by_kind["conclusion"][0].text,
        key,
    )
