"""Annotating by `builtin/photos`: on this machine, with no key, and only what its networks can tell."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files

from sightline.authoring.annotate_requests import AnnotationQuestions, carried
from sightline.config import Config
from sightline.config.settings import AnnotateSettings
from sightline.corpus.names import path_of
from sightline.engine.progress import progress
from sightline.models import photos as photos_package
from sightline.models.embedders.pixels import decode_region, read_bytes
from sightline.models.photos.annotator import BY, THRESHOLD, UNKNOWN, Annotator
from sightline.models.photos.embedder import Photos
from sightline.models.pictures import is_web
from sightline.models.protocols import Pixels
from sightline.types import Annotation, Failure, Picture

NAME = BY
_LIGHTS = {"dark": "darkness", "medium": "even light", "bright": "bright light"}
_OTHER = "other"
"""A value for pictures that none of the others fits, where a taxonomy has one."""
_AT_ONCE = 16
_SIDE = 640
PERHAPS = 0.25
"""Without a vocabulary, names of classes that are less sure than this are left out."""


def annotate_by_photos(
    pictures: Sequence[Picture],
    questions: AnnotationQuestions,
    *,
    local_only: bool = False,
    photos: Photos | None = None,
    threshold: float | None = None,
) -> Iterator[tuple[Picture, Annotation | Failure]]:
    """Each picture with what was seen in it, in order; it has no summary, and as many tags as it is sure of."""
    config = questions.config
    if threshold is None:
        threshold = THRESHOLD if config.annotate.vocabulary else PERHAPS
    annotator = Annotator(photos or Photos(local_only=local_only), config.annotate, threshold=threshold)
    with progress("annotate", len(pictures)) as advance:
        for start in range(0, len(pictures), _AT_ONCE):
            some = pictures[start : start + _AT_ONCE]
            pixels = {picture.id: read_picture(picture, config) for picture in some}
            seen = annotator({id_: one for id_, one in pixels.items() if not isinstance(one, Failure)})
            notes = {note.picture_id: note for note in seen}
            for picture in some:
                one = pixels[picture.id]
                yield picture, one if isinstance(one, Failure) else _kept(notes[picture.id], picture, questions)
            advance(len(some))


def read_picture(picture: Picture, config: Config) -> Pixels | Failure:
    """Height × width × 3, or why there is none."""
    if is_web(picture.uri):
        return Failure("bad-picture", f"{picture.uri} is not on this machine, and {NAME} reads only what is")
    data = read_bytes(os.fsencode(path_of(picture.uri)))
    found = data if isinstance(data, Failure) else decode_region(data, _SIDE, config.scan.max_pixels)
    return Failure("bad-picture", f"{found.kind}: {found.message}") if isinstance(found, Failure) else found


def _kept(note: Annotation, picture: Picture, questions: AnnotationQuestions) -> Annotation:
    """With what an annotation keeps of its picture, and facets that are known better than by comparing their values."""
    settings = questions.settings
    measured = {name: value for name, value in measured_in(note).items() if name in settings.taxonomy}
    tagged = {name: value for name in settings.taxonomy if (value := _tagged(note, name, settings)) is not None}
    sure = {name: note.confidence.get(f"tag:{value}", 0.0) for name, value in tagged.items()}
    return replace(
        note,
        facets={**note.facets, **tagged, **measured},
        confidence={**note.confidence, **sure, **dict.fromkeys(measured, 1.0)},
        extra={**carried(picture, questions.config, questions.hash), **note.extra},
    )


def _tagged(note: Annotation, facet: str, settings: AnnotateSettings) -> str | None:
    """The value of a facet whose values are tags: the surest of them, or "unknown"; None for any other facet."""
    values = set(settings.taxonomy[facet])
    if not values <= {*settings.vocabulary, _OTHER}:
        return None
    found = [tag for tag in note.tags if tag in values]
    return max(found, key=lambda tag: note.confidence[f"tag:{tag}"], default=_OTHER if _OTHER in values else UNKNOWN)


@cache
def facets() -> Mapping[str, tuple[str, ...]]:
    """`facets.toml`: what `builtin/photos` can tell of an everyday photograph."""
    text = files(photos_package).joinpath("facets.toml").read_text("utf-8")
    return {name: tuple(values) for name, values in tomllib.loads(text).items()}


def measured_in(note: Annotation) -> dict[str, str]:
    """The values of the facets of `MEASURED`."""
    shares = note.extra["colour_shares"]
    assert isinstance(shares, dict)
    colour = max(shares, key=lambda name: (shares[name], name), default="grey")
    return {"tones": f"{colour} tones", "lighting": _LIGHTS[str(note.extra["light"])]}
