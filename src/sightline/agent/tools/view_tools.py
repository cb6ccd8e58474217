"""Tools that show pictures: ViewPhotos, Crop, Zoom, Rotate, Enhance, Mark, Compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from PIL import Image, ImageEnhance, ImageOps

from sightline.agent.state import AgentState, PictureView
from sightline.agent.tools.arguments import (
    BOX_FIELD,
    PHOTO_FIELD,
    MistakeError,
    ToolArguments,
    finite,
    number_field,
    read_box,
    shown,
    spec,
    texts_field,
)
from sightline.agent.tools.base import Observation, has_pictures, tool
from sightline.agent.tools.picture_refs import WHOLE, NamedPicture, NamedPictures, made_view
from sightline.agent.tools.pixels import COMPARED_HIGH, beside, draw_marks, encode, magnified
from sightline.types import Box, ImagePart, Json

MOST_VIEWED = 20
_MAGNIFIED = 1024
_MOST_TIMES = 8.0
_MOST_MARKS = 30

VIEW_PHOTOS = spec(
    "ViewPhotos",
    f"Look at photos, at most {MOST_VIEWED} at once.",
    {"photos": texts_field("ids of photos, or of regions: id#left,top,right,bottom", MOST_VIEWED)},
    "photos",
)
CROP = spec(
    "Crop", "Cut a region out of a picture and look at it.", {"photo": PHOTO_FIELD, "box": BOX_FIELD}, "photo", "box"
)
ZOOM = spec(
    "Zoom",
    "Magnify a region of a picture, to see small things. Give box, or point and factor.",
    {
        "photo": PHOTO_FIELD,
        "box": BOX_FIELD,
        "point": {
            "type": "array",
            "items": {"type": "number"},
            "minItems": 2,
            "maxItems": 2,
            "description": "x, y in fractions: the middle of what is magnified",
        },
        "factor": number_field("how many times to magnify around the point", 1, 20),
    },
    "photo",
)
ROTATE = spec(
    "Rotate",
    "Turn a picture clockwise and look at it.",
    {"photo": PHOTO_FIELD, "degrees": number_field("by how much; negative for counter-clockwise", -360, 360)},
    "photo",
    "degrees",
)
ENHANCE = spec(
    "Enhance",
    "Make a picture easier to see; 1 leaves a property as it is, 2 doubles it.",
    {
        "photo": PHOTO_FIELD,
        "contrast": number_field("contrast; where nothing at all is given, levels are stretched", 0, 5),
        "brightness": number_field("brightness", 0, 5),
        "sharpness": number_field("sharpness", 0, 5),
        "colour": number_field("strength of colours; 0 is grey", 0, 5),
    },
    "photo",
)
MARK = spec(
    "Mark",
    "Draw numbered boxes and points on a picture and look at it.",
    {
        "photo": PHOTO_FIELD,
        "boxes": {"type": "array", "items": BOX_FIELD, "maxItems": _MOST_MARKS, "description": "regions to frame"},
        "points": {
            "type": "array",
            "items": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
            "maxItems": _MOST_MARKS,
            "description": "x, y in fractions from 0 to 1",
        },
        "labels": texts_field("words for the marks, the boxes' first; numbers when left out", 2 * _MOST_MARKS),
    },
    "photo",
)
COMPARE = spec(
    "Compare",
    "Put two to four pictures side by side and look at them.",
    {"photos": texts_field("names of pictures, from left to right", 4)},
    "photos",
)
_ENHANCERS = {
    "brightness": ImageEnhance.Brightness,
    "contrast": ImageEnhance.Contrast,
    "colour": ImageEnhance.Color,
    "sharpness": ImageEnhance.Sharpness,
}


@tool(VIEW_PHOTOS, NamedPictures, has_pictures)
def view_photos(subjects: NamedPictures, given: ToolArguments, state: AgentState) -> Observation:
    """ViewPhotos: whole pictures from their own files, regions cut out of them."""
    names = given.texts("photos")
    if not names:
        raise MistakeError("photos is missing: which photos?")
    views: list[PictureView] = []
    problems: list[str] = []
    before: list[str] = []
    for name in names:
        try:
            subject = subjects.find(name, state)
            if subject.name in (state.in_view or ()):
                before.append(subject.name)
            else:
                views.append(_viewed(subjects, subject))
        except MistakeError as error:
            problems.append(str(error))
    if not views and not before:
        raise MistakeError(" ".join(problems[:5]))
    told = {"shown_before": before, "problems": problems}
    return showing(views, {name: value for name, value in told.items() if value})


@tool(CROP, NamedPictures, has_pictures)
def crop(subjects: NamedPictures, given: ToolArguments, state: AgentState) -> Observation:
    """Crop: a region at the picture's own resolution."""
    part = subjects.find(given.text("photo"), state).part(given.box())
    return showing([made_view(part, subjects.image(part), "Crop")])


@tool(ZOOM, NamedPictures, has_pictures)
def zoom(subjects: NamedPictures, given: ToolArguments, state: AgentState) -> Observation:
    """Zoom: a region, enlarged; its name is that of the region of the original."""
    subject = subjects.find(given.text("photo"), state)
    if given.has("box"):
        subject = subject.part(given.box())
    elif given.has("point"):
        subject = subject.part(_around(*read_point(given.value("point")), given.number("factor", 3)))
    elif given.has("factor"):
        subject = subject.part(_around(0.5, 0.5, given.number("factor", 3)))
    image = magnified(subjects.image(subject), _MAGNIFIED, _MOST_TIMES)
    return showing([made_view(subject, image, "Zoom")])


@tool(ROTATE, NamedPictures, has_pictures)
def rotate(subjects: NamedPictures, given: ToolArguments, state: AgentState) -> Observation:
    """Rotate: by any angle, the corners filled with grey."""
    subject = subjects.find(given.text("photo"), state)
    degrees = round(given.number("degrees", 0)) % 360
    image = subjects.image(subject).rotate(
        -degrees, resample=Image.Resampling.BICUBIC, expand=True, fillcolor=(128, 128, 128)
    )
    return showing([made_view(subject, image, "Rotate", f"~rotate-{degrees}")])


@tool(ENHANCE, NamedPictures, has_pictures)
def enhance(subjects: NamedPictures, given: ToolArguments, state: AgentState) -> Observation:
    """Enhance: contrast, brightness, sharpness and colour, or stretched levels where none of them is given."""
    subject = subjects.find(given.text("photo"), state)
    image = subjects.image(subject)
    done = []
    for name, enhancer in _ENHANCERS.items():
        if given.has(name):
            amount = given.number(name, 1)
            image = enhancer(image).enhance(amount)
            done.append(f"{name}-{amount:g}")
    if not done:
        image, done = ImageOps.autocontrast(image, cutoff=1), ["levels"]
    return showing([made_view(subject, image, "Enhance", f"~{'~'.join(done)}")])


@tool(MARK, NamedPictures, has_pictures)
def mark(subjects: NamedPictures, given: ToolArguments, state: AgentState) -> Observation:
    """Mark: boxes and points on a copy of the picture."""
    subject = subjects.find(given.text("photo"), state)
    boxes = [read_box(each) for each in _several(given.value("boxes"), "boxes")]
    points = [read_point(each) for each in _several(given.value("points"), "points")]
    if not boxes and not points:
        raise MistakeError("give boxes, points, or both: there is nothing to mark.")
    image = subjects.image(subject).copy()
    draw_marks(image, boxes, points, given.texts("labels"))
    number = 1 + sum("~mark-" in name for name in state.views)
    return showing([made_view(subject, image, "Mark", f"~mark-{number}")])


@tool(COMPARE, NamedPictures, has_pictures)
def compare(subjects: NamedPictures, given: ToolArguments, state: AgentState) -> Observation:
    """Compare: pictures of one height beside each other."""
    names = given.texts("photos")
    if len(names) < 2:
        raise MistakeError("give at least two different photos to compare.")
    images = [subjects.image(subjects.find(name, state), side=COMPARED_HIGH) for name in names]
    number = 1 + sum(name.startswith("compare-") for name in state.views)
    name = f"compare-{number}"
    view = PictureView(name, ImagePart(name, encode(beside(images))), made_by="Compare")
    return showing([view], {"from_left_to_right": list(names)})


def showing(
    views: Sequence[PictureView], more: dict[str, Any] | None = None, *, untrusted: bool = False
) -> Observation:
    """Pictures to be shown, with their names and, for parts, the region of the original."""
    rows = [_told(view) for view in views]
    data: dict[str, Any] = {"shown": rows, **(more or {})}
    found = tuple(dict.fromkeys(view.picture for view in views if view.picture is not None))
    return Observation(orjson.dumps(data).decode(), tuple(views), data, found, untrusted)


def read_point(value: Json) -> tuple[float, float]:
    """A point in fractions of a picture's width and height."""
    if not isinstance(value, list) or len(value) != 2:
        raise MistakeError(f"a point is [x, y] in fractions from 0 to 1; it is {shown(value)}.")
    x, y = (finite(each, "a point's coordinate") for each in value)
    if not (0 <= x <= 1 and 0 <= y <= 1):
        raise MistakeError(f"a point is [x, y] in fractions from 0 to 1; {shown(value)} lies outside the picture.")
    return x, y


def _viewed(subjects: NamedPictures, subject: NamedPicture) -> PictureView:
    if subject.picture is not None and subject.region is None:
        return subjects.whole_view(subject, "ViewPhotos")
    if subject.view is not None and subject.region is None:
        return subject.view
    return made_view(subject, subjects.image(subject), "ViewPhotos")


def _told(view: PictureView) -> dict[str, Json]:
    told: dict[str, Json] = {"photo_id": view.name}
    if view.picture is not None and view.picture != view.name:
        told["of"] = view.picture
    if view.region is not None:
        told["region"] = [view.region.left, view.region.top, view.region.right, view.region.bottom]
    return told


def _around(x: float, y: float, factor: float) -> Box:
    """A region of 1/factor of the width and height around a point, moved so that it lies inside."""
    side = 1 / factor
    left, top = (min(max(middle - side / 2, 0.0), 1 - side) for middle in (x, y))
    return Box(left, top, min(1.0, left + side), min(1.0, top + side)) if factor > 1 else WHOLE


def _several(value: Json, name: str) -> list[Json]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise MistakeError(f"{name} must be a list.")
    if len(value) > _MOST_MARKS:
        raise MistakeError(f"{name} has {len(value):,} entries; at most {_MOST_MARKS} are drawn.")
    return value
