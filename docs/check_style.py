"""No text of ours holds a phrase of docs/style/banned.txt: messages, pages, docstrings, comments.

Run by `make check`, beside codespell. What goes to models is left out: a changed prompt has to be paid for again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BANNED = ROOT / "docs/style/banned.txt"
FOLDERS = ("src", "packages", "docs", "examples", "benchmarks")
KINDS = (".py", ".md", ".html", ".js", ".toml")
# What agents and models are told, and our own records of what was.
TO_MODELS = re.compile(r"src/sightline/(agent/|mcp\.py|models/json_schema\.py)|/tests/|CHANGELOG\.md")


def phrases() -> dict[str, str]:
    """Each phrase, and what to write."""
    lines = (line for line in BANNED.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return {phrase.strip(): better.strip() for phrase, _, better in (line.partition("=>") for line in lines)}


def files(root: Path = ROOT) -> Iterator[Path]:
    """What people read, in the repository or on a screen."""
    yield from sorted(root.glob("*.md"))
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in KINDS and "node_modules" not in path.parts:
                yield path


def faults(root: Path = ROOT) -> Iterator[str]:
    """Each phrase that was found, in a line that names its place and what to write."""
    banned = phrases()
    # Lines may break within a phrase, and a comment goes on after "#".
    gap = r"(?:\s|\"|\n\s*[#>*]?)+"
    pattern = re.compile("|".join(gap.join(map(re.escape, each.split())) for each in banned), re.IGNORECASE)
    known = {" ".join(phrase.lower().split()): better for phrase, better in banned.items()}
    for path in files(root):
        name = path.relative_to(root).as_posix()
        if TO_MODELS.search(name):
            continue
        text = path.read_text("utf-8")
        for found in pattern.finditer(text):
            said = " ".join(re.sub(r"[\"#>*\n]", " ", found[0]).lower().split())
            line = text.count("\n", 0, found.start()) + 1
            yield f'{name}:{line}: "{said}". Write instead: {known.get(said, "see docs/style/banned.txt")}'


def main() -> int:
    found = list(faults())
    sys.stdout.writelines(f"{fault}\n" for fault in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
