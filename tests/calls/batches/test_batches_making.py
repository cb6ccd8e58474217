"""Making a job: lines as live calls would be, files within limits, all of it or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from batch_desk import MODEL, PRICES, ask, desk, run, stage
from batch_server import batch_world
from pictures import random_picture
from sightline.calls.batches.completion import ask_live, make_retry
from sightline.calls.batches.job import BatchJob, batch_line, from_json, line_id, load_job, open_http, to_json
from sightline.calls.batches.job_files import make_job
from sightline.calls.caller import Caller
from sightline.config.settings import ModelSettings
from sightline.errors import UserError
from sightline.types import ChatReply, ChatRequest, ImagePart, Message, ToolCall, ToolSpec


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_lines_hold_exactly_the_bodies_of_live_calls(tmp_path: Path, api: Any) -> None:
    picture = tmp_path / "a.png"
    random_picture(1, (20, 10)).save(picture)
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    request = ChatRequest(
        MODEL, (Message("user", ("Was ist das? ü", ImagePart(str(picture)))),), schema=schema, max_tokens=7
    )

    async def main() -> tuple[BatchJob, bytes]:
        transport = open_http(MODEL, base_url="http://localhost:1/v1", api=api)
        body = await transport.body(request)
        assert isinstance(body, bytes)
        job = await make_job([('odd "id", ü', request)], transport, tmp_path / "job")
        await transport.close()
        return job, body

    job, body = run(main())
    row = (job.folder / job.shards[0].file).read_bytes()
    assert row == batch_line('odd "id", ü', job.url, body)
    found = orjson.loads(row)
    assert list(found) == ["custom_id", "method", "url", "body"]
    assert (found["custom_id"], found["method"]) == ('odd "id", ü', "POST")
    assert found["url"] == {"chat": "/v1/chat/completions", "responses": "/v1/responses"}[api]
    assert found["body"] == orjson.loads(body) and "base64" in row.decode()
    assert line_id(row) == 'odd "id", ü'
    assert load_job(job.folder) == job


def test_files_are_split_by_count_and_by_bytes(tmp_path: Path) -> None:
    async def main(folder: Path, **options: Any) -> BatchJob:
        transport = open_http(MODEL, base_url="http://localhost:1/v1")
        try:
            return await make_job(stage(10), transport, folder, **options)
        finally:
            await transport.close()

    by_count = run(main(tmp_path / "count", max_requests=4))
    assert [shard.requests for shard in by_count.shards] == [4, 4, 2]
    size = max(len(row) for row in (tmp_path / "count" / "shard-0000.jsonl").read_bytes().splitlines(keepends=True))
    by_bytes = run(main(tmp_path / "bytes", max_bytes=3 * size))
    assert [shard.requests for shard in by_bytes.shards] == [3, 3, 3, 1]
    for shard in by_bytes.shards:
        assert (tmp_path / "bytes" / shard.file).stat().st_size == shard.bytes <= 3 * size
    assert [custom_id for shard in by_bytes.shards for custom_id in by_bytes.ids(shard)] == [f"q{n}" for n in range(10)]
    with pytest.raises(UserError, match="holds a batch job already"):
        run(main(tmp_path / "bytes"))


def test_a_job_is_whole_or_not_there(tmp_path: Path) -> None:
    async def main(items: list[tuple[str, ChatRequest]]) -> None:
        transport = open_http(MODEL, base_url="http://localhost:1/v1")
        try:
            await make_job(items, transport, tmp_path / "job")
        finally:
            await transport.close()

    for items, says in (
        ([*stage(3), ("q1", ask("again"))], "given twice"),
        ([*stage(3), ("other", ChatRequest("vllm/n", ask("x").messages))], "a batch for each model"),
        ([], "no requests"),
    ):
        with pytest.raises(UserError, match=says):
            run(main(items))
        assert list(tmp_path.iterdir()) == []


def test_what_is_known_is_not_asked_and_what_cannot_be_sent_is_named(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                caller = Caller(it.transport, it.journal, prices=PRICES)
                assert isinstance(await caller.reply(ask("known")), ChatReply)
                broken = ChatRequest(MODEL, (Message("user", (ImagePart(str(tmp_path / "none.jpg")),)),))
                items = [
                    ("a", ask("known")),
                    ("b", ask("new")),
                    ("c", ask("new")),
                    ("d", broken),
                    ("e", ask("x" * 999)),
                ]
                job = await it.make(items, max_bytes=800)
                assert (job.requests, job.known, job.refused) == (5, 2, 2)
                assert [job.ids(shard) for shard in job.shards] == [["b"]]
                results = await it.run(job)
                assert results["a"]["text"] == "live: known"
                assert results["b"]["text"] == results["c"]["text"] == "re: new"
                assert (
                    results["d"]["failure"]["kind"] == "bad-picture"
                    and "none.jpg" in results["d"]["failure"]["message"]
                )
                assert results["e"]["failure"]["kind"] == "bad-request"
                with pytest.raises(UserError, match="is worth a retry"):
                    make_retry(job, it.store, it.journal)

    run(main())


def test_requests_come_back_from_disk_as_they_were(tmp_path: Path) -> None:
    request = ChatRequest(
        MODEL,
        (
            Message("user", ("look", ImagePart("https://example.org/a.jpg", detail="low"))),
            Message("assistant", (), (ToolCall("1", "f", "{}"),)),
            Message("tool", ("done",), tool_call_id="1"),
        ),
        tools=(ToolSpec("f", "does f", {"type": "object"}),),
        tool_choice="f",
        schema={"type": "object"},
        temperature=0.0,
        stop=("END",),
        sample=3,
        extra={"top_k": 5},
    )
    assert from_json(orjson.loads(orjson.dumps(to_json(request, tmp_path))), tmp_path) == request
    at_hand = ChatRequest(MODEL, (Message("user", (ImagePart("at hand", b"bytes"),)),))
    (part,) = from_json(to_json(at_hand, tmp_path), tmp_path).messages[0].content
    assert isinstance(part, ImagePart) and Path(part.source).read_bytes() == b"bytes"


def test_settings_that_reach_the_wire_are_in_the_keys_of_a_job(tmp_path: Path) -> None:
    async def keys(name: str, **fields: Any) -> set[bytes]:
        transport = open_http(MODEL, base_url="http://localhost:1/v1", models=ModelSettings(**fields))
        try:
            job = await make_job(stage(2), transport, tmp_path / name)
        finally:
            await transport.close()
        assert load_job(job.folder) == job and job.wire == transport.wire
        return {item.key for item in job.items()}

    plain, other = run(keys("a")), run(keys("b", extra={"top_k": 5}))
    assert len(plain) == len(other) == 2 and not plain & other


def test_a_job_of_the_first_version_is_still_read(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(2))
                path = job.folder / "batch.json"
                content = orjson.loads(path.read_bytes())
                del content["wire"]
                path.write_bytes(orjson.dumps({**content, "version": 1}))
                old = load_job(job.folder)
                assert old.wire is None
                assert all("text" in row for row in (await it.run(old)).values())
                with pytest.raises(UserError, match="earlier version"):
                    await ask_live(old, it.store, it.journal, Caller(it.transport, it.journal))

    run(main())


def test_two_processes_never_work_on_one_job(tmp_path: Path) -> None:
    async def main() -> BatchJob:
        transport = open_http(MODEL, base_url="http://localhost:1/v1")
        try:
            return await make_job(stage(1), transport, tmp_path / "job")
        finally:
            await transport.close()

    job = run(main())
    with job.locked(), pytest.raises(UserError, match="another process"), job.locked():
        raise AssertionError("both got in")
    with job.locked():
        assert job.check(job.shards[0]).is_file()


def test_models_without_batches_say_so() -> None:
    with pytest.raises(UserError, match="no OpenAI-style batches"):
        open_http("scripted/echo")
