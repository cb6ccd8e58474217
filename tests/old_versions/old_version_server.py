"""A model server on loopback whose replies depend only on the request, and which keeps what it was asked.

`build.py` filled the journals of the old version from it. The tests start it again at the same address, which is part
of the journal's keys, to see that nobody asks. What it "sees" in a picture follows from a few of its pixels.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from PIL import Image

PARTS = (
    "search",
    "rerank",
    "ask",
    "taxonomy",
    "annotate",
    "query",
    "judge",
    "mine",
    "think",
    "steps",
    "difficulty",
    "grade",
    "ablate",
    "chat",
    "agent",
    "retriever",
)
COLORS, THINGS = ("red", "green", "blue", "yellow"), ("kite", "boat", "bench")
_BOX = {"left": 0.1, "top": 0.2, "right": 0.6, "bottom": 0.9}
_DIMENSIONS = 32
_FIRST_PORT = 18451
_Json = dict[str, Any]


def port_of(part: str) -> int:
    """The port of a part: each has its own, below those that the system gives away, so that parts can run at once."""
    return _FIRST_PORT + PARTS.index(part)


def url_of(part: str) -> str:
    return f"http://127.0.0.1:{port_of(part)}/v1"


class OldVersionServer:
    """`asked`: every request, as (path, body)."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, _Json]] = []

    @property
    def paid(self) -> list[str]:
        """What nobody may pay for again: every call but the vector of a text, which a run asks for each time."""
        return [f"{path}: {_words(body)[:200]}" for path, body in self.asked if "messages" in body]

    def answer(self, path: str, body: _Json) -> _Json:
        self.asked.append((path, body))
        return _embeddings(body) if path.endswith("/embeddings") else _completion(body)


@contextmanager
def serving(part: str, patience: float = 60) -> Iterator[OldVersionServer]:
    """The server at the address of a part; waits while another run of the tests holds it."""
    server = OldVersionServer()
    listening = _listen(port_of(part), server.answer, patience)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def _listen(port: int, answer: Callable[[str, _Json], _Json], patience: float) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            sent = json.dumps(answer(self.path, body)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            pass

    until = time.monotonic() + patience
    while True:
        try:
            server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
            server.daemon_threads = True
            return server
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)


# --- what was asked --------------------------------------------------------------------------------------------


def _parts(body: _Json) -> list[_Json]:
    found: list[_Json] = []
    for message in body.get("messages", []):
        content = message.get("content") or []
        found += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return found


def _words(body: _Json) -> str:
    return "\n".join(part["text"] for part in _parts(body) if part.get("type") == "text")


def _pictures(body: _Json) -> list[bytes]:
    urls = [part["image_url"]["url"] for part in _parts(body) if part.get("type") == "image_url"]
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


def _number(*parts: object) -> int:
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode()).digest()[:6], "big")


def _mark(picture: bytes) -> list[bool]:
    """Which parts of a picture are light; the same for a copy that was encoded again."""
    with Image.open(io.BytesIO(picture)) as image:
        small = image.convert("L").resize((4, 3), Image.Resampling.BOX)
        return [value > 127 for value in small.tobytes()]


def _seen(picture: bytes) -> list[tuple[str, str]]:
    """The things in a picture, as (color, thing)."""
    mark = _mark(picture)
    drawn = ((COLORS[_number(mark, n) % 4], THINGS[_number(mark, n, "thing") % 3]) for n in range(2))
    return list(dict.fromkeys(drawn))


def _sign(picture: bytes) -> list[str]:
    """Words in one picture of four."""
    mark = _number(_mark(picture), "sign")
    return [f"QUAY {mark % 89}"] if mark % 4 == 0 else []


# --- vectors ---------------------------------------------------------------------------------------------------


def _embeddings(body: _Json) -> _Json:
    if "messages" in body:
        pictures = _pictures(body)
        texts = [" ".join(_tokens_of(picture)) for picture in pictures] or [_words(body)]
    else:
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    data = [{"index": place, "embedding": _vector(text)} for place, text in enumerate(texts)]
    return {"data": data, "model": body["model"], "usage": {"prompt_tokens": 5, "total_tokens": 5}}


def _tokens_of(picture: bytes) -> list[str]:
    return [word for pair in _seen(picture) for word in pair] + [
        word for sign in _sign(picture) for word in sign.split()
    ]


def _vector(text: str) -> list[float]:
    """Words by their hash, so that texts and pictures with the same words are near each other."""
    found = [0.01] * _DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        found[_number(word) % _DIMENSIONS] += 1.0
    return found


# --- replies ---------------------------------------------------------------------------------------------------


def _completion(body: _Json) -> _Json:
    message = _message(body)
    finish = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    usage = {"prompt_tokens": 120, "completion_tokens": 40, "total_tokens": 160}
    return {"id": "1", "object": "chat.completion", "model": body["model"], "choices": [choice], "usage": usage}


def _message(body: _Json) -> _Json:
    words, pictures = _words(body), _pictures(body)
    seed = _number(body["model"], words, [hashlib.sha256(picture).hexdigest() for picture in pictures])
    wanted = (body.get("response_format") or {}).get("json_schema")
    if wanted:
        return {"content": json.dumps(_structured(wanted["name"], wanted["schema"], words, pictures, seed))}
    tools = [tool["function"]["name"] for tool in body.get("tools", [])]
    if "ImageSearch" in tools and not any(message["role"] == "assistant" for message in body["messages"]):
        call = {"name": "ImageSearch", "arguments": json.dumps({"text": _asked_colors(words)[0], "top_k": 3})}
        return {"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": call}]}
    return {"content": _text(words, pictures, seed)}


def _text(words: str, pictures: Sequence[bytes], seed: int) -> str:
    color = _seen(pictures[0])[0][0] if pictures else "plain"
    if label := re.search(r"Is it a (.+?)\?", words):
        rest = ("It swims from left to right, and its tail is wide.", "Bubbles rise in the dark water around its back.")
        return (
            f"<think>I see a {label[1]} and think about what else is there, step by step.</think>"
            f"The picture shows a {label[1]} in a quiet place. {rest[seed % 2]} It looks {color} in this light."
        )
    if "Your option:" in words:
        return f"Your option: {_option(words, seed)}\nReason: it looks {color}."
    if "The final answer is: [" in words:
        found = dict.fromkeys(re.findall(r'"([^"\s]+\.jpg)"', words))
        return f"I looked well.\nThe final answer is: [{', '.join(list(found)[:3])}]."
    return f"I looked well.\nThe final answer is: {_option(words, seed)}."


def _option(words: str, seed: int) -> str:
    if told := re.search(r"[Tt]he right answer(?: is|, which is) \"?([A-F])\b", words):
        return told[1]
    keys = re.findall(r"^\(?([A-F])[).:]", words, re.MULTILINE)
    return keys[seed % len(keys)] if keys else "A"


def _structured(name: str, schema: _Json, words: str, pictures: Sequence[bytes], seed: int) -> Any:
    makers: dict[str, Callable[[], Any]] = {
        "sightline_annotation": lambda: _annotation(pictures[0]),
        "sightline_query": lambda: {"query_text": f"plain flat {_asked_colors(words)[0]}"},
        "sightline_judgments": lambda: _judgments(words, pictures),
        "photo_clues": lambda: _clues(pictures[0]),
        "same_things": lambda: _matches(words, pictures[1:], rule=True),
        "second_look": lambda: _matches(words, pictures, rule=False),
        "requests": lambda: {"queries": list(_requests(words))},
        "Verdicts": lambda: _verdicts(words),
    }
    if name in makers:
        return makers[name]()
    fields = schema.get("properties", {})
    if "conclusion" in fields:
        return _reasoning(words, len(pictures), seed)
    if "grades" in fields:
        colors = [_seen(picture)[0][0] for picture in pictures]
        return {"grades": [{"picture": at, "grade": 1 + 2 * (color == "red")} for at, color in enumerate(colors, 1)]}
    return _fitting(schema, schema, seed)


def _asked_colors(words: str) -> list[str]:
    """Colors that the words name, in the order in which they do."""
    return re.findall("|".join(COLORS), words.lower()) or ["red"]


def _annotation(picture: bytes) -> _Json:
    color, thing = _seen(picture)[0]
    return {
        "summary": f"There is a {color} {thing}.",
        "color": color,
        "is_warm": color in ("red", "yellow"),
        "tags": [color, "plain", "flat"],
        "confidence": {"color": 0.9, "is_warm": 0.8},
    }


def _judgments(words: str, pictures: Sequence[bytes]) -> _Json:
    wanted = _asked_colors(words.partition("JSON text:")[2].partition("\n")[0])
    colors = [_seen(picture)[0][0] for picture in pictures]
    rows = [
        {"picture": place, "reason": f"It is {color}.", "grade": int(color in wanted), "confidence": 0.9}
        for place, color in enumerate(colors, 1)
    ]
    return {"judgments": rows}


def _noted(picture: bytes) -> list[tuple[str, str]]:
    """What is told of a picture in a history: nothing of some, so that there is less to compare."""
    return _seen(picture) if _mark(picture)[0] else []


def _clues(picture: bytes) -> _Json:
    seen = _noted(picture)
    things = [
        {"kind": thing, "colour": color, "description": f"a {color} {thing}", "landmark": False, "confidence": 0.95}
        for color, thing in seen
    ]
    said = " and ".join(f"a {color} {thing}" for color, thing in seen)
    return {
        "summary": f"There is {said or 'nothing'}.",
        "place": "a quay",
        "objects": things,
        "visible_text": _sign(picture) if seen else [],
        "people": [],
    }


def _matches(words: str, pictures: Sequence[bytes], *, rule: bool) -> _Json:
    wanted = re.findall(r"Query: (.*)", words)[0]
    found = {}
    for place, picture in enumerate(pictures, 1):
        match = any(f"{color} {thing}" in wanted for color, thing in _noted(picture))
        verdict: _Json = {"photo": f"c{place}", "match": match, "reason": "so", "confidence": 0.9}
        if rule:
            verdict["rule"] = "matching-features" if match else "none"
        found[f"c{place}"] = verdict
    return found


def _requests(words: str) -> Iterator[_Json]:
    """What is seen at one event only is the anchor; something else of that event, seen at others too, is wanted."""
    listed = re.findall(r"^E\d+: .*; photos (.*)$", words, re.MULTILINE)
    events = {photo: place for place, line in enumerate(listed) for photo in line.split(", ")}
    clues = re.findall(r"^(C\d+): \w+ in (P\d+): (.*?) \(.*\); (\d+) events? of", words, re.MULTILINE)
    anchors = [clue for clue in clues if clue[3] == "1"][:3]
    for anchor, photo, sign, _ in anchors:
        for target, where, thing, count in clues:
            if count != "1" and where != photo and events.get(where) == events.get(photo):
                query = f"Find my pictures of {thing} from the day on which I saw {sign}."
                yield {
                    "query": query,
                    "relation": "same-event",
                    "anchor": [anchor],
                    "link": "",
                    "target": [target],
                    "photos": [],
                    "reasoning": "The sign tells the day.",
                }
                break


def _verdicts(words: str) -> _Json:
    claims = [int(claim) for claim in re.findall(r"^(\d+)\. ", words, re.MULTILINE)]
    return {"verdicts": [{"claim": claim, "verdict": "supported"} for claim in claims]}


def _reasoning(words: str, pictures: int, seed: int) -> _Json:
    key = _option(words, seed)
    first, second = {"picture": 1, **_BOX}, {"picture": min(2, pictures), **_BOX}
    return {
        "summary": "It is asked which way it goes.",
        "captions": [{"picture": place, "text": f"Blobs number {place}."} for place in range(1, pictures + 1)],
        "text_to_region": {"text": "It is the blob.", "regions": [first]},
        "region_to_region": {"text": "It has moved.", "regions": [first, second]},
        "conclusion": f"It goes that way. The answer is {key}.",
        "answer": key,
    }


def _fitting(schema: _Json, root: _Json, seed: int) -> Any:
    """Some value that fits a schema."""
    if "$ref" in schema:
        return _fitting(root["$defs"][schema["$ref"].rpartition("/")[2]], root, seed)
    if "enum" in schema:
        return schema["enum"][seed % len(schema["enum"])]
    match schema.get("type"):
        case "object":
            return {key: _fitting(each, root, seed) for key, each in schema["properties"].items()}
        case "array":
            return [_fitting(schema["items"], root, seed)] * max(1, schema.get("minItems", 1))
        case "integer":
            low = schema.get("minimum", 1)
            return low + seed % (schema.get("maximum", low + 2) - low + 1)
        case "number":
            return 0.9
        case "boolean":
            return seed % 2 == 0
        case _:
            return "some words"
