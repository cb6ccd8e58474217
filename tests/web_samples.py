"""What the tests of the app look at: a small life with a benchmark, runs and traces; or 100,000 rows."""

from __future__ import annotations

import hashlib
import io
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
import uvicorn
from PIL import Image
from starlette.testclient import TestClient

from pictures import random_picture
from search_tools import Colours
from sightline.agent.trajectory import Cost, End, Memory, Recorder, Start, Turn, Use, ViewedPicture
from sightline.benchmark.folder import read_benchmark, write_benchmark
from sightline.calls.session import Session
from sightline.config import Config
from sightline.corpus.store import CorpusStore
from sightline.corpus.view import open_corpus
from sightline.mining.graph import Edge, EventNode, MemoryGraph, Node, Person, Photo, structure, write_graph
from sightline.mining.records import Clue
from sightline.pictures import scan
from sightline.retrieval.index.build import build_index
from sightline.runs.folder import blob_path, write_run
from sightline.scoring import score
from sightline.types import Benchmark, Candidate, Judgment, Relevance, Tier
from sightline.web.app import build
from sightline.web.app_state import AppState
from sightline.web.server import open_app

_OWNERS = {"scan": {"owner_pattern": "{owner}/*"}}
TIERS: tuple[Tier, ...] = ("seed", "positive", "hard", "near", "easy")


def make_life(folder: Path) -> Path:
    """The demo's folder, with tiers and judges in the benchmark, an index, a trajectory and traces."""
    pytest.importorskip("sightline_world", reason="needs sightline-world")
    from sightline_world.samples import sample_benchmark, sample_runs, write_samples

    samples = write_samples(folder / "pictures")
    scan(folder / "pictures", session=Session(folder / "workspace", Config.model_validate(_OWNERS)))
    benchmark = write_benchmark(_with_tiers(sample_benchmark(samples)), folder / "benchmark")
    for run in sample_runs(benchmark):
        write_run(run, folder / "runs" / run.system)
        score(benchmark, folder / "runs" / run.system)
    build_index(Session(folder / "workspace"), embedder=Colours())
    write_trajectory(folder / "runs" / "sample-strong", folder / "pictures")
    write_traces(folder / "traces")
    return folder


def _with_tiers(before: Benchmark) -> Benchmark:
    """Half of the labels of each query, so that there is something left to be missed; with tiers and a judge."""
    truth = dict(before.truth)
    candidates, judgments = [], []
    for task, held in before.truth.items():
        if not isinstance(held, Relevance):
            continue
        kept = dict(list(held.grades.items())[: max(4, len(held.grades) // 2)])
        truth[task] = Relevance(kept)
        for place, (picture, grade) in enumerate(kept.items()):
            tier = TIERS[1 + place % 4] if place else TIERS[0]
            candidates.append(Candidate(task, picture, tier, round(1 - place / 50, 3)))
            judgments.append(Judgment(task, picture, "judge-a", grade, 0.8, "It shows it." if grade else None))
    return replace(before, truth=truth, candidates=tuple(candidates), judgments=tuple(judgments))


def write_trajectory(run: Path, pictures: Path, task: str = "rank-01") -> None:
    """An agent that searches, narrows what it found, looks at a crop, forgets, and answers."""
    ids = sorted(path.relative_to(pictures).as_posix() for path in pictures.rglob("*.jpg"))[:9]
    crop = io.BytesIO()
    Image.open(pictures / ids[0]).convert("RGB").crop((0, 0, 120, 90)).save(crop, "JPEG")
    key = hashlib.sha256(crop.getvalue()).hexdigest()
    blob_path(run, key).parent.mkdir(parents=True, exist_ok=True)
    blob_path(run, key).write_bytes(crop.getvalue())
    sight = ViewedPicture("crop-1", key, ids[0], (0.1, 0.2, 0.5, 0.6), "CropPhoto")
    found = Use("c1", "ImageSearch", '{"text":"dog"}', "9 found", found=tuple(ids), saved={"dogs": tuple(ids)})
    narrowed = Use(
        "c2",
        "FilterMetadata",
        '{"where":"time > 2023"}',
        "4 left",
        found=tuple(ids[:4]),
        saved={"dogs": tuple(ids[:4])},
    )
    looked = Use("c3", "CropPhoto", '{"photo":"x"}', "here it is", pictures=(sight,))
    wrong = Use("c4", "Open", "{", "Error: <script>alert(1)</script>", error=True)
    recorder = Recorder(run)
    for record in (
        Start(task, 0, "rank", "vllm/agent", (), "You are an agent.", ("a brown dog",)),
        Turn(1, "r1", thought="I look for dogs first.", uses=(found, narrowed), cost=Cost(input=10, seconds=0.5)),
        Memory("tokens", "So far: four dogs.", "vllm/agent"),
        Turn(2, "r2", uses=(looked, wrong)),
        End(
            "finish",
            {"ranking": ids[:2]},
            evidence=tuple(ids[:2]),
            reason="I saw them.",
            turns=2,
            tokens=42,
            seconds=1.5,
        ),
    ):
        recorder.write(record)


def write_traces(folder: Path) -> None:
    """Two teachers who contradict each other about the first picture."""
    (folder / "data").mkdir(parents=True)
    (folder / "traces.json").write_bytes(orjson.dumps({"schema": 1, "format": "jsonl", "teachers": ["a", "b"]}))
    said = (("There are two dogs. The ball is red.", "There are three dogs. The ball is blue."), ("A boat.", "A boat."))
    rows = [
        {
            "id": f"p{number}",
            "picture": f"p{number}",
            "prompt": "Describe it.",
            **{"think_1": "<b>hm</b>", "answer_1": one, "model_1": "teacher-a"},
            **{"think_2": "", "answer_2": other, "model_2": "teacher-b"},
        }
        for number, (one, other) in enumerate(said)
    ]
    (folder / "data" / "train-00000.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))


def make_graph(life: Path, thing: str = "a bench") -> list[str]:
    """A memory graph of the first six pictures: two events that show the same thing, and somebody who is named."""
    pictures = life / "pictures"
    ids = sorted(path.relative_to(pictures).as_posix() for path in pictures.rglob("*.jpg"))[:6]
    days = ("2024-05-01T10:00:00", "2024-06-02T11:30:00")
    town = "Main Street 1, Biarritz, France"
    photos = {
        id_: Photo(id_, "ana", f"e{1 + place // 3}", days[place // 3], address=town, summary="We sat there.")
        for place, id_ in enumerate(ids)
    }
    events = {f"e{1 + at}": EventNode(f"e{1 + at}", "ana", tuple(ids[3 * at : 3 * at + 3])) for at in (0, 1)}
    clue = Clue("c", ids[0], "object", "bench", "white bench", thing, "white", 0.9)
    people = {"ana#1": Person("ana#1", "ana", "Bo", (ids[1], ids[4]))}
    seen = Edge(
        "association", Node("clue", "c"), Node("photo", ids[5]), "matching-features", "the same crack in the wood"
    )
    edges = (*structure(events, {"c": clue}, people), seen)
    write_graph(MemoryGraph(photos, events, {"c": clue}, people, edges), life / "mined" / "graph.jsonl")
    return ids


def remember_life(life: Path) -> None:
    """A memory graph of all pictures: their events, and what is known to be in them, joined where it is seen again."""
    from sightline_world.vocabulary import KIND_NOUNS, phrase

    corpus = open_corpus(life / "workspace")
    said = {note.picture_id: note for note in read_benchmark(life / "benchmark").annotations}
    photos, events, clues, edges = {}, {}, {}, []
    last: dict[tuple[str, str], Clue] = {}
    for group in corpus.groups:
        owner = group.id.split("/")[1]
        ids = [id_ for id_ in group.pictures if corpus.pictures[id_].taken_at and id_ not in photos]
        if group.kind != "event" or not ids:
            continue
        events[group.id] = EventNode(group.id, owner, tuple(ids))
        for id_ in ids:
            taken, note = corpus.pictures[id_].taken_at, said[id_]
            photos[id_] = Photo(id_, owner, group.id, taken.isoformat() if taken else "", summary=note.summary or "")
            for noun in [tag for tag in note.tags if tag in KIND_NOUNS]:
                clue = Clue(f"{id_}#{noun}", id_, "object", noun, noun, phrase(noun), noun, 1.0)
                clues[clue.id] = clue
                before = last.get((owner, noun))
                if before is not None:
                    ends = Node("clue", before.id), Node("photo", id_)
                    edges.append(Edge("association", *ends, "same-theme", f"both show {phrase(noun)}"))
                last[owner, noun] = clue
    whole = MemoryGraph(photos, events, clues, {}, (*structure(events, clues, {}), *edges))
    write_graph(whole, life / "mined" / "graph.jsonl")


def make_large(folder: Path, count: int) -> Path:
    """A workspace that knows so many pictures, all of them copies of a few files."""
    files = []
    for number in range(12):
        path = folder / "pictures" / f"{number:07}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        random_picture(number).save(path)
        files.append(path.read_bytes())
    workspace = folder / "workspace"
    with CorpusStore(workspace) as store:
        root = store.add_root(folder / "pictures")
        first = datetime(2005, 1, 1)
        with store.transaction():
            store.database.executemany(
                """INSERT INTO files (id, root, path, size, mtime_ns, sidecars, reader, state)
                VALUES (?, ?, ?, 1, 1, x'', 'test', 'present')""",
                ((number + 1, root.id, f"{number:07}.jpg".encode()) for number in range(count)),
            )
            hashes = [hashlib.sha256(data).digest() for data in files]
            store.database.executemany(
                """INSERT INTO pictures (id, file, sha256, phash, colours, width, height, mime, taken_at,
                taken_key, lat, lon, device, owner, extra, given, warnings)
                VALUES (?, ?, ?, 0, ?, 160, 120, 'image/jpeg', ?, ?, ?, ?, ?, ?, '{}', '{}', '[]')""",
                (_row(number, hashes, first) for number in range(count)),
            )
            groups = [f"event/{number:05}" for number in range(count // 50)]
            store.database.executemany("INSERT INTO groups VALUES (?, 'event', 0)", ((name,) for name in groups))
            store.database.executemany(
                "INSERT INTO members VALUES (?, ?, ?)",
                ((groups[number // 50], number % 50, f"{number:07}.jpg") for number in range(50 * len(groups))),
            )
    return workspace


def _row(number: int, hashes: list[bytes], first: datetime) -> tuple[Any, ...]:
    taken = first + timedelta(minutes=97 * number)
    return (
        f"{number:07}.jpg",
        number + 1,
        hashes[number % len(hashes)],
        bytes((number * 7 % 256, number % 256, 128)) * 16,
        taken.isoformat(),
        taken.timestamp(),
        -60 + (number * 37 % 12000) / 100,
        -170 + (number * 53 % 34000) / 100,
        f"Camera {number % 9}",
        f"owner{number % 4}",
    )


@dataclass(frozen=True, slots=True)
class Served:
    """An app that runs, and where."""

    desk: AppState
    address: str
    root: Path


@contextmanager
def serving(root: Path, workspace: Path | None = None, **more: Any) -> Iterator[Served]:
    """The app on a free port of this machine, in a thread."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
        desk = open_app(workspace, () if root == workspace else (root,), port=port, **more)
        server = uvicorn.Server(uvicorn.Config(build(desk), log_level="error", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield Served(desk, f"http://127.0.0.1:{port}", root)
        finally:
            server.should_exit = True
            thread.join(timeout=20)


def client(desk: AppState) -> TestClient:
    """The app without a browser; faults are answers."""
    return TestClient(build(desk), base_url=f"http://127.0.0.1:{desk.guard.port}", raise_server_exceptions=False)


def forgery_token(page: str) -> str:
    """What a page's forms send along."""
    return page.split('name="csrf" content="')[1].split('"')[0]


PAGES = {
    "overview": "/",
    "grid": "/search",
    "timeline": "/timeline",
    "map": "/map",
    "groups": "/groups",
    "problems": "/problems",
    "search": "/search?text=red+yellow&where=time+%3E%3D+2023",
    "ask": "/ask",
    "benchmarks": "/bench",
    "benchmark": "/bench/benchmark",
    "audit": "/bench/benchmark/audit",
    "pool": "/bench/benchmark/task?id=rank-01",
    "teachers": "/bench/benchmark/task?id=describe-01",
    "review": "/review/benchmark",
    "reviewers": "/review/benchmark/people",
    "runs": "/runs",
    "run": "/runs/sample-strong",
    "compare": "/compare?a=sample-weak&b=sample-strong",
    "side-by-side": "/compare?a=sample-weak&b=sample-strong&task=rank-01",
    "replay": "/runs/sample-strong/replay?task=rank-01",
    "traces": "/traces/traces",
    "missing": "/search?owner=nobody",
}
"""Every page of the app, as the tests in a browser open it."""

SHOTS = os.environ.get("SIGHTLINE_SCREENSHOTS")
"""A folder for the pictures of the docs; they are made where this is set."""


def shoot(page: Any, name: str) -> None:
    """A picture for the docs, where somebody asked for them; few colours, so that it stays small."""
    if SHOTS:
        page.wait_for_load_state("networkidle")
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        path = Path(SHOTS) / f"view-{name}.png"
        page.screenshot(path=str(path))
        Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)
