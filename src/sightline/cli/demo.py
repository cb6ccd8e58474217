"""`sightline demo`."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from sightline.cli.common import Common, printable

if TYPE_CHECKING:
    from sightline.demo.own import OwnDemo

_WORDS = 60


def demo(*, pictures: Path | None = None, out: Path = Path("demo"), common: Common = Common()) -> None:
    """Show the flow on built-in samples, with no network and no key, or what is seen and found in your own pictures.

    Parameters
    ----------
    pictures:
        Your own folder instead of the samples (its first 1,000 files, or as many as --limit says); it is only read.
    out:
        The folder to make it all in.
    """
    if pictures is None:
        _samples(out, common)
    else:
        _own(out, pictures, common)


def _samples(out: Path, common: Common) -> None:
    from sightline.cli.scan import to_json, to_text
    from sightline.demo.samples import run_demo
    from sightline.score.compare import render_standings

    common.ignores_limit()
    made = run_demo(out, seed=common.seed or 0)
    if common.json:
        scanned, comparison = to_json(made.scanned), made.comparison.to_dict()
        page = str(made.page)
        common.print_json({"folder": str(made.folder), "scan": scanned, "comparison": comparison, "report": page})
        return
    show = common.console.print
    show(f"scanned {made.folder / 'pictures'}", markup=False)
    show(to_text(made.scanned), markup=False, soft_wrap=True)
    show(f"\na benchmark of {made.tasks} tasks over them, and three made-up systems of known strength", markup=False)
    show(render_standings(made.comparison), markup=False, soft_wrap=True)
    show(f"\nreport: {made.page}        next: sightline demo --pictures ~/Pictures", markup=False)


def _own(out: Path, pictures: Path, common: Common) -> None:
    from sightline.cli.scan import to_json
    from sightline.demo.own import run_own_demo

    made = run_own_demo(
        out,
        pictures,
        config=common.settings(),
        limit=common.limit,
        seed=common.seed or 0,
        local_only=common.local_only,
    )
    if common.json:
        places = {"folder": str(out), "report": str(made.page), "workspace": str(made.workspace)}
        common.print_json({**places, "scan": to_json(made.found.scanned), **made.found.to_dict()})
    else:
        common.console.print(to_text(made, pictures), markup=False, soft_wrap=True)


def to_text(made: OwnDemo, pictures: Path) -> str:
    """What was scanned, seen and found, and where the page is."""
    from sightline.cli import scan, search
    from sightline.report.words import short

    found = made.found
    lines = [f"scanned {pictures}", scan.to_text(found.scanned)]
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
        lines += [f'\nsearch "{query.text}"', *search.to_text(results).splitlines()[:3]]
    lines.append(f"\nreport: {made.page}")
    places = f"--in {quote(str(pictures))} --workspace {quote(str(made.workspace))}"
    lines.append(f'next: sightline search "what you remember" {places}')
    return "\n".join(lines)
