"""Embedders behind HTTP: OpenAI's, vLLM's (Qwen3-VL-Embedding, CLIP, SigLIP, …) and any other that speaks the same.

First the wire (what is asked of an OpenAI-compatible server, and what its reply says), then the embedder that uses it.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import io
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field

from sightline.calls.budget import BudgetLike
from sightline.calls.caller import Caller
from sightline.calls.journal import Journal
from sightline.calls.plan import StagePlan, plan_stage
from sightline.calls.prices import Prices
from sightline.calls.rate_limit import RateLimits
from sightline.calls.tokens import request_tokens
from sightline.config.section import Hidden, StrictModel
from sightline.engine.event_loop import LoopThread
from sightline.engine.worker_pool import cores
from sightline.errors import SightlineError, UserError
from sightline.models.embedders.base import AttemptEmbedder, EmbeddingAttempt, all_or_raise, as_attempt
from sightline.models.failures import body_failure, failure
from sightline.models.http import HttpTransport, address_of
from sightline.models.openai_chat import add_extra, chat_messages
from sightline.models.picture_cache import PreparedPictures
from sightline.models.protocols import CallOutcome, Pixels, Vectors
from sightline.models.providers import ModelName, wire_model
from sightline.models.replies import read_usage
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Json, Message

PATH = "/embeddings"
Encoding: TypeAlias = Literal["base64", "float"]
_STAGE = "embed"
_SILENT = 0
"""Tokens of a reply: an embedder says nothing, so nothing is set aside for it."""
_SIDE = 1024
_QUALITY = 95
_SPLIT = frozenset({"bad-request", "length", "content-filter", "unsupported"})
"""A refusal of one input among many: the list is halved until it is found."""


@dataclass(frozen=True, slots=True)
class EmbeddingReply(ChatReply):
    """A reply that is vectors, one row for each input, as the server sent them; the journal keeps all but them."""

    vectors: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32), repr=False)


@dataclass(frozen=True, slots=True)
class EmbeddingForm:
    """How a server wants to be asked.

    A request with pictures is always a conversation (`messages`); one of texts alone is a conversation too where
    `as_messages` says so, else a list of inputs.
    """

    encoding: Encoding = "float"
    dimensions: int | None = None
    as_messages: bool = False
    extra: Mapping[str, Json] = field(default_factory=dict)
    "More fields of the body."


class EmbeddingTransport(HttpTransport):
    """One attempt at one embedding call; a conversation gives one vector, a list of inputs one for each."""

    def __init__(
        self,
        name: ModelName,
        endpoint: str,
        form: EmbeddingForm,
        *,
        key: Hidden | None = None,
        settings: WireSettings | None = None,
        local_only: bool = False,
    ) -> None:
        super().__init__(name, endpoint, key=key, settings=settings, local_only=local_only)
        self.form = form
        self._url = address_of(endpoint, PATH)

    def __repr__(self) -> str:
        return f"EmbeddingTransport({str(self._name)!r}, {self.endpoint!r})"

    def _build(self, request: ChatRequest, pictures: PreparedPictures) -> dict[str, Any]:
        body: dict[str, Any] = {"model": wire_model(request.model, self._name.provider.name)}
        if self._is_conversation(request):
            body["messages"] = chat_messages(request, pictures)
        else:
            body["input"] = [message.content[0] for message in request.messages]
        body["encoding_format"] = self.form.encoding
        if self.form.dimensions is not None:
            body["dimensions"] = self.form.dimensions
        for extra in (self._settings.extra, self.form.extra, request.extra):
            add_extra(body, extra)
        return body

    def read(self, payload: Mapping[str, Any], request: ChatRequest, seconds: float | None = None) -> CallOutcome:
        """What a reply's JSON means: vectors, or the failure that it is."""
        asked = self._asked(request)
        broken = body_failure(payload, asked)
        if broken is not None:
            return CallOutcome(replace(broken, message=self._scrub(broken.message)))
        usage = read_usage(payload.get("usage"))
        expected = 1 if self._is_conversation(request) else len(request.messages)
        found = parse_embeddings(payload.get("data"), expected)
        if isinstance(found, str):
            return CallOutcome(failure("wrong-schema", f"{asked}: {found}"), partial=ChatReply("", usage=usage))
        model = payload.get("model")
        return CallOutcome(
            EmbeddingReply(
                "", model=model if isinstance(model, str) else None, usage=usage, seconds=seconds, vectors=found
            )
        )

    def _is_conversation(self, request: ChatRequest) -> bool:
        return self.form.as_messages or any(
            isinstance(part, ImagePart) for message in request.messages for part in message.content
        )


def parse_embeddings(data: Any, expected: int) -> NDArray[np.float32] | str:
    """The vectors in the order of their inputs, or what is wrong with them."""
    if not isinstance(data, list) or len(data) != expected:
        found = f"{len(data)} embeddings" if isinstance(data, list) else "no embeddings"
        return f"the reply holds {found}, {expected} were asked for"
    rows: list[NDArray[np.float32] | None] = [None] * expected
    for place, item in enumerate(data):
        index = item.get("index", place) if isinstance(item, Mapping) else None
        row = _vector(item["embedding"]) if isinstance(item, Mapping) and "embedding" in item else None
        if row is None or not isinstance(index, int) or not 0 <= index < expected or rows[index] is not None:
            return f"embedding {place + 1} of the reply is not a vector, or has no place"
        rows[index] = row
    lengths = {len(row) for row in rows if row is not None}
    if len(lengths) != 1 or lengths == {0}:
        return f"the embeddings of the reply are of different lengths: {sorted(lengths)}"
    return np.stack([row for row in rows if row is not None])


def _vector(value: Any) -> NDArray[np.float32] | None:
    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4").astype(np.float32)
        found = np.asarray(value, dtype=np.float32) if isinstance(value, list) else None
    except (binascii.Error, ValueError, TypeError):
        return None
    return found if found is not None and found.ndim == 1 else None


class EndpointOptions(StrictModel):
    """How an embedding server is asked; what changes a vector is part of the embedder's revision."""

    base_url: str | None = Field(None, description="The address of the server, if not its usual one.")
    dimensions: int | None = Field(None, ge=1, description="Length of the vectors, where the model can shorten them.")
    encoding_format: Encoding | None = Field(
        None, description="How vectors travel; what suits the server when not set."
    )
    texts_as: Literal["input", "messages"] | None = Field(
        None, description="Texts as a list of inputs, or each as a conversation that the chat template is applied to."
    )
    instruction: str | None = Field(None, description="What a conversation begins with, as the system's message.")
    prefix: str = Field("", description="Put before every text.")
    at_once: int = Field(32, ge=1, description="Requests under way at once.")
    texts_per_request: int = Field(64, ge=1, description="Texts in one list of inputs.")
    revision: str | None = Field(None, description="Tells this model from others under the same name and address.")
    extra: dict[str, Any] = Field({}, description="More fields of every request's body.")


class EndpointEmbedder(AttemptEmbedder):
    """Asks a server; every call goes through the workspace's journal, and a failed input fails alone."""

    def __init__(
        self,
        transport: EmbeddingTransport,
        *,
        name: str,
        revision: str,
        workspace: Path,
        options: EndpointOptions,
        prices: Prices | None = None,
        budget: BudgetLike | None = None,
        sees: bool = True,
        ends_open: bool = False,
    ) -> None:
        """`ends_open`: a conversation ends with an empty answer that the model goes on from (Qwen3-VL-Embedding)."""
        self.name, self.revision = name, revision
        self.side, self.batch = _SIDE, 2 * options.at_once
        self.text_batch = options.at_once * (1 if transport.form.as_messages else options.texts_per_request)
        self._transport, self._options = transport, options
        self._sees, self._ends_open = sees, ends_open
        self._workspace, self._prices, self._budget = workspace, prices or Prices(), budget
        self._dim: int | None = options.dimensions
        self._loop: LoopThread | None = None
        self._journal: Journal | None = None
        self._caller: Caller | None = None
        self._encoders: ThreadPoolExecutor | None = None

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self.name!r}, {self._transport.endpoint!r})"

    @property
    def endpoint(self) -> str:
        """Where it is asked."""
        return self._transport.endpoint

    @property
    def dim(self) -> int:
        """The length of the vectors: as asked for, as seen, or as one short call tells."""
        if self._dim is None:
            self._dim = int(self.texts(["a"]).shape[1])
        return self._dim

    def joint(self, pictures: Sequence[Pixels], texts: Sequence[str]) -> Vectors:
        """One unit-length row for each picture together with its text."""
        parts = self._encoded(pictures)
        return all_or_raise(self._converse([(part, text) for part, text in zip(parts, texts, strict=True)]))

    def attempt_pictures(self, batch: Sequence[Pixels]) -> EmbeddingAttempt:
        """The same, with failures by position."""
        return self._converse([(part,) for part in self._encoded(batch)])

    def attempt_texts(self, batch: Sequence[str]) -> EmbeddingAttempt:
        """The same, with failures by position; whether a server cuts long texts is not known."""
        return self._run(self._text_asks(batch))

    def plan_pictures(self, files: Iterable[Path]) -> StagePlan:
        """What embedding the pictures of these files would take; asks nobody."""
        self._refuse_blind()
        return self._plan(self._conversation((ImagePart(str(file)),)) for file in files)

    def plan_texts(self, texts: Iterable[str]) -> StagePlan:
        """What embedding these texts would take; asks nobody."""
        rest = iter(texts)
        pages = iter(lambda: list(islice(rest, self.text_batch)), [])
        return self._plan(ask.request for page in pages for ask in self._text_asks(page))

    def close(self) -> None:
        """Close connections, journal and threads; safe to call twice."""
        if self._encoders is not None:
            self._encoders.shutdown()
            self._encoders = None
        if self._loop is not None and self._caller is not None:
            self._loop.call(self._caller.close())
            self._loop.close()
        if self._journal is not None:
            self._journal.close()
        self._loop = self._caller = self._journal = None

    # --- asking ---------------------------------------------------------------------------------------------

    def _refuse_blind(self) -> None:
        if not self._sees:
            raise UserError(f"{self.name} embeds texts only.", "choose an embedder that sees pictures, such as photos")

    def _encoded(self, pictures: Sequence[Pixels]) -> list[ImagePart]:
        self._refuse_blind()
        if self._encoders is None:
            self._encoders = ThreadPoolExecutor(cores(), "sightline-encode")
        return list(self._encoders.map(_encode, pictures))

    def _text_asks(self, batch: Sequence[str]) -> list[_Ask]:
        texts = [self._options.prefix + text for text in batch]
        if self._transport.form.as_messages:
            return [_Ask(self._conversation((text,)), 1) for text in texts]
        messages = [Message("user", (text,)) for text in texts]
        step = self._options.texts_per_request
        lists = [tuple(messages[start : start + step]) for start in range(0, len(messages), step)]
        return [_Ask(ChatRequest(self.name, part, max_tokens=_SILENT), len(part)) for part in lists]

    def _conversation(self, content: tuple[str | ImagePart, ...]) -> ChatRequest:
        before = (Message("system", (self._options.instruction,)),) if self._options.instruction else ()
        after = (Message("assistant", ("",)),) if self._ends_open else ()
        extra: dict[str, Json] = {"continue_final_message": True, "add_special_tokens": True} if self._ends_open else {}
        return ChatRequest(self.name, (*before, Message("user", content), *after), max_tokens=_SILENT, extra=extra)

    def _converse(self, contents: Sequence[tuple[str | ImagePart, ...]]) -> EmbeddingAttempt:
        """Each of these as a conversation of its own."""
        return self._run([_Ask(self._conversation(content), 1) for content in contents])

    def _plan(self, requests: Iterable[ChatRequest]) -> StagePlan:
        return plan_stage(_STAGE, requests, prices=self._prices, count=partial(request_tokens, side=_SIDE))

    def _run(self, asks: Sequence[_Ask]) -> EmbeddingAttempt:
        loop, caller = self._opened()
        results = loop.call(_gathered([_answer(caller, ask) for ask in asks]))
        stopped = next((result for result in results if isinstance(result, SightlineError)), None)
        rows: list[Vectors | Failure] = []
        for ask, result in zip(asks, results, strict=True):
            if isinstance(result, SightlineError):
                rows += [Failure("down", result.message)] * ask.inputs
            else:
                rows += result
        return self._attempt(rows, stopped)

    def _attempt(self, rows: Sequence[Vectors | Failure], stopped: SightlineError | None) -> EmbeddingAttempt:
        failures = {at: row for at, row in enumerate(rows) if isinstance(row, Failure)}
        lengths = {len(row) for row in rows if not isinstance(row, Failure)} | ({self._dim} if self._dim else set())
        if len(lengths) > 1:
            raise SightlineError(
                f"{self.name} gave vectors of different lengths: {sorted(lengths)}.", "is it one model that answers?"
            )
        self._dim = next(iter(lengths), None)
        raw = np.zeros((len(rows), self._dim or 0), dtype=np.float32)
        for at, row in enumerate(rows):
            if not isinstance(row, Failure):
                raw[at] = row
        made = as_attempt(raw)
        return made._replace(failures={**made.failures, **failures}, stopped=stopped)

    def _opened(self) -> tuple[LoopThread, Caller]:
        """The event loop, and what asks on it; made when they are first needed."""
        if self._loop is None or self._caller is None:
            self._journal = Journal(self._workspace)
            self._caller = Caller(
                self._transport,
                self._journal,
                RateLimits(start=min(16, self._options.at_once), most=self._options.at_once),
                self._budget,
                self._prices,
                name=self.name,
                stage=_STAGE,
                fresh=True,  # Vectors that were paid for are in the vector cache, not in the journal.
            )
            self._loop = LoopThread()
        return self._loop, self._caller


class _Ask(NamedTuple):
    """A request, and how many inputs it holds."""

    request: ChatRequest
    inputs: int


async def _answer(caller: Caller, ask: _Ask) -> list[Vectors | Failure]:
    """A vector or a failure for each input; of a refused list, halves are asked until the bad input is alone."""
    reply = await caller.reply(ask.request)
    if isinstance(reply, EmbeddingReply):
        return list(reply.vectors)
    failed = reply if isinstance(reply, Failure) else Failure("wrong-schema", "the reply holds no vectors")
    if ask.inputs == 1 or failed.kind not in _SPLIT:
        return [failed] * ask.inputs
    middle = ask.inputs // 2
    messages = ask.request.messages
    halves = [_Ask(replace(ask.request, messages=part), len(part)) for part in (messages[:middle], messages[middle:])]
    return [row for half in halves for row in await _answer(caller, half)]


async def _gathered(
    answers: Sequence[Coroutine[Any, Any, list[Vectors | Failure]]],
) -> list[list[Vectors | Failure] | SightlineError]:
    """All answers; what stops everybody is a result, so that what was paid for until then is not lost."""
    found = await asyncio.gather(*answers, return_exceptions=True)
    for result in found:
        if isinstance(result, BaseException) and not isinstance(result, SightlineError):
            raise result
    return [result for result in found if isinstance(result, list | SightlineError)]


def _encode(pixels: Pixels) -> ImagePart:
    """As a JPEG of high quality with full colour resolution; what is larger than the server's limit is made smaller."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=_QUALITY, subsampling=0)
    return ImagePart("", buffer.getvalue())
