"""The one place where chat models are opened: notice, plan, limits, budget and keys come with it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from models_server import FaultServer
from pictures import random_picture
from sightline.calls.budget import Budget
from sightline.calls.chat import chat_in, open_chat
from sightline.calls.journal import Journal
from sightline.calls.plan import CostPlan
from sightline.calls.privacy_notice import announce_recipient, shows_private_pictures
from sightline.calls.rate_limit import RateLimits
from sightline.calls.session import CallOptions, Session
from sightline.calls.stages import LocalServices
from sightline.config import Config
from sightline.config.settings import Price, PriceSettings
from sightline.errors import SightlineError, StoppedError, UserError
from sightline.models.transport_factory import find_endpoint, open_transport
from sightline.types import ChatReply, ChatRequest, ImagePart, Message

T = TypeVar("T")
MODEL = "vllm/m"
PRICED = Config(prices=PriceSettings(models={MODEL: Price(input=10.0, output=100.0)}))


def run(main: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(main, 60))


def ask(*content: str | ImagePart, **fields: Any) -> ChatRequest:
    return ChatRequest(MODEL, (Message("user", content),), **fields)


def elsewhere(url: str) -> str:
    """The address of a loopback server that counts as one elsewhere."""
    return url.replace("127.0.0.1", "0.0.0.0")


@pytest.fixture
def picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ImagePart:
    monkeypatch.setenv("NO_PROXY", "*")
    random_picture(1, (20, 10)).save(tmp_path / "a.png")
    return ImagePart(str(tmp_path / "a.png"))


async def told(url: str, workspace: Path, *requests: ChatRequest) -> None:
    async with open_chat(MODEL, Session(workspace, calls=CallOptions(base_url=url, fresh=True))) as model:
        for request in requests:
            assert isinstance(await model.reply(request), ChatReply)


def test_the_first_private_picture_that_leaves_is_announced_once(
    picture: ImagePart, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with FaultServer() as server:
            far = elsewhere(server.url)
            await told(server.url, tmp_path / "ws", ask("p", picture))
            await told(far, tmp_path / "ws", ask("p"), ask("p", ImagePart("https://example.org/a.jpg")))
            assert caplog.messages == [], "nothing private has left"
            await told(far, tmp_path / "ws", ask("p", picture), ask("q", picture))
            await told(far, tmp_path / "ws", ask("r", picture))
            assert len(caplog.messages) == 1
            assert "pictures are sent to 0.0.0.0" in caplog.messages[0] and "--local-only" in caplog.messages[0]
            await told(far, tmp_path / "other", ask("p", ImagePart("", Path(picture.source).read_bytes())))
            assert len(caplog.messages) == 2

    run(main())


def test_embedders_and_chat_models_share_the_notice(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for what, endpoint in (
        ("the pictures of x", "https://api.example.org/v1"),
        ("pictures", "https://api.example.org/"),
    ):
        announce_recipient(tmp_path, endpoint, what)
    announce_recipient(tmp_path, "http://localhost:8000/v1", "pictures")
    announce_recipient(tmp_path, "anthropic", "pictures")
    assert [message.partition(";")[0] for message in caplog.messages] == [
        "the pictures of x are sent to api.example.org",
        "pictures are sent to anthropic",
    ]


def test_what_is_private() -> None:
    assert not shows_private_pictures(ask("p", ImagePart("https://example.org/a.jpg")))
    for part in (ImagePart("a.jpg"), ImagePart("", b"x"), ImagePart("https://example.org/a.jpg", b"x")):
        assert shows_private_pictures(ask("p", part))


def test_local_only_refuses_before_anything_is_sent(picture: ImagePart, tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer() as server:
            for plan in (False, True):
                asking = CallOptions(base_url=elsewhere(server.url), local_only=True, plan=plan)
                with pytest.raises(UserError, match="--local-only allows no call that leaves this machine"):
                    async with open_chat(MODEL, Session(tmp_path, calls=asking)):
                        raise AssertionError("it must not be opened")
            assert server.requests == []

    run(main())


def test_a_plan_asks_nobody_and_needs_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    async def main() -> None:
        async with FaultServer() as server:
            asking = CallOptions(base_url=server.url)
            async with open_chat(MODEL, Session(tmp_path, PRICED, asking), stage="annotate") as model:
                await model.reply(ask("p0", max_tokens=100))
            asked = server.asked.total()
            requests = [ask(f"p{number}", max_tokens=100) for number in range(10)]
            planned = CallOptions(base_url=server.url, plan=True)
            async with open_chat(MODEL, Session(tmp_path, PRICED, planned), stage="annotate") as model:
                found = model.plan(requests)
                assert (found.stage, found.calls, found.journaled) == ("annotate", 9, 1)
                assert found.usd is not None and found.usd.low < found.usd.likely < found.usd.high
                judged = model.for_stage("judge").plan(requests, calls=1000)
                assert (judged.stage, judged.calls, judged.journaled) == ("judge", 900, 100)
                assert "nothing has been spent · start it with --budget" in str(CostPlan((found, judged)))
                assert model.for_stage("judge", fresh=True).plan(requests).calls == 10
                with pytest.raises(SightlineError, match="while a plan was made"):
                    await model.reply(ask("new"))
            assert server.asked.total() == asked == 1
        async with open_chat("openai/gpt-5-mini", Session(tmp_path, calls=CallOptions(plan=True))) as model:
            assert model.plan([ask("p")]).calls == 1

    run(main())


def test_the_budget_is_shared_by_models_and_stages(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer() as server:
            asking = CallOptions(base_url=server.url, budget=Budget.usd(0.1))  # Five calls of two cents.
            done = 0
            with pytest.raises(StoppedError, match="is used up"):
                for stage in ("annotate", "judge"):
                    async with open_chat(MODEL, Session(tmp_path, PRICED, asking), stage=stage) as model:
                        for number in range(4):
                            assert isinstance(await model.reply(ask(f"{stage} {number}", max_tokens=100)), ChatReply)
                            done += 1
            assert done == server.asked.total() == 5

    run(main())


def test_inside_a_stage_journal_budget_and_limits_are_those_that_all_share(
    picture: ImagePart, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with FaultServer() as server:
            asking = CallOptions(base_url=elsewhere(server.url), limits=RateLimits(start=2, most=2))
            with Journal(tmp_path / "ws") as journal:
                shared = LocalServices(journal, Budget.usd(0.05))  # Two calls of two cents.
                callers = [
                    chat_in(shared, MODEL, Session(config=PRICED, calls=asking), stage=stage) for stage in ("a", "b")
                ]
                replies = [await caller.reply(ask("p", picture, max_tokens=100)) for caller in callers]
                assert [isinstance(one, ChatReply) and one.from_journal for one in replies] == [False, True]
                assert isinstance(await callers[1].reply(ask("q", max_tokens=100)), ChatReply)
                with pytest.raises(StoppedError):
                    await callers[0].reply(ask("r", max_tokens=100))
                assert [limiter.limits.most for limiter in shared.limiters.values()] == [2]
                for caller in callers:
                    await caller.close()
            assert server.asked.total() == 2
        assert len(caplog.messages) == 1 and "pictures are sent to 0.0.0.0" in caplog.messages[0]

    run(main())


def test_no_more_connections_than_allowed(tmp_path: Path) -> None:
    async def main() -> None:
        async with FaultServer(seconds=0.01) as server:
            server.capacity = 3
            asking = CallOptions(base_url=server.url, limits=RateLimits(start=3, most=3))
            async with open_chat(MODEL, Session(tmp_path, calls=asking)) as model:
                replies = await asyncio.gather(*(model.reply(ask(f"p{number}")) for number in range(30)))
            assert all(isinstance(reply, ChatReply) for reply in replies)
            assert server.asked.total() == 30, "nothing was refused for being too many"

    run(main())


@pytest.mark.parametrize("name", ["openai/m", "vllm/m", "ollama/a/b", "scripted/echo", "openrouter/x/y"])
def test_a_plan_looks_calls_up_where_they_are_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("OPENAI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.setenv(key, "k-123456")
    assert find_endpoint(name) == open_transport(name).endpoint


def test_where_models_of_other_kinds_would_be_asked() -> None:
    assert find_endpoint("anthropic/x") == "anthropic"
    assert find_endpoint("any-llm/groq/x") == "groq"
    assert find_endpoint("anthropic/x", base_url="http://localhost:1") == "http://localhost:1"
    assert find_endpoint("transformers/a/b") == "transformers:a/b"
    assert find_endpoint("vllm-local/a") == "vllm-local:a"


def test_a_missing_key_offers_what_the_verb_can_do_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    async def main(asking: CallOptions) -> None:
        async with open_chat("openai/gpt-5-mini", Session(tmp_path, calls=asking)):
            raise AssertionError("it must not be opened")

    built_in = "use --model builtin/photos (free, on this machine, weaker)"
    for asking, offered in (
        (CallOptions(), "use --model ollama/llava (free"),
        (CallOptions(instead=built_in), built_in),
    ):
        with pytest.raises(UserError) as caught:
            run(main(asking))
        assert caught.value.message == "OPENAI_API_KEY is not set, so openai/gpt-5-mini can't be asked."
        fix = caught.value.fix or ""
        assert fix.startswith("set it, or ") and offered in fix
        assert fix.endswith("or --base-url http://localhost:8000/v1 for your own server")


@pytest.mark.parametrize(
    ("fault", "key", "says"),
    [
        ("401", "sk-wrong-key-1", "the key is refused. openai/m at URL: HTTP 401, error 401; no key was sent, for "),
        ("401", "sk-wrong-key-1", "OPENAI_API_KEY goes only to api.openai.com and to your configured base_url"),
        ("401", "", "give the key of that server in SIGHTLINE_API_KEY"),
        ("404", "sk-wrong-key-1", 'there is no model "openai/m" at URL'),
        ("402", "sk-wrong-key-1", "add credit to the account"),
    ],
)
def test_a_refusal_says_what_to_do(
    fault: str, key: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)

    async def main() -> None:
        async with FaultServer({"p": [fault]}) as server:
            with pytest.raises(SightlineError) as caught:
                async with open_chat("openai/m", Session(tmp_path, calls=CallOptions(base_url=server.url))) as model:
                    await model.reply(replace(ask("p"), model="openai/m"))
            assert says.replace("URL", server.url) in str(caught.value)
            assert "sk-wrong" not in str(caught.value) and caught.value.fix

    run(main())
