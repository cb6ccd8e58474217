"""A workspace's batches: each step from requests to answers in one call, with all that it needs opened and closed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

from sightline.config import Config
from sightline.engine.budget import Budget
from sightline.engine.journal import FILE_NAME, Journal
from sightline.engine.plan import Plan
from sightline.engine.prices import Prices
from sightline.errors import UserError
from sightline.models.asking import Asking
from sightline.models.batches.finishing import finish_live
from sightline.models.batches.following import EVERY, LONGEST, Tell, cancel, download, refresh, wait
from sightline.models.batches.job import Job, load_job, open_http
from sightline.models.batches.making import MAX_BYTES, MAX_REQUESTS, make
from sightline.models.batches.planning import plan_job, refuse_above
from sightline.models.batches.reading import Parsed, parse, parse_files
from sightline.models.batches.rest import Summary, make_retry, write_results
from sightline.models.batches.sending import adopt_ids, submit
from sightline.models.batches.server import BatchServer
from sightline.models.batches.store import Row, Store
from sightline.models.chat import open_chat
from sightline.models.http import HttpTransport
from sightline.models.names import leaves_machine
from sightline.models.notice import shows_private_pictures, tell_who_sees
from sightline.models.opening import find_wire
from sightline.types import ChatRequest

Requests: TypeAlias = Callable[[], Iterable[tuple[str, ChatRequest]]]
"""Gives the requests of a stage, with their ids, from the first on each time: they are not kept in memory."""
_Work: TypeAlias = Callable[[Job, Store, BatchServer], Awaitable[tuple[Row, ...]]]


@dataclass(frozen=True, slots=True)
class Making:
    """How the files of a job are cut, and what a call in a batch costs."""

    stage: str = "batch"
    max_requests: int = MAX_REQUESTS
    max_bytes: int = MAX_BYTES
    window: str = "24h"
    price_factor: float | None = None


@dataclass(frozen=True, slots=True)
class Desk:
    """Where jobs are worked on; for code that is not asynchronous."""

    workspace: Path
    config: Config = field(default_factory=Config)
    asking: Asking = field(default_factory=Asking)
    tell: Tell = lambda _: None

    def make(self, requests: Requests, model: str, out: Path, making: Making) -> Job:
        """Write a job; nothing is sent. With a budget, a job that may cost more is refused."""
        if isinstance(self.asking.budget, Budget):
            (planned,) = self.plan(requests, model, making).stages
            refuse_above(self.asking.budget.cap, planned)
        return asyncio.run(self._make(requests, model, out, making))

    def plan(self, requests: Requests, model: str, making: Making) -> Plan:
        """What a job would take; none is written, and nothing is sent."""
        transport = self._open(model)
        with Journal(self.workspace) as journal:
            planned = plan_job(
                requests(),
                stage=making.stage,
                endpoint=transport.endpoint,
                wire=transport.wire,
                prices=Prices(self.config.prices),
                journal=journal,
                fresh=self.asking.fresh,
                price_factor=making.price_factor,
            )
        return Plan((planned,))

    def submit(self, folder: Path) -> tuple[Row, ...]:
        """Make batches of the files of a job, each exactly once."""

        async def work(job: Job, store: Store, server: BatchServer) -> tuple[Row, ...]:
            self._tell_who_sees(job)
            return await submit(job, store, server, tell=self.tell)

        return self._with_server(folder, work)

    def wait(self, folder: Path, every: float = EVERY, deadline: float = LONGEST) -> tuple[Row, ...]:
        """Wait until all batches of a job have ended, however they did."""
        return self._with_server(
            folder,
            lambda job, store, server: wait(job, store, server, every=every, deadline=deadline, tell=self.tell),
        )

    def finish(self, folder: Path, every: float = EVERY, deadline: float = LONGEST) -> Summary:
        """Wait until the deadline, then ask live for what is not answered."""
        job = load_job(folder)
        with job.locked():
            return asyncio.run(self._finish(job, every, deadline))

    def status(self, folder: Path, ids: Sequence[str] = ()) -> tuple[Row, ...]:
        """Ask how the batches of a job stand; takes over those of these ids."""

        async def work(job: Job, store: Store, server: BatchServer) -> tuple[Row, ...]:
            await adopt_ids(job, store, server, ids)
            return await refresh(job, store, server)

        return self._with_server(folder, work)

    def rows(self) -> tuple[Row, ...]:
        """All batches of the workspace, as they were last seen; asks nobody."""
        if not (self.workspace / FILE_NAME).is_file():
            return ()
        with Store(self.workspace) as store:
            return store.rows()

    def download(self, folder: Path) -> tuple[Row, ...]:
        """Fetch the results of all batches that have ended."""
        return self._with_server(folder, download)

    def parse(self, folder: Path, files: Sequence[Path] = (), *, partial: bool = False) -> tuple[Parsed, Summary]:
        """Read results, those of the server or these files, into the journal and into results.jsonl; asks nobody."""
        job = load_job(folder)
        transport, prices = job.open_transport(self.config.models), Prices(self.config.prices)
        with job.locked(), Store(self.workspace) as store, Journal(self.workspace) as journal:
            if files:
                parsed = parse_files(job, store, journal, transport, prices, files)
            else:
                parsed = parse(job, store, journal, transport, prices, partial=partial)
            return parsed, write_results(job, store, journal)

    def retry(self, folder: Path, *, every_failure: bool = False) -> Job:
        """Add files to a job that ask once more for what failed or is missing; asks nobody."""
        job = load_job(folder)
        with job.locked(), Store(self.workspace) as store, Journal(self.workspace) as journal:
            return make_retry(job, store, journal, every_failure=every_failure)

    def cancel(self, folder: Path) -> tuple[Row, ...]:
        """Cancel all batches of a job that have not ended."""
        return self._with_server(folder, cancel)

    # --- behind them ---------------------------------------------------------------------------------------

    def _open(self, model: str) -> HttpTransport:
        asking = self.asking
        return open_http(
            model, base_url=asking.base_url, api=asking.api, models=self.config.models, local_only=asking.local_only
        )

    async def _make(self, requests: Requests, model: str, out: Path, making: Making) -> Job:
        transport = self._open(model)
        try:
            with Journal(self.workspace) as journal:
                known = None if self.asking.fresh else journal
                return await make(requests(), transport, out, journal=known, **asdict(making))
        finally:
            await transport.close()

    def _with_server(self, folder: Path, work: _Work) -> tuple[Row, ...]:
        job = load_job(folder)

        async def run() -> tuple[Row, ...]:
            async with self._server(job) as server:
                with Store(self.workspace) as store:
                    return await work(job, store, server)

        with job.locked():
            return asyncio.run(run())

    def _server(self, job: Job) -> AbstractAsyncContextManager[BatchServer]:
        return BatchServer.open(job.model, job.endpoint, self.config.models, local_only=self.asking.local_only)

    async def _finish(self, job: Job, every: float, deadline: float) -> Summary:
        asking = replace(self.asking, base_url=job.endpoint, api=job.api, vouched=False)
        _refuse_other_settings(job, find_wire(job.model, api=job.api, models=self.config.models))
        async with (
            self._server(job) as server,
            open_chat(job.model, self.config, workspace=self.workspace, asking=asking, stage=job.stage) as model,
        ):
            with Store(self.workspace) as store, Journal(self.workspace) as journal:
                return await finish_live(
                    job,
                    store,
                    server,
                    journal,
                    job.open_transport(self.config.models),
                    Prices(self.config.prices),
                    model,
                    every=every,
                    deadline=deadline,
                    tell=self.tell,
                )

    def _tell_who_sees(self, job: Job) -> None:
        if leaves_machine(job.endpoint) and any(
            item.request is not None and shows_private_pictures(item.request) for item in job.items()
        ):
            tell_who_sees(self.workspace, job.endpoint, f"the pictures of {job.folder}")


def _refuse_other_settings(job: Job, wire: str) -> None:
    """A live answer must be one to the very request that the batch was asked."""
    if job.wire is not None and job.wire != wire:
        raise UserError(
            f"what is sent with every request has changed since {job.folder} was made, so the rest would not be asked "
            "in the same way.",
            "put [models] in sightline.toml back as it was, or make the job anew",
        )
