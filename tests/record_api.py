"""The public signatures, and the file that remembers them: `python tests/record_api.py` after a change.

`public_api.json` holds them twice: as they were at the last release (`released`) and as they are (`now`). A function
that differs from its release has to be named in CHANGELOG.md, in the section of what is not released yet, as
`sightline.NAME`. With `--release` what is now becomes what was released.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import sightline

FILE = Path(__file__).parent / "public_api.json"
CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"
Signatures: TypeAlias = dict[str, list[str]]
"""Parameters of each public name, one an entry, and last what it returns."""


def current() -> Signatures:
    """The signatures of what `sightline` exports."""
    return {name: list(_parts(name)) for name in sorted(sightline.__all__) if callable(getattr(sightline, name))}


def _parts(name: str) -> Iterator[str]:
    signature = inspect.signature(getattr(sightline, name))
    kind = None
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and kind not in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL):
            yield "*"
        if kind is parameter.POSITIONAL_ONLY and parameter.kind is not kind:
            yield "/"
        kind = parameter.kind
        yield str(parameter).replace("'", "")
    if signature.return_annotation is not signature.empty:
        yield f"-> {signature.return_annotation}".replace("'", "")


def recorded() -> tuple[Signatures, Signatures]:
    """As released, and as they were when this was last run."""
    content = json.loads(FILE.read_text("utf-8")) if FILE.is_file() else {"released": {}, "now": {}}
    return content["released"], content["now"]


def changed(before: Mapping[str, list[str]], after: Mapping[str, list[str]]) -> list[str]:
    """Names that were added, removed, or have another signature."""
    return sorted(name for name in {*before, *after} if before.get(name) != after.get(name))


def unnamed(names: list[str], changelog: str) -> list[str]:
    """Those that the unreleased section of a changelog does not name as `sightline.NAME`."""
    found = re.search(r"^## .*unreleased.*?$(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL | re.IGNORECASE)
    section = found[1] if found else ""
    return [name for name in names if not re.search(rf"\bsightline\.{name}\b", section)]


def main() -> int:
    before, _ = recorded()
    now = current()
    missing = unnamed(changed(before, now), CHANGELOG.read_text("utf-8")) if before else []
    if "--release" in sys.argv or not before:
        before = now
    elif missing:
        sys.stderr.write(f"{CHANGELOG} does not name {', '.join(f'sightline.{name}' for name in missing)}.\n")
        return 1
    FILE.write_text(json.dumps({"released": before, "now": now}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
