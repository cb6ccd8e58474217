"""`sightline demo`."""

from __future__ import annotations

from pathlib import Path

from sightline.cli.common import Common


def demo(*, pictures: Path | None = None, out: Path = Path("demo"), common: Common = Common()) -> None:
    """Show the flow on built-in samples: no network, no key.

    Parameters
    ----------
    pictures:
        Your own folder instead of the samples; it is only read.
    out:
        The folder to make it all in.
    """
    from sightline.cli.scan import to_json, to_text
    from sightline.demo import run_demo
    from sightline.score.compare import render_standings

    common.ignores_limit()
    made = run_demo(out, pictures=pictures, seed=common.seed or 0)
    if common.json:
        comparison = None if made.comparison is None else made.comparison.to_dict()
        page = None if made.page is None else str(made.page)
        scanned = to_json(made.scanned)
        common.print_json({"folder": str(made.folder), "scan": scanned, "comparison": comparison, "report": page})
        return
    show = common.console.print
    show(f"scanned {pictures or made.folder / 'pictures'}", markup=False)
    show(to_text(made.scanned), markup=False, soft_wrap=True)
    if made.comparison is None:
        show(
            "  next: sightline export corpus-csv " + str(made.folder / "workspace") + " --out pictures.csv",
            markup=False,
        )
        return
    show(f"\na benchmark of {made.tasks} tasks over them, and three made-up systems of known strength", markup=False)
    show(render_standings(made.comparison), markup=False, soft_wrap=True)
    show(f"\nreport: {made.page}        next: sightline demo --pictures ~/Pictures", markup=False)
