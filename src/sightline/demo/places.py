"""The demo's folder: ours, or nobody's."""

from __future__ import annotations

from pathlib import Path

from sightline.errors import UserError
from sightline.io import write_whole

_MARK = ".sightline-demo"


def own_folder(out: Path, seed: int) -> None:
    """An empty folder, or one that an earlier demo with the same seed made; nobody else's."""
    mark = out / _MARK
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not mark.is_file())):
        raise UserError(f"{out} holds other things; the demo leaves it as it is.", "choose another place: --out DIR")
    if mark.is_file() and mark.read_text("utf-8") != str(seed):
        raise UserError(f"{out} holds a demo with another seed.", "choose another place: --out DIR")
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(mark, str(seed).encode())
    except OSError as error:
        raise UserError(f"{out} can't be written: {error.strerror}.", "choose another place: --out DIR") from None
