"""Yes and no, true and false, 是 and 否."""

from __future__ import annotations

import re

from sightline.score.answers.normalise import normalise

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


def polarity(text: str) -> bool | None:
    """True or False for a text that says only yes or no; None for any other."""
    normal = normalise(text)
    return True if normal in _YES else False if normal in _NO else None


def leading_polarity(text: str) -> bool | None:
    """The yes or no that a reply begins with: "Yes, there is …", "不是,…"."""
    if _BOTH.match(text):
        return None
    found = _LEADING.match(text.strip())
    return polarity(text) if found is None else found["word"].casefold() in _YES
