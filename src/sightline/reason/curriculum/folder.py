"""The folder of a curriculum: written again, it replaces its own files alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.errors import UserError
from sightline.io.files import PathLike, link_or_copy, whole_folder
from sightline.io.jsonl import read_json, write_json

PLAN, PROOF, README, LIST = "plan.json", "proof.json", "README.md", "files.json"


@contextmanager
def curriculum_folder(out: PathLike) -> Iterator[Path]:
    """A new folder to write a curriculum into, which takes the place of the one in `out` when the block ends."""
    before = Path(os.path.realpath(out))
    own = _own_files(before)
    with whole_folder(out, marker=PROOF, owned={name.partition("/")[0] for name in own}) as folder:
        yield folder
        written = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()]
        write_json(folder / LIST, sorted({*written, LIST}))
        _refuse_others(before, own, written)
        _keep_others(before, own, folder)


def _own_files(folder: Path) -> set[str]:
    """The files, by their paths from the folder, that an earlier curriculum wrote there."""
    listed = read_json(folder / LIST) if (folder / LIST).is_file() else []
    return {LIST, *(name for name in listed if isinstance(name, str))}


def _refuse_others(before: Path, own: set[str], written: list[str]) -> None:
    for name in written:
        if name not in own and os.path.lexists(before / name):
            raise UserError(
                f"{before / name} does not belong to the curriculum there, and would be lost.",
                "move it, or choose another --out",
            )


def _keep_others(before: Path, own: set[str], folder: Path) -> None:
    """Bring along what others put into folders that are written again; the rest of the place stays by itself."""
    for name in {*(name.partition("/")[0] for name in own), *(entry.name for entry in folder.iterdir())}:
        for path in (before / name).rglob("*"):
            kept = folder / path.relative_to(before)
            is_file = path.is_symlink() or not path.is_dir()
            if is_file and path.relative_to(before).as_posix() not in own and not os.path.lexists(kept):
                kept.parent.mkdir(parents=True, exist_ok=True)
                link_or_copy(path, kept)
