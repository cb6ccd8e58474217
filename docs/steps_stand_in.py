"""The stand-in of docs/steps.md: `python docs/steps_stand_in.py` makes `exact` and `bare`, and serves on port 8318.

`bare` has a world question of each subtask without its steps. The server knows them, and makes mistakes on purpose: a
caption left out, a conclusion that names no option, and in one question stubbornly so.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from sightline.benchmark.folder import write_benchmark_elsewhere
from sightline.types import Benchmark, Box, Choice
from sightline_world.choose import choose_task
from sightline_world.choose.benchmark import write_choose_benchmark

EDGES = ("left", "top", "right", "bottom")
STUBBORN = 10


def made() -> Benchmark:
    exact = write_choose_benchmark((choose_task(number, seed=7) for number in range(12)), "exact")
    truth = {name: Choice(one.option) for name, one in exact.truth.items() if isinstance(one, Choice)}
    write_benchmark_elsewhere(replace(exact, truth=truth), Path("exact"), Path("bare"))
    return exact


def reply(exact: Benchmark, task: str) -> dict[str, Any]:
    """The exact steps of a question, in the form in which a model is to give them."""
    truth, refs = exact.truth[task], [ref.id for ref in exact.tasks[task].shown]
    assert isinstance(truth, Choice)
    said: dict[str, Any] = {"captions": [], "answer": truth.option}
    for step in truth.steps:
        numbered = [(refs.index(ref.id) + 1, ref.region or Box(0, 0, 1, 1)) for ref in step.pictures]
        if step.kind == "caption":
            said["captions"].append({"picture": numbered[0][0], "text": step.text})
        elif step.kind in ("summary", "conclusion"):
            said[step.kind] = step.text
        else:
            regions = [{"picture": n, **{edge: getattr(box, edge) for edge in EDGES}} for n, box in numbered]
            said[step.kind.replace("-", "_")] = {"text": step.text, "regions": regions}
    return said


class StandIn(BaseHTTPRequestHandler):
    exact: Benchmark

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        words = "".join(part.get("text", "") for part in asked["messages"][0]["content"])
        tasks = enumerate(self.exact.tasks.values())
        number, task = next((number, task) for number, task in tasks if str(task.prompt[-1]) in words)
        said, first = reply(self.exact, task.id), len(asked["messages"]) == 1
        if number % 3 == 1 and first:
            del said["captions"][0]
        if number % 4 == 2 and (first or number == STUBBORN):
            said |= {"conclusion": "I can't tell.", "answer": ""}
        choice = {"message": {"role": "assistant", "content": json.dumps(said)}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 900, "completion_tokens": 300}
        self._send(json.dumps({"choices": [choice], "usage": usage}).encode())

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    StandIn.exact = made()
    server = HTTPServer(("127.0.0.1", 8318), StandIn)
    sys.stderr.write("bare is made; serving at http://127.0.0.1:8318/v1\n")
    server.serve_forever()
