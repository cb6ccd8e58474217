"""Write docs/commands.md and the tables of docs/configuration.md from the code itself; `--check` only compares."""

from __future__ import annotations

import sys
from pathlib import Path

from sightline.cli.app import build
from sightline.config.reference import fill

DOCS = Path(__file__).parent
HEAD = "<!-- Written by docs/make_reference.py; do not edit. -->\n\n"


def pages() -> dict[Path, str]:
    """What each generated page should say."""
    configuration = DOCS / "configuration.md"
    return {
        DOCS / "commands.md": HEAD + build().generate_docs(recursive=True).rstrip() + "\n",
        configuration: fill(configuration.read_text("utf-8")),
    }


def stale() -> list[Path]:
    """Pages that say something else."""
    return [path for path, text in pages().items() if not path.exists() or path.read_text("utf-8") != text]


def main() -> None:
    for path in stale():
        if "--check" in sys.argv:
            sys.exit(f"{path} is not up to date: run make docs")
        path.write_text(pages()[path], "utf-8")


if __name__ == "__main__":
    main()
