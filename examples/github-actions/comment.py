"""What `sightline compare MAIN CANDIDATE --json` found, as a Markdown table for a pull request.

python comment.py compare.json > comment.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_HEAD = "| metric | {first} | {second} | difference | p | |\n|---|---|---|---|---|---|"


def table(found: dict[str, Any]) -> str:
    """A row for each metric: both means, the difference with its interval, p, and what it means."""
    first, second = found["systems"][:2]
    means = {
        (metric, one["system"]): one["estimate"]["mean"] for metric, row in found["standings"].items() for one in row
    }
    lines = [_HEAD.format(first=first, second=second)]
    for pair in found["pairs"]:
        if (pair["first"], pair["second"]) != (first, second):
            continue
        metric, moved = pair["metric"], pair["difference"]
        spread = moved.get("reason") or f"[{moved['low']:+.3f}, {moved['high']:+.3f}]"
        lines.append(
            f"| {metric} | {means[metric, first]:.3f} | {means[metric, second]:.3f} | {moved['mean']:+.3f} {spread} "
            f"| {pair['p_adjusted']:.3f} | {_verdict(pair, found['level'])} |"
        )
    return "\n".join(lines)


def _verdict(pair: dict[str, Any], level: float) -> str:
    if pair["p_adjusted"] >= 1 - level:
        return "no difference beyond chance"
    return "❌ worse" if pair["difference"]["mean"] < 0 else "✅ better"


def main() -> None:
    found = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    tasks = max((pair["difference"]["n"] for pair in found["pairs"]), default=0)
    parts = [f"### Search quality on {found['benchmark']} ({tasks:,} queries)", table(found)]
    parts += [f"> **{one['code']}**: {one['message']} {one['fix']}" for one in found["warnings"]]
    sys.stdout.write("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
