"""Results as servers and vLLM's run-batch write them: strange lines, bad replies and missing files are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from batch_desk import FULL_PRICE, PRICES, ask, desk, run, stage
from batch_server import Row, answer, batch_world, completion
from sightline.calls.batches.completion import make_retry
from sightline.calls.batches.job_files import make_job
from sightline.calls.batches.results import parse_files
from sightline.calls.batches.submission import download, submit, wait
from sightline.calls.ledger import read_ledger
from sightline.errors import UserError
from sightline.types import Failure


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


def test_failures_of_vllm_run_batch_are_read_in_each_form_that_it_writes(tmp_path: Path) -> None:
    """As its source writes them (looked up on 2026-11-15): a status with no body, and words or an object beside it."""
    said = {"error": {"message": "prompt too long", "type": "BadRequestError", "param": None, "code": 400}}
    older = {"object": "error", "message": "prompt too long", "type": "BadRequestError", "param": None, "code": 400}
    errors = ["prompt too long", said, older]

    async def main() -> dict[str, Row]:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await make_job(stage(4), it.transport, it.folder, journal=it.journal)
                rows: list[dict[str, Any]] = [
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
