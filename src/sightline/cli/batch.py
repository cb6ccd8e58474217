"""`sightline batch make|submit|wait|status|list|download|parse|retry|cancel`."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from sightline.cli.common import Common, Switch
from sightline.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sightline.models.batches import BatchServer, Job, Parsed, Row, Store, Summary

app = App(name="batch", help="Ask many things at once, within a day, at half the price.")

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


@app.command(sort_key=1)
def make(
    requests: Path,
    /,
    *,
    model: str,
    out: Path,
    base_url: str | None = None,
    api: Literal["chat", "responses"] | None = None,
    stage: str = "batch",
    max_tokens: int | None = None,
    temperature: float | None = None,
    reasoning_effort: str | None = None,
    max_requests: int = 50_000,
    max_bytes: int = 195_000_000,
    window: str = "24h",
    price_factor: float | None = None,
    fresh: Switch = False,
    common: Common = Common(),
) -> None:
    """Turn a file of requests into files that a batch endpoint, or `vllm run-batch`, takes. Nothing is sent.

    Parameters
    ----------
    requests:
        Lines of {"id", "prompt", "system"?, "pictures"?, "schema"?}; pictures: paths beside the file, or URLs.
    model:
        Who is asked, such as openai/gpt-5-mini; an OpenAI-compatible server.
    out:
        The folder of the job; a new one.
    base_url:
        Where the server is, such as http://localhost:8000/v1.
    api:
        Which of OpenAI's two APIs the requests are for; the configured one when not given.
    stage:
        What the calls are for, in the ledger.
    max_tokens:
        The longest reply.
    temperature:
        Of the replies.
    reasoning_effort:
        How much the model thinks.
    max_requests:
        In one file.
    max_bytes:
        In one file.
    window:
        Within which time the provider answers.
    price_factor:
        Part of the live price that calls in a batch cost, such as 0.5; the listed batch price when not given.
    fresh:
        Ask also for what the journal answers.
    """
    from itertools import islice

    from sightline.engine.journal import Journal
    from sightline.models.batches import make as make_job
    from sightline.models.batches import read_requests
    from sightline.models.batches.job import http_only
    from sightline.models.opening import open_transport

    models = common.settings().models
    parameters: dict[str, Any] = {
        "max_tokens": max_tokens,
        "temperature": temperature,
        "reasoning_effort": reasoning_effort,
        "seed": common.seed,
    }

    async def run() -> Job:
        opened = open_transport(model, base_url=base_url, api=api, models=models, local_only=common.local_only)
        try:
            transport = http_only(opened, model)
            with Journal(common.workspace_path) as journal:
                return await make_job(
                    islice(read_requests(requests, model, **parameters), common.limit),
                    transport,
                    out,
                    journal=None if fresh else journal,
                    stage=stage,
                    max_requests=max_requests,
                    max_bytes=max_bytes,
                    window=window,
                    price_factor=price_factor,
                )
        finally:
            await opened.close()

    _show_job(asyncio.run(run()), common)


@app.command(sort_key=2)
def submit(job: Path, /, *, common: Common = Common()) -> None:
    """Upload the files of a job and make batches of them; what was submitted before, also elsewhere, is left alone.

    Parameters
    ----------
    job:
        The folder that `batch make` wrote.
    """
    from sightline.models.batches import submit as submit_job

    rows = _with_server(job, common, lambda found, store, server: submit_job(found, store, server, tell=_tell))
    _show_rows(rows, common, quiet=True)


@app.command(sort_key=3)
def wait(
    job: Path,
    /,
    *,
    every: str = "60s",
    deadline: str = "25h",
    then_live: Switch = False,
    budget: str | None = None,
    common: Common = Common(),
) -> None:
    """Wait until all batches of a job have ended, however they did. At the deadline it stops with exit code 3.

    Parameters
    ----------
    job:
        The folder that `batch make` wrote.
    every:
        How often the server is asked: 30s, 5m.
    deadline:
        The longest wait: 90m, 6h, 0s.
    then_live:
        At the deadline cancel what has not ended, read what is there, and ask live for the rest.
    budget:
        For the live calls, such as 5usd.
    """
    from sightline.models.batches import wait as wait_for

    seconds, most = _seconds(every, "--every"), _seconds(deadline, "--deadline")
    if seconds <= 0:
        raise UserError("--every must be more than nothing.", "for example --every 60s")
    if then_live:
        _show_summary(_finish(job, seconds, most, budget, common), common)
        return
    rows = _with_server(
        job,
        common,
        lambda found, store, server: wait_for(found, store, server, every=seconds, deadline=most, tell=_tell),
    )
    _show_rows(rows, common, quiet=True)


@app.command(sort_key=4)
def status(
    job: Path,
    /,
    *,
    ids: Annotated[list[str] | None, Parameter(name="--id", consume_multiple=False, negative="")] = None,
    common: Common = Common(),
) -> None:
    """Ask how the batches of a job stand; finds those that another machine submitted.

    Parameters
    ----------
    job:
        The folder that `batch make` wrote.
    ids:
        A batch of this job that the server's list does not tell of; can be repeated.
    """
    from sightline.models.batches import adopt_ids, refresh

    async def run(found: Job, store: Store, server: BatchServer) -> tuple[Row, ...]:
        await adopt_ids(found, store, server, ids or ())
        return await refresh(found, store, server)

    _show_rows(_with_server(job, common, run), common)


@app.command(name="list", sort_key=5)
def list_(*, common: Common = Common()) -> None:
    """List the batches of this workspace, as they were last seen; asks nobody."""
    from sightline.engine.journal import FILE_NAME
    from sightline.models.batches import Store

    rows: tuple[Row, ...] = ()
    if (common.workspace_path / FILE_NAME).is_file():
        with Store(common.workspace_path) as store:
            rows = store.rows()
    if common.json:
        common.print_json({"batches": [asdict(row) for row in rows[: common.limit]]})
        return
    for row in rows[: common.limit]:
        common.console.print(f"  {row.folder} · {row.model} · {row}", markup=False, soft_wrap=True)
    if not rows:
        common.console.print(f"  no batches in {common.workspace_path}", markup=False)


@app.command(sort_key=6)
def download(job: Path, /, *, common: Common = Common()) -> None:
    """Fetch the results of all batches that have ended.

    Parameters
    ----------
    job:
        The folder that `batch make` wrote.
    """
    from sightline.models.batches import download as download_all

    _show_rows(_with_server(job, common, download_all), common)


@app.command(sort_key=7)
def parse(
    job: Path,
    /,
    *,
    from_: Annotated[list[Path] | None, Parameter(name="--from", consume_multiple=False, negative="")] = None,
    partial: Switch = False,
    common: Common = Common(),
) -> None:
    """Read the results into the journal, and write results.jsonl; asks nobody, and changes nothing the second time.

    Parameters
    ----------
    job:
        The folder that `batch make` wrote.
    from_:
        Results that `vllm run-batch` wrote; can be repeated.
    partial:
        Read what is there although some batches have not ended.
    """
    from sightline.engine.journal import Journal
    from sightline.engine.prices import Prices
    from sightline.models.batches import Store, load_job, parse_files, write_results
    from sightline.models.batches import parse as parse_all

    found, config = load_job(job), common.settings()

    async def run() -> tuple[Parsed, Summary]:
        transport = found.open_transport(config.models, local_only=common.local_only)
        prices = Prices(config.prices)
        try:
            with Store(common.workspace_path) as store, Journal(common.workspace_path) as journal:
                if from_:
                    parsed = parse_files(found, store, journal, transport, prices, from_)
                else:
                    parsed = parse_all(found, store, journal, transport, prices, partial=partial)
                return parsed, write_results(found, store, journal)
        finally:
            await transport.close()

    with found.locked():
        parsed, summary = asyncio.run(run())
    common.warn(_oddities(parsed, found))
    _show_summary(summary, common, parsed)
    if not common.json:
        common.console.print(f"  → {found.folder / 'results.jsonl'}", markup=False, soft_wrap=True)


@app.command(sort_key=8)
def retry(job: Path, /, *, every_failure: Switch = False, common: Common = Common()) -> None:
    """Add files to a job that ask once more for only what failed or is missing; submit them with `batch submit`.

    Parameters
    ----------
    job:
        The folder that `batch make` wrote.
    every_failure:
        Also what would most probably fail again, such as refusals.
    """
    from sightline.engine.journal import Journal
    from sightline.models.batches import Store, load_job, make_retry

    found = load_job(job)
    with found.locked(), Store(common.workspace_path) as store, Journal(common.workspace_path) as journal:
        made = make_retry(found, store, journal, every_failure=every_failure)
    _show_job(made, common, since=len(found.shards))


@app.command(sort_key=9)
def cancel(job: Path, /, *, common: Common = Common()) -> None:
    """Cancel all batches of a job that have not ended; what is done of them is kept, and paid for.

    Parameters
    ----------
    job:
        The folder that `batch make` wrote.
    """
    from sightline.models.batches import cancel as cancel_all

    _show_rows(_with_server(job, common, cancel_all), common)


# --- behind the sub-commands ---------------------------------------------------------------------------------


def _with_server(
    folder: Path,
    common: Common,
    work: Callable[[Job, Store, BatchServer], Awaitable[tuple[Row, ...]]],
) -> tuple[Row, ...]:
    from sightline.models.batches import BatchServer, Store, load_job

    job, models = load_job(folder), common.settings().models

    async def run() -> tuple[Row, ...]:
        opened = BatchServer.open(job.model, job.endpoint, models, local_only=common.local_only)
        async with opened as server:
            with Store(common.workspace_path) as store:
                return await work(job, store, server)

    with job.locked():
        return asyncio.run(run())


def _finish(folder: Path, every: float, deadline: float, budget: str | None, common: Common) -> Summary:
    from sightline.engine.budget import Budget
    from sightline.engine.journal import Journal
    from sightline.engine.prices import Prices
    from sightline.models.batches import BatchServer, Store, load_job
    from sightline.models.batches.finishing import finish_live
    from sightline.models.caller import Caller

    job, config = load_job(folder), common.settings()
    prices = Prices(config.prices)
    purse = None if budget is None else Budget.parse(budget)

    async def run() -> Summary:
        transport = job.open_transport(config.models, local_only=common.local_only)
        opened = BatchServer.open(job.model, job.endpoint, config.models, local_only=common.local_only)
        try:
            with Store(common.workspace_path) as store, Journal(common.workspace_path) as journal:
                caller = Caller(transport, journal, budget=purse, prices=prices, name=job.model, stage=job.stage)
                async with opened as server:
                    return await finish_live(
                        job,
                        store,
                        server,
                        journal,
                        transport,
                        prices,
                        caller,
                        every=every,
                        deadline=deadline,
                        tell=_tell,
                    )
        finally:
            await transport.close()

    with job.locked():
        return asyncio.run(run())


def _seconds(text: str, option: str) -> float:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*", text)
    if found is None:
        raise UserError(f'{option} "{text}" is no time.', f"for example {option} 90s, 30m, 6h or 1d")
    return float(found[1]) * _UNITS[found[2]]


def _tell(words: str) -> None:
    sys.stderr.write(f"{words}\n")


def _oddities(parsed: Parsed, job: Job) -> list[str]:
    said = []
    if parsed.duplicates:
        said.append(f"{parsed.duplicates:,} lines answer what was answered already; the first answer stays")
    if parsed.strangers:
        said.append(f"{parsed.strangers:,} lines answer what this job never asked; left out")
    if parsed.unreadable:
        said.append(f"{parsed.unreadable:,} lines are no JSON; left out")
    if parsed.unpriced:
        said.append(
            f"the price of {parsed.unpriced:,} calls to {job.model} in a batch is not known: say it in sightline.toml, "
            "under [prices.models], or make the job with --price-factor"
        )
    return said


def _show_job(job: Job, common: Common, since: int = 0) -> None:
    shards = job.shards[since:]
    if common.json:
        common.print_json({**asdict(job), "shards": [asdict(shard) for shard in shards]})
        return
    asked = sum(shard.requests for shard in shards)
    lines = [f"  {asked:,} requests in {len(shards):,} files for {job.model} at {job.endpoint}"]
    if not since and job.known:
        lines.append(f"  {job.known:,} more are answered in the journal, or equal another")
    if not since and job.refused:
        lines.append(f"  {job.refused:,} can't be sent: results.jsonl will say why")
    for shard in shards:
        lines.append(f"  {shard.file}  {shard.requests:,} requests, {shard.bytes:,} bytes")
    lines.append(f"  nothing has been sent · sightline batch submit {job.folder}")
    common.console.print("\n".join(lines), markup=False, soft_wrap=True)


def _show_rows(rows: Sequence[Row], common: Common, *, quiet: bool = False) -> None:
    if common.json:
        common.print_json({"batches": [asdict(row) for row in rows]})
        return
    if not quiet:
        common.console.print("\n".join(f"  {row}" for row in rows), markup=False, soft_wrap=True)
    bad = [row for row in rows if row.has_ended and not row.went_well and not row.parsed]
    ended = sum(row.has_ended or row.parsed for row in rows)
    common.console.print(f"  {ended:,} of {len(rows):,} batches have ended", markup=False)
    common.warn(
        f"{row.shard} ended as {row.status}; after `batch parse`, `batch retry` asks for the rest" for row in bad
    )


def _show_summary(summary: Summary, common: Common, parsed: Parsed | None = None) -> None:
    if common.json:
        common.print_json({**asdict(summary), "read": None if parsed is None else asdict(parsed)})
        return
    common.console.print(f"  {summary}", markup=False, soft_wrap=True)
    if parsed is not None and parsed.read:
        from sightline.engine.ledger import dollars

        money = dollars(parsed.usd)
        if parsed.unpriced:
            money = f"at least {money}" if parsed.usd else "price unknown"
        common.console.print(f"  {parsed.read:,} results read now: {money}", markup=False, soft_wrap=True)
