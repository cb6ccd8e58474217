"""`sightline doctor`."""

from __future__ import annotations

from dataclasses import asdict

from sightline.cli.common import Common


def doctor(*, common: Common = Common()) -> None:
    """Say what is installed, what is missing, and the command that adds it."""
    from sightline.doctor import diagnose
    from sightline.errors import FoundError

    common.ignores_limit()
    found = diagnose()
    if common.json:
        extras = [asdict(extra) | {"command": extra.command} for extra in found.extras]
        common.print_json(asdict(found) | {"extras": extras, "healthy": found.healthy})
    else:
        from rich.markup import escape
        from rich.table import Table

        table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2))
        table.add_row(
            "Sightline", found.sightline, f"Python {found.python}, SQLite {found.sqlite}, {found.cores} cores"
        )
        for name, version in found.core.items():
            table.add_row(name, version, "")
        for extra in found.extras:
            state = ", ".join(f"{name} {version}" for name, version in extra.installed.items())
            table.add_row(f"\\[{extra.name}]", state or "missing", escape(f"{extra.purpose}  {extra.command or ''}"))
        common.console.print(table)
    if not found.healthy:
        raise FoundError(
            f"missing packages of the core: {', '.join(found.missing_core)}.", "pip install --force-reinstall sightline"
        )
