"""What a model writes when it is asked for the steps of a question, and the steps that this makes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sightline.reason.questions import Question, shown_in
from sightline.reason.steps.checking import Fault
from sightline.reason.steps.conclusions import concluded
from sightline.types import Box, PictureRef, Step, StepKind


@dataclass(frozen=True, slots=True)
class Caption:
    """What one picture shows; pictures are counted from 1 in the order of the question."""

    picture: int
    text: str


@dataclass(frozen=True, slots=True)
class Region:
    """A part of a picture, in fractions of its width and height."""

    picture: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Placed:
    """A sentence or two, and the parts of pictures that they speak of."""

    text: str
    regions: list[Region]


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The five steps; `answer` is the key of the option, or the short answer."""

    summary: str
    captions: list[Caption]
    text_to_region: Placed
    region_to_region: Placed
    conclusion: str
    answer: str


@dataclass(frozen=True, slots=True)
class Read:
    """The steps of a reply, as far as they can be read, and what is wrong with its numbers and boxes."""

    steps: tuple[Step, ...]
    faults: tuple[Fault, ...]


def read_reasoning(question: Question, said: Reasoning) -> Read:
    """Steps in the same form as the world's own: a caption for each picture, regions as boxes, the key at the end."""
    refs, faults = shown_in(question.task), []
    captions: list[Step] = []
    for caption in sorted(said.captions, key=lambda one: one.picture):
        if not 1 <= caption.picture <= len(refs):
            faults.append(Fault("captions", f"there is no picture {caption.picture}: the last is {len(refs)}"))
        else:
            captions.append(Step("caption", caption.text.strip(), (refs[caption.picture - 1],)))
    placed: list[Step] = []
    parts: tuple[tuple[StepKind, Placed], ...] = (
        ("text-to-region", said.text_to_region),
        ("region-to-region", said.region_to_region),
    )
    for kind, part in parts:
        faults += _wrong_regions(kind, part.regions, len(refs))
        placed.append(Step(kind, part.text.strip(), tuple(_refs(part.regions, refs))))
    last = concluded(question, said.conclusion, said.answer)
    if isinstance(last, Fault):
        faults.append(last)
        last = said.conclusion.strip()
    steps = (Step("summary", said.summary.strip()), *captions, *placed, Step("conclusion", last))
    return Read(steps, tuple(faults))


def _wrong_regions(kind: StepKind, regions: Sequence[Region], pictures: int) -> Iterator[Fault]:
    for region in regions:
        if not 1 <= region.picture <= pictures:
            yield Fault("region", f"{kind}: there is no picture {region.picture}: the last is {pictures}")
        elif not (0 <= region.left < region.right <= 1 and 0 <= region.top < region.bottom <= 1):
            edges = f"{region.left:g}, {region.top:g}, {region.right:g}, {region.bottom:g}"
            yield Fault(
                "region",
                f"{kind}: the region {edges} of picture {region.picture} is not within it: left < right and "
                "top < bottom are fractions from 0 to 1",
            )


def _refs(regions: Sequence[Region], refs: Sequence[PictureRef]) -> Iterator[PictureRef]:
    """The regions that can be placed; those of a picture that is itself a cut-out are told from the whole picture."""
    for region in regions:
        box = Box(region.left, region.top, region.right, region.bottom)
        inside = 0 <= box.left < box.right <= 1 and 0 <= box.top < box.bottom <= 1
        if inside and 1 <= region.picture <= len(refs):
            shown = refs[region.picture - 1]
            whole = box == Box(0, 0, 1, 1)
            yield shown if whole else PictureRef(shown.id, box if shown.region is None else _within(shown.region, box))


def _within(outer: Box, inner: Box) -> Box:
    wide, high = outer.right - outer.left, outer.bottom - outer.top
    return Box(
        outer.left + inner.left * wide,
        outer.top + inner.top * high,
        outer.left + inner.right * wide,
        outer.top + inner.bottom * high,
    )
