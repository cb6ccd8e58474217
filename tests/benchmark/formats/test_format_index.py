"""docs/formats/README.md speaks of every format, truly, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

from sightline.benchmark.formats import find_format, format_names
from sightline.types import Benchmark, Corpus, Run

DOCS = Path(__file__).parents[3] / "docs" / "formats"
NAMES = {Benchmark: "benchmark", Run: "run", Corpus: "corpus"}


def test_the_index_lists_every_format_with_what_it_reads_and_writes() -> None:
    listed = {}
    for line in (DOCS / "README.md").read_text("utf-8").splitlines():
        if line.startswith("| `"):
            names, read, written, _, _ = (cell.strip() for cell in line.strip("|").split("|"))
            listed |= {name: (bool(read), written) for name in re.findall(r"`([^`]+)`", names)}
    expected = {}
    for name in format_names():
        known = find_format(name)
        written = ", ".join(NAMES[kind] for kind in known.writes) if known.write else ""
        expected[name] = (known.read is not None, written)
    assert listed == expected


def test_links_lead_to_pages() -> None:
    for page in DOCS.glob("*.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / link).is_file(), f"{page.name}: {link}"
