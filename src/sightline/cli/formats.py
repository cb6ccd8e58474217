"""`sightline formats`."""

from __future__ import annotations

from sightline.cli.options import Common


def formats(*, common: Common = Common()) -> None:
    """List the formats that `import` reads and `export` writes."""
    from sightline.benchmark.formats import format_lines

    common.ignores_limit()
    known = format_lines()
    if common.json:
        rows = [{"name": f.name, "import": f.reads, "export": f.writes, "summary": f.summary} for f in known]
        common.print_json({"formats": rows})
        return
    from rich.table import Table

    table = Table("format", "in", "out", "what it is", box=None, pad_edge=False, header_style="bold")
    for found in known:
        table.add_row(found.name, "✓" if found.reads else "", "✓" if found.writes else "", found.summary)
    common.console.print(table)
