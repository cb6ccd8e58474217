"""`sightline ledger`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from sightline.cli.options import Common, Switch

if TYPE_CHECKING:
    from rich.table import Table

    from sightline.calls.ledger import Ledger, LedgerRow


def ledger(
    *,
    by: Literal["stage", "model"] | None = None,
    verify: Switch = False,
    repair: Switch = False,
    common: Common = Common(),
) -> None:
    """Say what the calls of this workspace cost: money, tokens, failures and time, by stage and model.

    Parameters
    ----------
    by:
        Add up by stage or by model alone.
    verify:
        Check every row of the journal against its checksum instead; exit code 4 when one is damaged.
    repair:
        Write the journal again from all that can be read of it, and keep the damaged file beside it.
    """
    if verify or repair:
        _check(common, repair=repair)
        return
    from rich.measure import Measurement

    from sightline.calls.ledger import read_ledger

    found = read_ledger(common.workspace_path, by)
    if common.json:
        common.print_json(found.to_dict())
        return
    table, console = to_table(found, by), common.console
    width = Measurement.get(console, console.options.update(width=10_000), table).maximum
    if console.is_terminal and width > console.width:
        console.print(to_lines(found), markup=False, highlight=False)
    else:  # In a file a line is as long as it has to be: a number is never cut.
        console.width = width
        console.print(table)


def _check(common: Common, *, repair: bool) -> None:
    from sightline.calls.journal_repair import repair_journal, verify_journal
    from sightline.errors import FoundError

    found = (repair_journal if repair else verify_journal)(common.workspace_path)
    if common.json:
        common.print_json(found.to_dict())
    else:
        common.console.print(str(found), markup=False, highlight=False, soft_wrap=True)
    if not found.is_sound and not repair:
        raise FoundError("The journal is damaged.", "Run `sightline ledger --repair`.")


def to_table(found: Ledger, by: Literal["stage", "model"] | None) -> Table:
    """A line for each stage and model, and the total."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("stage", "model"):
        if by in (None, name):
            table.add_column(name, no_wrap=True)
    for name in ("money", "calls", "failed", "reused", "in", "cached", "image", "out", "thinking", "p50 / p95 / p99 s"):
        table.add_column(name, justify="right", no_wrap=True)
    names = 2 if by is None else 1
    for row in found.rows:
        table.add_row(*[name for name in (row.stage, row.model) if name is not None], *_cells(row))
    table.add_row(*["total", ""][:names], *_cells(found.total), style="bold")
    for kind, count in _failures(found):
        table.add_row(f"failed: {kind}", *[""] * names, "", f"{count:,}")
    return table


def to_lines(found: Ledger) -> str:
    """The same for a narrow screen: a paragraph for each stage and model."""
    lines = [_paragraph(" · ".join(name for name in (row.stage, row.model) if name), row) for row in found.rows]
    failures = [f"failed: {kind}  {count:,}" for kind, count in _failures(found)]
    return "\n".join([*lines, _paragraph("total", found.total), *failures])


def _paragraph(name: str, row: LedgerRow) -> str:
    money, calls, failed, reused, sent, cached, image, out, thinking, times = _cells(row)
    return (
        f"{name}\n  {money} · {calls} calls · {failed} failed · {reused} reused\n"
        f"  {sent} in ({cached} cached, {image} image)\n  {out} out ({thinking} thinking)\n"
        f"  {times} s (p50 / p95 / p99)"
    )


def _failures(found: Ledger) -> list[tuple[str, int]]:
    return sorted(found.total.failures.items(), key=lambda item: (-item[1], item[0]))


def _cells(row: LedgerRow) -> list[str]:
    counts = (row.calls, row.failed, row.from_journal, row.input, row.cached, row.image, row.output, row.reasoning)
    times = " / ".join("–" if value is None else f"{value:.2f}" for value in (row.p50, row.p95, row.p99))
    return [row.money, *(f"{count:,}" for count in counts), times]
