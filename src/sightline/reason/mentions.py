"""Pictures by their numbers: those that a text speaks of, and whether a caption begins with that of its own."""

from __future__ import annotations

import re

_FLAGS = re.IGNORECASE | re.VERBOSE
_PICTURE = r"(?:picture|image|photograph|photo)"
# A measure, a share, the name of a file or the 5th of something is no picture's number.
_NUMBER = r"\d{1,3}(?!\w|[.,]\w|\s*(?:%|°|[x×]\s*\d)|\s+(?:by\s+\d|percent|pixels|degrees|times)\b)"
# What stands in quotation marks is written in a picture.
_NAMED = re.compile(
    rf"""(?<!["“'‘«「])\b(?:
      {_PICTURE}\s*(?:number\s+|no\.?\s*)?\#?(?P<one>{_NUMBER})
      | {_PICTURE}s\s+(?P<several>\#?\d{{1,3}}(?:\s*(?:,\s*and|,|and|or|to|through|&|-|–)\s*\#?{_NUMBER})+)
    )""",
    _FLAGS,
)
# "In picture 3 patches …" speaks of the third; "in the blurred picture 3 patches …" counts patches.
_BEFORE = re.compile(
    r"""(?:^|[^\w\s]\s*|\b(?:about|after|against|and|as|at|because|before|between|but|by|compare|for|from|if|in|inside
    |into|is|like|nor|not|of|on|only|or|see|so|than|that|then|through|to|unlike|versus|vs|when|where|whereas|while|with
    |within)\s+)$""",
    _FLAGS,
)
_REACH = 20
"""Characters that the word before may have."""
_BEHIND = re.compile(r"\s*(?:$|[^\w\s]|(?:contains|depicts|displays|presents|shows)\b)", _FLAGS)
_ORDINAL = r"(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)"
_BEGINS = re.compile(
    rf"\W*(?:(?:in|on)\s+)?(?:the\s+)?(?:{_PICTURE}\s*(?:number\s+|no\.?\s*)?\#?{_NUMBER}|{_ORDINAL}\s+{_PICTURE}\b)",
    _FLAGS,
)
# "Frame 2: …" and "2. …", where that is its number.
_HEADED = re.compile(r"\W*(?:[^\W\d]+\s+)?\#?(?P<number>\d{1,3})(?:\s*[.:：)\]](?!\d)|\s+[–-]\s)", _FLAGS)


def pictures_named(text: str) -> set[int]:
    """The numbers of the pictures that an English text speaks of: "picture 2", "(image 3)", "pictures 1 and 4"."""
    found: set[int] = set()
    for match in _NAMED.finditer(text):
        before = _BEFORE.search(text, max(0, match.start() - _REACH), match.start())
        if before is not None or _BEHIND.match(text, match.end()) is not None:
            found.update(map(int, re.findall(r"\d+", match["one"] or match["several"])))
    return found


def says_its_number(caption: str, number: int) -> bool:
    """Does a caption begin by saying which picture it is of, whatever follows?"""
    headed = _HEADED.match(caption)
    return _BEGINS.match(caption) is not None or (headed is not None and int(headed["number"]) == number)
