"""`sightline validate PATH`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from sightline.cli.common import Common, Switch


def validate(path: Path, /, *, pictures: Switch = False, common: Common = Common()) -> None:
    """Say everything that is wrong with a benchmark or a run; exit code 4 when there is anything.

    Parameters
    ----------
    path:
        The folder of a benchmark or a run.
    pictures:
        Also compare each picture's checksum.
    """
    from sightline.errors import FoundError
    from sightline.exchange import validate as find_problems

    problems = find_problems(path, check_pictures=pictures)
    if common.json:
        common.print_json({"path": str(path), "valid": not problems, "problems": [asdict(found) for found in problems]})
    else:
        for problem in problems[: common.limit]:
            common.console.print(f"  {problem}", markup=False, soft_wrap=True)
        if not problems:
            common.console.print(f"  {path}: nothing wrong", markup=False)
    if problems:
        raise FoundError(f"{path}: {len(problems):,} problem{'s' if len(problems) > 1 else ''} found.")
