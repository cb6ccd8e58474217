"""What a training tool stumbles over: pictures that can't be decoded, and marks that are special to a tokenizer."""

from __future__ import annotations

import re
from pathlib import Path

from sightline.corpus.pixels import RefusedError, decode, open_picture

_SMALL = (64, 64)
# Names in bars (Qwen, Llama, Phi, …), and what stands for a picture, a sound or the end of a turn elsewhere.
_FOREIGN = re.compile(
    r"""<\|[^|<>\s]{1,40}\|> | <｜[^｜<>]{1,40}｜>
    | </?(?:img|video|audio|s|bos|eos|pad|unk)> | <(?:image|video|audio|img)_\w{1,30}>
    | <(?:start|end)_of_(?:image|turn|utterance)> | <fake_token_around_image> | <unused\d+>
    | \[/?(?:IMG|IMG_BREAK|IMG_END|INST|SYS)\] | <</?SYS>>""",
    re.IGNORECASE | re.VERBOSE,
)


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
