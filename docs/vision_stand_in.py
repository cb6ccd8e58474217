"""The stand-in of docs/make-with-a-model.md: a server that speaks like OpenAI's, on port 8318 or the one that is given.

It knows the photographs of scikit-image, and says of each what `vision_stand_in.toml` has. It annotates, words queries,
and grades: a picture fits when the words of the query are in what is known of it. Other pictures it refuses.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import tomllib
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

KNOWN: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_SMALL_WORDS = frozenset(["a", "an", "and", "at", "from", "in", "is", "it", "its", "of", "on", "or", "the", "with"])
_FURTHEST = 12.0
"Mean difference of pixels at which two pictures are not the same any more."


def annotation(name: str) -> dict[str, Any]:
    """A reply to "what is in this picture"."""
    said = {key: value for key, value in KNOWN[name].items() if key != "query"}
    return {**said, "confidence": {"subject": 0.95, "setting": 0.9, "people": 0.97}}


def grades(query: str, names: list[str]) -> dict[str, Any]:
    """Which pictures fit a query: those that are known by at least two thirds of its words."""
    asked = _words(query)
    judged = []
    for number, name in enumerate(names, 1):
        share = len(asked & _words(json.dumps(KNOWN[name]))) / max(1, len(asked))
        reason = f"{round(share * 100)} % of the words fit"
        confidence = round(0.6 + 0.35 * abs(2 * share - 1), 2)
        judged.append({"picture": number, "reason": reason, "grade": int(share >= 2 / 3), "confidence": confidence})
    return {"judgments": judged}


def reply(schema: dict[str, Any], text: str, names: list[str]) -> dict[str, Any]:
    """By what the schema asks for: an annotation, the words of a query, or grades."""
    fields = schema["properties"]
    if "summary" in fields:
        return annotation(names[0])
    if "judgments" in fields:
        found = re.search(r"The query, as JSON text: (.*)", text)
        assert found is not None
        return grades(json.loads(found[1]), names)
    return dict.fromkeys(fields, KNOWN[names[0]]["query"])


def name_of(picture: bytes) -> str:
    """Which photograph it is, whatever its size; `KeyError` for others."""
    seen = _small(Image.open(BytesIO(picture)))
    near = {name: float(np.abs(seen - known).mean()) for name, known in _photographs().items()}
    best = min(near, key=near.__getitem__)
    if near[best] > _FURTHEST:
        raise KeyError("a picture that the stand-in does not know")
    return best


@cache
def _photographs() -> dict[str, NDArray[np.float64]]:
    import skimage

    folder = Path(skimage.__path__[0]) / "data"
    return {name: _small(Image.open(folder / name)) for name in KNOWN}


def _small(picture: Image.Image) -> NDArray[np.float64]:
    return np.asarray(picture.convert("RGB").resize((16, 16)), dtype=float)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower())) - _SMALL_WORDS


class StandIn(BaseHTTPRequestHandler):
    """`POST /v1/chat/completions`."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        parts = [part for message in asked["messages"] for part in _parts(message["content"])]
        text = "\n".join(part["text"] for part in parts if part["type"] == "text")
        addresses = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        names = [name_of(base64.b64decode(address.partition(",")[2])) for address in addresses]
        said = reply(asked["response_format"]["json_schema"]["schema"], text, names)
        choice = {"message": {"role": "assistant", "content": json.dumps(said)}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 300 + 250 * len(names), "completion_tokens": len(json.dumps(said)) // 4}
        body = json.dumps({"model": asked["model"], "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8318
    _photographs()
    sys.stderr.write(f"serving at http://127.0.0.1:{port}/v1\n")
    ThreadingHTTPServer(("127.0.0.1", port), StandIn).serve_forever()
