"""Link what this environment has installed into another one, all but Sightline and its synthetic world."""

from __future__ import annotations

import sys
from pathlib import Path


def main(environment: str) -> None:
    (here,) = (Path(path) for path in sys.path if path.startswith(sys.prefix) and path.endswith("site-packages"))
    there = Path(environment).resolve() / here.relative_to(sys.prefix)
    for path in here.iterdir():
        if "sightline" not in path.name and not (there / path.name).exists():
            (there / path.name).symlink_to(path.resolve())


main(sys.argv[1])
