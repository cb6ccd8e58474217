"""A model in this process, by transformers and torch (extra `transformers`)."""

from __future__ import annotations

import asyncio
import importlib
import io
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson
from PIL import Image

from sightline.errors import needs_extra
from sightline.models.failures import clip, failure
from sightline.models.openai_chat import describe_tool, schema_in_words
from sightline.models.picture_cache import PictureCache, PreparedPictures
from sightline.models.protocols import CallOutcome
from sightline.models.providers import ModelName
from sightline.models.replies import ReplyText, check_reply
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatRequest, Failure, ImagePart, Message, Usage

_DEFAULT_MAX_TOKENS = 1024
_UNSUPPORTED = ("tool_choice", "reasoning_effort")
Load: TypeAlias = Callable[[ModelName, bool], tuple[Any, Any]]
"""Of a name and whether nothing may be fetched: a model of transformers, and what reads for it."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    torch: Any
    transformers: Any
    model: Any
    processor: Any
    tokenizer: Any


class TransformersTransport:
    """A local model, loaded when it is first asked; answers one request at a time, in a thread."""

    def __init__(
        self,
        name: ModelName,
        *,
        load: Load,
        settings: WireSettings | None = None,
        local_only: bool = False,
        device: str | None = None,
    ) -> None:
        self.endpoint = f"transformers:{name.model}"
        self._name, self._load = name, load
        self._settings = settings = settings or WireSettings()
        self.wire = settings.fingerprint(name.provider)
        self._device = device
        self._local_only = local_only
        self._pictures = PictureCache(
            settings.limit_for("transformers"), folder=settings.picture_folder, allow_web=False
        )
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        _import(str(name))

    def __repr__(self) -> str:
        return f"TransformersTransport({str(self._name)!r})"

    async def send(self, request: ChatRequest) -> CallOutcome:
        """Generate one reply; stops at the next token when cancelled or too slow."""
        missing = [name for name in _UNSUPPORTED if getattr(request, name) is not None]
        if missing:
            return CallOutcome(failure("unsupported", f"{self._name}: a local model has no {' and no '.join(missing)}"))
        pictures = await self._pictures.prepare(request)
        if isinstance(pictures, Failure):
            return CallOutcome(pictures)
        stop = threading.Event()
        try:
            async with asyncio.timeout(self._settings.total_seconds):
                return await asyncio.to_thread(self._generate, request, pictures, stop)
        except TimeoutError:
            return CallOutcome(failure("timeout", f"{self._name}: not done within {self._settings.total_seconds:g} s"))
        finally:
            stop.set()

    async def close(self) -> None:
        """Let go of the model."""
        self._loaded = None
        await asyncio.to_thread(self._pictures.close)

    def _opened(self) -> _Loaded:
        torch, transformers = _import(str(self._name))
        device = self._device or ("cuda" if torch.cuda.is_available() else "cpu")
        model, processor = self._load(self._name, self._local_only)
        tokenizer = getattr(processor, "tokenizer", processor)
        return _Loaded(torch, transformers, model.to(device).eval(), processor, tokenizer)

    def _generate(self, request: ChatRequest, pictures: PreparedPictures, stop: threading.Event) -> CallOutcome:
        started = time.perf_counter()
        with self._lock:
            if stop.is_set():
                return CallOutcome(failure("timeout", f"{self._name}: given up before its turn came"))
            if self._loaded is None:
                self._loaded = self._opened()
            try:
                said = _reply(self._loaded, request, pictures, stop)
            except (ValueError, RuntimeError, TypeError, KeyError, IndexError) as error:
                return CallOutcome(failure("server-error", f"{self._name}: {type(error).__name__}: {clip(str(error))}"))
        return check_reply(said, request, time.perf_counter() - started)


def _import(name: str) -> tuple[Any, Any]:
    with needs_extra(name, "transformers"):
        return importlib.import_module("torch"), importlib.import_module("transformers")


def _reply(loaded: _Loaded, request: ChatRequest, pictures: PreparedPictures, stop: threading.Event) -> ReplyText:
    torch, tokenizer = loaded.torch, loaded.tokenizer
    messages = [_message(message, pictures) for message in request.messages]
    if request.schema is not None:
        messages.append({"role": "user", "content": [{"type": "text", "text": schema_in_words(request)}]})
    if loaded.processor is tokenizer:
        messages = [{**message, "content": _flat(message["content"])} for message in messages]
    inputs = loaded.processor.apply_chat_template(
        messages,
        tools=[{"type": "function", "function": describe_tool(tool)} for tool in request.tools] or None,
        add_generation_prompt=True,
        tokenize=True,
        return_dict=True,
        return_tensors="pt",
    ).to(loaded.model.device)
    if request.seed is not None:
        torch.manual_seed(request.seed)
    length = inputs["input_ids"].shape[1]
    with torch.inference_mode():
        out = loaded.model.generate(**inputs, **_sampling(loaded, request), **_stopping(loaded, request, stop))
    made = out[0, length:]
    text = tokenizer.decode(made, skip_special_tokens=True)
    return ReplyText(
        text=_before(text, request.stop),
        finish=_finish(loaded, request, made, stop),
        model=loaded.model.config._name_or_path,
        usage=Usage(input=int(length), output=int(made.shape[0])),
    )


def _sampling(loaded: _Loaded, request: ChatRequest) -> dict[str, Any]:
    sampled = request.temperature is not None and request.temperature > 0
    options: dict[str, Any] = {"max_new_tokens": request.max_tokens or _DEFAULT_MAX_TOKENS, "do_sample": sampled}
    if sampled:
        options["temperature"] = request.temperature
    if request.top_p is not None:
        options |= {"top_p": request.top_p, "do_sample": True}
    if loaded.tokenizer.pad_token_id is None:
        options["pad_token_id"] = loaded.tokenizer.eos_token_id
    return options | dict(request.extra)


def _stopping(loaded: _Loaded, request: ChatRequest, stop: threading.Event) -> dict[str, Any]:
    class Given(loaded.transformers.StoppingCriteria):  # type: ignore[name-defined,misc]
        def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
            return loaded.torch.full((input_ids.shape[0],), stop.is_set(), device=input_ids.device)

    options: dict[str, Any] = {"stopping_criteria": loaded.transformers.StoppingCriteriaList([Given()])}
    if request.stop:
        options |= {"stop_strings": list(request.stop), "tokenizer": loaded.tokenizer}
    return options


def _finish(loaded: _Loaded, request: ChatRequest, made: Any, stop: threading.Event) -> str:
    if stop.is_set():
        return "server-error"
    longest = request.max_tokens or _DEFAULT_MAX_TOKENS
    ends = loaded.model.generation_config.eos_token_id
    ended = made.shape[0] > 0 and int(made[-1]) in (ends if isinstance(ends, list) else [ends])
    stopped = any(word in loaded.tokenizer.decode(made) for word in request.stop)
    return "length" if made.shape[0] >= longest and not ended and not stopped else "stop"


def _message(message: Message, pictures: PreparedPictures) -> dict[str, Any]:
    content = [
        {"type": "text", "text": part} if isinstance(part, str) else _picture(part, pictures)
        for part in message.content
    ]
    out: dict[str, Any] = {"role": message.role, "content": content}
    if message.tool_calls:
        out["tool_calls"] = [
            {"type": "function", "function": {"name": call.name, "arguments": _arguments(call.arguments)}}
            for call in message.tool_calls
        ]
    return out


def _arguments(text: str) -> Any:
    """Chat templates want an object; what is none stays text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def _picture(part: ImagePart, pictures: PreparedPictures) -> dict[str, Any]:
    return {"type": "image", "image": Image.open(io.BytesIO(pictures[id(part)].data)).convert("RGB")}


def _flat(content: list[dict[str, Any]]) -> str:
    return "".join(part["text"] for part in content if part["type"] == "text")


def _before(text: str, stops: tuple[str, ...]) -> str:
    """As servers do it: the text ends before the stop string."""
    return text[: min((text.index(stop) for stop in stops if stop in text), default=len(text))]
