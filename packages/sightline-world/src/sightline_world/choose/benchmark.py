"""Tasks of choice as a benchmark folder with its pictures, for `sightline run`, `score` and `export`."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from sightline.benchmark.files import HEADER
from sightline.benchmark.folder import write_benchmark
from sightline.errors import UserError
from sightline.io.files import PathLike
from sightline.types import Annotation, Benchmark, Corpus, Picture, Rights, Task, Truth
from sightline_world.choose.tasks import ChooseTask, TaskPicture

PICTURES = "pictures"
"""The folder beside `benchmark.json` that holds the pictures."""
_RIGHTS = Rights(license="Apache-2.0", source="sightline.world")


def write_choose_benchmark(tasks: Iterable[ChooseTask], folder: PathLike, *, name: str = "world-choose") -> Benchmark:
    """Write the tasks, their truth and their pictures; tasks may come one by one, as no pixels are kept.

    A benchmark that is there already is replaced. The folder can be moved: pictures are found from it.
    """
    root = Path(folder)
    if root.is_dir() and any(root.iterdir()) and not (root / HEADER).is_file():
        raise UserError(f"{root} holds other things; it is left as it is.", "choose a new or an empty folder")
    pictures: dict[str, Picture] = {}
    asked: dict[str, Task] = {}
    truth: dict[str, Truth] = {}
    captions: list[Annotation] = []
    for one in tasks:
        asked[one.task.id], truth[one.task.id] = one.task, one.truth
        for picture in one.pictures:
            pictures[picture.id] = write_picture(picture, root, PICTURES)
            captions.append(Annotation(picture.id, summary=picture.caption, by="world truth"))
    benchmark = Benchmark(
        name=name,
        corpus=Corpus(name, pictures),
        tasks=asked,
        truth=truth,
        metrics=("accuracy",),
        card={
            "description": "Multiple choice over several drawn pictures interleaved with text, true by construction.",
            "languages": ["en"],
            "license": "Apache-2.0",
        },
        annotations=tuple(captions),
    )
    return write_benchmark(benchmark, root, force=True)


def write_picture(picture: TaskPicture, root: Path, folder: str) -> Picture:
    """Write a task's picture into a folder of the benchmark."""
    path = root / folder / picture.id
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(picture.file)
    return Picture(
        id=picture.id,
        uri=f"{folder}/{picture.id}",
        sha256=sha256(picture.file).hexdigest(),
        width=picture.size[0],
        height=picture.size[1],
        mime="image/jpeg",
        rights=_RIGHTS,
    )
