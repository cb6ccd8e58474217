"""`sightline formats`."""

from __future__ import annotations

from sightline.cli.options import Common


def formats(*, common: Common = Common()) -> None:
    """List the formats that `import` reads and `export` writes."""
    from sightline.benchmark.formats import find_format, format_names

    common.ignores_limit()
    known = [find_format(name) for name in format_names()]
    if common.json:
        rows = [
            {"name": f.name, "import": f.read is not None, "export": f.write is not None, "summary": f.summary}
            for f in known
        ]
        common.print_json({"formats": rows})
        return
    from rich.table import Table

    table = Table("format", "in", "out", "what it is", box=None, pad_edge=False, header_style="bold")
    for found in known:
        table.add_row(found.name, "✓" if found.read else "", "✓" if found.write else "", found.summary)
    common.console.print(table)
