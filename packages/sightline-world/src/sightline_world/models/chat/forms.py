"""Which sentences of a request say only in what form to answer: they are no part of what is asked."""

from __future__ import annotations

import re

_BETWEEN = re.compile(r"((?<=[.!?])\s+|(?<=[。！？])|\n+)")
_SIZE = r"(?:only|just|at most|no more than|a|an|one|two|three|the|your|single|short|few|brief|final|full|and|or|,|\s)*"
_FORM = re.compile(
    r"\W*(?:(?:please|then|and|now|finally)\b,?\s*)*(?:"
    r"end (?:by|with|your)\b.*"
    r"|(?:the|your) (?:final|last) (?:answer|line)\b.*"
    r"|(?:final )?(?:answer|reply|response)\s*:.{0,12}"
    rf"|(?:answer|reply|respond)(?: the question| to the question)?,?\s+(?:(?:with|in|using|by|as){_SIZE}"
    r"(?:words?|phrases?|sentences?|lines?|numbers?|letters?|names?|answer|json|english)\b.{0,30}"
    r"|(?:very )?(?:briefly|shortly|concisely|in short)\W*)"
    r"|(?:give|write|state|provide|return|output|put)\s+(?:me\s+)?(?:only|just)?\s*(?:the|your|a)\s+"
    r"(?:final |short |brief )*answer\b.*"
    r"|(?:keep|make)\s+(?:the answer|your answer|the reply|your reply|it)\s+(?:as\s+)?(?:short|brief|concise)\b.*"
    r"|(?:be|stay) (?:brief|concise|short)\W*"
    r"|(?:let us|let's)?\s*think step by step\W*"
    r"|x is the key of (?:one|an) option\W*"
    r"|请以下面这一行结束.*|最后调用.*|答案要简短.*|x 为一个选项的字母.*"
    r")",
    re.IGNORECASE,
)
_DECIDES = re.compile(r"\b(?:yes|no|true|false)\b|\?", re.IGNORECASE)
_AT_LENGTH = re.compile(r"\b(?:describ|caption|summar|title)", re.IGNORECASE)


def without_form(text: str) -> str:
    """The text without its instructions about form; all of it where nothing else is left, or where length matters."""
    kept = "".join(part for part in _BETWEEN.split(text) if not _is_form(part)).strip()
    return text if not kept or _AT_LENGTH.search(kept) else kept


def _is_form(part: str) -> bool:
    said = part.strip()
    return bool(said) and _DECIDES.search(said) is None and _FORM.fullmatch(said) is not None
