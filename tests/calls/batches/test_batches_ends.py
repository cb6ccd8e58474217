"""Batches that end early, late or not at all: what is done is kept, and only the rest is asked again."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from batch_desk import FULL_PRICE, PRICES, desk, run, stage
from batch_server import Row, answer, batch_world
from sightline.calls.batches.completion import finish_live, make_retry
from sightline.calls.batches.job import load_job
from sightline.calls.batches.submission import adopt_ids, download, refresh, submit, wait
from sightline.calls.caller import Caller
from sightline.calls.ledger import read_ledger
from sightline.errors import StoppedError, UserError


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
                world._advance = lambda batch: None  # type: ignore[method-assign]
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


def test_one_404_loses_no_batch_and_one_that_was_given_up_can_come_back(tmp_path: Path) -> None:
    async def main() -> None:
        with batch_world() as world:
            async with desk(world, tmp_path) as it:
                job = await it.make(stage(2))
                await submit(job, it.store, it.server)
                kept = dict(world.batches)
                world.batches.clear()
                for at in (0, 1, 2, 3, 4, 5):
                    (row,) = await refresh(job, it.store, it.server, clock=partial(float, at))
                    assert row.status != "gone" and "asked again" in row.message, "six 404s within five seconds"
                world.batches.update(kept)
                (row,) = await refresh(job, it.store, it.server, clock=lambda: 6)
                assert (row.missed, row.missed_since, row.message) == (0, None, "")
                world.batches.clear()
                for at in (10, 500, 900, 920):
                    (row,) = await refresh(job, it.store, it.server, clock=partial(float, at))
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
                    await refresh(job, it.store, it.server, clock=partial(float, at))
                await download(job, it.store, it.server)
                it.parse(job)
                assert {row["failure"]["kind"] for row in it.results(job).values()} == {"missing"}
                world.batches.update(kept)
                await adopt_ids(job, it.store, it.server, list(kept))
                results = await it.run(job)
                assert {row["text"] for row in results.values()} == {"re: question 0", "re: question 1"}

    run(main())
