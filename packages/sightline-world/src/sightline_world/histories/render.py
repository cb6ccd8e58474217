"""A batch of planned pictures → files and the truth about each; runs in a worker process too."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from PIL import Image, ImageOps

from sightline.corpus.metadata.exif import device_name
from sightline.io.files import sha256_of
from sightline.types import Box
from sightline_world.captions import caption
from sightline_world.draw import ScenePlan, draw, pin
from sightline_world.histories.frames import Batch, Frame
from sightline_world.picture_files import encode
from sightline_world.scene import Figure, SceneGraph, Thing
from sightline_world.truth import Captions, ShotTruth

SEEN_HIDDEN, SEEN_AREA = 0.5, 0.0015
"""Something is shown when at most this share of it is hidden and its box has at least this share of the picture."""
_SMALLER = 0.75
_CROP_ZOOM = 1.35
_BARS = (0.09, 0.11)
"""Shares of a screenshot's height that the bars above and below the picture take."""


@dataclass(frozen=True, slots=True)
class RenderJob:
    """A batch to be written into a folder; `earlier` is what an earlier run knew of the same batch."""

    folder: Path
    batch: Batch
    plan_print: str
    earlier: tuple[ShotTruth, ...] = ()


@dataclass(frozen=True, slots=True)
class _Made:
    """A picture that is written: the bytes of its file, its upright size and what it shows."""

    data: bytes
    size: tuple[int, int]
    graph: SceneGraph


def write_batch(job: RenderJob) -> tuple[ShotTruth, ...]:
    """Draw and write what is not there already; the truth about each file, in the order of the batch."""
    if job.earlier and all(_is_there(job.folder, shot) for shot in job.earlier):
        return job.earlier
    sources = {frame.copy_of for frame in job.batch.frames}
    made: dict[str, _Made] = {}
    shots = []
    for frame in job.batch.frames:
        each = _copy(frame, made[frame.copy_of]) if frame.copy_of is not None else _original(frame)
        if frame.id in sources:
            made[frame.id] = each
        _write(job.folder / frame.id, each.data)
        shots.append(_truth(job, frame, each))
    return tuple(shots)


def _is_there(folder: Path, shot: ShotTruth) -> bool:
    path = folder / shot.id
    return path.is_file() and sha256_of(path) == shot.sha256


def _write(path: Path, data: bytes) -> None:
    """A file that has these bytes already is not touched."""
    if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _original(frame: Frame) -> _Made:
    drawing = draw(frame.plan)
    data = encode(drawing.image, frame.metadata, orientation=frame.orientation, quality=frame.plan.camera.quality)
    return _Made(data, drawing.image.size, drawing.graph)


def _copy(frame: Frame, source: _Made) -> _Made:
    if frame.copy == "exact":
        return source
    if frame.copy == "crop":
        return _original(replace(frame, plan=_cropped(frame)))
    with Image.open(io.BytesIO(source.data)) as stored:
        upright = ImageOps.exif_transpose(stored).convert("RGB")
    if frame.copy == "screenshot":
        shot = _screen(upright)
        return _Made(encode(shot, frame.metadata, file_format="PNG", exif=False), shot.size, _on_screen(source.graph))
    size = (round(upright.width * _SMALLER), round(upright.height * _SMALLER))
    small = upright.resize(size, Image.Resampling.LANCZOS)
    data = encode(small, frame.metadata, exif=frame.copy == "smaller", quality=72)
    return _Made(data, size, _scaled(source.graph, _SMALLER))


def _cropped(frame: Frame) -> ScenePlan:
    """The same scene seen through a narrower frame."""
    rng = Random(f"{frame.id}/crop")
    camera = frame.plan.camera
    aim = (round(rng.random(), 3), round(rng.random(), 3))
    return replace(pin(frame.plan), camera=replace(camera, zoom=camera.zoom * _CROP_ZOOM, aim=aim))


def _scaled(graph: SceneGraph, scale: float) -> SceneGraph:
    """Boxes are shares of the picture; only letters have a size in pixels."""
    signs = tuple(replace(sign, letter_px=round(sign.letter_px * scale, 1)) for sign in graph.signs)
    return replace(graph, signs=signs)


def _screen(picture: Image.Image) -> Image.Image:
    """The picture as a phone shows it: smaller, with dark bars above and below and dark edges."""
    wide, high = picture.size
    inner = _inner()
    screen = Image.new("RGB", (wide, high), (18, 18, 20))
    corner = (round(inner.left * wide), round(inner.top * high))
    small = (round(inner.right * wide) - corner[0], round(inner.bottom * high) - corner[1])
    screen.paste(picture.resize(small, Image.Resampling.LANCZOS), corner)
    for number in range(3):
        x, y = round(wide * (0.42 + 0.08 * number)), round(high * (1 - _BARS[1] / 2))
        radius = max(2, round(high * 0.012))
        screen.paste((200, 200, 205), (x - radius, y - radius, x + radius, y + radius))
    return screen


def _inner() -> Box:
    top, bottom = _BARS[0], 1 - _BARS[1]
    side = (1 - (bottom - top)) / 2
    return Box(side, top, 1 - side, bottom)


def _on_screen(graph: SceneGraph) -> SceneGraph:
    inner = _inner()
    scale = inner.bottom - inner.top

    def moved(box: Box) -> Box:
        across, down = inner.right - inner.left, inner.bottom - inner.top
        return Box(
            round(inner.left + box.left * across, 4),
            round(inner.top + box.top * down, 4),
            round(inner.left + box.right * across, 4),
            round(inner.top + box.bottom * down, 4),
        )

    small = _scaled(graph, scale)
    return replace(
        small,
        things=tuple(replace(each, box=moved(each.box)) for each in small.things),
        figures=tuple(replace(each, box=moved(each.box)) for each in small.figures),
        signs=tuple(replace(each, box=moved(each.box)) for each in small.signs),
    )


def _truth(job: RenderJob, frame: Frame, made: _Made) -> ShotTruth:
    known, graph = frame.metadata, made.graph
    event = None if frame.copy in ("received", "screenshot") else job.batch.event
    return ShotTruth(
        id=frame.id,
        owner=job.batch.owner,
        event=event,
        when=frame.when,
        town=frame.town,
        address=frame.address,
        graph=graph,
        captions=captions_of(graph),
        people=shown_names(graph.figures),
        belongings=shown_names(graph.things),
        width=made.size[0],
        height=made.size[1],
        sha256=hashlib.sha256(made.data).hexdigest(),
        plan=job.plan_print,
        taken_at=known.taken_at,
        lat=known.lat,
        lon=known.lon,
        altitude=known.altitude,
        device=device_name(known.device.make, known.device.model) if known.device else None,
        orientation=frame.orientation,
        burst=frame.burst,
        duplicate_of=frame.copy_of,
        copy=frame.copy,
    )


def captions_of(graph: SceneGraph) -> Captions:
    """The scene in words at every level of detail."""
    return Captions(caption(graph, "tags"), caption(graph, "short"), caption(graph, "sentence"), caption(graph, "full"))


def shown_names(items: Sequence[Thing | Figure]) -> tuple[str, ...]:
    """The lasting names among what a picture shows well enough, each once."""
    return tuple(
        dict.fromkeys(each.name for each in items if each.name is not None and is_shown(each.box, each.hidden))
    )


def is_shown(box: Box, hidden: float) -> bool:
    """Whether one would notice it."""
    return hidden <= SEEN_HIDDEN and (box.right - box.left) * (box.bottom - box.top) >= SEEN_AREA
