from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from models_server import Answer, Received, chat, never, respond, respond_json, responses, said, serving
from sightline.config.section import Hidden
from sightline.config.settings import ModelSettings
from sightline.errors import MissingExtraError, UserError
from sightline.models.protocols import CallOutcome
from sightline.models.providers import PROVIDERS, leaves_machine, parse_name
from sightline.models.transport_factory import open_transport
from sightline.models.wire_settings import WireSettings
from sightline.types import ChatRequest, Failure, ImagePart, Message


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        for variable in provider.keys:
            monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("openai/gpt-5-mini", "openai", "gpt-5-mini"),
        ("vllm/Qwen/Qwen3-VL-8B", "vllm", "Qwen/Qwen3-VL-8B"),
        ("openrouter/anthropic/claude-opus-5", "openrouter", "anthropic/claude-opus-5"),
        (" ollama/llava:7b ", "ollama", "llava:7b"),
        ("vllm-local//models/tiny", "vllm-local", "/models/tiny"),
    ],
)
def test_names(name: str, provider: str, model: str) -> None:
    parsed = parse_name(name)
    assert (parsed.provider.name, parsed.model) == (provider, model)
    assert str(parsed) == name.strip()


@pytest.mark.parametrize("name", ["", "gpt-5-mini", "openai/", "/gpt", "openai"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(UserError, match="provider/model"):
        parse_name(name)


def test_an_unknown_provider_names_the_nearest_and_all() -> None:
    with pytest.raises(UserError) as caught:
        parse_name("opnai/gpt-5-mini")
    assert 'Did you mean "openai/gpt-5-mini"?' in str(caught.value)
    assert all(provider in str(caught.value) for provider in PROVIDERS)
    assert caught.value.exit_code == 2


def test_a_missing_key_says_which_and_what_else_to_do() -> None:
    with pytest.raises(UserError) as caught:
        open_transport("openai/gpt-5-mini")
    assert caught.value.message == "OPENAI_API_KEY is not set, so openai/gpt-5-mini can't be asked."
    assert "--base-url http://localhost:8000/v1" in (caught.value.fix or "")
    with pytest.raises(UserError, match="GEMINI_API_KEY or GOOGLE_API_KEY is not set, so gemini/x can't be asked"):
        open_transport("gemini/x")


def test_a_server_of_ones_own_needs_no_key() -> None:
    for name in ("openai/m", "vllm/m", "ollama/m", "llamacpp/m", "litellm/m", "openrouter/m"):
        assert open_transport(name, base_url="http://192.168.1.5:8000/v1/").endpoint == "http://192.168.1.5:8000/v1"
    assert open_transport("vllm/m").endpoint == "http://localhost:8000/v1"
    assert open_transport("ollama/m").endpoint == "http://localhost:11434/v1"


def test_the_configured_address_is_for_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    models = ModelSettings(base_url="http://localhost:9/v1")
    assert open_transport("openai/m", models=models).endpoint == "http://localhost:9/v1"
    assert open_transport("vllm/m", models=models).endpoint == "http://localhost:8000/v1"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:10/v1")
    assert open_transport("openai/m").endpoint == "http://localhost:10/v1"


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x/v1", "http://", "http://x:99999/v1", "", "http://[::1/v1"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(UserError):
        open_transport("vllm/m", base_url=url or " ")


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(UserError) as caught:
        open_transport("vllm/m", base_url="http://me:hunter2@localhost/v1")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("endpoint", "leaves"),
    [
        ("http://localhost:8000/v1", False),
        ("http://LOCALHOST/v1", False),
        ("http://box.localhost/v1", False),
        ("http://127.0.0.1:1/v1", False),
        ("http://127.9.9.9/v1", False),
        ("http://[::1]:8000/v1", False),
        ("http://[::ffff:127.0.0.1]/v1", False),
        ("https://api.openai.com/v1", True),
        ("http://192.168.1.5/v1", True),
        ("http://0.0.0.0:8000/v1", True),
        ("http://localhost.example.org/v1", True),
        ("http://127.0.0.1.example.org/v1", True),
        ("anthropic", True),
        ("transformers:tiny", False),
        ("vllm-local:tiny", False),
        ("scripted:echo", False),
    ],
)
def test_what_leaves_the_machine(endpoint: str, leaves: bool) -> None:
    assert leaves_machine(endpoint) is leaves


@pytest.mark.parametrize("name", ["openai/gpt-5-mini", "openrouter/x/y", "anthropic/claude-opus-5", "any-llm/groq/x"])
def test_local_only_refuses_what_leaves_the_machine(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-123456")
    with pytest.raises(UserError, match="--local-only"):
        open_transport(name, local_only=True)
    with pytest.raises(UserError, match=r"vllm/m is asked at http://10\.0\.0\.1/v1, and --local-only"):
        open_transport("vllm/m", base_url="http://10.0.0.1/v1", local_only=True)
    with pytest.raises(UserError, match="anthropic/x is asked at its provider's own servers, and --local-only"):
        open_transport("anthropic/x", local_only=True)
    assert open_transport("vllm/m", local_only=True).endpoint == "http://localhost:8000/v1"


def test_local_only_fetches_no_picture_from_the_web() -> None:
    async def go() -> object:
        transport = open_transport("vllm/m", local_only=True)
        request = ChatRequest("vllm/m", (Message("user", (ImagePart("https://example.org/a.jpg"),)),))
        try:
            return (await transport.send(request)).result
        finally:
            await transport.close()

    result = asyncio.run(go())
    assert isinstance(result, Failure)
    assert result.kind == "unsupported"


def test_models_in_this_process_have_no_address() -> None:
    with pytest.raises(UserError, match="no address"):
        open_transport("scripted/echo", base_url="http://localhost/v1")


def test_a_missing_package_names_the_extra() -> None:
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        with pytest.raises(MissingExtraError, match=r"sightline\[transformers\]"):
            open_transport("transformers/tiny")
    if importlib.util.find_spec("vllm") is None:
        with pytest.raises(UserError, match="pip install vllm"):
            open_transport("vllm-local/tiny")


PLUGGED_IN = """
class Far:
    def __init__(self, model, *, base_url, settings):
        self.endpoint, self.model = base_url or "https://far.example.org/v1", model
"""


def test_a_provider_can_be_plugged_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "far_models.py").write_text(PLUGGED_IN)
    facts = tmp_path / "far-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: far\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[sightline.chat]\nfar = far_models:Far\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert open_transport("far/away/1").model == "away/1"  # type: ignore[attr-defined]
    with pytest.raises(UserError, match="--local-only"):
        open_transport("far/away", local_only=True)
    assert open_transport("far/away", base_url="http://localhost/v1", local_only=True).endpoint == "http://localhost/v1"


def test_the_configuration_reaches_the_wire() -> None:
    async def go(answer: Answer, **fields: Any) -> tuple[Received, CallOutcome]:
        async with serving([answer]) as server:
            transport = open_transport("openai/m", models=ModelSettings(base_url=server.base_url, **fields))
            outcome = await transport.send(ChatRequest("openai/m", (Message("user", ("Hi",)),), max_tokens=9))
            await transport.close()
            return server.requests[0], outcome

    received, _ = asyncio.run(go(respond_json(chat()), max_tokens_field="max_tokens"))
    assert (received.path, received.json["max_tokens"]) == ("/v1/chat/completions", 9)
    received, _ = asyncio.run(go(respond_json(chat()), extra={"store": False}, headers={"X-Tier": Hidden("flex")}))
    assert received.json["store"] is False and received.headers["x-tier"] == "flex"
    _, outcome = asyncio.run(go(respond_json(chat()), max_reply_bytes=5))
    assert isinstance(outcome.result, Failure) and outcome.result.kind == "endless"
    received, _ = asyncio.run(go(respond_json(responses(said("hi"))), api="responses"))
    assert received.path == "/v1/responses"
    _, outcome = asyncio.run(go(never(), connect_seconds=0.5, quiet_seconds=0.05))
    assert isinstance(outcome.result, Failure)
    assert "0.05 s" in outcome.result.message


SECRET = "sk-proj-abcdefghijklmnop"
HIDDEN = "kwpz8841-no-known-form"


def test_the_key_is_never_repeated(tmp_path: Path) -> None:
    """A server that echoes the key in its error, its page, its refusal and its broken JSON."""
    tail = HIDDEN[:8]
    half = SECRET[:8] + "*" * 8 + SECRET[-4:]
    answers = [
        respond_json({"error": {"message": f"Incorrect API key provided: {SECRET} ({half})"}}, 401),
        respond_json({"error": {"message": f"bad header X-Other: other-secret, {SECRET}", "code": SECRET}}, 400),
        respond_json({"error": {"message": SECRET}}),
        *(respond(b"x" * at + b" " + HIDDEN.encode(), 400, "text/plain") for at in (370, 385, 390, 395, 400)),
        respond_json(chat("no", refusal=f"I will not use {SECRET}")),
        respond_json(chat(SECRET), content_type=f"text/{SECRET}"),
    ]

    async def go() -> list[str]:
        async with serving(answers) as server:
            transport = open_transport(
                "openai/m",
                models=ModelSettings(openai_api_key=Hidden(SECRET), base_url=server.base_url),
                settings=WireSettings(headers={"X-Other": "other-secret", "X-More": HIDDEN}),
            )
            told = [repr(transport), str(transport), transport.endpoint]
            for _ in answers:
                outcome = await transport.send(ChatRequest("openai/m", (Message("user", ("Hi",)),)))
                assert isinstance(outcome.result, Failure)
                told += [outcome.result.message, repr(outcome.result)]
                assert server.requests[-1].headers["authorization"] == f"Bearer {SECRET}"
            await transport.close()
            return told

    for text in asyncio.run(go()):
        assert SECRET not in text
        assert half not in text
        assert tail not in text
        assert "other-secret" not in text
    assert "other-secret" not in repr(WireSettings(headers={"X-Other": "other-secret"}))
