"""What `sightline batch` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.cli.options import Common
from sightline.english import counted

if TYPE_CHECKING:
    from sightline.calls.batches.completion import BatchSummary
    from sightline.calls.batches.job import BatchJob
    from sightline.calls.batches.results import ParsedResults
    from sightline.calls.batches.store import BatchRow


def job(made: BatchJob, common: Common, *, only_last: bool = False) -> None:
    """The files of a job, or only those of its last round."""
    last = made.shards[-1].round if made.shards else 0
    shards = [shard for shard in made.shards if not only_last or shard.round == last]
    if common.json:
        common.print_json({**asdict(made), "shards": [asdict(shard) for shard in shards]})
        return
    asked = sum(shard.requests for shard in shards)
    lines = [f"  {counted(asked, 'request')} in {counted(len(shards), 'file')} for {made.model} at {made.endpoint}"]
    if not only_last and made.known:
        lines.append(f"  {made.known:,} more are answered in the journal, or equal another")
    if not only_last and made.refused:
        lines.append(f"  {made.refused:,} can't be sent: results.jsonl will say why")
    lines += [f"  {shard.file}  {counted(shard.requests, 'request')}, {shard.bytes:,} bytes" for shard in shards]
    _print([*lines, f"  nothing has been sent · sightline batch submit {made.folder}"], common)


def rows(found: Sequence[BatchRow], common: Common, *, quiet: bool = False) -> None:
    """How batches stand; `quiet` when each was told of already."""
    if common.json:
        common.print_json({"batches": [asdict(row) for row in found]})
        return
    ended = sum(row.has_ended or row.parsed for row in found)
    told = [] if quiet else [f"  {row}" for row in found]
    _print([*told, f"  {ended:,} of {len(found):,} batches have ended"], common)
    bad = [row for row in found if row.has_ended and not row.went_well and not row.parsed]
    common.warn(
        f"{row.shard} ended as {row.status}; after `batch parse`, `batch retry` asks for the rest" for row in bad
    )


def listed(found: Sequence[BatchRow], common: Common) -> None:
    """The batches of a workspace."""
    if common.json:
        common.print_json({"batches": [asdict(row) for row in found]})
        return
    lines = [f"  {row.folder} · {row.model} · {row}" for row in found]
    _print(lines or [f"  no batches in {common.workspace_path}"], common)


def summary(found: BatchSummary, common: Common) -> None:
    """How many were answered."""
    if common.json:
        common.print_json({**asdict(found), "read": None})
    else:
        _print([f"  {found}"], common)


def parsed(read: ParsedResults, found: BatchSummary, folder: Path, common: Common) -> None:
    """How many were answered, what was read now, and what was odd about it."""
    common.warn(_oddities(read))
    if common.json:
        common.print_json({**asdict(found), "read": asdict(read)})
        return
    lines = [f"  {found}"]
    if read.read:
        lines.append(f"  {read.read:,} results read now: {_money(read)}")
    _print([*lines, f"  → {folder / 'results.jsonl'}"], common)


def _money(read: ParsedResults) -> str:
    from sightline.plain_text import dollars

    if not read.unpriced:
        return dollars(read.usd)
    return f"at least {dollars(read.usd)}" if read.usd else "price unknown"


def _oddities(read: ParsedResults) -> list[str]:
    said = []
    if read.duplicates:
        said.append(f"{read.duplicates:,} lines repeat requests that are already answered; the first answer is kept")
    if read.strangers:
        said.append(f"{read.strangers:,} lines do not belong to this job; left out")
    if read.unreadable:
        said.append(f"{read.unreadable:,} lines are not JSON; left out")
    if read.unpriced:
        said.append(
            f"the price of {read.unpriced:,} calls in a batch is not known: set it in sightline.toml, under "
            "[prices.models], or make the job with --price-factor"
        )
    return said


def _print(lines: Sequence[str], common: Common) -> None:
    common.print("\n".join(lines))
