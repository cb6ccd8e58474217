"""`sightline validate PATH`."""

from __future__ import annotations

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
    from sightline.exchange import validate as find_problems

    found = find_problems(path, check_pictures=pictures)
    common.warn(map(str, found.warnings[: common.limit]))
    if common.json or found.valid:
        common.show(found)
    else:
        common.print(str(found[: common.limit]))
    if not found.valid:
        raise FoundError(f"{path}: {counted(len(found), 'problem')} found.")
