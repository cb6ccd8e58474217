"""Made the folders of an old version beside this file: `python tests/old_versions/build.py NAME`, with that version.

Kept for the record, and for the next version: pictures are drawn, every verb that asks a model is answered by
`old_version_server`, and what comes of it is copied into the folder NAME (such as v0_1_0).
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sqlite3
import sys
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from old_version_commands import BUILT, QUERY, WORKSPACE, command, embedder, sightline
from old_version_server import PARTS, serving
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

ROOT = Path("/tmp/sightline-old-version")
"""Where the folders are made; tests put the place of their copy instead of it."""
DRAWN_AT = 1_700_000_000
EVENTS, EACH = 6, 9
_MAKE = """\
[benchmark]
name = "colors"

[annotate]
model = "vllm/seer"
flags = ["is_warm"]
vocabulary = ["red", "green", "blue", "yellow", "plain", "flat"]
min_tags = 2
max_tags = 5

[annotate.taxonomy]
color = ["red", "green", "blue", "yellow"]

[plan]
seeds = 3
positives = 2
neutrals = 1
hard = 2
near = 1
easy = 2
random = 1
core_facets = ["color"]

[query]
model = "vllm/writer"

[judge]
model = "vllm/judge"
retrievers = ["words"]
depth = 3
outside = 2
together = 3
"""


def main(name: str) -> None:
    shutil.rmtree(ROOT, ignore_errors=True)
    draw()
    with ExitStack() as stack:
        for part in PARTS:
            stack.enter_context(serving(part))
        make()
    verdicts()
    leave_out()
    for path in ROOT.rglob("*.sqlite"):
        with closing(sqlite3.connect(path)) as database:
            database.execute("PRAGMA journal_mode=DELETE")
            database.execute("VACUUM")
    target = Path(__file__).parent / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns("*-wal", "*-shm", "*.lock"))
    shutil.rmtree(ROOT)


# --- what there is before anybody is asked ---------------------------------------------------------------------


def draw() -> None:
    start = datetime(2021, 3, 1, 9)
    for number in range(EVENTS * EACH):
        event, hour = divmod(number, EACH)
        taken = start + timedelta(days=20 * event, minutes=50 * hour)
        save(ROOT / "pictures" / "ana" / f"{number:02}.jpg", number, taken, 40.0 + 2 * event)
    for number in range(3):
        save(ROOT / "thought-about" / f"n0144076{number}_{number}.jpg", 200 + number)
    names = ("tench, Tinca tinca", "goldfish", "great white shark")
    (ROOT / "labels.txt").write_text("".join(f"n0144076{number} {name}\n" for number, name in enumerate(names)))
    records = []
    for number in range(4):
        shown = [f"images/{number}-{place}.jpg" for place in range(2)]
        for place, image in enumerate(shown):
            save(ROOT / "mir" / image, 100 + 2 * number + place)
        records.append(
            {
                "id": f"q{number}",
                "images": shown,
                "question": f"Question {number}: first <image> then <image>. Which way does it go?",
                "options": ["left", "right", "up"],
                "conclusion": "ABC"[number % 3],
            }
        )
    (ROOT / "mir" / "all_data_rel.json").write_text(json.dumps(records))
    (ROOT / "make.toml").write_text(_MAKE)
    for path in ROOT.rglob("*"):
        os.utime(path, (DRAWN_AT, DRAWN_AT))


def save(path: Path, seed: int, taken: datetime | None = None, latitude: float = 0.0) -> None:
    """Smooth blobs, of which no two look alike; with a time and a place."""
    coarse = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    image = Image.fromarray(coarse).resize((64, 48), Image.Resampling.BICUBIC)
    exif = Image.Exif()
    if taken is not None:
        exif.get_ifd(0x8769)[0x9003] = taken.strftime("%Y:%m:%d %H:%M:%S")
        degrees = tuple(IFDRational(part) for part in (int(latitude), 30, 0))
        exif.get_ifd(0x8825).update({1: "N", 2: degrees, 3: "E", 4: degrees})
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, quality=60, exif=exif)


# --- all that asks ---------------------------------------------------------------------------------------------


def make() -> None:
    project = ("--config", "make.toml", *WORKSPACE, "--out", "project")
    do("scan", "pictures", "--owner-pattern", "{owner}/*", *WORKSPACE)
    do("index", "--embedder", embedder("search"), *WORKSPACE)
    do("search", QUERY, "-k", "4", *WORKSPACE, "--json", keep="found.json")
    do(*command("rerank", ""), "--json", keep="reranked.json")
    do(*command("ask", ""), "--json", keep="answered.json")
    do("make", "pictures", "pictures", "--limit", "12", *project)
    (ROOT / "taxonomy.toml").touch()
    part("taxonomy")
    part("annotate")
    do("make", "plan", *project)
    part("query")
    part("judge")
    do("make", "audit", *project)
    do("make", "assemble", *project)
    with_pictures("project/benchmark", "colors")
    do("import", "mir", "mir", "--out", "from-mir", *WORKSPACE)
    with_pictures("from-mir", "questions")
    shutil.rmtree(ROOT / "mir")
    shutil.rmtree(ROOT / "from-mir")
    do("index", "colors", "--embedder", embedder("search"), *WORKSPACE)
    do("search", QUERY, "-k", "4", "--index", "colors", *WORKSPACE, "--json", keep="found-in-colors.json")
    for name in ("mine", "think", "steps", "difficulty", "grade", "ablate", "chat", "agent"):
        part(name)
    do(
        "run",
        "colors",
        "--system",
        f"retriever:embedder={embedder('retriever')}",
        *WORKSPACE,
        "--out",
        "runs/retriever",
    )
    do("run", "colors", "--system", "blind", *WORKSPACE, "--out", "runs/blind")
    for name in ("agent", "retriever", "blind"):
        do("score", "colors", f"runs/{name}")
    do("score", "questions", "runs/chat")
    do("ledger", *WORKSPACE, "--json", keep="ledger.json")


def with_pictures(source: str, name: str) -> None:
    """A benchmark again with its pictures inside it, so that it can be moved."""
    from sightline import bench

    found = bench.read(ROOT / source)
    for picture in found.corpus.pictures.values():
        target = ROOT / name / "pictures" / picture.id
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(picture.uri.removeprefix("file://"), target)
    pictures = {id_: replace(picture, uri=f"pictures/{id_}") for id_, picture in found.corpus.pictures.items()}
    bench.write(replace(found, name=name, corpus=replace(found.corpus, pictures=pictures)), ROOT / name, force=True)


def part(name: str) -> None:
    do(*command(name, BUILT[name]))


def do(*arguments: str, keep: str | None = None) -> None:
    done = sightline(ROOT, *arguments)
    sys.stdout.write(f"{' '.join(arguments[:2])}: {done.returncode}\n{done.stdout}{done.stderr}\n")
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed")
    if keep is not None:
        (ROOT / keep).write_text(done.stdout)


def leave_out() -> None:
    """Take away what is large and is made again without asking anybody."""
    for name in ("graph.jsonl", "associations.jsonl"):
        (ROOT / "mined" / "project" / name).unlink()
    for path in (ROOT / "workspace" / "indexes").iterdir():
        if path.name not in ("default", "colors"):
            shutil.rmtree(path)


def verdicts() -> None:
    """Judged answers, kept by the name of the judge."""
    from sightline.score.judge import CachedJudge, ScriptedJudge, Verdict, VerdictCache

    from sightline.types import Answer

    cache = VerdictCache(ROOT / "verdicts.sqlite")
    judge = CachedJudge(ScriptedJudge({"about twelve": Verdict(True, 0.8, "It is near enough.")}, "old judge"), cache)
    asyncio.run(
        judge.verdict("How far is it?", Answer("12 km", aliases=("twelve",), unit="km", tolerance=0.1), "about twelve")
    )
    cache.close()


if __name__ == "__main__":
    main(sys.argv[1])
