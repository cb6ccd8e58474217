"""What the build of the documentation site does not check: every page is in its navigation, pictures have alternative
texts, and links into the repository lead to files that are there.

Run by `make docs` and `make check`, before the build.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_CODE = re.compile(r"^( *)```.*?^\1```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_NO_TEXT = re.compile(r"!\[\s*\]\(.*?\)|<img\b(?![^>]*\balt=[\"'][^\"'])[^>]*>")
_REPOSITORY = re.compile(r"\]\(https://github\.com/sightline/sightline/(?:blob|tree)/main/([^)#\s]+)")


def faults(root: Path = ROOT) -> Iterator[str]:
    """Each fault in a line that names its page."""
    navigation = tomllib.loads((root / "zensical.toml").read_text("utf-8"))["project"]["nav"]
    docs = root / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    for page in sorted(pages - set(_placed(navigation))):
        yield f"docs/{page}: not in the navigation. Add it to nav in zensical.toml."
    for page in sorted(set(_placed(navigation)) - pages):
        yield f"zensical.toml: the navigation names {page}, which is not in docs/."
    for path in [root / "README.md", *(docs / page for page in sorted(pages))]:
        text, name = _CODE.sub("", path.read_text("utf-8")), path.relative_to(root).as_posix()
        for found in _NO_TEXT.finditer(text):
            yield f"{name}: a picture has no alternative text: {found[0]}"
        for found in _REPOSITORY.finditer(text):
            if not (root / found[1]).exists():
                yield f"{name}: {found[1]} is not in the repository."


def _placed(entry: Any) -> Iterator[str]:
    """The pages of a part of the navigation."""
    if isinstance(entry, str):
        yield entry
    else:
        for each in entry.values() if isinstance(entry, dict) else entry:
            yield from _placed(each)


def main() -> int:
    found = list(faults())
    sys.stdout.writelines(f"{fault}\n" for fault in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
