"""docs/formats/README.md speaks of every format, truly, and its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from sightline.benchmark.formats import FormatLine, find_format, format_lines, format_names
from sightline.types import Benchmark, Corpus, Run

DOCS = Path(__file__).parents[3] / "docs" / "formats"
NAMES = {Benchmark: "benchmark", Run: "run", Corpus: "corpus"}


def test_the_index_lists_every_format_with_what_it_reads_and_writes() -> None:
    listed: dict[str, tuple[bool, str]] = {}
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


def test_the_listing_says_of_each_format_what_it_is() -> None:
    known = [find_format(name) for name in format_names()]
    expected = [FormatLine(f.name, f.read is not None, f.write is not None, f.summary) for f in known]
    assert format_lines() == expected


def test_listing_the_formats_loads_none_of_them() -> None:
    code = (
        "import sys; from sightline.benchmark.formats import format_lines; assert format_lines();"
        "print([name for name in sys.modules if name.startswith('sightline.benchmark.formats.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(["sightline.benchmark.formats.base"])


def test_links_lead_to_pages() -> None:
    for page in DOCS.glob("*.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / link).is_file(), f"{page.name}: {link}"
