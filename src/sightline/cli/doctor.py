"""`sightline doctor`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from sightline.cli.common import Common

if TYPE_CHECKING:
    from sightline.doctor import Extra


def doctor(*, common: Common = Common()) -> None:
    """Say what is installed, what is missing, and the command that adds it."""
    from sightline import plugins
    from sightline.doctor import diagnose
    from sightline.errors import FoundError

    common.ignores_limit()
    found = diagnose()
    if common.json:
        common.print_json(asdict(found) | {"healthy": found.healthy})
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
            state = [f"{name} {version}" for name, version in extra.installed.items()]
            state += [f"{name} missing" for name in extra.missing]
            table.add_row(f"\\[{extra.name}]", escape(", ".join(state)), extra.purpose)
        common.console.print(table)
        for line in _advice(found.extras):
            common.console.print(line, markup=False, soft_wrap=True)
    common.warn(plugins.problems())
    if not found.healthy:
        raise FoundError(
            f"missing packages of the core: {', '.join(found.missing_core)}.", "pip install --force-reinstall sightline"
        )


def _advice(extras: Iterable[Extra]) -> Iterator[str]:
    """What there is to say about an extra, and the command that adds or mends it, on lines that can be copied."""
    for extra in extras:
        if extra.note:
            yield f"[{extra.name}] {extra.note}"
        elif extra.command:
            yield f"[{extra.name}] is not all there: {', '.join(extra.missing)}"
        if extra.command:
            yield f"  {extra.command}"
