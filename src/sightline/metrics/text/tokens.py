"""How a text becomes tokens: the one place that decides it."""

from __future__ import annotations

import re
import unicodedata

# Every byte that is not an ASCII letter or digit becomes a space; letters become lower-case.
_ASCII = bytes(ord(chr(byte).lower()) if byte < 128 and chr(byte).isalnum() else 32 for byte in range(256))

_ALONE = ("CJK ", "IDEOGRAPHIC ", "HIRAGANA ", "KATAKANA")

_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_MTEVAL = (
    (re.compile(r"([{-~\[-` -&(-+:-@/])"), r" \1 "),
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


class _Unicode(dict[int, str]):
    """What each code point becomes, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = piece = _piece(char, unicodedata.category(char), unicodedata.name(char, ""))
        return piece


def _piece(char: str, category: str, name: str) -> str:
    if category in ("Cf", "Me") or name.startswith("VARIATION SELECTOR"):
        return ""  # a soft hyphen, a joiner or an emoji's style does not end a word
    if category[0] not in "LMN":
        return " "
    return f" {char} " if category[0] != "M" and name.startswith(_ALONE) else char


# The zero-width space is a format character, but its purpose is to part words.
_UNICODE = _Unicode({0x200B: " "})


def word_tokens(text: str) -> list[str]:
    """Runs of letters, marks and digits after NFKC and case folding; each Han or kana character alone."""
    if text.isascii():
        return text.encode("ascii").translate(_ASCII).decode("ascii").split()
    return _unicode_tokens(text)


def word_bytes(text: str) -> bytes:
    """The same tokens as UTF-8 with blanks between, for those who need no list of them."""
    if text.isascii():
        return text.encode("ascii").translate(_ASCII)
    return " ".join(_unicode_tokens(text)).encode()


def _unicode_tokens(text: str) -> list[str]:
    spaced = unicodedata.normalize("NFKC", text).casefold().translate(_UNICODE)
    # A token that starts with a mark is what is left of an accent that stood on its own.
    return [token for token in spaced.split() if unicodedata.category(token[0])[0] != "M"]


def rouge_tokens(text: str) -> list[str]:
    """Runs of [a-z0-9] in the lower-cased text, as rouge-score without its stemmer; all else separates."""
    lowered = text if text.isascii() else text.lower()
    return lowered.encode("ascii", "replace").translate(_ASCII).decode("ascii").split()


def bleu_tokens(text: str) -> list[str]:
    """The tokens of mteval-v13a, case kept: sacrebleu's `tokenize="13a"`."""
    line = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, char in _ENTITIES:
        line = line.replace(entity, char)
    line = f" {line} "
    for pattern, replacement in _MTEVAL:
        line = pattern.sub(replacement, line)
    return line.split()
