"""Which key goes where: no provider's key to anybody else, whoever names the address."""

from __future__ import annotations

import asyncio
import logging

import pytest

from models_server import chat, respond_json, serving
from sightline.calls.batches.client import BatchClient
from sightline.config.section import Hidden
from sightline.config.settings import ModelSettings
from sightline.errors import UserError
from sightline.models.providers import find_key, parse_name
from sightline.models.transport_factory import open_transport
from sightline.types import ChatRequest, Message

OURS, BOX = "http://gpu-box:8000/v1", "https://elsewhere.example/v1"
ENVIRONMENT = {"OPENAI_API_KEY": "openai", "VLLM_API_KEY": "vllm", "SIGHTLINE_API_KEY": "any", "BOX_KEY": "box"}


def key(model: str, endpoint: str, vouched: bool = True, settings: ModelSettings | None = None) -> str | None:
    found = find_key(parse_name(model), endpoint, settings, ENVIRONMENT, required=False, vouched=vouched)
    return None if found is None else found.get_secret_value()


@pytest.mark.parametrize(
    ("model", "endpoint", "vouched", "expected"),
    [
        ("openai/m", "https://api.openai.com/v1", True, "openai"),
        ("openai/m", "https://api.openai.com/v1", False, "openai"),
        ("openai/m", "https://api.openai.com:443/v1", True, "openai"),
        ("openai/m", "http://api.openai.com/v1", True, "any"),
        ("openai/m", "https://api.openai.com.evil.example/v1", True, "any"),
        ("openai/m", "https://api.openai.com.evil.example/v1", False, None),
        ("openai/m", "http://127.0.0.1:8000/v1", True, "any"),
        ("openai/m", "http://127.0.0.1:8000/v1", False, None),
        ("vllm/m", "http://localhost:8000/v1", False, "vllm"),
        ("vllm/m", OURS, True, "vllm"),
        ("vllm/m", OURS, False, None),
        ("anthropic/m", "https://elsewhere.example", True, "any"),
    ],
)
def test_a_key_goes_only_where_it_belongs(model: str, endpoint: str, vouched: bool, expected: str | None) -> None:
    assert key(model, endpoint, vouched) == expected


def test_the_users_own_configuration_says_where_else() -> None:
    configured = ModelSettings(base_url="https://gateway.example/v1", openai_api_key=Hidden("configured"))
    assert key("openai/m", "https://gateway.example/v1", settings=configured) == "configured"
    assert key("openai/m", "https://gateway.example/v1", vouched=False, settings=configured) == "configured"
    assert key("openai/m", BOX, settings=configured) == "any"
    hosts = ModelSettings(hosts={"gpu-box:8000": "BOX_KEY"})
    assert key("vllm/m", OURS, vouched=False, settings=hosts) == "box"
    assert key("vllm/m", "http://gpu-box:9000/v1", vouched=False, settings=hosts) is None
    with pytest.raises(UserError, match="the key of gpu-box:8000 is to be in BOX_KEY, which is not set"):
        find_key(parse_name("vllm/m"), OURS, hosts, {})


def test_no_key_of_openai_reaches_another_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai-alone")
    monkeypatch.delenv("SIGHTLINE_API_KEY", raising=False)

    async def sent() -> str | None:
        async with serving(lambda _: respond_json(chat())) as server:
            transport = open_transport("openai/m", base_url=server.base_url)
            await transport.send(ChatRequest("openai/m", (Message("user", ("Hi",)),)))
            await transport.close()
            return server.requests[0].headers.get("authorization")

    assert asyncio.run(sent()) is None
    monkeypatch.setenv("SIGHTLINE_API_KEY", "of-that-server")
    assert asyncio.run(sent()) == "Bearer of-that-server"


def test_a_jobs_folder_gets_no_key_for_an_address_of_its_own(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("OPENAI_API_KEY", "SIGHTLINE_API_KEY"):
        monkeypatch.setenv(name, "sk-secret-key")

    async def go() -> list[str | None]:
        async with serving(lambda _: respond_json({"data": []})) as server:
            async with BatchClient.open("openai/m", server.base_url) as batches:
                assert [row async for row in batches.batches()] == []
            return [request.headers.get("authorization") for request in server.requests]

    with caplog.at_level(logging.WARNING):
        assert asyncio.run(go()) == [None]
    assert "no key is sent to 127.0.0.1" in caplog.text and "[models.hosts]" in caplog.text


@pytest.mark.parametrize("query", ["api-key=abc", "v=1&access_token=abc", "sig=abc", "code=abc", "Key="])
def test_a_secret_in_an_address_is_refused_and_not_repeated(query: str) -> None:
    with pytest.raises(UserError, match="holds a secret") as refused:
        open_transport("vllm/m", base_url=f"http://localhost:8000/v1?{query}")
    assert "abc" not in str(refused.value) and "[models.headers]" in (refused.value.fix or "")
    open_transport("vllm/m", base_url="http://localhost:8000/v1?api-version=2024-10-21")
