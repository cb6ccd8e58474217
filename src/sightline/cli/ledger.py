"""`sightline ledger`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sightline.cli.common import Common

if TYPE_CHECKING:
    from rich.table import Table

    from sightline.engine.ledger import Ledger, Spent


def ledger(*, by: Literal["stage", "model"] | None = None, common: Common = Common()) -> None:
    """Say what the calls of this workspace cost: money, tokens, failures and time, by stage and model.

    Parameters
    ----------
    by:
        Add up by stage or by model alone.
    """
    from sightline.engine.ledger import read_ledger

    found = read_ledger(common.workspace_path, by)
    if common.json:
        common.print_json(found.to_dict())
    else:
        common.console.print(to_table(found, by))


def to_table(found: Ledger, by: Literal["stage", "model"] | None) -> Table:
    """A line for each stage and model, and the total."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("stage", "model"):
        if by in (None, name):
            table.add_column(name, overflow="fold")
    for name in ("money", "calls", "failed", "reused", "in", "cached", "image", "out", "thinking"):
        table.add_column(name, justify="right")
    table.add_column("p50 / p95 / p99 s", justify="right")
    names = 2 if by is None else 1
    for row in found.rows:
        table.add_row(*[name for name in (row.stage, row.model) if name is not None], *_cells(row))
    table.add_row(*["total", ""][:names], *_cells(found.total), style="bold")
    for kind, count in sorted(found.total.failures.items(), key=lambda item: (-item[1], item[0])):
        table.add_row(f"failed: {kind}", *[""] * names, "", f"{count:,}")
    return table


def _cells(row: Spent) -> list[str]:
    counts = (row.calls, row.failed, row.from_journal, row.input, row.cached, row.image, row.output, row.reasoning)
    times = " / ".join("–" if value is None else f"{value:.2f}" for value in (row.p50, row.p95, row.p99))
    return [row.money, *(f"{count:,}" for count in counts), times]
