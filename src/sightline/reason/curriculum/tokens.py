"""How many tokens a record takes: by the model's own tokenizer, or by an estimate that is called one.

And what a training tool can't take: special tokens in a text, and pictures that can't be decoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.calls.tokens import TOKENS_PER_MESSAGE, USUAL_SIZE, qwen_tokens, text_tokens
from sightline.corpus.pixels import RefusedError, decode, open_picture
from sightline.errors import UserError, needs_extra
from sightline.reason.curriculum.lessons import IMAGE

FAMILY = "Qwen2.5-VL"
"""Whose rule counts the tokens of a picture, unless a number is given."""
_SMALL = (64, 64)
# Names in bars (Qwen, Llama, Phi, …), and what stands for a picture, a sound or the end of a turn elsewhere.
_FOREIGN = re.compile(
    r"""<\|[^|<>\s]{1,40}\|> | <｜[^｜<>]{1,40}｜>
    | </?(?:img|video|audio|s|bos|eos|pad|unk)> | <(?:image|video|audio|img)_\w{1,30}>
    | <(?:start|end)_of_(?:image|turn|utterance)> | <fake_token_around_image> | <unused\d+>
    | \[/?(?:IMG|IMG_BREAK|IMG_END|INST|SYS)\] | <</?SYS>>""",
    re.IGNORECASE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens of one record; a chat template adds a few to each message, which are estimated."""

    prompt: int
    pictures: int
    target: int

    @property
    def total(self) -> int:
        return self.prompt + self.pictures + self.target


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts the tokens of texts and pictures; `how` says in words by what."""

    text: Callable[[str], int]
    how: str
    exact: bool
    each_picture: int | None = None

    def count(self, prompt: str, target: str, sizes: Iterable[tuple[int, int] | None]) -> TokenCounts:
        """The tokens of one record with pictures of these sizes; unknown sizes are taken as usual ones."""
        words = prompt.replace(IMAGE, "")
        return TokenCounts(
            self.text(words) + TOKENS_PER_MESSAGE,
            sum(self._picture(size or USUAL_SIZE) for size in sizes),
            self.text(target) + TOKENS_PER_MESSAGE,
        )

    def _picture(self, size: tuple[int, int]) -> int:
        return qwen_tokens(*size) if self.each_picture is None else self.each_picture


def token_counter(
    tokenizer: str | None = None, each_picture: int | None = None, *, local_only: bool = False
) -> TokenCounter:
    """By a `tokenizer.json` (the file, its folder, or a name on the hub), else a quarter of the UTF-8 bytes."""
    pictures = f"pictures by {FAMILY}'s rule" if each_picture is None else f"{each_picture:,} for each picture"
    if tokenizer is None:
        return TokenCounter(text_tokens, f"estimated: a quarter of the text's bytes, {pictures}", False, each_picture)
    loaded = _load(tokenizer, local_only)

    def exact(text: str) -> int:
        return len(loaded.encode(text, add_special_tokens=False).ids)

    return TokenCounter(exact, f"text by {tokenizer}, {pictures}", True, each_picture)


def _load(given: str, local_only: bool) -> Any:
    with needs_extra("counting tokens with a tokenizer", "onnx"):
        from tokenizers import Tokenizer
    path = Path(given).expanduser()
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file() and local_only:
        raise UserError(f"{file} is not on this machine, and --local-only fetches nothing.", "name a tokenizer.json")
    try:
        return Tokenizer.from_file(str(file)) if file.is_file() else Tokenizer.from_pretrained(given)
    except Exception as error:  # The package raises bare exceptions for any fault.
        raise UserError(
            f"{given} is no tokenizer that can be had: {error}.", "name a tokenizer.json or its folder"
        ) from None


def foreign_mark(text: str) -> str | None:
    """The first mark in a text that some model's tokenizer reads as a picture or as an order; None without any."""
    found = _FOREIGN.search(text)
    return None if found is None else found[0]


def unusable(path: Path | None, max_pixels: int) -> str | None:
    """Why a picture can't be trained on; None if all of it can be decoded."""
    if path is None:
        return "is not on this machine"
    try:
        data = path.read_bytes()
        decode(open_picture(data, max_pixels), data, _SMALL)
    except OSError as error:
        return f"can't be read at {path}: {error.strerror}"
    except RefusedError as error:
        named = {"not a picture": "is no picture", "bomb": "is too large", "unreadable": "can't be decoded"}
        return f"{named.get(error.reason, f'is {error.reason}')}: {error.detail}"
    return None
