"""Embeddings over HTTP: what is asked of an OpenAI-compatible server, and what its reply says."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from yarl import URL

from sightline.config.section import Hidden
from sightline.models.failures import failure
from sightline.models.http import HttpTransport
from sightline.models.http_errors import body_failure
from sightline.models.names import ModelName, wire_model
from sightline.models.openai_chat import add_extra, chat_messages
from sightline.models.picture_box import Sent
from sightline.models.protocols import Outcome
from sightline.models.settings import WireSettings
from sightline.models.usage import read_usage
from sightline.types import ChatReply, ChatRequest, ImagePart, Json

PATH = "/embeddings"
Encoding: TypeAlias = Literal["base64", "float"]


@dataclass(frozen=True, slots=True)
class EmbeddingReply(ChatReply):
    """A reply that is vectors, one row for each input, as the server sent them; the journal keeps all but them."""

    vectors: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32), repr=False)


@dataclass(frozen=True, slots=True)
class Form:
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
        form: Form,
        *,
        key: Hidden | None = None,
        settings: WireSettings | None = None,
        local_only: bool = False,
    ) -> None:
        super().__init__(name, endpoint, key=key, settings=settings, local_only=local_only)
        self.form = form
        url = URL(endpoint)
        self._url = url.with_path(url.path.rstrip("/") + PATH, keep_query=True)

    def __repr__(self) -> str:
        return f"EmbeddingTransport({str(self._name)!r}, {self.endpoint!r})"

    def _build(self, request: ChatRequest, pictures: Sent) -> dict[str, Any]:
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

    def read(self, payload: Mapping[str, Any], request: ChatRequest, seconds: float | None = None) -> Outcome:
        """What a reply's JSON means: vectors, or the failure that it is."""
        asked = self._asked(request)
        broken = body_failure(payload, asked)
        if broken is not None:
            return Outcome(replace(broken, message=self._scrub(broken.message)))
        usage = read_usage(payload.get("usage"))
        expected = 1 if self._is_conversation(request) else len(request.messages)
        found = read_vectors(payload.get("data"), expected)
        if isinstance(found, str):
            return Outcome(failure("wrong-schema", f"{asked}: {found}"), partial=ChatReply("", usage=usage))
        model = payload.get("model")
        return Outcome(
            EmbeddingReply(
                "", model=model if isinstance(model, str) else None, usage=usage, seconds=seconds, vectors=found
            )
        )

    def _is_conversation(self, request: ChatRequest) -> bool:
        return self.form.as_messages or any(
            isinstance(part, ImagePart) for message in request.messages for part in message.content
        )


def read_vectors(data: Any, expected: int) -> NDArray[np.float32] | str:
    """The vectors in the order of their inputs, or what is wrong with them."""
    if not isinstance(data, list) or len(data) != expected:
        found = f"{len(data)} embeddings" if isinstance(data, list) else "no embeddings"
        return f"the reply holds {found}, {expected} were asked for"
    rows: list[NDArray[np.float32] | None] = [None] * expected
    for place, item in enumerate(data):
        index = item.get("index", place) if isinstance(item, Mapping) else None
        row = _vector(item["embedding"]) if isinstance(item, Mapping) and "embedding" in item else None
        if row is None or not isinstance(index, int) or not 0 <= index < expected or rows[index] is not None:
            return f"embedding {place + 1} of the reply is no vector, or has no place"
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
