"""Questions and scenes of the world for training, drawn on all cores into parts that stay where they were drawn.

Each part is two files: part-….npy, the pictures (n × 240 × 320 × 3), and part-….json, what is said of them.
"""

from __future__ import annotations

import hashlib
import io
import json
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from sightline.errors import UserError
from sightline.types import PictureRef, Step
from sightline_world.captions import caption
from sightline_world.choose import ChooseTask, choose_task
from sightline_world.draw import draw
from sightline_world.models.glimpse import GlimpseForConditionalGeneration, as_pixels
from sightline_world.models.glimpse_vision import COLUMNS, HIGH, PARTS, WIDE
from sightline_world.scene import Figure, SceneGraph, Thing
from sightline_world.scene_plans import random_plan

PART = 128
_AT_ONCE = 256
FORM = 8
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
class Named:
    """A thing that is the only one of its name in a picture, and where it is."""

    picture: int
    name: str
    box: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A question over several pictures with its five steps, or (with no prompt) a scene; and simple questions.

    `options` are those of a question by their keys, without words where they are pictures; `names` are those of all
    that is seen in a scene, `things` are those that can be asked for.
    """

    id: str
    subtask: str
    level: float
    prompt: str
    answer: str
    steps: dict[str, list[str]]
    captions: list[str]
    pictures: list[int]
    asks: list[Ask]
    options: dict[str, str] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    things: list[Named] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that was drawn, with its pictures: as pixels, or looks at them."""

    items: list[Drawn]
    pixels: Tensor

    def looked_at(self, model: GlimpseForConditionalGeneration) -> Drawing:
        """The same with looks in half precision: a frozen trunk finds the same in a picture each time."""
        device = model.device
        looks = torch.empty((len(self.pixels), PARTS, sum(model.eye.cuts)), dtype=torch.float16, device=device)
        with torch.no_grad(), torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            for at in range(0, len(looks), _AT_ONCE):
                some = self.pixels[at : at + _AT_ONCE].to(device)
                looks[at : at + _AT_ONCE] = model.look(some.permute(0, 3, 1, 2))
        return Drawing(self.items, looks)


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
    at = 0
    for array in arrays:
        pixels[at : at + len(array)] = torch.from_numpy(np.array(array))
        at += len(array)
    return Drawing(items_of(*wanted), pixels)


def items_of(*wanted: Wanted) -> list[Drawn]:
    """What is said of what was drawn, without the pictures."""
    items: list[Drawn] = []
    at = 0
    for one in wanted:
        for part, *_ in one.parts():
            items += [_from_row(row, at) for row in json.loads(part.with_suffix(".json").read_text())]
            at = items[-1].pictures[-1] + 1
    return items


def looked_at_once(wanted: Wanted, model: GlimpseForConditionalGeneration) -> Path:
    """A file with an eye's looks at all that is wanted, for several processes."""
    file = wanted.folder / f"looks-{FORM}-{wanted.count}-{_eye_of(model)}.npy"
    if not file.exists():
        looks = drawn(model.device.type, wanted).looked_at(model).pixels
        beside = file.with_suffix(".part.npy")
        np.save(beside, looks.cpu().numpy())
        beside.replace(file)
    return file


def _eye_of(model: GlimpseForConditionalGeneration) -> str:
    """Another eye sees otherwise: its weights in short."""
    found = hashlib.sha256()
    for value in model.eye.state_dict().values():
        found.update(value.cpu().float().numpy().tobytes())
    return found.hexdigest()[:12]


def _from_row(row: dict[str, Any], at: int) -> Drawn:
    asks, things = (
        [replace(one, picture=one.picture + at) for one in (kind(**entry) for entry in row[name])]
        for name, kind in (("asks", Ask), ("things", Named))
    )
    return Drawn(**{**row, "pictures": [n + at for n in row["pictures"]], "asks": asks, "things": things})


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
            options=options_of(made),
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
    asks = list(_asks(drawing.graph, at, rng, 9))
    seen = _seen(drawing.graph)
    names = sorted({_name(one) for one in seen})
    things = [Named(at, _name(one), _box(one.box)) for one in _known(seen)]
    item = Drawn(f"scene-{seed}-{number}", "", 0.0, "", "", {}, [words], [at], asks, {}, names, things)
    return item, [as_pixels(drawing.image)]


def prompt_of(made: ChooseTask) -> str:
    """The question as it is asked: its words, `<image>` for each picture, and the options."""
    parts = [*made.task.prompt, "\nOptions:"]
    for option in made.task.options:
        parts += [f"\n{option.key}. ", *option.content]
    return "".join("<image>" if isinstance(part, PictureRef) else part for part in parts)


def options_of(made: ChooseTask) -> dict[str, str]:
    """The words of each option; none where it is a picture."""
    return {
        option.key: "".join(part for part in option.content if isinstance(part, str)) for option in made.task.options
    }


def steps_of_task(made: ChooseTask) -> dict[str, list[str]]:
    """The five reference steps as text, one caption for each picture; regions follow what is said of them.

    An answer is said in the words of its option: which letter stands before which words is another thing to learn.
    """
    numbers = {picture.id: place for place, picture in enumerate(made.pictures, 1)}
    found: dict[str, list[str]] = {kind: [] for kind in STEPS}
    for step in made.truth.steps:
        found[step.kind].append(_with_regions(step, numbers))
    words = options_of(made)[made.truth.option or ""].removesuffix(".")
    if words:
        found["conclusion"] = [
            text.replace(f"The answer is {made.truth.option}.", f"The answer is {words}.")
            for text in found["conclusion"]
        ]
    return found


def _with_regions(step: Step, numbers: dict[str, int]) -> str:
    regions = [f"picture {numbers[one.id]}: {_box(one.region)}" for one in step.pictures if one.region is not None]
    return f"{step.text} [{'; '.join(regions)}]" if regions else step.text


def _box(box: Any) -> str:
    sides = (box.left, box.top, box.right, box.bottom)
    return " ".join(str(round(100 * side)) for side in sides)


def _asks(graph: SceneGraph, picture: int, rng: Random, count: int) -> Iterator[Ask]:
    """Different simple questions about what stands in a scene, of which only those with one answer are asked.

    The first is for all that is seen.
    """
    seen = _seen(graph)
    if not seen:
        return
    told = (f"{_name(item)} [{_box(item.box)}]" for item in sorted(seen, key=_column))
    yield Ask("all", picture, "What stands where?", f"{', '.join(told)}.")
    known = _known(seen)
    asked: set[str] = set()
    for _ in range(count if known else 0):
        item = rng.choice(known)
        other = rng.choice(known)
        made = rng.choice((_where, _what, _left, _near, _both, _row))(item, other, known)
        if made is not None and made[1] not in asked:
            asked.add(made[1])
            yield Ask(made[0], picture, made[1], made[2])


def _seen(graph: SceneGraph) -> list[Thing | Figure]:
    return [item for item in (*graph.things, *graph.figures) if item.hidden < 0.5]


def _known(seen: Sequence[Thing | Figure]) -> list[Thing | Figure]:
    """Those that are told apart by their names."""
    names = Counter(_name(item) for item in seen)
    return [item for item in seen if names[_name(item)] == 1]


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


def _both(item: Thing | Figure, other: Thing | Figure, known: Sequence[Thing | Figure]) -> Made:
    made = _left(item, other, known)
    if made is None:
        return None
    _, question, answer = made
    return "both", f"{question} Say where they are.", f"[{_box(item.box)}] and [{_box(other.box)}]. {answer}"


def _row(item: Thing | Figure, other: Thing | Figure, known: Sequence[Thing | Figure]) -> Made:
    return "row", "What stands there from left to right?", ", ".join(_name(one) for one in _from_left(known))


def _column(item: Thing | Figure) -> tuple[int, float]:
    """Where an item comes in the columns of the eye, from the left, and in them from the top."""
    return int((item.box.left + item.box.right) / 2 * COLUMNS), item.box.top + item.box.bottom


def _from_left(items: Iterable[Thing | Figure]) -> list[Thing | Figure]:
    return sorted(items, key=lambda one: one.box.left + one.box.right)
