"""A task as an agent or a chat model is asked it: its prompt in order, pictures at hand, options, and ablations."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from PIL import Image

from sightline.agent.state import View
from sightline.search.index.content import absolute, local_path
from sightline.search.pixels import decode, read_bytes
from sightline.types import Box, Failure, ImagePart, Part, Picture, PictureRef, Task

_SIDE = 1024
_MAX_PIXELS = 180_000_000


@dataclass(frozen=True, slots=True)
class Asking:
    """How tasks are put: in which language, and what is left out for an ablation.

    `shuffle_images` puts the pictures of a prompt in another order; a prompt with a single one gets that of another
    task, from `strangers`.
    """

    pictures: Mapping[str, Picture]
    base: Path | None = None
    language: str | None = None
    no_image: bool = False
    no_options: bool = False
    shuffle_images: bool = False
    seed: int = 0
    strangers: Sequence[PictureRef] = field(default_factory=tuple)

    def content(self, task: Task) -> tuple[str | View, ...] | Failure:
        """The prompt and its options; a picture that can't be had is a failure of the task."""
        parts = self._parts(task)
        if isinstance(parts, Failure):
            return parts
        content: list[str | View] = []
        for part in parts:
            if isinstance(part, str):
                content.append(part)
            elif not self.no_image:
                shown = self.view(part)
                if isinstance(shown, Failure):
                    return shown
                content.append(shown)
        return tuple(content) if any(not isinstance(each, str) or each.strip() for each in content) else _nothing()

    def view(self, ref: PictureRef) -> View | Failure:
        """A picture of the corpus, or a region of one, ready to be shown."""
        picture = self.pictures.get(ref.id)
        if picture is None:
            return Failure("bad-picture", f'the corpus has no picture "{ref.id}"')
        uri = absolute(picture, self.base).uri
        if ref.region is None:
            return View(ref.id, ImagePart(uri), ref.id)
        data = _cut(uri, ref.region)
        return data if isinstance(data, Failure) else View(region_name(ref), ImagePart("", data), ref.id, ref.region)

    def _parts(self, task: Task) -> tuple[Part, ...] | Failure:
        prompt = task.prompt
        if self.language is not None and task.translations:
            if self.language not in task.translations:
                known = ", ".join(sorted(task.translations))
                return Failure("no-translation", f'the task is not told in "{self.language}" (translations: {known})')
            prompt = task.translations[self.language]
        if self.shuffle_images:
            prompt = self._shuffled(task, prompt)
        options: list[Part] = []
        for option in () if self.no_options else task.options:
            options += [f"\n{option.key}. ", *option.content]
        return (*prompt, *options)

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


def region_name(ref: PictureRef) -> str:
    """What a model calls a region: `id#left,top,right,bottom`."""
    box = ref.region
    return ref.id if box is None else f"{ref.id}#{box.left:g},{box.top:g},{box.right:g},{box.bottom:g}"


def _cut(uri: str, region: Box) -> bytes | Failure:
    path = local_path(uri)
    data = Failure("bad-picture", f"{uri} is not on this machine") if path is None else read_bytes(path)
    pixels = data if isinstance(data, Failure) else decode(data, _SIDE, _MAX_PIXELS, region)
    if isinstance(pixels, Failure):
        return Failure("bad-picture", pixels.message)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def _nothing() -> Failure:
    return Failure("empty-query", "the task has neither words nor pictures to ask about")
