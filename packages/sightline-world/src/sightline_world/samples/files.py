"""The samples on disk: each drawn, encoded and written with its sidecars, and the truth about it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from pathlib import Path

from PIL import Image, ImageOps

from sightline.types import Box
from sightline_world import picture_files as written
from sightline_world.draw import draw
from sightline_world.picture_files import Metadata, encode
from sightline_world.samples.histories import SampleWish, Snapshot, plan_histories
from sightline_world.samples.truth import Samples, SampleScene, SampleThing
from sightline_world.scene import SceneGraph


def write_samples(folder: Path, *, seed: int = 0, pictures: int = 60) -> Samples:
    """Draw sample pictures into `folder` and tell the truth about them; the same seed gives the same bytes."""
    scenes: dict[str, SampleScene] = {}
    for snapshot in plan_histories(seed, pictures):
        path = folder / snapshot.id
        path.parent.mkdir(parents=True, exist_ok=True)
        if snapshot.copy_of is None:
            scenes[snapshot.id] = _write_original(path, snapshot)
        else:
            original = scenes[snapshot.copy_of]
            scenes[snapshot.id] = _write_copy(path, snapshot, folder / original.id, original)
    return Samples(folder, tuple(scenes[name] for name in sorted(scenes)))


def _write_original(path: Path, snapshot: Snapshot) -> SampleScene:
    drawing = draw(snapshot.plan)
    data = _encoded(drawing.image, snapshot)
    path.write_bytes(data)
    _write_sidecars(path, snapshot)
    scenery = tuple(SampleThing(note.kind, note.colour, note.count, note.box) for note in drawing.scenery)
    things = _named(snapshot.wishes, drawing.graph)
    return replace(_scene(snapshot, drawing.image.size, data), objects=things, scenery=scenery)


def _named(wishes: Sequence[SampleWish], graph: SceneGraph) -> tuple[SampleThing, ...]:
    """The wished things as they are seen, those of one kind and colour together."""
    boxes: dict[tuple[str, str], list[Box]] = {}
    for seen in graph.things:
        boxes.setdefault((seen.kind, seen.colour), []).append(seen.box)
    for figure in graph.figures:
        boxes.setdefault(("person", figure.coat), []).append(figure.box)
    things = []
    for wish in wishes:
        found = boxes[wish.kind, wish.colour]
        box = Box(
            min(box.left for box in found),
            min(box.top for box in found),
            max(box.right for box in found),
            max(box.bottom for box in found),
        )
        things.append(SampleThing(wish.kind, wish.colour, len(found), box))
    return tuple(things)


def _write_copy(path: Path, snapshot: Snapshot, source: Path, original: SampleScene) -> SampleScene:
    """The source's own bytes, or its pixels made smaller and encoded again."""
    if snapshot.exact:
        data, size = source.read_bytes(), (original.width, original.height)
    else:
        with Image.open(source) as image:
            upright = ImageOps.exif_transpose(image)
        size = (round(upright.width * 0.75), round(upright.height * 0.75))
        data = _encoded(upright.resize(size, Image.Resampling.LANCZOS), snapshot, quality=72)
    path.write_bytes(data)
    scene = _scene(snapshot, size, data)
    return replace(scene, objects=original.objects, scenery=original.scenery)


def _scene(snapshot: Snapshot, size: tuple[int, int], data: bytes) -> SampleScene:
    """The truth about a file; its time, place and device only as far as the file or a sidecar tells them."""
    carriers, known = snapshot.carriers, snapshot.metadata
    if not carriers:
        known = Metadata()
    elif carriers == ("takeout",):
        when = known.taken_at
        known = Metadata(when and when.astimezone(UTC), known.lat, known.lon, known.altitude)
    labelled = "xmp" in carriers or "xmp sidecar" in carriers
    return SampleScene(
        id=snapshot.id,
        owner=snapshot.owner,
        event=snapshot.event,
        place=snapshot.plan.place,
        light=snapshot.plan.light,
        objects=(),
        scenery=(),
        caption=snapshot.caption,
        width=size[0],
        height=size[1],
        format=snapshot.format,
        sha256=hashlib.sha256(data).hexdigest(),
        taken_at=known.taken_at,
        lat=known.lat,
        lon=known.lon,
        altitude=known.altitude,
        device=known.device.model if known.device else None,
        lens=known.device.lens if known.device else None,
        orientation=snapshot.orientation,
        title=known.title if labelled else None,
        keywords=known.keywords if labelled else (),
        rating=known.rating if labelled else None,
        carriers=carriers,
        duplicate_of=snapshot.copy_of,
        exact=snapshot.exact,
        burst=snapshot.burst,
        details=snapshot.details,
    )


def _encoded(upright: Image.Image, snapshot: Snapshot, quality: int = 86) -> bytes:
    """The bytes of a file in the snapshot's format, with the metadata that belongs inside it."""
    return encode(
        upright,
        snapshot.metadata,
        file_format=snapshot.format,
        orientation=snapshot.orientation,
        exif="exif" in snapshot.carriers,
        xmp="xmp" in snapshot.carriers,
        quality=quality,
    )


def _write_sidecars(path: Path, snapshot: Snapshot) -> None:
    """A sidecar that completes a file is `name.jpg.xmp`; one that stands alone is `name.xmp`."""
    if "xmp sidecar" in snapshot.carriers:
        alone = "exif" not in snapshot.carriers
        beside = path.with_suffix(".xmp") if alone else path.with_name(f"{path.name}.xmp")
        beside.write_bytes(written.xmp_of(snapshot.metadata, facts=alone))
    if "takeout" in snapshot.carriers:
        path.with_name(f"{path.name}.json").write_bytes(written.takeout(path.name, snapshot.metadata))
