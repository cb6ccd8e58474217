"""How long pages of the app take: on the samples, and with 100,000 pictures; against a bare page of the same server.

    python benchmarks/view.py [--pictures N] [--keep FOLDER]

Each page is asked for by a fresh app that has read nothing yet: cold (by the clock, and of the processor, since the
machine may be shared); then by one that has read what `sightline view` reads at its start: the first time, and the
median of ten more, in milliseconds, and the processor's time for it as a multiple of that for a bare page of the same
bytes. Goals: the first page of the samples under 300 ms, any of 100,000 pictures under 1 s.
The large folder has an index, and a benchmark of 500 queries with 50,000 labels, on which six people decide at once.
With `--keep` it is made there and used again the next time: its index takes minutes.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.calls.session import Session
from sightline.io.files import sha256_of
from sightline.retrieval.index.build import build_index
from sightline.types import Benchmark, Candidate, Corpus, Judgment, Picture, Relevance, Task, Tier
from sightline.web.app import build
from sightline.web.app_state import AppState
from sightline.web.picture_choice import PictureChoice
from sightline.web.server import open_app

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from search_tools import Colours
from web_samples import forgery_token, make_large, make_life

TURNS = 10
PEOPLE, DECISIONS = 6, 8
_TIERS: tuple[Tier, ...] = ("positive", "near", "hard", "easy", "random")
_TASKS, _POOL, _RELEVANT, _FILES = 500, 100, 12, 12


def make_everything(folder: Path, count: int) -> Path:
    """A corpus of so many pictures with an index and a benchmark; all of them copies of a few files."""
    workspace = make_large(folder, count)
    pictures = folder / "pictures"
    for number in range(_FILES, count):
        os.link(pictures / f"{number % _FILES:07}.jpg", pictures / f"{number:07}.jpg")
    build_index(Session(workspace), embedder=Colours())
    write_benchmark(_benchmark(pictures, count), folder / "labels")
    return folder


def _benchmark(pictures: Path, count: int) -> Benchmark:
    hashes = [sha256_of(pictures / f"{number:07}.jpg") for number in range(_FILES)]
    known = {
        f"{number:07}.jpg": Picture(
            f"{number:07}.jpg", f"../pictures/{number:07}.jpg", sha256=hashes[number % _FILES], width=160, height=120
        )
        for number in range(count)
    }
    rng, ids = random.Random(1), list(known)
    tasks = [Task(f"q{at:04}", "rank", (f"query {at} for a thing of colour {at % 7}",)) for at in range(_TASKS)]
    pools = {task.id: rng.sample(ids, _POOL) for task in tasks}
    placed = [(task, at, id_) for task, pool in pools.items() for at, id_ in enumerate(pool)]
    return Benchmark(
        "large",
        Corpus("large", known),
        {task.id: task for task in tasks},
        {task: Relevance({id_: int(at < _RELEVANT) for at, id_ in enumerate(pool)}) for task, pool in pools.items()},
        candidates=tuple(Candidate(task, id_, _TIERS[at * 5 // _POOL], 1 - at / 100) for task, at, id_ in placed),
        judgments=tuple(Judgment(task, id_, "judge", int(at < _RELEVANT), 0.9) for task, at, id_ in placed),
    )


def pages_of(desk: AppState) -> dict[str, str]:
    """Every kind of page that this folder has something for."""
    corpus = desk.library.corpus
    assert corpus is not None
    count = corpus.count(PictureChoice())
    tile = corpus.window(PictureChoice(), count // 2, 1)[0]
    pages = {
        "overview": "/",
        "grid": "/search",
        "grid, one year": "/search?year=2010",
        "layout of the grid": "/api/layout",
        "window in the middle": f"/api/pictures?offset={count // 2}&limit=120",
        "timeline": "/timeline",
        "map": "/map",
        "groups": "/groups?kind=event",
        "problems": "/problems",
        "picture": f"/picture?id={quote(tile.id)}",
        "thumbnail": f"/thumb/{tile.key}?size=256",
        "search by words": "/search?text=red",
        "search like a picture": f"/search?like={quote(tile.id)}",
        "count of a filter": "/api/count?where=time+%3E+2010",
        "count near a place": "/api/count?where=near(%22Paris%22,100km)",
    }
    for name in desk.library.places.benchmarks:
        shelf = desk.library.benchmark(name)
        assert shelf is not None
        pages |= {
            "benchmarks": "/bench",
            "benchmark": f"/bench/{name}",
            "audit": f"/bench/{name}/audit",
            "task": f"/bench/{name}/task?id={next(iter(shelf.benchmark.tasks))}",
            "review": f"/review/{name}",
            "review, search beside": f"/review/{name}?find=red",
            "reviewers": f"/review/{name}/people",
        }
    if desk.library.places.runs:
        pages |= {"runs": "/runs", "run": f"/runs/{next(iter(desk.library.places.runs))}"}
    return pages


def milliseconds(client: TestClient, path: str) -> tuple[float, float]:
    """By the clock, and of the processor."""
    started, before = time.perf_counter(), time.process_time()
    reply = client.get(path)
    assert reply.status_code == 200, (path, reply.status_code)
    return (time.perf_counter() - started) * 1000, (time.process_time() - before) * 1000


def _bare(body: bytes) -> TestClient:
    """A page of the same bytes, and nothing else."""
    client = TestClient(Starlette(routes=[Route("/", lambda _: PlainTextResponse(body))]))
    client.get("/")
    return client


def measure(title: str, root: Path) -> None:
    started = time.perf_counter()
    desk = _desk(root)
    desk.warm()
    read = time.perf_counter() - started
    warm = _client(desk)
    print(f"\n{title}; read in the background after the start: {read:.1f} s")
    print(f"{'page':<22}{'cold':>9}{'cpu':>9}{'first':>9}{'median':>9}{'× bare':>8}")
    for name, path in pages_of(desk).items():
        cold = _client(_desk(root))
        nothing_read, spent = milliseconds(cold, path)
        there = _waited(cold, path)
        first, _ = milliseconds(warm, path)
        bare = _bare(warm.get(path).content)
        turns = [(*milliseconds(warm, path), *milliseconds(bare, "/")) for _ in range(TURNS)]
        median, work, _, plain = (statistics.median(column) for column in zip(*turns, strict=True))
        more = f"  whole after {there:.1f} s" if there else ""
        print(f"{name:<22}{nothing_read:>9.1f}{spent:>9.1f}{first:>9.1f}{median:>9.1f}{work / plain:>8.1f}{more}")


def _waited(client: TestClient, path: str) -> float:
    """Until a page does not ask to be looked at again; so that what it waits for is in nobody's way."""
    started = time.perf_counter()
    waited = False
    while "refresh" in client.get(path).headers:
        waited = True
        time.sleep(0.2)
    return time.perf_counter() - started if waited else 0.0


def decisions(root: Path) -> None:
    """Several people who decide at once, each on other labels of one benchmark; and one alone."""
    desk = _desk(root)
    desk.warm()
    app = build(desk)
    shelf = read_benchmark(root / "labels")
    graded = {task: truth.grades for task, truth in shelf.truth.items() if isinstance(truth, Relevance)}
    pairs = [(task, picture) for task, grades in graded.items() for picture in grades][:: _POOL // 2]
    for people in (1, PEOPLE):
        took: list[float] = []
        threads = [
            threading.Thread(target=_person, args=(app, f"person {at}", pairs[at * DECISIONS :][:DECISIONS], took))
            for at in range(people)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        median = statistics.median(took)
        print(f"{people} deciding, {len(took)} decisions: median {median:.0f} ms, longest {max(took):.0f} ms")


def _person(app: ASGIApp, name: str, pairs: list[tuple[str, str]], took: list[float]) -> None:
    client = TestClient(app, base_url="http://127.0.0.1:1", cookies={"sightline-person": quote(name)})
    token = forgery_token(client.get("/search").text)
    for task, picture in pairs:
        started = time.perf_counter()
        fields = {"csrf": token, "task": task, "picture": picture, "decision": "1"}
        assert client.post("/review/labels", data=fields, follow_redirects=False).status_code == 303
        took.append((time.perf_counter() - started) * 1000)


def _desk(root: Path) -> AppState:
    return open_app(None, (root,), port=1, embedder=Colours())


def _client(desk: AppState) -> TestClient:
    return TestClient(build(desk), base_url="http://127.0.0.1:1")


def main(count: int, keep: Path | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        life, large = Path(folder) / "life", keep or Path(folder) / "large"
        make_life(life)
        milliseconds(_client(_desk(life)), "/search")  # Imports and templates are read once a process.
        measure("the samples, 60 pictures", life)
        if not (large / "labels").is_dir():
            make_everything(large, count)
        measure(f"{count:,} pictures", large)
        decisions(large)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pictures", type=int, default=100_000)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    main(given.pictures, given.keep)
