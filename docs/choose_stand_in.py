"""The stand-in of docs/difficulty.md: `python docs/choose_stand_in.py` makes `choose-bench`, and serves on port 8317.

It is right with probability 1 − 0.9 · (the question's dial) if it is shown all words, and all pictures in order, and
else guesses: it knows each picture by its bytes. Lots are drawn by what is asked, and how often it was asked before, so
that the same commands get the same replies.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any, ClassVar

from sightline.types import Benchmark, Choice, Task
from sightline_world.choose import choose_task
from sightline_world.choose.benchmark import write_choose_benchmark

FOLDER = Path("choose-bench")


class StandIn(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bench: Benchmark
    pictures: dict[bytes, str]
    asked: ClassVar[Counter[bytes]] = Counter()
    counting = threading.Lock()

    def do_POST(self) -> None:
        given = self.rfile.read(int(self.headers["Content-Length"]))
        parts = [part for message in json.loads(given)["messages"] for part in message["content"]]
        said = self._said(parts, self._lot(_print(given)))
        choice = {"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 900, "completion_tokens": 12}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _lot(self, asked: bytes) -> Random:
        with self.counting:
            self.asked[asked] += 1
            return Random(f"{asked.hex()} {self.asked[asked]}")

    def _said(self, parts: list[dict[str, Any]], lot: Random) -> str:
        words = "".join(part.get("text", "") for part in parts)
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        seen = [self.pictures.get(_print(base64.b64decode(url.partition(",")[2]))) for url in urls]
        task = next((task for task in self.bench.tasks.values() if _is_whole(task, words, seen)), None)
        if task is not None and lot.random() < 1 - 0.9 * float(str(task.extra["difficulty"])):
            truth = self.bench.truth[task.id]
            assert isinstance(truth, Choice)
            return f"Your option: {truth.option}\nReason: it looks so."
        return f"Your option: {lot.choice('ABCD')}\nReason: a guess."

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _is_whole(task: Task, words: str, seen: list[str | None]) -> bool:
    texts = [part for part in task.prompt if isinstance(part, str)]
    return seen == [ref.id for ref in task.shown] and all(text in words for text in texts)


def _print(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


if __name__ == "__main__":
    StandIn.bench = write_choose_benchmark((choose_task(number, seed=7) for number in range(240)), FOLDER)
    known = StandIn.bench.corpus.pictures.values()
    StandIn.pictures = {_print((FOLDER / picture.uri).read_bytes()): picture.id for picture in known}
    server = ThreadingHTTPServer(("127.0.0.1", 8317), StandIn)
    sys.stderr.write(f"{FOLDER} is made; serving at http://127.0.0.1:8317/v1\n")
    server.serve_forever()
