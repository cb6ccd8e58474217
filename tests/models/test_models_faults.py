"""Everything that goes wrong on the reply's side: each becomes its named failure, none hangs, none is an answer."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

import orjson
import pytest

from models_server import (
    Answer,
    chat,
    drip,
    drop,
    half,
    head,
    never,
    raw,
    respond,
    respond_json,
    responses,
    said,
    serving,
    stall,
)
from sightline.models.failures import LASTING, RETRYABLE
from sightline.models.protocols import CallOutcome
from sightline.models.transport_factory import open_transport
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatReply, ChatRequest, Failure, Message

HELLO = ChatRequest("vllm/m", (Message("user", ("Hello",)),), max_tokens=50)
SCHEMA: Any = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
WANTS_JSON = ChatRequest("vllm/m", (Message("user", ("Hello",)),), schema=SCHEMA)
GOOD = orjson.dumps(chat())
PAGE = b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


def send(answer: Answer, request: ChatRequest = HELLO, api: Any = "chat", **settings: Any) -> CallOutcome:
    async def go() -> CallOutcome:
        async with serving([answer]) as server:
            transport = open_transport("vllm/m", base_url=server.base_url, api=api, settings=WireSettings(**settings))
            try:
                async with asyncio.timeout(20):
                    return await transport.send(request)
            finally:
                await transport.close()

    return asyncio.run(go())


def failed(answer: Answer, *args: Any, **settings: Any) -> Failure:
    result = send(answer, *args, **settings).result
    assert isinstance(result, Failure)
    return result


def error(message: str, status: int, **fields: Any) -> Answer:
    return respond_json({"error": {"message": message, **fields}}, status)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (error("Slow down", 429, code="rate_limit_exceeded"), "rate-limited", "Slow down"),
        (error("You exceeded your current quota", 429, code="insufficient_quota"), "no-credit", "quota"),
        (error("You exceeded your current quota, please check", 429), "no-credit", "quota"),
        (error("Pay first", 402), "no-credit", "Pay first"),
        (error("Your credit balance is too low", 400, type="invalid_request_error"), "no-credit", "credit"),
        (error("Bad key", 401), "auth", "no key was sent: set VLLM_API_KEY"),
        (error("Country not supported", 403), "bad-request", "Country"),
        (error("Your key has no permission for this model", 403), "auth", "permission"),
        (error("no", 403, code="invalid_api_key"), "auth", "no key was sent"),
        (
            error("This model requires moderation; your input was flagged for violence", 403),
            "content-filter",
            "flagged",
        ),
        (respond(b"<html><title>403 Forbidden</title></html>", 403, "text/html"), "bad-request", "Forbidden"),
        (error("API key not valid. Please pass a valid API key.", 400), "auth", "API key"),
        (error("The model `x` does not exist", 404, code="model_not_found"), "unknown-model", "does not exist"),
        (respond_json({"detail": "Not Found"}, 404), "unknown-model", "Not Found"),
        (error("model 'x' not found, try pulling it first", 404), "unknown-model", "pulling"),
        (error("Unsupported parameter: 'seed'", 400), "bad-request", "seed"),
        (respond_json({"detail": [{"loc": ["body"], "msg": "field required"}]}, 422), "bad-request", "field required"),
        (respond_json({"error": "just words"}, 400), "bad-request", "just words"),
        (respond_json({"object": "error", "message": "bad value", "code": 400}, 400), "bad-request", "bad value"),
        (respond(b"Request Entity Too Large", 413, "text/plain"), "bad-request", "smaller pictures"),
        (error("blocked", 400, code="content_filter"), "content-filter", "blocked"),
        (error("bad image", 400, code="invalid_image_format"), "bad-picture", "bad image"),
        (error("oops", 500), "server-error", "oops"),
        (error("oops", 500, code="model_not_found"), "server-error", "oops"),
        (respond(PAGE, 502, "text/html"), "server-error", "502 Bad Gateway"),
        (error("Loading model", 503), "overloaded", "Loading"),
        (respond(b"", 504, None), "timeout", "no reason"),
        (error("Overloaded", 529, type="overloaded_error"), "overloaded", "Overloaded"),
        (respond(b"", 408, None), "timeout", "no reason"),
        (respond(b"", 302, None, Location="http://127.0.0.1:1/"), "bad-request", "not followed"),
        (respond(b'{"error": {"message": {"deep": [1]}}}', 400), "bad-request", "deep"),
        (respond(b"[1, 2]", 400), "bad-request", "[1, 2]"),
    ],
)
def test_a_refusal_gets_its_name(answer: Answer, kind: str, words: str) -> None:
    failure = failed(answer)
    assert failure.kind == kind
    assert words in failure.message
    assert failure.retryable == (kind in RETRYABLE)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (drop(), "connection"),
        (raw(b"HTTP/1.1 200 OK\r\nContent-Ty"), "connection"),
        (raw(b"what is HTTP?\r\n\r\n"), "connection"),
        (half(GOOD), "cut-off-body"),
        (raw(head(200, {"Content-Type": "application/json"}) + GOOD[:-20]), "cut-off-body"),
        (respond(GOOD[: len(GOOD) // 2]), "cut-off-body"),
        (respond(gzip.compress(GOOD)[:-30], Content_Encoding="gzip"), "cut-off-body"),
        (respond(b"{'choices': []}"), "bad-json"),
        (respond(b"[]"), "bad-json"),
        (respond(b"null"), "bad-json"),
        (respond(b'{"choices": [\xff\xfe]}'), "bad-json"),
        (respond(b""), "empty"),
        (respond(b"\n\n\n"), "empty"),
        (respond(PAGE, 200, "text/html"), "html"),
        (respond(PAGE, 200), "html"),
        (respond(GOOD, 200, "text/plain"), "bad-content-type"),
        (respond(b"data: {}\n\n", 200, "text/event-stream"), "bad-content-type"),
        (respond_json({"choices": []}), "empty"),
        (respond_json({}), "empty"),
        (respond_json({"choices": [None]}), "empty"),
        (respond_json({"choices": "none"}), "empty"),
        (respond_json({"choices": [{}]}), "empty"),
        (respond_json(chat("")), "empty"),
        (respond_json(chat(None)), "empty"),
        (respond_json(chat("  \n ")), "empty"),
        (respond_json(chat("<think>hm</think>")), "empty"),
        (respond_json(chat("<think>hm")), "empty"),
        (respond_json(chat("I can't", refusal="I can't help")), "refused"),
        (respond_json(chat("", finish_reason="content_filter")), "content-filter"),
        (respond_json(chat("half an ans", finish_reason="length")), "length"),
        (respond_json(chat("<think>hm", finish_reason="length")), "length"),
        (respond_json(chat("{" + "\n" * 4000, finish_reason="length")), "endless"),
        (respond_json(chat('{"a":' + " \n\t" * 2000)), "endless"),
        (respond_json(chat("half", finish_reason="error")), "server-error"),
        (respond_json(chat("half", finish_reason="insufficient_system_resource")), "overloaded"),
        (respond_json({"error": {"code": 502, "message": "upstream"}}), "server-error"),
        (respond_json({"error": {"code": 429, "message": "later"}}), "rate-limited"),
        (respond_json({"error": "broken"}), "server-error"),
    ],
)
def test_a_broken_reply_gets_its_name(answer: Answer, kind: str) -> None:
    failure = failed(answer)
    assert failure.kind == kind
    assert failure.retryable == (kind in RETRYABLE)
    assert kind in RETRYABLE | LASTING
    assert not failure.message.endswith(("?", ".")), "whoever tells it ends the sentence"


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (responses(), "empty"),
        ({"status": "completed"}, "empty"),
        (responses({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}), "empty"),
        (responses(said("no", "refusal")), "refused"),
        (responses(said("half"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "length"),
        (responses(status="incomplete", incomplete_details={"reason": "content_filter"}), "content-filter"),
        (responses(said("half"), status="incomplete", incomplete_details=None), "length"),
        (responses(status="failed", error={"code": "server_error", "message": "oops"}), "server-error"),
        (responses(status="failed", error={"code": "rate_limit_exceeded", "message": "later"}), "rate-limited"),
        (responses(status="failed", error={"code": "invalid_image", "message": "what is it?"}), "bad-picture"),
        (responses(status="cancelled"), "server-error"),
        (responses(status="queued"), "server-error"),
    ],
)
def test_a_broken_responses_reply_gets_its_name(payload: Any, kind: str) -> None:
    assert failed(respond_json(payload), HELLO, "responses").kind == kind


@pytest.mark.parametrize(
    "text", ["no JSON here", '{"n": "one"}', '{"n": 1, "m": 2}', "{}", "[1]", '```json\n{"n": }\n```']
)
def test_a_reply_that_does_not_fit_the_schema(text: str) -> None:
    outcome = send(respond_json(chat(text)), WANTS_JSON)
    assert isinstance(outcome.result, Failure)
    assert (outcome.result.kind, outcome.result.retryable) == ("wrong-schema", True)
    assert outcome.partial is not None
    assert outcome.partial.text == text


def test_a_failed_reply_was_paid_for() -> None:
    outcome = send(respond_json(chat("half", finish_reason="length")))
    assert outcome.usage is not None
    assert (outcome.usage.input, outcome.usage.output) == (12, 5)
    assert send(respond(b"", 500)).usage is None


def test_what_waits_too_long_is_a_timeout_of_its_phase() -> None:
    assert "before the reply" in failed(never(), connect_seconds=0.5, quiet_seconds=0.05).message
    assert "inside the reply" in failed(stall(GOOD), quiet_seconds=0.05).message
    slow = failed(drip(b" ", 0.01), total_seconds=0.1)
    assert slow.kind == "timeout"
    assert "not done within 0.1 s" in slow.message


def test_no_connection_in_time() -> None:
    # A listener that accepts nothing and has no room to queue: the connection never comes about.
    import socket

    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        waiting = [socket.socket() for _ in range(8)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))

        async def go() -> CallOutcome:
            settings = WireSettings(connect_seconds=0.1, total_seconds=5)
            transport = open_transport("vllm/m", base_url=f"http://127.0.0.1:{port}/v1", settings=settings)
            try:
                return await transport.send(HELLO)
            finally:
                await transport.close()

        result = asyncio.run(go()).result
        for client in waiting:
            client.close()
    assert isinstance(result, Failure)
    assert (result.kind, result.message.rpartition(": ")[2]) == ("timeout", "no connection within 0.1 s")


def test_nobody_is_there() -> None:
    async def go() -> CallOutcome:
        transport = open_transport("vllm/m", base_url="http://127.0.0.1:1/v1")
        try:
            return await transport.send(HELLO)
        finally:
            await transport.close()

    result = asyncio.run(go()).result
    assert isinstance(result, Failure)
    assert (result.kind, result.retryable) == ("connection", True)
    assert "http://127.0.0.1:1/v1" in result.message


@pytest.mark.parametrize(
    "answer",
    [
        drip(b"\n" * 1000),
        respond(b" " * 20_000),
        respond(gzip.compress(b" " * 1_000_000), Content_Encoding="gzip"),
    ],
)
def test_a_body_without_end_is_cut(answer: Answer) -> None:
    assert failed(answer, max_reply_bytes=10_000).kind == "endless"


def test_blank_lines_before_the_json_keep_a_connection_alive() -> None:
    result = send(respond(b"\n" * 5000 + GOOD)).result
    assert isinstance(result, ChatReply)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry_After": "7"}, 7.0),
        ({"Retry_After": "0.5"}, 0.5),
        ({"retry_after_ms": "250", "Retry_After": "7"}, 0.25),
        ({"Retry_After": "Wed, 21 Oct 2026 07:28:30 GMT", "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
        ({"Retry_After": "Wed, 21 Oct 2026 07:28:00 GMT", "Date": "Wed, 21 Oct 2026 07:28:30 GMT"}, 0.0),
        ({"Retry_After": "soon"}, None),
        ({"Retry_After": "-1"}, None),
        ({"Retry_After": "nan"}, None),
        ({"Retry_After": "1e300"}, 86400.0),
        ({}, None),
    ],
)
def test_when_to_come_back(headers: dict[str, str], seconds: float | None) -> None:
    outcome = send(respond_json({"error": {"message": "later"}}, 429, **headers))
    assert (outcome.status, outcome.retry_after) == (429, seconds)


def test_headers_are_passed_on_in_lower_case_without_cookies() -> None:
    outcome = send(respond(GOOD, X_RateLimit_Remaining_Requests="3", Set_Cookie="session=secret"))
    assert outcome.headers["x-ratelimit-remaining-requests"] == "3"
    assert "set-cookie" not in outcome.headers


def test_a_cancelled_call_leaves_nothing_behind() -> None:
    async def go() -> int:
        async with serving([never()]) as server:
            transport = open_transport("vllm/m", base_url=server.base_url)
            task = asyncio.create_task(transport.send(HELLO))
            while not server.requests:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await transport.close()
        return len(asyncio.all_tasks())

    assert asyncio.run(go()) == 1
