"""Batches against a real server: files as live calls would be, each submitted once, each answer kept once."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import orjson
import pytest

from batch_server import BatchWorld, Row, answer, batch_world, completion
from pictures import random_picture
from sightline.config.services import ModelSettings, Price, PriceSettings
from sightline.engine import Journal, Prices, read_ledger
from sightline.engine.retry import Retry
from sightline.errors import StoppedError, UserError
from sightline.models.batches import (
    BatchServer,
    Job,
    ServerError,
    Store,
    adopt_ids,
    ask_live,
    cancel,
    download,
    finish_live,
    load_job,
    make,
    make_retry,
    parse,
    parse_files,
    refresh,
    submit,
    wait,
    write_results,
)
from sightline.models.batches.job import line, line_id, open_http
from sightline.models.batches.requests import from_json, to_json
from sightline.models.caller import Caller
from sightline.models.http import HttpTransport
from sightline.types import ChatReply, ChatRequest, Failure, ImagePart, Message, ToolCall, ToolSpec

T = TypeVar("T")
MODEL = "vllm/m"
QUICK = Retry(attempts=3, overload_attempts=3, first_seconds=0.01, longest_seconds=0.02)
PRICES = Prices(PriceSettings(models={MODEL: Price(input=10.0, output=100.0)}))
FULL_PRICE = (100 * 10.0 + 10 * 100.0) / 1e6


def run(main: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(main, 60))


def ask(prompt: str, **fields: Any) -> ChatRequest:
    return ChatRequest(MODEL, (Message("user", (prompt,)),), **fields)


def stage(count: int) -> list[tuple[str, ChatRequest]]:
    return [(f"q{number}", ask(f"question {number}", max_tokens=20)) for number in range(count)]


@dataclass
class Desk:
    """Everything that the steps of a job need."""

    world: BatchWorld
    folder: Path
    store: Store
    journal: Journal
    transport: HttpTransport
    server: BatchServer

    async def make(self, items: Iterable[tuple[str, ChatRequest]], **options: Any) -> Job:
        return await make(items, self.transport, self.folder, journal=self.journal, stage="probe", **options)

    async def run(self, job: Job) -> dict[str, Row]:
        """Submit, wait, download and parse; the results by id."""
        await submit(job, self.store, self.server)
        await wait(job, self.store, self.server, every=0.01)
        await download(job, self.store, self.server)
        self.parse(job)
        return self.results(job)

    def parse(self, job: Job, **options: Any) -> Any:
        return parse(job, self.store, self.journal, self.transport, PRICES, **options)

    def results(self, job: Job) -> dict[str, Row]:
        write_results(job, self.store, self.journal)
        lines = (job.folder / "results.jsonl").read_bytes().splitlines()
        return {row["id"]: row for row in map(orjson.loads, lines)}


@asynccontextmanager
async def desk(world: BatchWorld, tmp_path: Path, name: str = "ws") -> AsyncIterator[Desk]:
    transport = open_http(MODEL, base_url=world.base_url)
    workspace = tmp_path / name
    try:
        with Store(workspace) as store, Journal(workspace) as journal:
            async with BatchServer.open(MODEL, world.base_url, retry=QUICK) as server:
                yield Desk(world, tmp_path / "job", store, journal, transport, server)
    finally:
        await transport.close()


# --- make ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_lines_hold_exactly_the_bodies_of_live_calls(tmp_path: Path, api: Any) -> None:
    picture = tmp_path / "a.png"
    random_picture(1, (20, 10)).save(picture)
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    request = ChatRequest(
        MODEL, (Message("user", ("Was ist das? ü", ImagePart(str(picture)))),), schema=schema, max_tokens=7
    )

    async def main() -> tuple[Job, bytes]:
        transport = open_http(MODEL, base_url="http://localhost:1/v1", api=api)
        body = await transport.body(request)
        assert isinstance(body, bytes)
        job = await make([('odd "id", ü', request)], transport, tmp_path / "job")
        await transport.close()
        return job, body

    job, body = run(main())
    row = (job.folder / job.shards[0].file).read_bytes()
    assert row == line('odd "id", ü', job.url, body)
    found = orjson.loads(row)
    assert list(found) == ["custom_id", "method", "url", "body"]
    assert (found["custom_id"], found["method"]) == ('odd "id", ü', "POST")
    assert found["url"] == {"chat": "/v1/chat/completions", "responses": "/v1/responses"}[api]
    assert found["body"] == orjson.loads(body) and "base64" in row.decode()
    assert line_id(row) == 'odd "id", ü'
    assert load_job(job.folder) == job


def test_files_are_split_by_count_and_by_bytes(tmp_path: Path) -> None:
    async def main(folder: Path, **options: int) -> Job:
        transport = open_http(MODEL, base_url="http://localhost:1/v1")
        try:
            return await make(stage(10), transport, folder, **options)
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
            await make(items, transport, tmp_path / "job")
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
                with pytest.raises(UserError, match="worth asking for again"):
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


# --- the whole way -------------------------------------------------------------------------------------------


def test_replies_land_under_the_keys_of_live_calls_and_nothing_is_paid_twice(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(5), max_requests=2, price_factor=0.5)
                results = await it.run(job)
                assert {key: row["text"] for key, row in results.items()} == {
                    f"q{n}": f"re: question {n}" for n in range(5)
                }
                assert list(results) == [f"q{n}" for n in range(5)]
                caller = Caller(it.transport, it.journal, prices=PRICES, stage="probe")
                for _, request in stage(5):
                    reply = await caller.reply(request)
                    assert isinstance(reply, ChatReply) and reply.from_journal and reply.text.startswith("re: ")
                assert world.live == []
                again = it.parse(job)
                assert again.read == 0
        total = read_ledger(tmp_path / "ws").total
        assert (total.calls, total.failed, total.from_journal) == (5, 0, 5)
        assert (total.input, total.output) == (500, 50)
        assert total.usd == pytest.approx(5 * FULL_PRICE / 2)
        assert (total.p50, total.unpriced) == (None, 0)
        assert world.count("POST", "/v1/batches") == 3
        assert [batch["metadata"]["sightline_shard"] for batch in world.batches.values()] == [
            shard.file for shard in job.shards
        ]

    run(main())


def test_a_job_goes_on_from_another_machine_with_only_its_folder(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(5), max_requests=2)
                await submit(job, it.store, it.server)
            shutil.copytree(tmp_path / "job", tmp_path / "elsewhere")
            async with desk(world, tmp_path, "other") as there:
                job = load_job(tmp_path / "elsewhere")
                await submit(job, there.store, there.server)
                assert len(world.batches) == 3
                results = await there.run(job)
                assert all("text" in row for row in results.values()) and len(results) == 5
        assert len(world.batches) == 3

    run(main())


def test_batches_are_found_by_file_or_by_given_ids_where_metadata_is_forgotten(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world(keep_metadata=False) as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(4), max_requests=2)
                await submit(job, it.store, it.server)
            ids = list(world.batches)
            async with desk(world, tmp_path, "other") as there:
                job = load_job(tmp_path / "job")
                with pytest.raises(UserError, match="not submitted"):
                    await wait(job, there.store, there.server)
                await adopt_ids(job, there.store, there.server, ids)
                assert [row.batch_id for row in there.store.rows(job)] == ids
                with pytest.raises(UserError, match="knows no batch"):
                    await adopt_ids(job, there.store, there.server, ["batch_x"])
                assert len(await there.run(job)) == 4
            assert list(world.batches) == ids

    run(main())


@pytest.mark.parametrize("keep_metadata", [True, False])
def test_a_lost_answer_makes_no_second_batch(tmp_path: Path, keep_metadata: bool) -> None:
    async def main() -> None:
        with batch_world(lost_answers=1, keep_metadata=keep_metadata) as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(4), max_requests=2)
                await submit(job, it.store, it.server)
                assert len(world.batches) == 2
                await submit(job, it.store, it.server)
        assert len(world.batches) == len(world.files) == 2

    run(main())


def test_faults_of_the_server_pass_or_are_said(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(2))
                world.faults = [503, 500]
                await submit(job, it.store, it.server)
                world.faults = [502]
                await refresh(job, it.store, it.server)
                world.faults = [401]
                with pytest.raises(ServerError, match="auth"):
                    await wait(job, it.store, it.server, every=0.01)
                world.faults = [500] * 9
                with pytest.raises(ServerError, match="server-error"):
                    await cancel(job, it.store, it.server)
                world.faults = []
                assert len(await it.run(job)) == 2

    run(main())


def test_a_changed_file_is_not_submitted(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(2))
                with (job.folder / job.shards[0].file).open("ab") as file:
                    file.write(b"{}\n")
                with pytest.raises(UserError, match="not what `batch make` wrote"):
                    await submit(job, it.store, it.server)
                assert world.files == {}

    run(main())


# --- bad ends ------------------------------------------------------------------------------------------------


def partly(row: Row) -> Row | None:
    """Half is answered; the rest expired (an error line), or is not mentioned."""
    number = int(row["custom_id"][1:])
    if number % 4 == 1:
        error = {"code": "batch_expired", "message": "This request could not be executed before the completion window."}
        return {"id": "r", "custom_id": row["custom_id"], "response": None, "error": error}
    return None if number % 4 == 3 else answer(row)


@pytest.mark.parametrize("end", ["expired", "cancelled", "canceled"])
def test_an_early_end_keeps_what_is_done_and_retry_asks_only_for_the_rest(tmp_path: Path, end: str) -> None:
    spelt = {"canceled": "cancelled"}.get(end, end)

    async def main() -> None:
        with batch_world(end=end, work=partly) as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(8), max_requests=5)
                results = await it.run(job)
                assert [row.status for row in it.store.rows(job)] == [spelt, spelt]
                kinds = {key: row["failure"]["kind"] for key, row in results.items() if "failure" in row}
                assert kinds == {"q1": "expired", "q5": "expired", "q3": spelt, "q7": spelt}
                world.end, world.work = "completed", answer
                job = make_retry(job, it.store, it.journal)
                with pytest.raises(UserError, match="has not been read"):
                    make_retry(job, it.store, it.journal)
                assert [job.ids(shard) for shard in job.shards[2:]] == [["q1", "q3", "q5", "q7"]]
                assert load_job(job.folder) == job
                results = await it.run(job)
                assert [row["text"] for row in results.values()] == [f"re: question {n}" for n in range(8)]
                assert len(world.batches) == 3
        total = read_ledger(tmp_path / "ws").total
        assert (total.calls, total.failed) == (12, 4)
        assert total.usd == pytest.approx(8 * FULL_PRICE)

    run(main())


def test_a_failed_batch_ends_with_its_message(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world(end="failed") as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(3))
                told: list[str] = []
                await submit(job, it.store, it.server)
                (row,) = await wait(job, it.store, it.server, every=0.01, tell=told.append)
                assert row.status == "failed" and "line 2: bad line" in told[-1]
                results = await it.run(job)
                assert {row["failure"]["kind"] for row in results.values()} == {"batch-failed"}
                assert "line 2: bad line" in results["q0"]["failure"]["message"]

    run(main())


def test_a_wait_has_an_end_and_honours_its_interval(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world(polls=("in_progress",) * 1000) as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(2))
                await submit(job, it.store, it.server)
                now, pauses = 0.0, []

                async def sleep(seconds: float) -> None:
                    nonlocal now
                    pauses.append(seconds)
                    now += seconds

                with pytest.raises(StoppedError, match=r"1 of 1 batches have not ended after 100 s: batch_\d"):
                    await wait(job, it.store, it.server, every=30, deadline=100, clock=lambda: now, sleep=sleep)
                assert pauses == [30, 30, 30, 10]
                with pytest.raises(UserError, match="has not ended"):
                    it.parse(job)
                assert it.parse(job, partial=True).read == 0
                assert {row["failure"]["kind"] for row in it.results(job).values()} == {"pending"}
                world.batches.clear()
                now, ticks = 0.0, iter(range(0, 10_000, 300))
                (row,) = await wait(
                    job, it.store, it.server, every=30, clock=lambda: now, sleep=sleep, wall=lambda: next(ticks)
                )
                assert row.status == "gone" and "no longer knows" in row.message and row.missed == 4

    run(main())


def test_wait_lives_through_a_server_that_is_away_for_a_while(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(2))
                await submit(job, it.store, it.server)
                world.faults = [500] * 4
                told: list[str] = []
                (row,) = await wait(job, it.store, it.server, every=0.01, tell=told.append)
                assert row.status == "completed" and "not reached now" in told[0]

    run(main())


def test_strange_lines_and_bad_replies_are_counted_and_named(tmp_path: Path) -> None:
    def work(row: Row) -> Row | None:
        number = int(row["custom_id"][1:])
        found = answer(row)
        assert found is not None
        if number == 1:
            found["response"] = {"status_code": 429, "body": {"error": {"message": "slow down"}}}
        if number == 2:
            found["response"]["body"] = completion("cut", "length")
        if number == 3:
            found["response"]["body"] = {"choices": []}
        if number == 4:
            found["response"]["body"] = completion("not a colour")
        return found

    schema = {"type": "object", "properties": {"c": {"type": "string"}}, "required": ["c"]}

    async def main() -> None:
        twice = {**(answer({"custom_id": "q0", "body": {"messages": [{"content": "other"}]}}) or {})}
        stranger = {**twice, "custom_id": "who"}
        lines = [orjson.dumps(twice) + b"\n", orjson.dumps(stranger) + b"\n", b'{"custom_id": "q1", "resp\n']
        with batch_world(work=work, extra_lines=lines) as world:
            async with desk(world, tmp_path) as it:
                items = [*stage(4), ("q4", ask("colour?", schema=schema))]
                job = await it.make(items)
                await submit(job, it.store, it.server)
                await wait(job, it.store, it.server, every=0.01)
                await download(job, it.store, it.server)
                found = it.parse(job)
                assert (found.duplicates, found.strangers, found.unreadable) == (1, 1, 1)
                assert found.failures == {"rate-limited": 1, "length": 1, "empty": 1, "wrong-schema": 1}
                results = it.results(job)
                assert results["q0"]["text"] == "re: question 0"
                kinds = [results[f"q{n}"]["failure"]["kind"] for n in range(1, 5)]
                assert kinds == ["rate-limited", "length", "empty", "wrong-schema"]
                # What the model cut off would be cut off again; it is paid for, and not asked for a second time.
                world.work = answer
                again = make_retry(job, it.store, it.journal)
                assert again.ids(again.shards[1]) == ["q1", "q3", "q4"]
                assert isinstance(it.journal.find(next(item.key for item in job.items() if item.id == "q2")), Failure)
        total = read_ledger(tmp_path / "ws").total
        assert (total.calls, total.failed) == (5, 4)
        assert total.unpriced == 1  # The reply without choices did not say its tokens.
        assert total.usd == pytest.approx(3 * FULL_PRICE)

    run(main())


def test_results_of_a_file_that_is_gone_are_failures(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(2))
                await submit(job, it.store, it.server)
                await wait(job, it.store, it.server, every=0.01)
                with pytest.raises(UserError, match="are not here"):
                    it.parse(job)
                world.files.clear()
                await download(job, it.store, it.server)
                it.parse(job)
                failure = it.results(job)["q0"]["failure"]
                assert failure["kind"] == "missing" and "no longer has file-" in failure["message"]

    run(main())


def test_after_the_deadline_the_rest_is_asked_for_live(tmp_path: Path) -> None:
    def half(row: Row) -> Row | None:
        return answer(row) if int(row["custom_id"][1:]) < 2 else None

    async def main() -> None:
        with batch_world(polls=("in_progress",) * 1000, work=half) as world:
            async with desk(world, tmp_path) as it:
                job = await it.make([*stage(5), ("twin", stage(5)[4][1])])
                await submit(job, it.store, it.server)
                caller = Caller(it.transport, it.journal, prices=PRICES, stage="probe")
                told: list[str] = []
                summary = await finish_live(
                    job, it.store, it.server, it.journal, it.transport, PRICES, caller,
                    every=0.01, deadline=0.0, tell=told.append,
                )  # fmt: skip
                assert (summary.answered, summary.failures, summary.pending) == (6, {}, 0)
                results = it.results(job)
                assert [results[f"q{n}"]["text"][:4] for n in range(5)] == ["re: ", "re: ", "live", "live", "live"]
                assert len(world.live) == 3 and "3 asked for live" in told
                (batch,) = world.batches.values()
                assert batch["status"] == "cancelled"

    run(main())


def test_what_a_stuck_batch_answers_after_live_calls_is_counted_and_changes_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world(polls=("in_progress",) * 1000) as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(3))
                await submit(job, it.store, it.server)
                caller = Caller(it.transport, it.journal, prices=PRICES, stage="probe")
                (batch,) = world.batches.values()
                world._advance = lambda _: None  # type: ignore[method-assign]
                await finish_live(
                    job, it.store, it.server, it.journal, it.transport, PRICES, caller,
                    every=0.01, deadline=0.0, grace=0.02,
                )  # fmt: skip
                before = it.results(job)
                assert len(world.live) == 3
                world._finish(batch, "cancelled")
                del world._advance
                await wait(job, it.store, it.server, every=0.01)
                await download(job, it.store, it.server)
                assert it.parse(job).failures == {"duplicate": 3}
                assert it.results(job) == before
        total = read_ledger(tmp_path / "ws").total
        assert total.usd == pytest.approx(6 * FULL_PRICE)

    run(main())


def test_failures_of_vllm_run_batch_are_read_in_each_form_that_it_writes(tmp_path: Path) -> None:
    """As its source writes them (looked up on 2026-11-15): a status with no body, and words or an object beside it."""
    said = {"error": {"message": "prompt too long", "type": "BadRequestError", "param": None, "code": 400}}
    older = {"object": "error", "message": "prompt too long", "type": "BadRequestError", "param": None, "code": 400}
    errors = ["prompt too long", said, older]

    async def main() -> dict[str, Row]:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await make(stage(4), it.transport, it.folder, journal=it.journal)
                rows = [
                    {
                        "id": "vllm-1",
                        "custom_id": f"q{number}",
                        "response": {"status_code": 400, "request_id": "vllm-batch-1", "body": None},
                        "error": error,
                    }
                    for number, error in enumerate(errors)
                ]
                reply = {"status_code": 200, "request_id": "vllm-batch-1", "body": completion("fine")}
                rows.append({"id": "vllm-1", "custom_id": "q3", "response": reply, "error": None})
                out = tmp_path / "out.jsonl"
                out.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
                parse_files(job, it.store, it.journal, it.transport, PRICES, [out])
                return it.results(job)

    found = run(main())
    assert found["q3"]["text"] == "fine"
    for number in range(3):
        failure = found[f"q{number}"]["failure"]
        assert failure["kind"] == "bad-request" and "prompt too long" in failure["message"], failure


def test_results_of_vllm_run_batch_are_read_from_its_file(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(4), max_requests=2)
                rows = [orjson.loads(row) for row in (job.folder / job.shards[0].file).read_bytes().splitlines()]
                out = tmp_path / "out.jsonl"
                out.write_bytes(b"".join(orjson.dumps(answer(row)) + b"\n" for row in rows[:1]))
                found = parse_files(job, it.store, it.journal, it.transport, PRICES, [out])
                assert (found.read, found.failures) == (2, {"missing": 1})
                kinds = {key: row.get("failure", {}).get("kind") for key, row in it.results(job).items()}
                assert kinds == {"q0": None, "q1": "missing", "q2": "pending", "q3": "pending"}
                out.write_bytes(b"{}\n")
                with pytest.raises(UserError, match="answers nothing"):
                    parse_files(job, it.store, it.journal, it.transport, PRICES, [out])
                # The other half goes out as a batch; what came from the file is not submitted.
                await submit(job, it.store, it.server)
                assert len(world.batches) == 1

    run(main())


def test_two_processes_never_work_on_one_job(tmp_path: Path) -> None:
    async def main() -> Job:
        transport = open_http(MODEL, base_url="http://localhost:1/v1")
        try:
            return await make(stage(1), transport, tmp_path / "job")
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


def test_one_404_loses_no_batch_and_one_that_was_given_up_can_come_back(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(2))
                await submit(job, it.store, it.server)
                kept = dict(world.batches)
                world.batches.clear()
                for at in (0, 1, 2, 3, 4, 5):
                    (row,) = await refresh(job, it.store, it.server, clock=lambda at=at: at)
                    assert row.status != "gone" and "asked again" in row.message, "six 404s within five seconds"
                world.batches.update(kept)
                (row,) = await refresh(job, it.store, it.server, clock=lambda: 6)
                assert (row.missed, row.missed_since, row.message) == (0, None, "")
                world.batches.clear()
                for at in (10, 500, 900, 920):
                    (row,) = await refresh(job, it.store, it.server, clock=lambda at=at: at)
                assert row.status == "gone" and row.has_ended
                world.batches.update(kept)
                assert len(await it.run(job)) == 2 and it.store.row(job, row.shard).status == "completed"

    run(main())


def test_a_batch_that_comes_back_after_it_was_read_as_gone_is_read_by_its_id(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(2))
                await submit(job, it.store, it.server)
                kept = dict(world.batches)
                world.batches.clear()
                for at in (0, 500, 900, 920):
                    await refresh(job, it.store, it.server, clock=lambda at=at: at)
                await download(job, it.store, it.server)
                it.parse(job)
                assert {row["failure"]["kind"] for row in it.results(job).values()} == {"missing"}
                world.batches.update(kept)
                await adopt_ids(job, it.store, it.server, list(kept))
                results = await it.run(job)
                assert {row["text"] for row in results.values()} == {"re: question 0", "re: question 1"}

    run(main())


def test_settings_that_reach_the_wire_are_in_the_keys_of_a_job(tmp_path: Path) -> None:
    async def keys(name: str, **fields: Any) -> set[bytes]:
        transport = open_http(MODEL, base_url="http://localhost:1/v1", models=ModelSettings(**fields))
        try:
            job = await make(stage(2), transport, tmp_path / name)
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
