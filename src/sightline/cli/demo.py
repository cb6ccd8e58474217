"""`sightline demo`."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from sightline.cli.options import Common
from sightline.errors import UserError
from sightline.io.workspace import workspace_option
from sightline.plain_text import printable

if TYPE_CHECKING:
    from sightline.demo.page import OwnDemo

_WORDS = 60


def demo(*, pictures: Path | None = None, out: Path = Path("demo"), common: Common = Common()) -> None:
    """Show the whole flow on a synthetic photo history, with no network and no key, or look at your own pictures.

    It is drawn and scanned, a benchmark is made of it and held against the ground truth, four systems are run on it
    and compared, and a page shows it all. Stopped at any moment, the same command goes on.

    Parameters
    ----------
    pictures:
        Your own folder instead of the synthetic history (its first 1,000 files, or as many as --limit says); it is only
        read.
    out:
        The folder to make it all in.
    """
    if pictures is not None:
        _own(out, pictures, common)
        return
    from sightline import plugins

    show = plugins.find("commands", "demo")
    if show is None:
        missing = plugins.unknown("commands", "demo", "")
        message = (
            "The demo on a synthetic photo history is part of the package sightline-world, which is not installed."
        )
        raise UserError(message, f"{missing.fix}, or look at your own pictures: sightline demo --pictures DIR")
    show.load()(out, common)


def _own(out: Path, pictures: Path, common: Common) -> None:
    from sightline.demo.page import run_own_demo

    made = run_own_demo(
        out,
        pictures,
        config=common.settings(),
        limit=common.limit,
        seed=common.seed or 0,
        local_only=common.local_only,
        workspace=common.workspace_path,
    )
    if common.json:
        places = {"folder": str(out), "report": str(made.page), "workspace": str(made.workspace)}
        common.print_json({**places, "scan": made.found.scanned.to_json(), **made.found.to_dict()})
    else:
        common.print(to_text(made, pictures))


def to_text(made: OwnDemo, pictures: Path) -> str:
    """What was scanned, seen and found, and where the page is."""
    from sightline.plain_text import short

    found = made.found
    lines = [f"scanned {pictures}", str(found.scanned)]
    if found.limited:
        lines.append(f"  only the first {found.limit:,} files; --limit N takes more")
    named = [one for one in found.seen if one.tags or one.words]
    seen, unsure = len(found.seen), len(found.seen) - len(named)
    lines.append(f"\nseen in {seen} of them, with confidence ({unsure} not sure enough)")
    if found.unread:
        lines.append(f"  {found.unread} could be scanned, and then not be read")
    for one in named:
        tags = ", ".join(f"{tag} {chance:.2f}" for tag, chance in one.tags.items()) or "unknown"
        words = f"  “{short(' '.join(one.words), _WORDS)}”" if one.words else ""
        lines.append(f"  {printable(one.picture.id)}: {tags}{words}")
    if not found.reads_words:
        lines.append("  words in pictures were not read: pip install 'sightline[ocr]'")
    for query, results in found.searches:
        lines += [f'\nsearch "{query.text}"', *str(results).splitlines()[:3]]
    lines.append(f"\nreport: {made.page}")
    places = f"--in {quote(str(pictures))}{workspace_option(made.workspace)}"
    lines.append(f'next: sightline search "what you remember" {places}')
    return "\n".join(lines)
