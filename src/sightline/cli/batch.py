"""`sightline batch make|submit|wait|status|list|download|parse|retry|cancel`."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

from sightline.cli import batch_output as show
from sightline.cli.options import (
    BudgetOptions,
    ChatOptions,
    Common,
    Positive,
    SamplingOptions,
    Switch,
    seconds_of,
    show_plan,
    tell,
)

if TYPE_CHECKING:
    from sightline.calls.batches.manager import BatchManager
    from sightline.types import ChatRequest

app = App(name="batch", help="Send many requests at once, answered within a day at half the price.")

Folder = Annotated[Path, Parameter(help="The folder that `batch make` wrote.")]
Many = Parameter(consume_multiple=False, negative="")


@app.command(sort_key=1)
def make(
    requests: Path,
    /,
    *,
    out: Path,
    api: Literal["chat", "responses"] | None = None,
    stage: str = "batch",
    max_requests: Positive = 50_000,
    max_bytes: Positive = 195_000_000,
    window: str = "24h",
    price_factor: Annotated[float, Parameter(validator=Number(gte=0))] | None = None,
    sampling: SamplingOptions = SamplingOptions(),
    chat: ChatOptions = ChatOptions(),
    common: Common = Common(),
) -> None:
    """Turn a file of requests into files that a batch endpoint, or `vllm run-batch`, takes. Nothing is sent.

    With --budget, a job that may cost more is refused.

    Parameters
    ----------
    requests:
        Lines of {"id", "prompt", "system"?, "pictures"?, "schema"?}; pictures: paths beside the file, or URLs.
    out:
        The folder of the job; a new one.
    api:
        Which of OpenAI's two APIs the requests are for; the configured one when not given.
    stage:
        What the calls are for, in the ledger.
    max_requests:
        The most requests in one file.
    max_bytes:
        The most bytes in one file.
    window:
        Within which time the provider answers.
    price_factor:
        Part of the live price that calls in a batch cost, such as 0.5; the listed batch price when not given.
    """
    from dataclasses import replace

    from sightline.calls.batches.job import read_requests
    from sightline.calls.batches.manager import BatchJobOptions, BatchManager

    if chat.max_connections is not None:
        common.warn(["--max-connections has no effect here"])
    model, parameters = chat.chosen(), sampling.parameters(common)
    desk = BatchManager(common.session(replace(chat.calls(common), api=api)))
    making = BatchJobOptions(stage, max_requests, max_bytes, window, price_factor)

    def lines() -> islice[tuple[str, ChatRequest]]:
        return islice(read_requests(requests, model, **parameters), common.limit)

    if chat.plan:
        show_plan(desk.plan(lines, model, making), common)
    else:
        show.job(desk.make(lines, model, out, making), common)


@app.command(sort_key=2)
def submit(job: Folder, /, *, common: Common = Common()) -> None:
    """Upload the files of a job and make batches of them; those submitted before, also elsewhere, are left alone."""
    show.rows(_desk(common).submit(job), common, quiet=True)


@app.command(sort_key=3)
def wait(
    job: Folder,
    /,
    *,
    every: str = "60s",
    deadline: str = "25h",
    then_live: Switch = False,
    spending: BudgetOptions = BudgetOptions(),
    common: Common = Common(),
) -> None:
    """Wait until all batches of a job have ended, also by failing. At the deadline it stops with exit code 3.

    Parameters
    ----------
    every:
        How often to ask the server: 30s, 5m.
    deadline:
        The longest wait: 90m, 6h, 0s.
    then_live:
        At the deadline cancel what has not ended, read the results, and ask for the rest live.
    """
    pause, most = seconds_of(every, "--every", least=0.001), seconds_of(deadline, "--deadline")
    desk = _desk(common, spending)
    if then_live:
        show.summary(desk.finish(job, pause, most), common)
    else:
        show.rows(desk.wait(job, pause, most), common, quiet=True)


@app.command(sort_key=4)
def status(
    job: Folder, /, *, ids: Annotated[list[str] | None, Parameter(name="--id"), Many] = None, common: Common = Common()
) -> None:
    """Show the state of a job's batches, also of those that another machine submitted.

    Parameters
    ----------
    ids:
        A batch of this job that is missing in the server's list; can be repeated.
    """
    show.rows(_desk(common).status(job, ids or ()), common)


@app.command(name="list", sort_key=5)
def list_(*, common: Common = Common()) -> None:
    """List the batches of this workspace, as they were last seen. No server is asked."""
    show.listed(_desk(common).rows()[: common.limit], common)


@app.command(sort_key=6)
def download(job: Folder, /, *, common: Common = Common()) -> None:
    """Fetch the results of all batches that have ended."""
    show.rows(_desk(common).download(job), common)


@app.command(sort_key=7)
def parse(
    job: Folder,
    /,
    *,
    from_: Annotated[list[Path] | None, Parameter(name="--from"), Many] = None,
    partial: Switch = False,
    common: Common = Common(),
) -> None:
    """Read the results into the journal, and write results.jsonl. No server is asked; a second time changes nothing.

    Parameters
    ----------
    from_:
        Results that `vllm run-batch` wrote; can be repeated.
    partial:
        Read what is there although some batches have not ended.
    """
    parsed, found = _desk(common).parse(job, from_ or (), partial=partial)
    show.parsed(parsed, found, job, common)


@app.command(sort_key=8)
def retry(job: Folder, /, *, every_failure: Switch = False, common: Common = Common()) -> None:
    """Add files to a job that ask once more for only what failed or is missing; submit them with `batch submit`.

    Parameters
    ----------
    every_failure:
        Also what would most probably fail again, such as refusals.
    """
    show.job(_desk(common).retry(job, every_failure=every_failure), common, only_last=True)


@app.command(sort_key=9)
def cancel(job: Folder, /, *, common: Common = Common()) -> None:
    """Cancel all batches of a job that have not ended; what is done of them is kept, and paid for."""
    show.rows(_desk(common).cancel(job), common)


def _desk(common: Common, spending: BudgetOptions | None = None) -> BatchManager:
    from sightline.calls.batches.manager import BatchManager

    return BatchManager(common.session((spending or BudgetOptions()).calls(common)), tell)
