"""The folders that examples in docstrings speak of: small, and made on the spot without any model.

`pictures/` has 6 drawn pictures and `ws/` is the workspace that they were scanned into; `bench/` asks 3 queries for
them, and `run/` and `other_run/` have rankings; `agent_run/` has one attempt with its trajectory; `questions/` has 4
questions with options over 2 pictures each, and `reasoned/` the same with reasoning steps and difficulty. `history/` is
the workspace of 50 photographs with times and places, for what mines them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from PIL import ExifTags, Image, ImageDraw

import sightline
from pictures import random_picture
from sightline.agent.trajectory import End, Start, Turn, Use, to_line, trajectory_path
from sightline.benchmark.folder import write_benchmark
from sightline.benchmark.formats.replies import to_exact
from sightline.runs.folder import write_run
from sightline.types import (
    Attempt,
    Benchmark,
    Choice,
    Corpus,
    Option,
    Picture,
    PictureRef,
    Ranking,
    Relevance,
    Run,
    Step,
    Task,
)

SHAPES = ("blue-circle", "blue-square", "green-circle", "green-square", "red-circle", "red-square")
QUERIES = {
    "red": ("something red", {"red-circle.png": 2, "red-square.png": 1}),
    "circle": ("a circle", {"blue-circle.png": 1, "green-circle.png": 1, "red-circle.png": 1}),
    "blue-square": ("a blue square", {"blue-square.png": 1}),
}
STEPS = (
    Step("summary", "Two pictures of one table are to be compared, to find what was taken away."),
    Step("caption", "A table with a red cup, a green book and a small lamp."),
    Step("caption", "The same table with a green book and nothing else on it."),
    Step("text-to-region", "The things of the first picture stand side by side on the table top."),
    Step("region-to-region", "Where the cup and the lamp stood before, the second one shows bare wood only."),
    Step("conclusion", "The cup and the lamp have gone."),
)


def make_folders(root: Path) -> None:
    """All of them but the workspaces, below `root`."""
    _draw(root / "pictures")
    made = _bench(root)
    names = [f"{name}.png" for name in SHAPES]
    _run(made, root / "run", "colors first", {"red": names[::-1], "circle": names, "blue-square": names[1:]})
    _run(made, root / "other_run", "by name", dict.fromkeys(QUERIES, names))
    _agent_run(made, root / "agent_run")
    _questions(root / "questions", ())
    _questions(root / "reasoned", STEPS)


def make_workspace(root: Path) -> None:
    """`ws/`: the pictures, scanned."""
    sightline.scan(root / "pictures", workspace=root / "ws")


def make_history(root: Path) -> None:
    """`history/`: ten days with five photographs each, over six weeks."""
    place = {1: "N", 2: (43.0, 29.0, 0.0), 3: "W", 4: (1.0, 33.0, 0.0)}
    (root / "photos").mkdir()
    for number in range(50):
        exif = Image.Exif()
        taken = datetime(2024, 5, 1, 9) + timedelta(days=4 * (number // 5), minutes=10 * (number % 5))
        exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DateTimeOriginal] = taken.strftime("%Y:%m:%d %H:%M:%S")
        exif.get_ifd(ExifTags.IFD.GPSInfo).update(place)
        random_picture(number, (48, 36)).save(root / "photos" / f"{number:02}.jpg", exif=exif)
    sightline.scan(root / "photos", workspace=root / "history")


def _draw(folder: Path) -> None:
    folder.mkdir()
    for name in SHAPES:
        color, shape = name.split("-")
        picture = Image.new("RGB", (96, 72), "white")
        pen = ImageDraw.Draw(picture)
        (pen.ellipse if shape == "circle" else pen.rectangle)((24, 12, 72, 60), fill=color)
        picture.save(folder / f"{name}.png")


def _bench(root: Path) -> Benchmark:
    pictures = {
        f"{name}.png": Picture(f"{name}.png", f"../pictures/{name}.png", width=96, height=72) for name in SHAPES
    }
    tasks = {name: Task(name, "rank", (text,)) for name, (text, _) in QUERIES.items()}
    truth = {name: Relevance(grades) for name, (_, grades) in QUERIES.items()}
    made = Benchmark("shapes", Corpus("shapes", pictures), tasks, truth, metrics=("ndcg@10", "recall@3"))
    return write_benchmark(made, root / "bench")


def _run(made: Benchmark, folder: Path, system: str, rankings: dict[str, Sequence[str]]) -> None:
    attempts = tuple(
        Attempt(task, Ranking(tuple(found), tuple(1 / place for place, _ in enumerate(found, 1))))
        for task, found in rankings.items()
    )
    write_run(Run(made.name, system, attempts, made.checksum), folder)


def _agent_run(made: Benchmark, folder: Path) -> None:
    """One attempt, with the trajectory that led to it: a search, and the answer."""
    found = ("red-circle.png", "red-square.png")
    _run(made, folder, "agent", {"red": found})
    use = Use("1", "search", '{"query": "red"}', "Found red-circle.png and red-square.png.", found=found)
    records = (
        Start("red", 0, "rank", "openai/gpt-5-mini", (), "You search pictures.", (made.tasks["red"].text,)),
        Turn(1, "", text="I search for red things.", uses=(use,)),
        End("finish", to_exact(Ranking(found)), turns=1),
    )
    path = trajectory_path(folder, "red")
    path.parent.mkdir()
    path.write_bytes(b"".join(to_line(record) + b"\n" for record in records))


def _questions(folder: Path, steps: Sequence[Step]) -> None:
    pictures: dict[str, Picture] = {}
    tasks: dict[str, Task] = {}
    (folder / "pictures").mkdir(parents=True)
    for number in range(4):
        names = [f"q{number}-{place}.png" for place in (1, 2)]
        for place, name in enumerate(names):
            random_picture(10 * number + place, (64, 48)).save(folder / "pictures" / name)
            pictures[name] = Picture(name, f"pictures/{name}", width=64, height=48)
        shown = ("First: ", PictureRef(names[0]), "\nThen: ", PictureRef(names[1]))
        options = (Option("A", ("the cup and the lamp",)), Option("B", ("the book",)))
        labels = {"difficulty": ("easy" if number < 2 else "hard",)} if steps else {}
        tasks[f"q{number}"] = Task(f"q{number}", "choose", (*shown, "\nWhat has gone?"), options, labels=labels)
    truth = {name: Choice("A", steps=tuple(steps)) for name in tasks}
    write_benchmark(Benchmark(folder.name, Corpus(folder.name, pictures), tasks, truth), folder, force=True)
