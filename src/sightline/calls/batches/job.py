"""A batch job: a folder with the requests of a stage in files that a provider's batch endpoint takes.

Also the requests themselves on disk: as a user writes them, and as a job keeps them until they are answered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import orjson

from sightline.calls.request_key import UnreadablePictureError, file_of, request_key
from sightline.config.settings import ModelSettings
from sightline.errors import UserError, explained
from sightline.io.files import write_whole
from sightline.io.jsonl import LineError, read_json, read_jsonl, read_lines, write_json
from sightline.io.locks import take_lock
from sightline.models.http import HttpTransport
from sightline.models.providers import PROVIDERS
from sightline.models.transport_factory import open_transport
from sightline.models.wire_settings import Api
from sightline.types import ChatRequest, Failure, ImagePart, Message, ToolCall, ToolSpec

_FIELDS = frozenset({"id", "prompt", "system", "pictures", "schema"})
_PLAIN = tuple(field for field in fields(ChatRequest) if field.name not in ("messages", "tools", "stop"))
MANIFEST = "batch.json"
ITEMS = "items.jsonl"
PICTURES = "pictures"
RESULTS = "results.jsonl"
DOWNLOADS = "downloads"
_LOCK = ".lock"
_VERSION = 2
_READ = (1, 2)
"""Version 1 does not say what of the settings was in the keys."""
_BEFORE_BODY = b',"method":"POST"'


def read_requests(path: Path, model: str, **parameters: Any) -> Iterator[tuple[str, ChatRequest]]:
    """Lines of {"id", "prompt", "system"?, "pictures"?, "schema"?}; pictures: paths beside the file, or URLs."""
    for number, row in read_jsonl(path):
        if not isinstance(row, dict):
            raise LineError(path, number, "expected an object", 'for example {"id": "1", "prompt": "…"}')
        _check(path, number, row)
        content = (*(_picture(path, source) for source in row.get("pictures") or ()), row["prompt"])
        system = (Message("system", (row["system"],)),) if row.get("system") else ()
        messages = (*system, Message("user", content))
        yield row["id"], ChatRequest(model, messages, schema=row.get("schema"), **parameters)


def _check(path: Path, number: int, row: Mapping[str, Any]) -> None:
    wrong = sorted(row.keys() - _FIELDS)
    if wrong:
        raise LineError(path, number, f'unknown field "{wrong[0]}"', f"fields: {', '.join(sorted(_FIELDS))}")
    for name in ("id", "prompt"):
        if not isinstance(row.get(name), str) or not row[name]:
            raise LineError(path, number, f'"{name}" must be a text that is not empty')
    if row.get("system") is not None and not isinstance(row["system"], str):
        raise LineError(path, number, '"system" must be a text')
    pictures = row.get("pictures")
    if pictures is not None and not (isinstance(pictures, list) and all(isinstance(one, str) for one in pictures)):
        raise LineError(path, number, '"pictures" must be a list of paths or addresses')
    if row.get("schema") is not None and not isinstance(row["schema"], dict):
        raise LineError(path, number, '"schema" must be a JSON schema, which is an object')


def _picture(path: Path, source: str) -> ImagePart:
    file = file_of(ImagePart(source))
    return ImagePart(source if file is None or source.startswith("file://") else str(path.parent / file))


# --- as a job keeps them -------------------------------------------------------------------------------------


def to_json(request: ChatRequest, folder: Path) -> dict[str, Any]:
    """A request without what is at its default; pictures at hand go to `folder`, by their hash."""
    found: dict[str, Any] = {"messages": [_message(message, folder) for message in request.messages]}
    for field in _PLAIN:
        value = getattr(request, field.name)
        if field.name == "extra" and not value:
            continue
        if value != field.default:
            found[field.name] = dict(value) if isinstance(value, Mapping) else value
    if request.tools:
        found["tools"] = [{**asdict(tool), "parameters": dict(tool.parameters)} for tool in request.tools]
    if request.stop:
        found["stop"] = list(request.stop)
    return found


def from_json(found: Mapping[str, Any], folder: Path) -> ChatRequest:
    """The request that `to_json` was given."""
    rest: dict[str, Any] = dict(found)
    messages = tuple(
        Message(
            message["role"],
            tuple(part if isinstance(part, str) else _part(part, folder) for part in message["content"]),
            tuple(ToolCall(**call) for call in message.get("tool_calls", ())),
            message.get("tool_call_id"),
        )
        for message in rest.pop("messages")
    )
    tools = tuple(ToolSpec(**tool) for tool in rest.pop("tools", ()))
    return ChatRequest(messages=messages, tools=tools, stop=tuple(rest.pop("stop", ())), **rest)


def _message(message: Message, folder: Path) -> dict[str, Any]:
    content = [part if isinstance(part, str) else _keep(part, folder) for part in message.content]
    found: dict[str, Any] = {"role": message.role, "content": content}
    if message.tool_calls:
        found["tool_calls"] = [asdict(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        found["tool_call_id"] = message.tool_call_id
    return found


def _keep(part: ImagePart, folder: Path) -> dict[str, str]:
    if part.data is not None:
        name = hashlib.sha256(part.data).hexdigest()
        if not (folder / name).exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(folder / name, part.data)
        return {"kept": name, "detail": part.detail}
    file = file_of(part)
    source = part.source if file is None or part.source.startswith("file://") else str(file.absolute())
    return {"source": source, "detail": part.detail}


def _part(found: Mapping[str, Any], folder: Path) -> ImagePart:
    source = str(folder / found["kept"]) if "kept" in found else found["source"]
    return ImagePart(source, detail=found["detail"])


@dataclass(frozen=True, slots=True)
class BatchShard:
    """One file of lines, which becomes one batch; `round` is 0 for the first asking, and counts retries."""

    file: str
    requests: int
    bytes: int
    sha256: str
    round: int = 0


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One wanted answer; `failure` when it could not be asked for at all."""

    id: str
    key: bytes
    request: ChatRequest | None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class BatchJob:
    """What `make` wrote: who is asked for what, and the files to submit."""

    folder: Path
    id: str
    stage: str
    model: str
    endpoint: str
    api: Api
    made: float
    requests: int
    known: int
    "So many are answered in the journal, or are the same as another: they are in no file."
    refused: int
    "So many can't be sent."
    window: str
    max_requests: int
    max_bytes: int
    price_factor: float | None
    wire: str | None
    "What of the settings is in the keys of the requests, and in their bodies; None for a job of an earlier version."
    shards: tuple[BatchShard, ...]

    @property
    def url(self) -> str:
        """Where each line is sent, in the words of a batch file."""
        return "/v1/chat/completions" if self.api == "chat" else "/v1/responses"

    def save(self, folder: Path | None = None) -> None:
        """Write batch.json, whole or not at all."""
        content = {"version": _VERSION, **asdict(self)}
        del content["folder"]
        write_json((folder or self.folder) / MANIFEST, content)

    def with_shards(self, shards: Iterable[BatchShard]) -> BatchJob:
        """The job with more files."""
        return replace(self, shards=(*self.shards, *shards))

    def items(self) -> Iterator[BatchItem]:
        """All wanted answers, in the order in which they were given."""
        for _, row in read_jsonl(self.folder / ITEMS):
            yield _item(row, self.folder / PICTURES)

    def ids(self, shard: BatchShard) -> list[str]:
        """What a file asks for, in order."""
        return [line_id(line) for _, line in read_lines(self.folder / shard.file)]

    def check(self, shard: BatchShard) -> Path:
        """The file of a shard, if it is still what `make` wrote."""
        path = self.folder / shard.file
        with explained(f"{path} can't be read", "copy the whole folder of the job"), path.open("rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == shard.sha256
        if not same:
            raise UserError(f"{path} is not what `batch make` wrote.", "copy the job again, or make it anew")
        return path

    def open_transport(self, models: ModelSettings | None = None) -> HttpTransport:
        """What reads the model's replies; it sends nothing, so it needs no key."""
        return open_http(self.model, base_url=self.endpoint, api=self.api, models=models)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else on this machine submits, reads or retries this job meanwhile; ends with the process."""
        with (self.folder / _LOCK).open("wb") as file:
            if not take_lock(file, wait=False):
                raise UserError(f"another process is working on {self.folder}.", "wait until it is done, or end it")
            yield


def open_http(
    model: str,
    *,
    base_url: str | None = None,
    api: Api | None = None,
    models: ModelSettings | None = None,
    local_only: bool = False,
) -> HttpTransport:
    """What writes and reads the lines of batches for this model; it sends nothing, so it needs no key."""
    known = PROVIDERS.get(model.partition("/")[0])
    if known is None or known.kind == "http":
        opened = open_transport(model, base_url=base_url, api=api, models=models, local_only=local_only, sends=False)
        if isinstance(opened, HttpTransport):
            return opened
    raise UserError(
        f"{model} has no OpenAI-style batches.",
        "use openai/…, or any OpenAI-compatible server with --base-url; vllm/… for files that `vllm run-batch` runs",
    )


def load_job(folder: Path) -> BatchJob:
    """A job from its folder."""
    path = folder / MANIFEST
    if not path.is_file():
        raise UserError(f"{folder} is no batch job: it has no {MANIFEST}.", "make one with `sightline batch make`")
    found = read_json(path)
    if not isinstance(found, dict) or found.pop("version", None) not in _READ:
        raise UserError(f"{path} is of another version.", "pip install --upgrade sightline")
    try:
        shards = tuple(BatchShard(**shard) for shard in found.pop("shards"))
        return BatchJob(folder=folder, shards=shards, **{"wire": None, **found})
    except (TypeError, KeyError) as error:
        raise UserError(f"{path} is not what `batch make` wrote: {error}.", "make the job anew") from error


def batch_line(custom_id: str, url: str, body: bytes) -> bytes:
    """One line of a batch file; the body goes in as the bytes that a live call would send."""
    return b'{"custom_id":%b%b,"url":%b,"body":%b}\n' % (
        orjson.dumps(custom_id),
        _BEFORE_BODY,
        orjson.dumps(url),
        body,
    )


def line_id(row: bytes) -> str:
    """The custom_id of a line, without reading its pictures."""
    head, found, _ = row.partition(_BEFORE_BODY)  # Can't be inside the id: quotes are escaped there.
    custom_id = orjson.loads(head + b"}")["custom_id"] if found else orjson.loads(row)["custom_id"]
    return str(custom_id)


def item_row(custom_id: str, key: bytes, request: Mapping[str, Any] | None, failure: Failure | None) -> dict[str, Any]:
    """A line of items.jsonl."""
    row: dict[str, Any] = {"id": custom_id, "key": key.hex(), "request": request}
    if failure is not None:
        row["failure"] = {"kind": failure.kind, "message": failure.message}
    return row


def _item(row: Mapping[str, Any], pictures: Path) -> BatchItem:
    failure = Failure(**row["failure"]) if "failure" in row else None
    request = None if row["request"] is None else from_json(row["request"], pictures)
    return BatchItem(row["id"], bytes.fromhex(row["key"]), request, failure)


def key_of(request: ChatRequest, endpoint: str, wire: str) -> bytes | Failure:
    """The journal's key of a live call; a failure when the request can't be read or written."""
    try:
        return request_key(request, endpoint, wire)
    except UnreadablePictureError as error:
        return Failure("bad-picture", str(error))
    except TypeError as error:
        return Failure("bad-request", f"the request can't be written as JSON: {error}")
