"""Embedding servers: what reaches the wire, what comes back, and what happens when it does not."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from models_server import Answer, Received, respond, respond_json
from models_server import serving_in_thread as server
from sightline.calls.ledger import read_ledger
from sightline.calls.session import Session
from sightline.config import Config
from sightline.errors import SightlineError, StoppedError, UserError
from sightline.models.embedders.base import attempt_pictures, attempt_texts
from sightline.models.embedders.registry import find_embedder

RED = np.full((30, 40, 3), (230, 20, 20), dtype=np.uint8)
BLUE = np.full((30, 40, 3), (20, 20, 230), dtype=np.uint8)


def vector_of(thing: Any) -> list[float]:
    """Four numbers: of a text its length and letters, of a picture its mean colour."""
    if isinstance(thing, str):
        return [float(len(thing)), float(thing.count("a")), float(thing.count("b")), 1.0]
    content = [part for message in thing for part in _parts(message)]
    pictures = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    words = "".join(part["text"] for part in content if part["type"] == "text")
    if not pictures:
        return [*vector_of(words)[:3], 2.0]
    data = base64.b64decode(pictures[0].partition(",")[2])
    colour = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).reshape(-1, 3).mean(axis=0)
    return [*colour.tolist(), float(len(words))]


def _parts(message: Any) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def embedding_server(request: Received) -> Answer:
    """As OpenAI and vLLM answer; the vectors come back in another order than their inputs, with their places."""
    asked = request.json
    inputs = asked["input"] if "input" in asked else [asked["messages"]]
    data = []
    for place, item in enumerate(inputs):
        vector: Any = vector_of(item)[: asked.get("dimensions", 4)]
        if asked["encoding_format"] == "base64":
            vector = base64.b64encode(np.array(vector, dtype="<f4").tobytes()).decode()
        data.append({"object": "embedding", "index": place, "embedding": vector})
    usage = {"prompt_tokens": 7 * len(inputs), "total_tokens": 7 * len(inputs)}
    return respond_json({"object": "list", "model": asked["model"], "data": data[::-1], "usage": usage})


def open_at(
    url: str, workspace: Path, name: str = "vllm/some/clip", config: Config | None = None, **options: Any
) -> Any:
    return find_embedder(name, Session(workspace, config), base_url=url, **options)


def unit(*numbers: float) -> np.ndarray:
    return np.asarray(np.array(numbers) / np.linalg.norm(numbers))


@pytest.mark.parametrize("encoding", ["base64", "float"])
def test_every_parameter_reaches_the_wire(tmp_path: Path, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "key-of-the-test")
    with server(embedding_server) as there:
        embedder = open_at(
            there.base_url,
            tmp_path,
            dimensions=3,
            encoding_format=encoding,
            prefix="query: ",
            texts_per_request=2,
            extra={"truncate_prompt_tokens": -1, "user": "me"},
        )
        made = embedder.texts(["a", "bb", "aba"])
        embedder.close()
    bodies = sorted((request.json for request in there.requests), key=lambda body: -len(body["input"]))
    assert bodies == [
        {
            "model": "some/clip",
            "input": inputs,
            "encoding_format": encoding,
            "dimensions": 3,
            "truncate_prompt_tokens": -1,
            "user": "me",
        }
        for inputs in (["query: a", "query: bb"], ["query: aba"])
    ]
    assert {request.path for request in there.requests} == {"/v1/embeddings"}
    assert {request.headers["authorization"] for request in there.requests} == {"Bearer key-of-the-test"}
    np.testing.assert_allclose(made, [unit(8, 1, 0), unit(9, 0, 2), unit(10, 2, 1)], atol=1e-6)
    assert made.dtype == np.float32 and embedder.dim == 3


def test_pictures_go_as_data_urls_in_a_conversation(tmp_path: Path) -> None:
    with server(embedding_server) as there:
        embedder = open_at(there.base_url, tmp_path)
        made = embedder.pictures([RED, BLUE])
        both = embedder.joint([RED], ["aab"])
        embedder.close()
    first = next(request.json for request in there.requests)
    (message,) = first["messages"]
    assert message["role"] == "user" and message["content"][0]["image_url"]["url"].startswith("data:image/jpeg;base64,")
    assert "input" not in first and first["model"] == "some/clip"
    np.testing.assert_allclose(made, [unit(230, 20, 20, 0), unit(20, 20, 230, 0)], atol=0.02)
    np.testing.assert_allclose(both, [unit(230, 20, 20, 3)], atol=0.02)


def test_qwen3_vl_embedding_is_asked_in_its_own_form(tmp_path: Path) -> None:
    """An instruction, the input, and an empty answer that is gone on from; the same for texts and for pictures."""
    with server(embedding_server) as there:
        embedder = open_at(there.base_url, tmp_path, "vllm:Qwen/Qwen3-VL-Embedding-2B")
        embedder.texts(["a dog"])
        embedder.pictures([RED])
        embedder.close()
    for request, kind in zip(there.requests, ("text", "image_url"), strict=True):
        asked = request.json
        assert asked["continue_final_message"] is True and asked["add_special_tokens"] is True
        system, user, assistant = asked["messages"]
        assert (system["role"], system["content"]) == ("system", "Represent the user's input.")
        assert _parts(user)[0]["type"] == kind
        assert (assistant["role"], assistant["content"]) == ("assistant", "")


def test_instruction_and_form_can_be_chosen(tmp_path: Path) -> None:
    with server(embedding_server) as there:
        embedder = open_at(there.base_url, tmp_path, texts_as="messages", instruction="Find the photograph.")
        embedder.texts(["ab"])
        embedder.close()
    assert there.requests[0].json["messages"] == [
        {"role": "system", "content": "Find the photograph."},
        {"role": "user", "content": "ab"},
    ]


def test_any_address(tmp_path: Path) -> None:
    with server(embedding_server) as there:
        for name in (f"http:{there.base_url}#my/model", f"{there.base_url}#my/model"):
            embedder: Any = find_embedder(name, Session(tmp_path))
            assert embedder.texts(["ab"]).shape == (1, 4)
            embedder.close()
    assert {request.json["model"] for request in there.requests} == {"my/model"}
    assert all("authorization" not in request.headers for request in there.requests)


def test_the_dimension_is_asked_for_once(tmp_path: Path) -> None:
    with server(embedding_server) as there:
        embedder = open_at(there.base_url, tmp_path)
        assert embedder.dim == 4 and embedder.dim == 4
        embedder.close()
    assert len(there.requests) == 1


def test_refusals_and_faults_are_tried_again(tmp_path: Path) -> None:
    answers = iter(
        [
            respond_json({"error": {"message": "slow down"}}, 429, retry_after="0"),
            respond_json({"error": {"message": "oops"}}, 500),
            respond(b'{"data": [', content_type="application/json"),
        ]
    )
    with server(lambda request: next(answers, None) or embedding_server(request)) as there:
        embedder = open_at(there.base_url, tmp_path)
        made = embedder.texts(["ab"])
        embedder.close()
    assert len(there.requests) == 4
    np.testing.assert_allclose(made, [unit(2, 1, 1, 1)], atol=1e-6)


def test_one_bad_text_fails_alone(tmp_path: Path) -> None:
    """OpenAI refuses the whole list for one text that is too long; the others must not pay for it."""

    def script(request: Received) -> Answer:
        if any(len(text) > 5 for text in request.json["input"]):
            return respond_json({"error": {"message": "maximum context length is 5 tokens"}}, 400)
        return embedding_server(request)

    texts = [f"a{n}" for n in range(20)] + ["much too long"] + [f"b{n}" for n in range(10)]
    with server(script) as there:
        embedder = open_at(there.base_url, tmp_path)
        attempt = attempt_texts(embedder, texts)
        embedder.close()
    assert {at: failure.kind for at, failure in attempt.failures.items()} == {20: "bad-request"}
    assert "maximum context length" in attempt.failures[20].message
    good = [at for at in range(len(texts)) if at != 20]
    np.testing.assert_allclose(attempt.vectors[good], [unit(*vector_of(texts[at])) for at in good], atol=1e-6)
    assert len(there.requests) < 15 and attempt.stopped is None


def test_one_bad_picture_fails_alone(tmp_path: Path) -> None:
    def script(request: Received) -> Answer:
        if vector_of(request.json["messages"])[2] > 200:
            return respond_json({"error": {"message": "refused", "code": "content_filter"}}, 400)
        return embedding_server(request)

    with server(script) as there:
        embedder = open_at(there.base_url, tmp_path)
        attempt = attempt_pictures(embedder, [RED, BLUE, RED])
        embedder.close()
    assert {at: failure.kind for at, failure in attempt.failures.items()} == {1: "content-filter"}
    assert attempt.vectors[0].any() and attempt.vectors[2].any() and not attempt.vectors[1].any()


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        [{"embedding": [1, 2]}, {"embedding": [1, 2]}],
        [{"index": 5, "embedding": [1, 2]}],
        [{"index": 0}],
        [{"index": 0, "embedding": "///"}],
        [{"index": 0, "embedding": [[1], [2]]}],
        [{"index": 0, "embedding": []}],
        ["x"],
    ],
)
def test_a_reply_of_the_wrong_form_is_a_named_failure(tmp_path: Path, data: Any) -> None:
    with server(lambda _: respond_json({"data": data})) as there:
        embedder = open_at(there.base_url, tmp_path)
        attempt = attempt_texts(embedder, ["ab"])
        embedder.close()
    assert attempt.failures[0].kind == "wrong-schema" and len(there.requests) == 1


def test_a_vector_without_direction_is_a_failure(tmp_path: Path) -> None:
    with server(lambda _: respond_json({"data": [{"index": 0, "embedding": [0.0, 0.0]}]})) as there:
        embedder = open_at(there.base_url, tmp_path)
        attempt = attempt_texts(embedder, ["ab"])
        with pytest.raises(SightlineError, match="gave no vector"):
            embedder.texts(["ab"])
        embedder.close()
    assert attempt.failures[0].kind == "empty"


def test_a_wrong_key_stops_at_once_and_is_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_API_KEY", "topsecretkey")
    body = {"error": {"message": "Incorrect API key provided: topsecretkey", "code": "invalid_api_key"}}
    with server(lambda _: respond_json(body, 401)) as there:
        embedder = open_at(there.base_url, tmp_path)
        with pytest.raises((UserError, StoppedError)) as told:
            embedder.texts([f"text {n}" for n in range(5000)])
        embedder.close()
    assert len(there.requests) < 100 and "topsecretkey" not in str(told.value)
    assert b"topsecretkey" not in (tmp_path / "journal.sqlite").read_bytes()


def test_what_was_paid_for_before_a_stop_is_kept(tmp_path: Path) -> None:
    seen = iter(range(1000))

    def script(request: Received) -> Answer:
        if next(seen) < 2:
            return embedding_server(request)
        return respond_json({"error": {"message": "no credit", "code": "insufficient_quota"}}, 429)

    with server(script) as there:
        embedder = open_at(there.base_url, tmp_path, at_once=1, texts_per_request=1)
        attempt = attempt_texts(embedder, ["a", "ab", "abb", "abbb"])
        embedder.close()
    assert attempt.stopped is not None and "credit" in str(attempt.stopped)
    assert set(attempt.failures) == {2, 3} and attempt.vectors[:2].any(axis=1).all()


@pytest.mark.parametrize(
    ("name", "prices", "dollars"),
    [
        ("vllm/some/clip", {"vllm/some/clip": {"input": 2.0}}, 2.0),
        ("openai/text-embedding-3-small", {}, 0.02),
        ("vllm/unheard-of", {}, None),
    ],
)
def test_the_ledger_knows_what_it_cost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, prices: dict[str, Any], dollars: float | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    config = Config.model_validate({"prices": {"models": prices}})
    with server(embedding_server) as there:
        embedder = open_at(there.base_url, tmp_path, name, config=config)
        embedder.texts(["a", "b", "c"])
        embedder.close()
    (row,) = read_ledger(tmp_path, None).rows
    assert (row.stage, row.model, row.calls, row.input) == ("embed", name, 1, 21)
    if dollars is None:
        assert row.money == "unknown"
    else:
        assert row.usd == pytest.approx(21 * dollars / 1e6)


def test_local_only_refuses_what_leaves_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    for name in ("openai/text-embedding-3-small", "http:https://example.org/v1#m"):
        with pytest.raises(UserError, match="--local-only"):
            find_embedder(name, Session(tmp_path, local_only=True))
    find_embedder("vllm/m", Session(tmp_path, local_only=True))


def test_openai_has_no_eyes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    embedder = find_embedder("openai/text-embedding-3-small", Session(tmp_path))
    with pytest.raises(UserError, match="embeds texts only"):
        embedder.pictures([RED])


def test_the_revision_changes_with_what_changes_a_vector(tmp_path: Path) -> None:
    def revision(url: str = "http://localhost:1/v1", **options: Any) -> str:
        return str(open_at(url, tmp_path, **options).revision)

    assert revision() == revision(at_once=3, encoding_format="float")
    different = [
        revision(),
        revision("http://localhost:2/v1"),
        revision(dimensions=3),
        revision(prefix="q: "),
        revision(instruction="x"),
        revision(texts_as="messages"),
        revision(extra={"truncate_prompt_tokens": 5}),
        revision(revision="2"),
    ]
    assert len(set(different)) == len(different)
    assert revision("http://localhost:1/v1", revision="2") == revision("http://localhost:2/v1", revision="2")


def test_it_is_said_once_who_sees_the_pictures(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from sightline.models.embedders.session import EmbedderSession

    for name, said in (("http:https://example.org/v1#m", 1), ("vllm/m", 0)):
        caplog.clear()
        for _ in range(2):
            with EmbedderSession(name, Session(tmp_path / "ws", Config())) as session:
                session.tell_who_sees("the pictures of photos")
        assert len(caplog.messages) == said
        assert all("the pictures of photos are sent to example.org" in message for message in caplog.messages)
