"""A task as a model is asked it: its prompt in order, pictures at hand, options, and what an ablation leaves out."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from PIL import Image

from sightline.corpus.pixels import MAX_PIXELS
from sightline.models.embedders.pixels import decode_region, read_bytes
from sightline.retrieval.index.content import absolute, local_path
from sightline.types import Box, Failure, ImagePart, Part, Picture, PictureRef, Task

_SIDE = 1024


@dataclass(frozen=True, slots=True)
class Ablation:
    """What of a task is left out or mixed up, to see whether it is needed.

    `no_text` leaves pictures and options; `one_image` one picture, by lot, of all that prompt and options have.
    `shuffle_images` puts the pictures of a prompt in another order; a prompt with a single one gets that of another
    task.
    """

    no_text: bool = False
    no_image: bool = False
    one_image: bool = False
    no_options: bool = False
    shuffle_images: bool = False


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture of the corpus, or a region of one, ready to be sent."""

    ref: PictureRef
    part: ImagePart


@dataclass(frozen=True, slots=True)
class TaskPrompts:
    """How tasks are put: over which pictures, in which language, and with what left out.

    `base` is where relative addresses of pictures begin; `strangers` are pictures of other tasks, for shuffling.
    """

    pictures: Mapping[str, Picture]
    base: Path | None = None
    language: str | None = None
    ablation: Ablation = Ablation()
    seed: int = 0
    strangers: Sequence[PictureRef] = field(default_factory=tuple)

    def content(self, task: Task) -> tuple[str | ShownPicture, ...] | Failure:
        """The prompt and its options; a picture that can't be had is a failure of the task."""
        parts = self._parts(task)
        if isinstance(parts, Failure):
            return parts
        content: list[str | ShownPicture] = []
        for part in parts:
            if isinstance(part, str):
                content.append(part)
                continue
            shown = self.show(part)
            if isinstance(shown, Failure):
                return shown
            content.append(shown)
        return tuple(content) if any(not isinstance(each, str) or each.strip() for each in content) else _nothing()

    def show(self, ref: PictureRef) -> ShownPicture | Failure:
        """A picture, or the region of one."""
        picture = self.pictures.get(ref.id)
        if picture is None:
            return Failure("bad-picture", f'the corpus has no picture "{ref.id}"')
        uri = absolute(picture, self.base).uri
        if ref.region is None:
            return ShownPicture(ref, ImagePart(uri))
        data = _cut(uri, ref.region)
        return data if isinstance(data, Failure) else ShownPicture(ref, ImagePart("", data))

    def _parts(self, task: Task) -> tuple[Part, ...] | Failure:
        prompt, left_out = task.prompt, self.ablation
        if self.language is not None and task.translations:
            if self.language not in task.translations:
                known = ", ".join(sorted(task.translations))
                return Failure("no-translation", f'the task is not told in "{self.language}" (translations: {known})')
            prompt = task.translations[self.language]
        if left_out.no_text:
            prompt = tuple(part for part in prompt if isinstance(part, PictureRef))
        if left_out.shuffle_images:
            prompt = self._shuffled(task, prompt)
        options: list[Part] = []
        for option in () if left_out.no_options else task.options:
            options += [f"\n{option.key}. ", *option.content]
        parts = (*prompt, *options)
        if left_out.no_image:
            return tuple(part for part in parts if isinstance(part, str))
        return self._with_one(task, parts, len(prompt)) if left_out.one_image else parts

    def _shuffled(self, task: Task, prompt: tuple[Part, ...]) -> tuple[Part, ...]:
        own = [part for part in prompt if isinstance(part, PictureRef)]
        lot = Random(f"{self.seed}/{task.id}")
        if len(own) > 1:
            turn = lot.randrange(1, len(own))  # No picture stays where it was.
            other = own[turn:] + own[:turn]
        else:
            strange = [ref for ref in self.strangers if ref not in own]
            other = [lot.choice(strange)] if own and strange else own
        rest = iter(other)
        return tuple(next(rest) if isinstance(part, PictureRef) else part for part in prompt)

    def _with_one(self, task: Task, parts: tuple[Part, ...], prompt: int) -> tuple[Part, ...]:
        """One picture of the prompt; where that has none, one of the options."""
        places = [place for place, part in enumerate(parts) if isinstance(part, PictureRef)]
        own = [place for place in places if place < prompt] or places
        kept = Random(f"{self.seed}/{task.id}").choice(own) if own else None
        return tuple(part for place, part in enumerate(parts) if isinstance(part, str) or place == kept)


def _cut(uri: str, region: Box) -> bytes | Failure:
    path = local_path(uri)
    data = Failure("bad-picture", f"{uri} is not on this machine") if path is None else read_bytes(path)
    pixels = data if isinstance(data, Failure) else decode_region(data, _SIDE, MAX_PIXELS, region)
    if isinstance(pixels, Failure):
        return Failure("bad-picture", pixels.message)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def _nothing() -> Failure:
    return Failure("empty-query", "the task has neither words nor pictures to ask about")
