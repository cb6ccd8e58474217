"""How long pages of the app take: on the samples, and with 100,000 pictures; against a bare page of the same server.

    python benchmarks/view.py [--pictures N]

Each page is asked for the first time by a fresh app (nothing is kept yet) and then ten times more: first (by the clock,
and of the processor, since the machine may be shared) and median, in milliseconds, and the median as a multiple of
a page that only says "hello". Goals: the first page of the samples under 300 ms, any of 100,000 pictures under 1 s.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from sightline.web.app import build
from sightline.web.choosing import Choice
from sightline.web.desk import Desk
from sightline.web.serving import open_desk

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from web_samples import make_large, make_life

TURNS = 10


def pages_of(desk: Desk) -> dict[str, str]:
    """Every kind of page that this folder has something for."""
    corpus = desk.library.corpus
    assert corpus is not None
    count = corpus.count(Choice())
    tile = corpus.window(Choice(), count // 2, 1)[0]
    pages = {
        "overview": "/",
        "grid": "/corpus",
        "grid, one year": "/corpus?year=2010",
        "window in the middle": f"/api/pictures?offset={count // 2}&limit=120",
        "timeline": "/timeline",
        "map": "/map",
        "groups": "/groups?kind=event",
        "problems": "/problems",
        "picture": f"/picture?id={quote(tile.id)}",
        "thumbnail": f"/thumb/{tile.key}?size=256",
        "search form": "/search",
    }
    for name in desk.library.places.benchmarks:
        pages |= {"benchmark": f"/bench/{name}", "audit": f"/bench/{name}/audit", "review": f"/review/{name}"}
    if desk.library.places.runs:
        pages |= {"runs": "/runs", "run": f"/runs/{next(iter(desk.library.places.runs))}"}
    return pages


def milliseconds(client: TestClient, path: str) -> float:
    started = time.perf_counter()
    reply = client.get(path)
    assert reply.status_code == 200, (path, reply.status_code)
    return (time.perf_counter() - started) * 1000


def measure(title: str, root: Path, bare: TestClient) -> None:
    print(f"\n{title}\n{'page':<22}{'first':>9}{'cpu':>9}{'median':>9}{'× bare':>8}")
    for name, path in pages_of(open_desk(None, (root,), port=1)).items():
        client = _client(root)
        before = time.process_time()
        first = milliseconds(client, path)
        spent = (time.process_time() - before) * 1000
        turns = [(milliseconds(client, path), milliseconds(bare, "/")) for _ in range(TURNS)]
        median, plain = (statistics.median(column) for column in zip(*turns, strict=True))
        print(f"{name:<22}{first:>9.1f}{spent:>9.1f}{median:>9.1f}{median / plain:>8.1f}")


def _client(root: Path) -> TestClient:
    return TestClient(build(open_desk(None, (root,), port=1)), base_url="http://127.0.0.1:1")


def main(arguments: Mapping[str, int]) -> None:
    bare = TestClient(Starlette(routes=[Route("/", lambda _: PlainTextResponse("hello"))]))
    milliseconds(bare, "/")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make_life(place / "life")
        milliseconds(_client(place / "life"), "/corpus")  # Imports and templates are read once a process.
        measure("the samples, 60 pictures", place / "life", bare)
        make_large(place / "large", arguments["pictures"])
        measure(f"{arguments['pictures']:,} pictures", place / "large", bare)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pictures", type=int, default=100_000)
    main(vars(parser.parse_args()))
