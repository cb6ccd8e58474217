"""What teachers are asked: one fixed prompt, or templates with slots, drawn for each picture by seed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sightline.bench.formats.imagenet_think import PROMPT
from sightline.errors import UserError
from sightline.io import LineError, read_jsonl, read_lines
from sightline.reason.traces.nouns import Known, Question, Subject

SLOTS = ("caption", "label")
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt; `{caption}` and `{label}` stand for what is known of the picture."""

    text: str
    slots: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        """A slot that nothing can fill is refused."""
        slots = tuple(dict.fromkeys(_SLOT.findall(text)))
        unknown = [slot for slot in slots if slot not in SLOTS]
        if unknown:
            raise UserError(f'the prompt has a slot "{{{unknown[0]}}}".', f"slots are {', '.join(SLOTS)}")
        if not text.strip():
            raise UserError("a prompt is empty.", "say what is to be asked")
        return cls(text, slots)

    def fits(self, known: Known) -> bool:
        """Is what the slots ask for known?"""
        return all(_value(slot, known) is not None for slot in self.slots)

    def fill(self, known: Known) -> str:
        """The prompt for a picture; only slots of the template are filled, never braces in what is put there."""
        return _SLOT.sub(lambda slot: _value(slot[1], known) or "", self.text)


def _value(slot: str, known: Known) -> str | None:
    return known.caption if slot == "caption" else next(iter(known.labels), None)


@dataclass(frozen=True, slots=True)
class Prompts:
    """A set of templates, of which `each` are drawn for a picture: the same for the same seed and picture."""

    templates: tuple[Template, ...] = (Template(PROMPT, ()),)
    each: int = 1
    seed: int = 0

    def questions(self, subject: Subject) -> Iterator[Question]:
        """The questions about a picture; none where no template fits what is known of it."""
        fitting = [template for template in self.templates if template.fits(subject.known)]
        ranked = sorted(fitting, key=lambda template: self._draw(subject.picture, template)) if fitting[1:] else fitting
        for number, template in enumerate(ranked[: self.each]):
            id_ = subject.picture if number == 0 else f"{subject.picture}#{number + 1}"
            yield Question(id_, subject, template.fill(subject.known), template.slots)

    def _draw(self, picture: str, template: Template) -> bytes:
        return hashlib.blake2b(f"{self.seed}\0{picture}\0{template.text}".encode(), digest_size=8).digest()


def read_prompts(path: Path) -> list[str]:
    """One template a line: text, or in a `.jsonl` file a string or an object with `prompt`."""
    found = [*_json_lines(path)] if path.name.endswith((".jsonl", ".jsonl.gz")) else [*_text_lines(path)]
    if not found:
        raise UserError(f"{path} holds no prompt.", "write one on each line")
    return found


def _text_lines(path: Path) -> Iterator[str]:
    for number, line in read_lines(path):
        try:
            yield line.decode().strip()
        except UnicodeDecodeError:
            raise LineError(path, number, "expected UTF-8 text") from None


def _json_lines(path: Path) -> Iterator[str]:
    for number, row in read_jsonl(path):
        text = row.get("prompt") if isinstance(row, dict) else row
        if not isinstance(text, str):
            raise LineError(path, number, 'expected "…" or {"prompt": "…"}')
        yield text


def prompts_of(given: Sequence[str], file: Path | None = None, each: int = 1, seed: int = 0) -> Prompts:
    """The prompt set that a command line names; ImageNet-Think's own prompt when it names none."""
    texts = [*given, *([] if file is None else read_prompts(file))]
    templates = tuple(Template.of(text) for text in dict.fromkeys(texts)) or (Template(PROMPT, ()),)
    if each > len(templates):
        raise UserError(f"{each} prompts for each picture, of {len(templates)}.", "give more prompts, or ask for fewer")
    return Prompts(templates, each, seed)
