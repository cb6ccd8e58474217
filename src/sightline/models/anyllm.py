"""Every provider that does not speak OpenAI's API, through the any-llm package (extra `providers`)."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Mapping
from dataclasses import replace
from inspect import isawaitable
from typing import Any

import orjson
from pydantic import ValidationError

from sightline.config.section import Hidden
from sightline.errors import UserError, nearest, needs_extra
from sightline.models.failures import ErrorBody, Scrubber, clip, failure, meanings, retry_after, status_failure
from sightline.models.openai_chat import as_json, build_chat, read_chat
from sightline.models.picture_cache import PictureCache
from sightline.models.protocols import CallOutcome
from sightline.models.providers import ModelName, missing_key, wire_model
from sightline.models.replies import check_reply
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatRequest, Failure

_SAYS_WHY = frozenset({"ContentFilterError", "InsufficientFundsError", "ContextLengthExceededError"})
"""Names that say more than an HTTP status does."""


class AnyLLMTransport:
    """One attempt at one call through any-llm, with its own retries switched off where it has any."""

    def __init__(
        self,
        name: ModelName,
        *,
        base_url: str | None = None,
        key: Hidden | None = None,
        settings: WireSettings | None = None,
        local_only: bool = False,
    ) -> None:
        self._provider, self._prefix = provider_of(name)
        self.endpoint = base_url or self._provider
        self._name = name
        self._settings = settings = settings or WireSettings()
        self._structured = settings.structured or "native"
        self.wire = settings.fingerprint(name.provider)
        self._scrub = Scrubber([key.get_secret_value()] if key else [])
        self._pictures = PictureCache.shared(
            settings.limit_for(self._provider),
            folder=settings.picture_folder,
            memory_bytes=settings.picture_memory,
            allow_web=not local_only,
        )
        self._client = _connect(name, self._provider, base_url, key)

    def __repr__(self) -> str:
        return f"AnyLLMTransport({str(self._name)!r}, {self.endpoint!r})"

    async def send(self, request: ChatRequest) -> CallOutcome:
        """One attempt; what the provider's package raises becomes a named failure."""
        pictures = await self._pictures.prepare(request)
        if isinstance(pictures, Failure):
            return CallOutcome(pictures, sent=False)
        request = replace(request, extra={**self._settings.extra, **request.extra})
        built = build_chat(
            request, self._model(request), pictures, max_tokens_field="max_tokens", structured=self._structured
        )
        # The package wants plain values, where we have ready-made JSON for pictures.
        encoded = as_json(built)
        if isinstance(encoded, Failure):
            return CallOutcome(encoded, sent=False)
        body: dict[str, Any] = orjson.loads(encoded)
        model, messages = body.pop("model"), body.pop("messages")
        started = time.perf_counter()
        try:
            async with asyncio.timeout(self._settings.total_seconds):
                completion = await self._client.acompletion(model, messages, **body)
        except TimeoutError:
            words = f"not done within {self._settings.total_seconds:g} s"
            return CallOutcome(failure("timeout", f"{self._asked(request)}: {words}"))
        except Exception as error:  # Each provider's package has its own exceptions; all of them get a name.
            return self._failed(error, request)
        return self._heard(completion.model_dump(), request, time.perf_counter() - started)

    async def close(self) -> None:
        """Close the provider's client, if it can be closed."""
        await asyncio.to_thread(self._pictures.close)
        client = getattr(self._client, "client", None)
        for name in ("aclose", "close"):
            closing = getattr(client, name, None)
            if closing is not None:
                result = closing()
                if isawaitable(result):
                    await result
                return

    def _model(self, request: ChatRequest) -> str:
        return wire_model(wire_model(request.model, self._name.provider.name), self._prefix)

    def _heard(self, payload: Mapping[str, Any], request: ChatRequest, seconds: float) -> CallOutcome:
        said = read_chat(payload)
        if said is None:
            return CallOutcome(failure("empty", f"{self._asked(request)}: the reply holds no choice"))
        return check_reply(said, request, seconds)

    def _failed(self, error: Exception, request: ChatRequest) -> CallOutcome:
        asked = self._asked(request)
        words = self._scrub(clip(getattr(error, "message", None) or str(error) or type(error).__name__))
        status = getattr(error, "status_code", None)
        if isinstance(error, ValidationError):
            return CallOutcome(failure("bad-json", f"{asked}: the reply is not of the provider's form"))
        kind = meanings("any_llm").get(type(error).__name__)
        if kind is None:
            kind = "unsupported" if isinstance(error, NotImplementedError) else "bad-request"
        if isinstance(status, int) and status >= 300 and type(error).__name__ not in _SAYS_WHY:
            codes = [getattr(error, field, None) for field in ("code", "error_type")]
            told = ErrorBody(words, tuple(code.lower() for code in codes if isinstance(code, str)))
            return CallOutcome(status_failure(status, told, asked), status, _wait(error))
        cause = getattr(error, "original_exception", None)
        if kind == "server-error":
            kind = _network_kind(cause)
        return CallOutcome(failure(kind, f"{asked}: {words}"), status, _wait(error), sent=not _never_connected(cause))

    def _asked(self, request: ChatRequest) -> str:
        return f"{clip(request.model, 100)} through any-llm"


def provider_of(name: ModelName) -> tuple[str, str]:
    """The provider's name in any-llm, and what of our model name is not the model's own."""
    if name.provider.name != "any-llm":
        return name.provider.name, ""
    provider, slash, model = name.model.partition("/")
    if not slash or not model:
        raise UserError(f'"{name}" names no provider.', "give it as any-llm/provider/model")
    return provider, provider


def _connect(name: ModelName, provider: str, base_url: str | None, key: Hidden | None) -> Any:
    with needs_extra(f"{name}", "providers"):
        any_llm = importlib.import_module("any_llm")
    options = {"api_key": key.get_secret_value() if key else None, "api_base": base_url, "unified_exceptions": True}
    try:
        try:
            return any_llm.AnyLLM.create(provider, max_retries=0, **options)
        except any_llm.exceptions.UnsupportedParameterError:
            return any_llm.AnyLLM.create(provider, **options)
    except any_llm.exceptions.UnsupportedProviderError as error:
        raise _unknown(name, provider, error) from None
    except any_llm.exceptions.MissingApiKeyError as error:
        raise missing_key(name, error.env_var_name) from None
    except ImportError:
        raise UserError(
            f"{name} needs the package of its provider.", f"pip install 'any-llm-sdk[{provider}]'"
        ) from None


def _unknown(name: ModelName, provider: str, error: Any) -> UserError:
    known = sorted(map(str, getattr(error, "supported_providers", ())))
    near = nearest(provider, known)
    hint = f'Did you mean "any-llm/{near}"? ' if near else ""
    listed = f"Providers: {', '.join(known)}" if known else "see its list of providers"
    return UserError(f'any-llm knows no provider "{provider}", which {name} names.', hint + listed)


def _wait(error: Exception) -> float | None:
    value = getattr(error, "retry_after", None)
    return None if value is None else retry_after({"retry-after": str(value)})


def _never_connected(cause: BaseException | None) -> bool:
    """Did the provider's package not even reach a server? Only then it is certain that nothing was billed."""
    while cause is not None:
        if type(cause).__name__ in ("ConnectError", "ConnectTimeout", "ClientConnectorError", "ConnectionRefusedError"):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _network_kind(cause: BaseException | None) -> str:
    """A provider's package wraps the network's errors; their names tell them apart."""
    for kind in type(cause).__mro__ if cause is not None else ():
        if "Timeout" in kind.__name__:
            return "timeout"
        if "Connect" in kind.__name__ or kind is OSError:
            return "connection"
    return "server-error"
