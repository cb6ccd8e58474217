"""The normal form of an answer: what two people would write in the same way if they had to spell it carefully.

Also yes and no, true and false, 是 and 否.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from sightline.metrics.answers.reply import plain

_SUPERSCRIPT = {ord(sign): digit for sign, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)}
_SUPERSCRIPTS = re.compile("[⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_VULGAR = re.compile("[¼-¾⅐-⅞↉]")
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("‐‑‒–—―−﹣", "-"),
        **dict.fromkeys("‘’‛′ʼ", "'"),
        **dict.fromkeys("“”„‟″", '"'),
        "⁄": "/",
        "∶": ":",
    }
)

_OPENING = re.compile(
    r"(?:(?:so|thus|hence|therefore)\b[,:]?\s+)?"
    r"(?:the |my |your )?(?:final |correct |right |best |short )*(?:answer|result|conclusion)"
    r"(?: to (?:the|this|your) question)?(?: is\b(?: that\b)?\s*:?| would be\b| should be\b|\s*[:=])\s*"
    r"|(?:(?:因此|所以|综上所述|综上)[,:]?)?(?:最终|正确)?的?答案(?:应该)?(?:是|为|:)\s*:?\s*"
)
_CLOSING = re.compile(r"(?<=\S)\s*(?:\bis (?:the|my) (?:final |correct |right )?answer|是(?:正确)?答案)[\s.!]*$")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_INITIALS = re.compile(r"\b([^\W\d_])[. ]+(?=[^\W\d_]\b(?:\.|\s|$))")
_ARTICLE = re.compile(r"\b(?:a|an|the)\s+(?=\S)")
_SHORT = 200
_CJK = r"[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_CJK_SPACE = re.compile(rf"(?<={_CJK})\s+|\s+(?={_CJK})")
_YES_WORDS = "yes yeah yep yup true correct affirmative 是 是的 对 对的 正确 真 属实 没错"
_NO_WORDS = "no nope false incorrect negative untrue 否 不 不是 不是的 不对 错 错误 不正确 假 没有"
_YES = frozenset(_YES_WORDS.split())
_NO = frozenset((*_NO_WORDS.split(), "not true", "not correct"))
_LEADING = re.compile(
    rf"(?P<word>{'|'.join(sorted(_YES | _NO, key=len, reverse=True))})"
    r"(?:\s*[,.!:;，。！：；—–-]|\s+(?:there|it|the|this|that|they|he|she)\b|\s*$)",
    re.IGNORECASE,
)
_BOTH = re.compile(r"^\W*(?:yes\s+and\s+no|no\s+and\s+yes|yes\s*(?:or|/)\s*no)\b", re.IGNORECASE)


def fold(text: str) -> str:
    """Unicode compatibility form with one kind of quote, dash and minus; powers and fractions stay apart."""
    if text.isascii():
        return text
    text = _SUPERSCRIPTS.sub(lambda found: "^" + found[0].translate(_SUPERSCRIPT), text)
    text = _VULGAR.sub(lambda found: " " + found[0], text)
    return unicodedata.normalize("NFKC", text).translate(_SIGNS)


def normalize(text: str) -> str:
    """Fold, then take off the frame ("The answer is …"), punctuation, articles, accents of Latin letters, extra space.

    Kept because they change the meaning: signs, decimal points, currencies, `%`, `+`, and `:` or `/` between digits.
    What would leave nothing is not taken off, and normalising twice changes nothing.
    """
    return _short(text) if len(text) <= _SHORT else _settled(text)


def _settled(text: str) -> str:
    previous = None
    while text != previous:
        text, previous = _one_pass(text), text
    return text


# Truths and options come up again and again; whole replies do not, and would fill the memory.
_short = lru_cache(maxsize=4096)(_settled)


def same_text(first: str, second: str) -> bool:
    """Whether two texts have the same normal form, and that is not empty."""
    normal = normalize(first)
    return bool(normal) and normal == normalize(second)


def _one_pass(text: str) -> str:
    text = _without_accents(fold(fold(plain(text)).casefold()))
    text = _without_frame(" ".join(text.replace("&", " and ").split()))
    text = _GROUPED.sub(lambda found: found[0].replace(",", ""), text)
    text = _INITIALS.sub(r"\1", text).replace("'", "")
    text = "".join(sign if _kept(text, place) else " " for place, sign in enumerate(text))
    text = " ".join(text.split())
    return _CJK_SPACE.sub("", _ARTICLE.sub("", text))


def _without_frame(text: str) -> str:
    start = 0
    while (opening := _OPENING.match(text, start)) and _says_something(text, opening.end()):
        start = opening.end()
    closing = _CLOSING.search(text, start)
    return text[start : closing.start()] if closing else text[start:]


def _says_something(text: str, start: int) -> bool:
    return any(text[place].isalnum() for place in range(start, len(text)))


def _kept(text: str, place: int) -> bool:
    """Whether the sign there belongs to the meaning."""
    sign = text[place]
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    category = unicodedata.category(sign)
    if category[0] in "LNM" or category in ("Sc", "Sm") or sign == "%":
        return True
    if sign in ".,:/":
        return before.isdigit() and after.isdigit()
    if sign == "-":
        return after.isdigit() and not before.isalpha()
    return sign == "#" and before.isalpha()


def _without_accents(text: str) -> str:
    """`é` → `e` for Latin letters only: in other scripts a mark can make another letter."""
    if text.isascii():
        return text
    kept: list[str] = []
    latin = False
    for sign in unicodedata.normalize("NFD", text):
        if not unicodedata.combining(sign):
            latin = "a" <= sign <= "z"
        elif latin:
            continue
        kept.append(sign)
    return unicodedata.normalize("NFC", "".join(kept))


def polarity(text: str) -> bool | None:
    """True or False for a text that says only yes or no; None for any other."""
    normal = normalize(text)
    return True if normal in _YES else False if normal in _NO else None


def leading_polarity(text: str) -> bool | None:
    """The yes or no that a reply begins with: "Yes, there is …", "不是,…"."""
    if _BOTH.match(text):
        return None
    found = _LEADING.match(text.strip())
    return polarity(text) if found is None else found["word"].casefold() in _YES
