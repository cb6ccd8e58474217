"""The batches of a workspace: each step from requests to answers in one call, with all that it needs opened and closed.

Also what a job would cost, before it is made.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeAlias

from sightline.calls.batches.client import BatchClient
from sightline.calls.batches.completion import BatchSummary, finish_live, make_retry, write_results
from sightline.calls.batches.job import BatchJob, load_job, open_http
from sightline.calls.batches.job_files import MAX_BYTES, MAX_REQUESTS, make_job
from sightline.calls.batches.results import ParsedResults, parse, parse_files
from sightline.calls.batches.store import BatchRow, BatchStore
from sightline.calls.batches.submission import EVERY, LONGEST, Tell, adopt_ids, cancel, download, refresh, submit, wait
from sightline.calls.budget import Budget, BudgetLike
from sightline.calls.chat import open_chat
from sightline.calls.journal import Journal
from sightline.calls.journal_tables import JOURNAL_FILE
from sightline.calls.plan import CostPlan, StagePlan, plan_stage
from sightline.calls.prices import Prices
from sightline.calls.privacy_notice import announce_recipient, shows_private_pictures
from sightline.calls.session import Session
from sightline.engine.event_loop import run_async
from sightline.errors import StoppedError, UserError
from sightline.models.http import HttpTransport
from sightline.models.providers import leaves_machine
from sightline.models.transport_factory import find_wire
from sightline.plain_text import dollars
from sightline.types import ChatRequest

Requests: TypeAlias = Callable[[], Iterable[tuple[str, ChatRequest]]]
"""Gives the requests of a stage, with their ids, from the first on each time: they are not kept in memory."""
_Work: TypeAlias = Callable[[BatchJob, BatchStore, BatchClient], Awaitable[tuple[BatchRow, ...]]]


def plan_job(
    items: Iterable[tuple[str, ChatRequest]],
    *,
    stage: str,
    endpoint: str,
    wire: str,
    prices: Prices,
    journal: Journal | None = None,
    fresh: bool = False,
    price_factor: float | None = None,
) -> StagePlan:
    """Calls, tokens and money of a job: asked live, and as a batch at the listed price or at a part of the live one."""
    requests = (request for _, request in items)
    found = plan_stage(stage, requests, prices=prices, journal=journal, endpoint=endpoint, wire=wire, fresh=fresh)
    if price_factor is None or found.usd is None:
        return found
    most = None if found.most_usd is None else found.most_usd * price_factor
    return replace(found, batch_usd=found.usd.likely * price_factor, most_batch_usd=most)


async def check_budget(budget: BudgetLike, plan: StagePlan, done: str) -> None:
    """Refuse a job that may cost more than there is; a batch can't be stopped in the middle.

    A budget of the caller's own is asked to set aside the most that the job can cost. `done` ends the refusal.
    """
    if plan.calls == 0:
        return
    if plan.usd is None or plan.batch_usd is None:
        raise UserError(
            f"the price of {plan.model} in a batch is not known, so a budget can't be kept.",
            "set it in sightline.toml, under [prices.models], and give --price-factor 0.5 if a batch costs half",
        )
    most = plan.most_batch_usd
    if most is None:
        raise UserError(
            "nothing limits how long replies are, so no budget can be promised: a batch can't be stopped half-way.",
            "set the longest reply with --max-tokens",
        )
    if not isinstance(budget, Budget):
        about = f"{plan.model} in a batch"
        await budget.reserve(most, about)
        budget.settle(most, 0.0, about)  # What it really costs is known when its results are read.
    elif most > budget.cap:
        raise StoppedError(
            f"the job of {plan.calls:,} calls may cost up to {dollars(most)}, over the budget of "
            f"{dollars(budget.cap)}; {done}.",
            "give a larger --budget, or fewer requests with --limit",
        )


@dataclass(frozen=True, slots=True)
class BatchJobOptions:
    """How the files of a job are cut, and what a call in a batch costs."""

    stage: str = "batch"
    max_requests: int = MAX_REQUESTS
    max_bytes: int = MAX_BYTES
    window: str = "24h"
    price_factor: float | None = None


@dataclass(frozen=True, slots=True)
class BatchManager:
    """Where jobs are worked on; for code that is not asynchronous."""

    session: Session
    tell: Tell = lambda _: None

    def make(self, requests: Requests, model: str, out: Path, making: BatchJobOptions) -> BatchJob:
        """Write a job; nothing is sent. With a budget, a job that may cost more is refused."""
        if self.session.calls.budget is not None:
            (planned,) = self.plan(requests, model, making).stages
            run_async(check_budget(self.session.calls.budget, planned, "nothing was written"))
        return run_async(self._make(requests, model, out, making))

    def plan(self, requests: Requests, model: str, making: BatchJobOptions) -> CostPlan:
        """What a job would take; none is written, and nothing is sent."""
        transport = self._open(model)
        with Journal(self.session.workspace) as journal:
            planned = plan_job(
                requests(),
                stage=making.stage,
                endpoint=transport.endpoint,
                wire=transport.wire,
                prices=self._prices,
                journal=journal,
                fresh=self.session.calls.fresh,
                price_factor=making.price_factor,
            )
        return CostPlan((planned,))

    def submit(self, folder: Path) -> tuple[BatchRow, ...]:
        """Make batches of the files of a job, each exactly once. With a budget, what may cost more is refused."""

        async def work(job: BatchJob, store: BatchStore, server: BatchClient) -> tuple[BatchRow, ...]:
            budget = self.session.calls.budget
            if budget is not None:
                await check_budget(budget, self._plan_unsent(job, store), "nothing was sent")
            self._tell_who_sees(job)
            return await submit(job, store, server, tell=self.tell)

        return self._with_server(folder, work)

    def wait(self, folder: Path, every: float = EVERY, deadline: float = LONGEST) -> tuple[BatchRow, ...]:
        """Wait until all batches of a job have ended, however they did."""
        return self._with_server(
            folder,
            lambda job, store, server: wait(job, store, server, every=every, deadline=deadline, tell=self.tell),
        )

    def finish(self, folder: Path, every: float = EVERY, deadline: float = LONGEST) -> BatchSummary:
        """Wait until the deadline, then ask live for what is not answered."""
        job = load_job(folder)
        with job.locked():
            return run_async(self._finish(job, every, deadline))

    def status(self, folder: Path, ids: Sequence[str] = ()) -> tuple[BatchRow, ...]:
        """Ask how the batches of a job stand; takes over those of these ids."""

        async def work(job: BatchJob, store: BatchStore, server: BatchClient) -> tuple[BatchRow, ...]:
            await adopt_ids(job, store, server, ids)
            return await refresh(job, store, server)

        return self._with_server(folder, work)

    def rows(self) -> tuple[BatchRow, ...]:
        """All batches of the workspace, as they were last seen; asks nobody."""
        if not (self.session.workspace / JOURNAL_FILE).is_file():
            return ()
        with BatchStore(self.session.workspace) as store:
            return store.rows()

    def download(self, folder: Path) -> tuple[BatchRow, ...]:
        """Fetch the results of all batches that have ended."""
        return self._with_server(folder, download)

    def parse(
        self, folder: Path, files: Sequence[Path] = (), *, partial: bool = False
    ) -> tuple[ParsedResults, BatchSummary]:
        """Read results, those of the server or these files, into the journal and into results.jsonl; asks nobody."""
        job = load_job(folder)
        transport, prices = job.open_transport(self.session.config.models), self._prices
        with job.locked(), BatchStore(self.session.workspace) as store, Journal(self.session.workspace) as journal:
            if files:
                parsed = parse_files(job, store, journal, transport, prices, files)
            else:
                parsed = parse(job, store, journal, transport, prices, partial=partial)
            return parsed, write_results(job, store, journal)

    def retry(self, folder: Path, *, every_failure: bool = False) -> BatchJob:
        """Add files to a job that ask once more for what failed or is missing; asks nobody."""
        job = load_job(folder)
        with job.locked(), BatchStore(self.session.workspace) as store, Journal(self.session.workspace) as journal:
            return make_retry(job, store, journal, every_failure=every_failure)

    def cancel(self, folder: Path) -> tuple[BatchRow, ...]:
        """Cancel all batches of a job that have not ended."""
        return self._with_server(folder, cancel)

    # --- behind them ---------------------------------------------------------------------------------------

    @property
    def _prices(self) -> Prices:
        return Prices(self.session.config.prices)

    def _open(self, model: str) -> HttpTransport:
        calls, models = self.session.calls, self.session.config.models
        return open_http(model, base_url=calls.base_url, api=calls.api, models=models, local_only=calls.local_only)

    async def _make(self, requests: Requests, model: str, out: Path, making: BatchJobOptions) -> BatchJob:
        transport = self._open(model)
        try:
            with Journal(self.session.workspace) as journal:
                known = None if self.session.calls.fresh else journal
                return await make_job(requests(), transport, out, journal=known, **asdict(making))
        finally:
            await transport.close()

    def _plan_unsent(self, job: BatchJob, store: BatchStore) -> StagePlan:
        store.register(job)
        files = {row.shard for row in store.rows(job) if row.batch_id is None and not row.parsed}
        unsent = {custom_id for shard in job.shards if shard.file in files for custom_id in job.ids(shard)}
        return plan_job(
            ((item.id, item.request) for item in job.items() if item.id in unsent and item.request is not None),
            stage=job.stage,
            endpoint=job.endpoint,
            wire=job.wire or "",
            prices=self._prices,
            price_factor=job.price_factor,
        )

    def _with_server(self, folder: Path, work: _Work) -> tuple[BatchRow, ...]:
        job = load_job(folder)

        async def run() -> tuple[BatchRow, ...]:
            async with self._server(job) as server:
                with BatchStore(self.session.workspace) as store:
                    return await work(job, store, server)

        with job.locked():
            return run_async(run())

    def _server(self, job: BatchJob) -> AbstractAsyncContextManager[BatchClient]:
        models, local_only = self.session.config.models, self.session.calls.local_only
        return BatchClient.open(job.model, job.endpoint, models, local_only=local_only)

    async def _finish(self, job: BatchJob, every: float, deadline: float) -> BatchSummary:
        session, models = self.session, self.session.config.models
        there = session.with_calls(base_url=job.endpoint, api=job.api, vouched=False)
        _refuse_other_settings(job, find_wire(job.model, api=job.api, models=models))
        async with (
            self._server(job) as server,
            open_chat(job.model, there, stage=job.stage) as model,
        ):
            with BatchStore(self.session.workspace) as store, Journal(self.session.workspace) as journal:
                return await finish_live(
                    job,
                    store,
                    server,
                    journal,
                    job.open_transport(models),
                    self._prices,
                    model,
                    every=every,
                    deadline=deadline,
                    tell=self.tell,
                )

    def _tell_who_sees(self, job: BatchJob) -> None:
        if leaves_machine(job.endpoint) and any(
            item.request is not None and shows_private_pictures(item.request) for item in job.items()
        ):
            announce_recipient(self.session.workspace, job.endpoint, f"the pictures of {job.folder}")


def _refuse_other_settings(job: BatchJob, wire: str) -> None:
    """A live answer must be one to the very request that the batch was asked."""
    if job.wire is not None and job.wire != wire:
        raise UserError(
            f"what is sent with every request has changed since {job.folder} was made, so the rest would not be asked "
            "in the same way.",
            "put [models] in sightline.toml back as it was, or make the job again",
        )
