"""Questions and scenes of the world for training, drawn on all cores into parts that stay where they were drawn.

Each part is two files: part-….npy, the pictures (n × 240 × 320 × 3), and part-….json, what is said of them.
"""

from __future__ import annotations

import io
import json
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from sightline.errors import UserError
from sightline.train.eye import HIGH, WIDE
from sightline.train.glimpse_processor import as_pixels
from sightline.types import Figure, PictureRef, SceneGraph, Step, Thing
from sightline.world.captions import caption
from sightline.world.choose import ChooseTask, choose_task
from sightline.world.draw import draw
from sightline.world.scenes import random_plan

PART = 128
FORM = 4
"""Of the parts: another number where what is kept in them changes, so that older ones are not taken for new."""
DESCRIBE = "Describe the picture."
STEPS = ("summary", "caption", "text-to-region", "region-to-region", "conclusion")


@dataclass(frozen=True, slots=True)
class Ask:
    """A simple question about one picture."""

    kind: str
    picture: int
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A question over several pictures with its five steps, or (with no prompt) a scene; and simple questions."""

    id: str
    subtask: str
    level: float
    prompt: str
    answer: str
    steps: dict[str, list[str]]
    captions: list[str]
    pictures: list[int]
    asks: list[Ask]


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that was drawn, with its pictures."""

    items: list[Drawn]
    pixels: Tensor


@dataclass(frozen=True, slots=True)
class Wanted:
    """So many questions (`choose`) or scenes (`scene`) of a seed, and the folder in which they are kept."""

    folder: Path
    kind: str
    count: int
    seed: str

    def parts(self) -> list[tuple[Path, str, int, int, str]]:
        self.folder.mkdir(parents=True, exist_ok=True)
        sizes = {first: min(PART, self.count - first) for first in range(0, self.count, PART)}
        name = f"part-{FORM}"
        return [
            (self.folder / f"{name}-{first:06}-{size}", self.kind, first, size, self.seed)
            for first, size in sizes.items()
        ]


def draw_missing(*wanted: Wanted) -> list[Path]:
    """Draw the parts that are not there yet, on all cores; where all parts are, without their endings."""
    parts = [part for one in wanted for part in one.parts()]
    missing = [part for part in parts if not part[0].with_suffix(".json").exists()]
    if missing:
        with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
            list(pool.imap_unordered(_draw_part, missing))
    return [part[0] for part in parts]


def drawn(device: str, *wanted: Wanted) -> Drawing:
    """All that is wanted, one after the other."""
    parts = draw_missing(*wanted)
    arrays = [np.load(part.with_suffix(".npy"), mmap_mode="r") for part in parts]
    # On the device at once and once: all of it together would not fit twice.
    pixels = torch.empty((sum(map(len, arrays)), HIGH, WIDE, 3), dtype=torch.uint8, device=device)
    items: list[Drawn] = []
    at = 0
    for part, array in zip(parts, arrays, strict=True):
        items += [_from_row(row, at) for row in json.loads(part.with_suffix(".json").read_text())]
        pixels[at : at + len(array)] = torch.from_numpy(np.array(array))
        at += len(array)
    return Drawing(items, pixels)


def _from_row(row: dict[str, Any], at: int) -> Drawn:
    asks = [Ask(ask["kind"], ask["picture"] + at, ask["question"], ask["answer"]) for ask in row["asks"]]
    return Drawn(**{**row, "pictures": [number + at for number in row["pictures"]], "asks": asks})


def _draw_part(job: tuple[Path, str, int, int, str]) -> None:
    file, kind, first, count, seed = job
    make: Callable[[int, str, int], tuple[Drawn, list[NDArray[np.uint8]]]] = _question if kind == "choose" else _scene
    items, pixels = [], []
    for number in range(first, first + count):
        item, shots = make(number, seed, len(pixels))
        items.append(item)
        pixels += shots
    np.save(file.with_suffix(".npy"), np.stack(pixels))
    beside = file.with_suffix(".part")
    beside.write_text(json.dumps([asdict(item) for item in items]))
    beside.replace(file.with_suffix(".json"))


def _question(number: int, seed: str, at: int) -> tuple[Drawn, list[NDArray[np.uint8]]]:
    made = choose_task(number, seed)
    rng = Random(f"{seed}/{number}/asks")
    shots = [as_pixels(Image.open(io.BytesIO(picture.file))) for picture in made.pictures]
    asks = []
    for place, picture in enumerate(made.pictures):
        if picture.graph is not None:
            asks += list(_asks(picture.graph, at + place, rng, 2))
    return (
        Drawn(
            id=made.task.id,
            subtask=made.task.labels["subtask"][0],
            level=float(made.task.extra["difficulty"]),  # type: ignore[arg-type]
            prompt=prompt_of(made),
            answer=made.truth.option or "",
            steps=steps_of_task(made),
            captions=[picture.caption for picture in made.pictures],
            pictures=list(range(at, at + len(shots))),
            asks=asks,
        ),
        shots,
    )


def _scene(number: int, seed: str, at: int) -> tuple[Drawn, list[NDArray[np.uint8]]]:
    rng = Random(f"{seed}/scene/{number}")
    try:
        drawing = draw(random_plan(rng.getrandbits(60), rng.random(), (320, 240)))
    except UserError:  # One plan in thousands can't be drawn; an easy one always can.
        drawing = draw(random_plan(rng.getrandbits(60), 0.0, (320, 240)))
    words = caption(drawing.graph, "full", rng, "plain")
    asks = list(_asks(drawing.graph, at, rng, 8))
    item = Drawn(f"scene-{seed}-{number}", "", 0.0, "", "", {}, [words], [at], asks)
    return item, [as_pixels(drawing.image)]


def prompt_of(made: ChooseTask) -> str:
    """The question as it is asked: its words, `<image>` for each picture, and the options."""
    parts = [*made.task.prompt, "\nOptions:"]
    for option in made.task.options:
        parts += [f"\n{option.key}. ", *option.content]
    return "".join("<image>" if isinstance(part, PictureRef) else part for part in parts)


def steps_of_task(made: ChooseTask) -> dict[str, list[str]]:
    """The five reference steps as text, one caption for each picture; regions follow what is said of them."""
    numbers = {picture.id: place for place, picture in enumerate(made.pictures, 1)}
    found: dict[str, list[str]] = {kind: [] for kind in STEPS}
    for step in made.truth.steps:
        found[step.kind].append(_with_regions(step, numbers))
    return found


def _with_regions(step: Step, numbers: dict[str, int]) -> str:
    regions = [f"picture {numbers[one.id]}: {_box(one.region)}" for one in step.pictures if one.region is not None]
    return f"{step.text} [{'; '.join(regions)}]" if regions else step.text


def _box(box: Any) -> str:
    sides = (box.left, box.top, box.right, box.bottom)
    return " ".join(str(round(100 * side)) for side in sides)


def _asks(graph: SceneGraph, picture: int, rng: Random, count: int) -> Iterator[Ask]:
    """Simple questions about what stands in a scene, of which only those with one answer are asked; last, for all."""
    seen = [item for item in (*graph.things, *graph.figures) if item.hidden < 0.5]
    if not seen:
        return
    names = Counter(_name(item) for item in seen)
    known = [item for item in seen if names[_name(item)] == 1]
    for _ in range(count if known else 0):
        item = rng.choice(known)
        other = rng.choice(known)
        made = rng.choice((_where, _what, _left, _near, _row))(item, other, known)
        if made is not None:
            yield Ask(made[0], picture, made[1], made[2])
    told = (f"{_name(item)} [{_box(item.box)}]" for item in _from_left(seen))
    yield Ask("all", picture, "What stands where?", f"{', '.join(told)}.")


def _name(item: Thing | Figure) -> str:
    return f"person in {item.coat}" if isinstance(item, Figure) else f"{item.colour} {item.kind}"


Made = tuple[str, str, str] | None


def _where(item: Thing | Figure, other: Thing | Figure, known: Sequence[Thing | Figure]) -> Made:
    return "where", f"Where is the {_name(item)}?", f"[{_box(item.box)}]"


def _what(item: Thing | Figure, other: Thing | Figure, known: Sequence[Thing | Figure]) -> Made:
    return "what", f"What is at [{_box(item.box)}]?", f"The {_name(item)}."


def _left(item: Thing | Figure, other: Thing | Figure, known: Sequence[Thing | Figure]) -> Made:
    a, b = (one.box.left + one.box.right for one in (item, other))
    if abs(a - b) < 0.04:
        return None
    answer = "Yes." if a < b else "No."
    return "left", f"Is the {_name(item)} farther left than the {_name(other)}?", answer


def _near(item: Thing | Figure, other: Thing | Figure, known: Sequence[Thing | Figure]) -> Made:
    a, b = item.box.bottom, other.box.bottom
    if abs(a - b) < 0.03:
        return None
    answer = "Yes." if a > b else "No."
    return "near", f"Does the {_name(item)} stand lower in the picture than the {_name(other)}?", answer


def _row(item: Thing | Figure, other: Thing | Figure, known: Sequence[Thing | Figure]) -> Made:
    return "row", "What stands there from left to right?", ", ".join(_name(one) for one in _from_left(known))


def _from_left(items: Iterable[Thing | Figure]) -> list[Thing | Figure]:
    return sorted(items, key=lambda one: one.box.left + one.box.right)
