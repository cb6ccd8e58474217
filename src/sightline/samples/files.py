"""Pictures on disk: pixels encoded in their format, turned as the camera was held, with what is known of them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from types import MappingProxyType
from typing import Any

from PIL import Image, ImageOps, PngImagePlugin

from sightline.samples import metadata as written
from sightline.samples.lives import Metadata, Snapshot, plan_lives
from sightline.samples.scenes import Samples, Scene, Thing
from sightline.world.draw import draw

TURNS: Mapping[int, Image.Transpose] = MappingProxyType(
    {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
)
"""What turns an upright picture into the one that is stored under that EXIF orientation."""


def write_samples(folder: Path, *, seed: int = 0, pictures: int = 60) -> Samples:
    """Draw sample pictures into `folder` and tell the truth about them; the same seed gives the same bytes."""
    scenes: dict[str, Scene] = {}
    for snapshot in plan_lives(seed, pictures):
        path = folder / snapshot.id
        path.parent.mkdir(parents=True, exist_ok=True)
        if snapshot.copy_of is None:
            scenes[snapshot.id] = _write_original(path, snapshot)
        else:
            original = scenes[snapshot.copy_of]
            scenes[snapshot.id] = _write_copy(path, snapshot, folder / original.id, original)
    return Samples(folder, tuple(scenes[name] for name in sorted(scenes)))


def _write_original(path: Path, snapshot: Snapshot) -> Scene:
    drawing = draw(snapshot.plan)
    data = encode(drawing.image, snapshot)
    path.write_bytes(data)
    _write_sidecars(path, snapshot)
    seen = {(note.kind, note.colour): Thing(note.kind, note.colour, note.count, note.box) for note in drawing.notes}
    things = [seen.pop((wish.kind, wish.colour)) for wish in snapshot.plan.wishes]
    scene = _scene(snapshot, drawing.image.size, data)
    return replace(scene, objects=tuple(things), scenery=tuple(seen.values()))


def _write_copy(path: Path, snapshot: Snapshot, source: Path, original: Scene) -> Scene:
    """The source's own bytes, or its pixels made smaller and encoded again."""
    if snapshot.exact:
        data, size = source.read_bytes(), (original.width, original.height)
    else:
        with Image.open(source) as image:
            upright = ImageOps.exif_transpose(image)
        size = (round(upright.width * 0.75), round(upright.height * 0.75))
        data = encode(upright.resize(size, Image.Resampling.LANCZOS), snapshot, quality=72)
    path.write_bytes(data)
    scene = _scene(snapshot, size, data)
    return replace(scene, objects=original.objects, scenery=original.scenery)


def _scene(snapshot: Snapshot, size: tuple[int, int], data: bytes) -> Scene:
    """The truth about a file; its time, place and device only as far as the file or a sidecar tells them."""
    carriers, known = snapshot.carriers, snapshot.metadata
    if not carriers:
        known = Metadata()
    elif carriers == ("takeout",):
        when = known.taken_at
        known = Metadata(when and when.astimezone(UTC), known.lat, known.lon, known.altitude)
    labelled = "xmp" in carriers or "xmp sidecar" in carriers
    camera = known.camera
    return Scene(
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
        device=camera.model if camera else None,
        lens=camera.lens if camera else None,
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


def encode(upright: Image.Image, snapshot: Snapshot, quality: int = 86) -> bytes:
    """The bytes of a file in the snapshot's format, with the metadata that belongs inside it."""
    turn = TURNS.get(snapshot.orientation)
    stored = upright if turn is None else upright.transpose(turn)
    options: dict[str, Any] = {}
    if "exif" in snapshot.carriers:
        options["exif"] = written.exif(snapshot.metadata, snapshot.orientation)
    packet = written.xmp(snapshot.metadata, facts=False) if "xmp" in snapshot.carriers else None
    buffer = io.BytesIO()
    match snapshot.format:
        case "PNG":
            text = PngImagePlugin.PngInfo()
            if packet is not None:
                text.add_itxt("XML:com.adobe.xmp", packet.decode())
            stored.save(buffer, "PNG", pnginfo=text, compress_level=4, **options)
        case "GIF":
            stored.quantize(128, method=Image.Quantize.FASTOCTREE).save(buffer, "GIF")
        case "TIFF":
            tags = written.exif(snapshot.metadata, snapshot.orientation)
            if packet is not None:
                tags[0x02BC] = packet
            # As bytes: from an Exif object Pillow takes over only the outer directory.
            stored.save(buffer, "TIFF", exif=tags.tobytes())
        case "BMP":
            stored.save(buffer, "BMP")
        case _:
            if packet is not None:
                options["xmp"] = packet
            stored.save(buffer, snapshot.format, quality=quality, **options)
    return buffer.getvalue()


def _write_sidecars(path: Path, snapshot: Snapshot) -> None:
    """A sidecar that completes a file is `name.jpg.xmp`; one that stands alone is `name.xmp`."""
    if "xmp sidecar" in snapshot.carriers:
        alone = "exif" not in snapshot.carriers
        beside = path.with_suffix(".xmp") if alone else path.with_name(f"{path.name}.xmp")
        beside.write_bytes(written.xmp(snapshot.metadata, facts=alone))
    if "takeout" in snapshot.carriers:
        path.with_name(f"{path.name}.json").write_bytes(written.takeout(path.name, snapshot.metadata))
