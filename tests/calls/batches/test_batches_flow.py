"""Batches against a real server: each file is submitted once, each answer kept once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from batch_desk import FULL_PRICE, PRICES, desk, run, stage
from batch_server import batch_world
from sightline.calls.batches.client import BatchServerError
from sightline.calls.batches.job import load_job
from sightline.calls.batches.submission import adopt_ids, cancel, refresh, submit, wait
from sightline.calls.caller import Caller
from sightline.calls.ledger import read_ledger
from sightline.errors import UserError
from sightline.types import ChatReply


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
                with pytest.raises(BatchServerError, match="auth"):
                    await wait(job, it.store, it.server, every=0.01)
                world.faults = [500] * 9
                with pytest.raises(BatchServerError, match="server-error"):
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
