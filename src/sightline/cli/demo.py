"""`sightline demo`."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from sightline.cli.common import Common, printable

if TYPE_CHECKING:
    from sightline.demo.own import OwnDemo
    from sightline.demo.world import WorldDemo
    from sightline.score.compare import Standing
    from sightline.types import Estimate

_WORDS = 60


def demo(*, pictures: Path | None = None, out: Path = Path("demo"), common: Common = Common()) -> None:
    """Show the whole flow on a life of the built-in world, with no network and no key, or a look at your own pictures.

    A life is drawn and scanned, a benchmark is made of it and held against the exact truth, four systems are run on it
    and compared, and a page shows it all. Stopped at any moment, the same command goes on.

    Parameters
    ----------
    pictures:
        Your own folder instead of the life (its first 1,000 files, or as many as --limit says); it is only read.
    out:
        The folder to make it all in.
    """
    if pictures is None:
        _world(out, common)
    else:
        _own(out, pictures, common)


def _world(out: Path, common: Common) -> None:
    from sightline.cli.scan import to_json
    from sightline.demo.world import run_world_demo

    common.ignores_limit()
    show = common.console.print

    def tell(stage: str, line: str) -> None:
        text = f"  {stage:<10} {line}"
        if common.json:
            sys.stderr.write(f"{text}\n")
        else:
            show(text, markup=False, soft_wrap=True)

    made = run_world_demo(out, seed=common.seed or 0, tell=tell)
    if common.json:
        places = {"folder": str(made.folder), "report": str(made.page), "seconds": round(made.seconds, 1)}
        common.print_json({**places, "scan": to_json(made.found.scanned), **made.found.to_dict()})
    else:
        show(world_to_text(made), markup=False, soft_wrap=True)


def world_to_text(made: WorldDemo) -> str:
    """How right the benchmark is, how the systems did, and where the page is."""
    from sightline.demo.systems import SYSTEMS, standing
    from sightline.demo.world_found import RANKED, SET
    from sightline.report.words import seconds, share
    from sightline.types.words import counted

    found, audit = made.found, made.found.audit

    def between(one: Estimate) -> str:
        return f"{share(one.mean)} ({share(one.low)} to {share(one.high)})"

    rows = [["system", f"{RANKED}, made labels", f"{RANKED}, exact truth", f"{SET}, exact sets", "cost", "p50"]]
    for name in SYSTEMS:
        spent = found.found.spending(name)
        standings = (
            found.found.standing(name, RANKED),
            standing(found.exact, name, RANKED),
            found.selected.standing(name, SET),
        )
        rows.append([name, *map(_standing, standings), spent.usd_text, "" if spent.p50 is None else seconds(spent.p50)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    pictures, queries = counted(found.scanned.pictures, "picture"), len(found.benchmark.tasks)
    return "\n".join(
        [
            f"\na life of {pictures} → a benchmark of {queries} queries, {audit.labels:,} judgments",
            f"against the exact truth: {between(audit.right)} of the labels are right",
            f"  precision {between(audit.precision)} · recall {between(audit.recall)}",
            "",
            *table,
            "  letters: systems that can't be told apart share one",
            f"\nreport: {made.page}        next: sightline demo --pictures ~/Pictures",
        ]
    )


def _standing(one: Standing) -> str:
    found = one.estimate
    return f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}] {one.letters}"


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
