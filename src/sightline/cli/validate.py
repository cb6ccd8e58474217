"""`sightline validate PATH`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from sightline.cli.options import Common, Switch
from sightline.english import counted


def validate(path: Path, /, *, pictures: Switch = False, common: Common = Common()) -> None:
    """Say everything that is wrong with a benchmark or a run; exit code 4 when there is anything.

    Of what is only odd, such as an empty prompt, a warning is given.

    Parameters
    ----------
    path:
        The folder of a benchmark or a run.
    pictures:
        Also compare each picture's checksum.
    """
    from sightline.errors import FoundError
    from sightline.exchange import oddities
    from sightline.exchange import validate as find_problems

    problems, odd = find_problems(path, check_pictures=pictures), oddities(path)
    common.warn(map(str, odd[: common.limit]))
    if common.json:
        listed = {"problems": [asdict(found) for found in problems], "warnings": [asdict(found) for found in odd]}
        common.print_json({"path": str(path), "valid": not problems, **listed})
    else:
        for problem in problems[: common.limit]:
            common.console.print(f"  {problem}", markup=False, soft_wrap=True)
        if not problems:
            warned = f", {counted(len(odd), 'warning')}" if odd else ""
            common.console.print(f"  {path}: nothing wrong{warned}", markup=False, soft_wrap=True)
    if problems:
        raise FoundError(f"{path}: {counted(len(problems), 'problem')} found.")
