"""What a model means by a name: a picture of the corpus, a region of one, or a picture that a tool made before.

What was cut and turned is always named as a region of the original picture.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice

from PIL import Image

from sightline.agent.state import AgentState, PictureView, as_named
from sightline.agent.tools.arguments import MistakeError, shown
from sightline.agent.tools.base import Materials
from sightline.agent.tools.pixels import encode, load, picture_path, read_file
from sightline.types import Box, Failure, ImagePart, Picture

WHOLE = Box(0.0, 0.0, 1.0, 1.0)
_DECIMALS = 4
_REGION = re.compile(r"#(\d[\d.]{0,20}),(\d[\d.]{0,20}),(\d[\d.]{0,20}),(\d[\d.]{0,20})$", re.ASCII)
_TURN = re.compile(r"~rotate-(\d+)(?=~|#|$)")
_MOST_COMPARED = 2000
_SMALLEST = 4
"""Pixels along a side of a region that is still worth looking at."""


def split_name(name: str) -> tuple[str, Box | None]:
    """`a.jpg#0.1,0.2,0.5,0.9` → the picture's name and the region; no region where the name has none."""
    found = _REGION.search(name)
    if found is None:
        return name, None
    try:
        box = Box(*map(float, found.groups()))
    except ValueError:
        box = Box(1, 1, 0, 0)
    if not box.is_valid:
        raise MistakeError(f'"{found[0]}" is no region; give #left,top,right,bottom in fractions from 0 to 1.')
    return name[: found.start()], box


def region_name(base: str, box: Box) -> str:
    """The name of a region of a picture."""
    edges = ",".join(f"{edge:.{_DECIMALS}f}".rstrip("0").rstrip(".") for edge in _edges(box))
    return f"{base}#{edges}"


def rounded(box: Box) -> Box:
    """The region as its name tells it."""
    return Box(*(round(edge, _DECIMALS) for edge in _edges(box)))


def turns(name: str) -> int | None:
    """By how many degrees clockwise what has this name was turned in all; None where not by right angles."""
    total = sum(int(angle) for angle in _TURN.findall(name))
    return total % 360 if total % 90 == 0 else None


def turned_back(box: Box, degrees: int) -> Box:
    """A region of a picture that was turned clockwise, as a region of the picture before it was."""
    for _ in range(degrees // 90):
        box = Box(box.top, 1 - box.right, box.bottom, 1 - box.left)
    return box


def _edges(box: Box) -> tuple[float, float, float, float]:
    return box.left, box.top, box.right, box.bottom


@dataclass(frozen=True, slots=True)
class NamedPicture:
    """What a name stands for: `base` is a picture's id or a made view's name, `region` a part of that."""

    base: str
    region: Box | None = None
    picture: Picture | None = None
    view: PictureView | None = None

    @property
    def name(self) -> str:
        return self.base if self.region is None else region_name(self.base, self.region)

    @property
    def root(self) -> str | None:
        """The picture of the corpus that it was made from."""
        return self.picture.id if self.picture is not None else self.view.picture if self.view is not None else None

    @property
    def original(self) -> Box | None:
        """The part of that picture; where it was turned by another than a right angle, the part around it."""
        if self.view is None:
            return self.region
        if self.region is None:
            return self.view.region
        turn = turns(self.base)
        if turn is None:
            return self.view.region
        return rounded(turned_back(self.region, turn).within(self.view.region))

    def part(self, box: Box) -> NamedPicture:
        """A region of it; regions of regions are regions of the base."""
        region = rounded(box.within(self.region))
        if region.left >= region.right or region.top >= region.bottom:
            raise MistakeError("that region is too small to be seen.")
        return NamedPicture(self.base, None if region == WHOLE else region, self.picture, self.view)


class NamedPictures:
    """Finds what names stand for; a picture outside the task's scope is as unknown as one that does not exist."""

    def __init__(self, materials: Materials) -> None:
        self._pictures, self._base = materials.pictures, materials.base

    def known(self, id_: str, state: AgentState) -> Picture | None:
        """A picture of the corpus that may be seen, by its id, or by a short name that only one of them has."""
        picture = self._pictures.get(id_) or self._pictures.get(as_named(id_))
        if picture is None and state.names is not None:
            picture = self._pictures.get(state.names.find(id_) or "")
        return picture if picture is not None and state.may_see(picture.id) else None

    def split(self, ids: tuple[str, ...], state: AgentState) -> tuple[list[Picture], list[str]]:
        """The pictures that are known and may be seen, and the ids that are not."""
        found = {id_: self.known(id_, state) for id_ in ids}
        return [each for each in found.values() if each is not None], [i for i, each in found.items() if each is None]

    def find(self, name: str, state: AgentState) -> NamedPicture:
        """What a name stands for, or the mistake."""
        whole = self._exact(name, state)
        if whole is not None:
            return whole
        base, region = split_name(name)
        subject = None if region is None else self._exact(base, state)
        if subject is None or region is None:
            raise MistakeError(f"there is no photo {shown(name)} here.{self._hint(base, state)}")
        return subject.part(region)

    def image(self, subject: NamedPicture, side: int | None = None) -> Image.Image:
        """Its pixels, upright; the shorter side at least `side` where there are as many."""
        data = self.data(subject)
        found = load(data, region=subject.region) if side is None else load(data, side, subject.region)
        if isinstance(found, Failure):
            raise MistakeError(f"{shown(subject.name)} can't be looked at: {found.kind} ({found.message}).")
        if min(found.size) < _SMALLEST:
            raise MistakeError(f"{shown(subject.name)} is only {found.width} × {found.height} pixels.")
        return found

    def data(self, subject: NamedPicture) -> bytes:
        """The bytes of the whole file that it is, or is a part of."""
        if subject.view is not None:
            assert subject.view.part.data is not None
            return subject.view.part.data
        assert subject.picture is not None
        path = picture_path(subject.picture, self._base)
        data = path if isinstance(path, Failure) else read_file(path)
        if isinstance(data, Failure):
            raise MistakeError(f"{shown(subject.base)} can't be read: {data.kind} ({data.message}).")
        return data

    def whole_view(self, subject: NamedPicture, made_by: str) -> PictureView:
        """A picture of the corpus as it is, to be shown from its own file; broken ones are a mistake."""
        assert subject.picture is not None
        self.image(subject, side=64)
        path = picture_path(subject.picture, self._base)
        assert not isinstance(path, Failure)
        return PictureView(subject.name, ImagePart(str(path)), subject.picture.id, None, made_by)

    def _exact(self, name: str, state: AgentState) -> NamedPicture | None:
        picture = self.known(name, state)
        if picture is not None:
            return NamedPicture(picture.id, picture=picture)
        view = state.views.get(name)
        # A shown region is found again through its picture, from the original pixels.
        if view is not None and view.part.data is not None and split_name(name)[1] is None:
            return NamedPicture(name, view=view)
        return None

    def _hint(self, name: str, state: AgentState) -> str:
        known = (
            id_
            for id_ in (*state.views, *state.found, *(state.allowed or ()))
            if state.may_see(id_) or id_ in state.views
        )
        near = get_close_matches(name, list(islice(known, _MOST_COMPARED)), n=2, cutoff=0.7)
        return f" Did you mean {' or '.join(near)}?" if near else " Use ids exactly as the tools give them."


def made_view(subject: NamedPicture, image: Image.Image, made_by: str, suffix: str = "") -> PictureView:
    """A view of pixels that a tool made from a subject; `suffix` tells what was done beside cutting."""
    name = f"{subject.name}{suffix}"
    return PictureView(name, ImagePart(name, encode(image)), subject.root, subject.original, made_by)
