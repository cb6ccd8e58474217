"""Pictures as they are published: cleaned copies for the time of writing, and records that tell no place."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from sightline.bench import picture_path
from sightline.corpus.pixels import RefusedError, identify
from sightline.errors import UserError
from sightline.leftovers import folder_beside
from sightline.make.publish.choose import Chosen
from sightline.make.publish.lessen import lessen
from sightline.make.publish.scrub import Clean, scrub
from sightline.types import Annotation, Benchmark, Picture

_TAKEN_DOWN = "taken down"


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is published; its pictures lie in a folder that goes away when the block ends."""

    chosen: Chosen
    benchmark: Benchmark
    pictures: Path


@contextmanager
def prepared(
    chosen: Chosen, folder: Path, out: Path, *, keep_metadata: bool = False, taken_down: Collection[str] = ()
) -> Iterator[Prepared]:
    """Clean every picture into a folder beside `out`; one that can't be read, or was taken down, stays here."""
    with folder_beside(out.resolve()) as target, ThreadPoolExecutor() as pool:
        pictures = chosen.benchmark.corpus.pictures

        def clean(picture: Picture) -> Picture | str:
            return _cleaned(picture, folder, target, keep_metadata, taken_down)

        made = dict(zip(pictures, pool.map(clean, pictures.values()), strict=True))
        refused = {id_: why for id_, why in made.items() if isinstance(why, str)}
        kept = {id_: picture for id_, picture in made.items() if isinstance(picture, Picture)}
        rest = lessen(chosen.benchmark, kept)
        if not rest.benchmark.tasks:
            raise UserError(
                "no task is left without the pictures that can't be read or were taken down.",
                "see what is wrong with them: sightline scan",
            )
        again = replace(
            chosen,
            benchmark=rest.benchmark,
            left_out={**chosen.left_out, **refused},
            lost_tasks={**chosen.lost_tasks, **rest.lost_tasks},
        )
        corpus = replace(rest.benchmark.corpus, pictures=kept)
        notes = rest.benchmark.annotations
        if not keep_metadata:
            notes = tuple(replace(note, extra={}) for note in notes)
        yield Prepared(again, replace(rest.benchmark, corpus=corpus, annotations=tuple(map(_unpriced, notes))), target)


def _cleaned(picture: Picture, folder: Path, target: Path, keep: bool, taken_down: Collection[str]) -> Picture | str:
    """The picture as it is published, its file named by its content; or why it stays here."""
    path = picture_path(picture.uri, folder)
    assert path is not None  # `choose` keeps only what is here.
    try:
        data = path.read_bytes()
        clean = _as_it_is(data) if keep else scrub(data)
    except OSError as error:
        return f"its file can't be read: {error.strerror}"
    except RefusedError as refused:
        return refused.reason
    digest = hashlib.sha256(clean.data).hexdigest()
    if {digest, hashlib.sha256(data).hexdigest()} & set(taken_down):
        return _TAKEN_DOWN
    name = f"{digest}{clean.suffix}"
    (target / name).write_bytes(clean.data)
    found = replace(
        picture,
        uri=name,
        sha256=digest,
        width=clean.width,
        height=clean.height,
        mime=clean.mime,
    )
    if keep:
        return found
    return replace(found, taken_at=None, lat=None, lon=None, altitude=None, address=None, device=None, extra={})


def _as_it_is(data: bytes) -> Clean:
    """The file byte for byte, with the facts of its cleaned copy."""
    facts = scrub(data)
    suffix = {"JPEG": ".jpg", "TIFF": ".tif", "HEIF": ".heic"}.get(format_ := identify(data[:64]) or "", "")
    return replace(facts, data=data, suffix=suffix or f".{format_.lower()}")


def _unpriced(note: Annotation) -> Annotation:
    """What an annotation cost concerns nobody outside."""
    return replace(note, cost_usd=None)
